#include "input/input.h"

#include "absent.h"
#include "buffer.h"
#include "json/jdoc.h"
#include "memory.h"
#include "input/archive_members.h"
#include "input/remote.h"
#include "parquet/parquet.h"
#include "stream/digest.h"
#include "stream/provenance.h"
#include "unnamed_file.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEAD_MAX 16 /* first bytes, enough to recognise every compression */
#define RAW_MAX  ((size_t)128 << 10)

struct input {
	char *path;
	int fd;
	bool regular, ended;
	int64_t bytes, size;
	struct digest *digest; /* NULL: not wanted */
	char head[HEAD_MAX];   /* read ahead, returned first */
	size_t head_len, head_given;
	struct archive *archive;         /* decompresses; NULL: plain */
	struct ipf_error unreadable;     /* why it got no bytes, which it may take for the end or not repeat */
	struct archive_members *members; /* for a file in an archive, else NULL */
	bool empty;                      /* compressed, without content */
	struct buffer peeked;            /* decompressed ahead, returned first */
	char *raw;                       /* the decompressor's input */
	bool known;                      /* whether it is Parquet has been found out */
	struct parquet *parquet;         /* its rows are the input, else NULL */
	int copy;                        /* a copy of Parquet from no regular file; -1: none */
};

const char *input_name(const struct input *input)
{
	return strcmp(input->path, "-") == 0 ? "standard input" : input->path;
}

int64_t input_bytes(const struct input *input)
{
	bool in_place = input->parquet && input->copy < 0 && !input->ended;
	return in_place ? parquet_position(input->parquet) : input->bytes;
}

int64_t input_size(const struct input *input)
{
	return input->size;
}

/* Reads bytes of the file itself. */
static int64_t read_raw(struct input *input, char *to, size_t cap, struct ipf_error *err)
{
	if (input->head_given < input->head_len) {
		size_t left = input->head_len - input->head_given;
		size_t len = left < cap ? left : cap;
		memcpy(to, input->head + input->head_given, len);
		input->head_given += len;
		return (int64_t)len;
	}
	if (input->ended)
		return 0;
	ssize_t got;
	do
		got = read(input->fd, to, cap);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return ipf_error_errno(err, errno, input_name(input), "cannot read");
	input->ended = got == 0;
	input->bytes += got;
	if (input->digest)
		digest_update(input->digest, to, (size_t)got);
	return got;
}

/* libarchive asks for bytes of the file. */
static la_ssize_t archive_feed(struct archive *archive, void *data, const void **bytes)
{
	struct input *input = data;
	int64_t got = read_raw(input, input->raw, RAW_MAX, &input->unreadable);
	if (got < 0)
		archive_set_error(archive, EIO, "cannot read");
	*bytes = input->raw;
	return (la_ssize_t)got;
}

static bool is_compressed(const char *head, size_t len)
{
	return (len >= 3 && memcmp(head, "\x1f\x8b\x08", 3) == 0) ||
	       (len >= 4 && memcmp(head, "\x28\xb5\x2f\xfd", 4) == 0) ||
	       (len >= 6 && memcmp(head,
	                           "\xfd"
	                           "7zXZ",
	                           6) == 0) ||
	       (len >= 10 && memcmp(head, "BZh", 3) == 0 && memcmp(head + 4, "1AY&SY", 6) == 0);
}

/* libarchive says nothing where only the checksum at the end is cut, and little where xz data are. */
static int undecodable(struct input *input, const char *what, struct ipf_error *err)
{
	const char *why = archive_error_string(input->archive);
	memory_note_errno(archive_errno(input->archive));
	if (input->unreadable.kind == IPF_OK)
		return ipf_error_at(err, IPF_CUT, input_name(input), 0, "cannot decompress%s: %s", what,
		                    !why || strstr(why, "No progress is possible") ? "the end is missing" : why);
	*err = input->unreadable;
	return -1;
}

