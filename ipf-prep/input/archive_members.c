#include "input/archive_members.h"
#include "memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 128 << 10 };

struct archive_members {
	struct archive *archive;
	char *path; /* the archive's */
	int fd;
	int failed; /* errno of the file: libarchive takes it for the end, or for another format */
	bool at_end;
	char piece[PIECE];
};

/* Is there a regular file? An unreadable one is said to be one: opening it says why. */
static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 ? S_ISREG(st.st_mode) : errno != ENOENT && errno != ENOTDIR;
}

size_t archive_member_split(const char *path)
{
	struct stat st;
	if (stat(path, &st) == 0)
		return 0;
	for (const char *colon = strrchr(path, ':'); colon && colon > path;) {
		char *front = strndup(path, (size_t)(colon - path));
		bool there = front && is_file(front) && colon[1];
		free(front);
		if (there)
			return (size_t)(colon - path);
		do
			colon--;
		while (colon > path && *colon != ':');
	}
	return 0;
}

bool is_archive(const char *path)
{
	static const char *const endings[] = {".tar", ".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".zip", ".7z"};
	size_t len = strlen(path);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (len > strlen(endings[i]) && strcmp(path + len - strlen(endings[i]), endings[i]) == 0)
			return true;
	return false;
}

static int unreadable(struct archive_members *m, struct ipf_error *err)
{
	const char *why = archive_error_string(m->archive);
	memory_note_errno(archive_errno(m->archive));
	if (m->failed)
		return ipf_error_errno(err, m->failed, m->path, "cannot read");
	return ipf_error_at(err, IPF_CUT, m->path, 0, "cannot read the archive: %s", why ? why : "unknown error");
}

/* ---- callbacks for libarchive ---- */

static la_ssize_t feed(struct archive *archive, void *data, const void **bytes)
{
	struct archive_members *m = data;
	ssize_t got;
	do
		got = read(m->fd, m->piece, PIECE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		archive_set_error(archive, m->failed = errno, "cannot read");
	*bytes = m->piece;
	return got;
}

static la_int64_t seek(struct archive *archive, void *data, la_int64_t offset, int whence)
{
	struct archive_members *m = data;
	off_t at = lseek(m->fd, offset, whence);
	if (at >= 0)
		return at;
	archive_set_error(archive, m->failed = errno, "cannot seek");
	return ARCHIVE_FATAL;
}

static int open_file(struct archive_members *m, struct ipf_error *err)
{
	struct stat st;
	m->fd = open(m->path, O_RDONLY | O_CLOEXEC);
	if (m->fd < 0 || fstat(m->fd, &st) < 0)
		return ipf_error_errno(err, errno, m->path, "cannot open");
	if (S_ISREG(st.st_mode))
		archive_read_set_seek_callback(m->archive, seek);
	errno = 0;
	int status = archive_read_open(m->archive, m, NULL, feed, NULL);
	memory_note_errno(errno);
	return status == ARCHIVE_OK ? 0 : unreadable(m, err);
}

/* ---- members ---- */

static int begin(struct archive_members **opened, const char *path, size_t len, struct ipf_error *err)
{
	struct archive_members *m = calloc(1, sizeof *m);
	if (m)
		m->fd = -1;
	if (!m || !(m->path = strndup(path, len)) || !(m->archive = archive_read_new())) {
		archive_members_close(m);
		return ipf_error_memory(err);
	}
	errno = 0;
	archive_read_support_filter_all(m->archive);
	archive_read_support_format_tar(m->archive);
	archive_read_support_format_zip(m->archive);
	archive_read_support_format_7zip(m->archive);
	memory_note_errno(errno);
	if (memory_ran_out()) {
		archive_members_close(m);
		return ipf_error_memory(err);
	}
	if (open_file(m, err) < 0) {
		archive_members_close(m);
		return -1;
	}
	*opened = m;
	return 0;
}

/* The next regular file: 1 and its name, 0 at the end, -1. */
static int next_member(struct archive_members *m, const char **name, struct ipf_error *err)
{
	struct archive_entry *entry;
	int status;
	errno = 0;
	while ((status = archive_read_next_header(m->archive, &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN)
		if (archive_entry_filetype(entry) == AE_IFREG && (*name = archive_entry_pathname(entry)))
			break;
	memory_note_errno(errno);
	if (!m->failed && (status == ARCHIVE_OK || status == ARCHIVE_WARN))
		return 1;
	m->at_end = true;
	return status == ARCHIVE_EOF && !m->failed ? 0 : unreadable(m, err);
}

int archive_members_list(const char *archive, int (*found)(void *data, const char *path, struct ipf_error *err),
                         void *data, struct ipf_error *err)
{
	struct archive_members *m = NULL;
	const char *name;
	int got = begin(&m, archive, strlen(archive), err);
	while (got == 0 && (got = next_member(m, &name, err)) == 1) {
		char *path = NULL;
		got = asprintf(&path, "%s:%s", archive, name) < 0 ? ipf_error_memory(err) : found(data, path, err);
		free(path);
	}
	archive_members_close(m);
	return got < 0 ? -1 : 0;
}

int archive_members_open(struct archive_members **members, const char *path, struct ipf_error *err)
{
	size_t len = archive_member_split(path);
	const char *wanted = path + len + 1, *name;
	struct archive_members *m = *members;
	bool resume = m && strlen(m->path) == len && memcmp(m->path, path, len) == 0 && !m->at_end;
	for (int pass = resume ? 0 : 1; pass < 2; pass++) {
		if (pass == 1) {
			archive_members_close(*members);
			*members = NULL;
			if (begin(members, path, len, err) < 0)
				return -1;
			m = *members;
		}
		int got;
		while ((got = next_member(m, &name, err)) == 1)
			if (strcmp(name, wanted) == 0)
				return 0;
		if (got < 0)
			return -1;
	}
	return ipf_error_at(err, IPF_INPUT, path, 0, "no such file in the archive");
}

int64_t archive_members_read(struct archive_members *m, char *to, size_t cap, struct ipf_error *err)
{
	errno = 0;
	la_ssize_t got = archive_read_data(m->archive, to, cap);
	memory_note_errno(errno);
	return got >= 0 && !m->failed ? (int64_t)got : unreadable(m, err);
}

void archive_members_close(struct archive_members *m)
{
	if (!m)
		return;
	archive_read_free(m->archive);
	if (m->fd >= 0)
		close(m->fd);
	free(m->path);
	free(m);
}