static int open_archive(struct input *input, struct ipf_error *err)
{
	input->raw = malloc(RAW_MAX);
	input->archive = archive_read_new();
	if (!input->raw || !input->archive)
		return ipf_error_errno(err, ENOMEM, input_name(input), "cannot open");
	errno = 0;
	archive_read_support_filter_gzip(input->archive);
	archive_read_support_filter_zstd(input->archive);
	archive_read_support_filter_xz(input->archive);
	archive_read_support_filter_bzip2(input->archive);
	archive_read_support_format_raw(input->archive);
	archive_read_support_format_empty(input->archive);
	memory_note_errno(errno);
	if (memory_ran_out())
		return ipf_error_memory(err);
	struct archive_entry *entry;
	int status = archive_read_open(input->archive, input, NULL, archive_feed, NULL);
	if (status == ARCHIVE_OK)
		status = archive_read_next_header(input->archive, &entry);
	memory_note_errno(errno);
	input->empty = status == ARCHIVE_EOF;
	bool good = status == ARCHIVE_EOF || status == ARCHIVE_OK || status == ARCHIVE_WARN;
	return good && input->unreadable.kind == IPF_OK ? 0 : undecodable(input, "", err);
}

static int open_file(struct input *input, struct ipf_error *err)
{
	input->fd = strcmp(input->path, "-") == 0 ? STDIN_FILENO : open(input->path, O_RDONLY | O_CLOEXEC);
	if (input->fd < 0)
		return ipf_error_errno(err, errno, input->path, "cannot open");
	struct stat st;
	if (fstat(input->fd, &st) < 0)
		return ipf_error_errno(err, errno, input_name(input), "cannot open");
	if (S_ISDIR(st.st_mode))
		return ipf_error_errno(err, EISDIR, input_name(input), "cannot open");
	input->regular = S_ISREG(st.st_mode);
	input->size = input->regular ? (int64_t)st.st_size : IPF_ABSENT;
	/* A pipe may deliver its first bytes one by one. */
	while (input->head_len < HEAD_MAX && !input->ended) {
		input->head_given = input->head_len;
		int64_t got = read_raw(input, input->head + input->head_len, HEAD_MAX - input->head_len, err);
		if (got < 0)
			return -1;
		input->head_len += (size_t)got;
	}
	input->head_given = 0;
	return is_compressed(input->head, input->head_len) ? open_archive(input, err) : 0;
}

int input_open(struct input **opened, const char *path, struct ipf_error *err)
{
	return input_next(opened, NULL, path, err);
}

int input_next(struct input **opened, struct input *before, const char *path, struct ipf_error *err)
{
	struct input *input = calloc(1, sizeof *input);
	struct archive_members *members = before ? before->members : NULL;
	if (before)
		before->members = NULL;
	input_close(before);
	if (input)
		input->fd = input->copy = -1;
	if (archive_member_split(path) == 0) {
		archive_members_close(members);
		members = NULL;
	} else if (archive_members_open(&members, path, err) < 0) {
		archive_members_close(members);
		input_close(input);
		return -1;
	}
	if (input) {
		input->members = members;
		input->size = IPF_ABSENT;
	} else {
		archive_members_close(members);
	}
	if (!input || !(input->path = strdup(path)) || !(input->digest = digest_new())) {
		input_close(input);
		return ipf_error_errno(err, ENOMEM, path, "cannot open");
	}
	if (!members && open_file(input, err) < 0) {
		input_close(input);
		return -1;
	}
	*opened = input;
	return 0;
}

/* Reads the bytes of the file, decompressed. */
static int64_t read_content(struct input *input, char *to, size_t cap, struct ipf_error *err)
{
	if (input->members) {
		int64_t got = archive_members_read(input->members, to, cap, err);
		if (got > 0) {
			input->bytes += got;
			if (input->digest)
				digest_update(input->digest, to, (size_t)got);
		}
		input->ended |= got == 0;
		return got;
	}
	if (!input->archive)
		return read_raw(input, to, cap, err);
	if (input->empty)
		return 0;
	errno = 0;
	la_ssize_t got = archive_read_data(input->archive, to, cap);
	memory_note_errno(errno);
	return got >= 0 && input->unreadable.kind == IPF_OK ? got : undecodable(input, " any further", err);
}

static int64_t read_more(struct input *input, char *to, size_t cap, struct ipf_error *err)
{
	return input->parquet ? parquet_read(input->parquet, to, cap, err) : read_content(input, to, cap, err);
}

/* Reads ahead until `want` bytes are there, or all. */
static int peek(struct input *input, size_t want, struct ipf_error *err)
{
	while (input->peeked.len < want) {
		char *to = buffer_reserve(&input->peeked, want - input->peeked.len);
		if (!to)
			return ipf_error_errno(err, ENOMEM, input_name(input), "cannot read");
		int64_t got = read_more(input, to, want - input->peeked.len, err);
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		input->peeked.len += (size_t)got;
	}
	return 0;
}

/* Copies an input without random access to a file. */
static int copy_content(struct input *input, int64_t *size, struct ipf_error *err)
{
	char part[16384];
	int64_t got = (int64_t)input->peeked.len;
	memcpy(part, input->peeked.data, input->peeked.len);
	if ((input->copy = unnamed_file_open(err)) < 0)
		return -1;
	for (*size = 0; got > 0; *size += got, got = read_content(input, part, sizeof part, err))
		for (int64_t had = 0; had < got;) {
			ssize_t put = write(input->copy, part + had, (size_t)(got - had));
			if (put < 0 && errno != EINTR)
				return unnamed_file_full(err);
			had += put > 0 ? put : 0;
		}
	return got < 0 ? -1 : 0;
}

/* Finds out whether it is Parquet. */
static int recognise(struct input *input, struct ipf_error *err)
{
	int64_t size = input->size;
	int fd = input->fd;
	input->known = true;
	if (peek(input, PARQUET_HEAD, err) < 0)
		return -1;
	if (!parquet_begins(buffer_all(&input->peeked)))
		return 0;
	if (!input->regular || input->archive || fd == STDIN_FILENO) { /* which may be at any place */
		if (copy_content(input, &size, err) < 0)
			return -1;
		fd = input->copy;
	}
	buffer_release(&input->peeked);
	return parquet_open(&input->parquet, fd, size, input_name(input), err);
}

int64_t input_peek(struct input *input, size_t want, const char **bytes, struct ipf_error *err)
{
	if ((!input->known && recognise(input, err) < 0) || peek(input, want, err) < 0)
		return -1;
	*bytes = input->peeked.data ? input->peeked.data : "";
	return (int64_t)input->peeked.len;
}

int64_t input_read(void *data, char *to, size_t cap, struct ipf_error *err)
{
	struct input *input = data;
	if (!input->known && recognise(input, err) < 0)
		return -1;
	size_t len = input->peeked.len < cap ? input->peeked.len : cap;
	if (len == 0)
		return read_more(input, to, cap, err);
	memcpy(to, input->peeked.data, len);
	buffer_consume(&input->peeked, len);
	if (input->peeked.len == 0)
		buffer_release(&input->peeked);
	return (int64_t)len;
}

void input_skip_digest(struct input *input)
{
	digest_free(input->digest);
	input->digest = NULL;
}

json_t *input_provenance(struct input *input, bool whole, struct ipf_error *err)
{
	char rest[16384];
	if (input->members && !whole) {
		int64_t got;
		while ((got = read_content(input, rest, sizeof rest, err)) > 0)
			;
		if (got < 0)
			return NULL;
	}
	if (input->regular && input->digest) {
		int64_t got;
		while ((got = read_raw(input, rest, sizeof rest, err)) > 0)
			;
		if (got < 0)
			return NULL;
	}
	json_t *entry;
	const char *origin = remote_origin(input->path);
	if (input->digest && input->ended && (whole || input->regular || input->members || input->parquet)) {
		char hex[65];
		digest_hex(input->digest, hex);
		entry = provenance_file(input_name(input), input->bytes, hex);
	} else {
		const char *base = strrchr(input->path, '/');
		entry = json_pack("{s:s, s:b}", "file", base ? base + 1 : input_name(input), "partial", 1);
	}
	if (entry && origin)
		json_object_set_new(entry, "url", json_string(origin));
	if (!entry)
		ipf_error_errno(err, ENOMEM, input_name(input), "cannot compute the digest");
	return entry;
}

void input_close(struct input *input)
{
	if (!input)
		return;
	parquet_close(input->parquet);
	archive_read_free(input->archive);
	archive_members_close(input->members);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	if (input->copy >= 0)
		close(input->copy);
	digest_free(input->digest);
	buffer_release(&input->peeked);
	free(input->raw);
	free(input->path);
	free(input);
}
