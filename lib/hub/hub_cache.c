#include "hub/hub_cache.h"

#include "buffer.h"
#include "cli/nearest.h"
#include "folders.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const prefixes[] = {[HUB_MODEL] = "models--", [HUB_DATASET] = "datasets--"};

/* "models--OWNER--NAME". */
static void add_repository(struct buffer *path, const struct hub_repository *r)
{
	buffer_text(path, prefixes[r->kind]);
	for (const char *c = r->name; *c; c++)
		buffer_text(path, *c == '/' ? "--" : (char[]){*c, '\0'});
}

static char *repository_folder(const char *cache, const char *between, const struct hub_repository *r)
{
	struct buffer path = {0};
	buffer_format(&path, "%s/%s", cache, between);
	add_repository(&path, r);
	if (path.failed)
		buffer_release(&path);
	return path.data;
}

static int cannot_write(struct ipf_error *err, const char *path)
{
	return ipf_error_errno(err, errno, path, "cannot write the hub's cache (HF_HUB_CACHE)");
}

/* ---- finding ---- */

static bool is_commit(const char *revision)
{
	return strlen(revision) == 40 && strspn(revision, "0123456789abcdef") == 40;
}

/* The commit the revision is, as far as the cache knows. */
static bool read_ref(const char *folder, const char *revision, char commit[129])
{
	struct buffer path = {0};
	struct stat st;
	ssize_t got = -1;
	commit[0] = '\0';
	if (is_commit(revision)) {
		strcpy(commit, revision);
		return true;
	}
	buffer_format(&path, "%s/refs/%s", folder, revision);
	int fd = path.failed ? -1 : open(path.data, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		got = read(fd, commit, 128);
	if (fd >= 0)
		close(fd);
	commit[got > 0 ? got : 0] = '\0';
	commit[strcspn(commit, "\r\n \t")] = '\0';
	buffer_release(&path);
	return hub_is_file_name(commit);
}

static bool is_file(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The name of the first wanted file of a folder; to be freed. */
static char *first_file(const char *folder, bool (*wanted)(const char *name))
{
	struct dirent **entries;
	char *name = NULL;
	int count = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (!name && entries[i]->d_name[0] != '.' && wanted(entries[i]->d_name))
			name = strdup(entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return name;
}

int hub_cache_find(const char *cache, const struct hub_repository *r, const char *file,
                   bool (*wanted)(const char *name), struct hub_place *place, struct ipf_error *err)
{
	char *folder = repository_folder(cache, "", r), *name = NULL;
	struct buffer path = {0};
	int found = 0;
	*place = (struct hub_place){0};
	if (!folder)
		return ipf_error_memory(err);
	if (read_ref(folder, r->revision, place->commit)) {
		buffer_format(&path, "%s/snapshots/%s", folder, place->commit);
		if (!file && !path.failed)
			file = name = first_file(path.data, wanted);
		buffer_format(&path, "/%s", file ? file : "");
		found = path.failed ? ipf_error_memory(err) : file && is_file(path.data);
	}
	if (found == 1)
		place->path = path.data;
	else
		buffer_release(&path);
	free(name);
	free(folder);
	return found;
}

void hub_cache_nearest(const char *cache, const struct hub_repository *r, char near[196])
{
	const char *prefix = prefixes[r->kind];
	struct nearest best = {0};
	near[0] = '\0';
	DIR *folder = opendir(cache);
	for (struct dirent *entry = folder ? readdir(folder) : NULL; entry; entry = readdir(folder)) {
		char name[196];
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || strlen(entry->d_name) >= sizeof name)
			continue;
		strcpy(name, entry->d_name + strlen(prefix));
		char *dashes = strstr(name, "--");
		if (dashes) {
			*dashes = '/';
			memmove(dashes + 1, dashes + 2, strlen(dashes + 2) + 1);
		}
		size_t edits = best.edits;
		bool had = best.name;
		nearest_try(&best, r->name, strlen(r->name), name);
		if (best.name && (!had || best.edits < edits)) {
			strcpy(near, name);
			best.name = near;
		}
	}
	if (folder)
		closedir(folder);
	if (strcmp(near, r->name) == 0)
		near[0] = '\0';
}

/* ---- storing ---- */

/* Makes the folder the file is in. */
static int make_folder_of(char *path)
{
	char *name = strrchr(path, '/');
	*name = '\0';
	int status = folders_make(path, 0777);
	*name = '/';
	return status;
}

/* The lock file is removed by some programs when they end: the file that still has the name is locked. */
static int take_lock(char *path)
{
	struct stat ours, named;
	for (;;) {
		int fd = make_folder_of(path) < 0 ? -1
		                                  : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
		if (fd < 0)
			return -1;
		while (flock(fd, LOCK_EX) < 0)
			if (errno != EINTR) {
				close(fd);
				return -1;
			}
		if (fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
		    ours.st_dev == named.st_dev)
			return fd;
		close(fd);
	}
}

static int open_part(struct hub_blob *b, struct ipf_error *err)
{
	struct stat st;
	if (make_folder_of(b->part) < 0)
		return cannot_write(err, b->part);
	b->fd = open(b->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (b->fd < 0 || fstat(b->fd, &st) < 0)
		return cannot_write(err, b->part);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return ipf_error_at(err, IPF_SYSTEM, b->part, 0, "expected a file of ours; remove it");
	b->had = st.st_size;
	return 0;
}

int hub_blob_open(struct hub_blob *b, const char *cache, const struct hub_repository *r, const char *etag,
                  struct ipf_error *err)
{
	char *locks = repository_folder(cache, ".locks/", r), *lock = NULL;
	int status = 0;
	*b = (struct hub_blob){.folder = repository_folder(cache, "", r), .lock = -1, .fd = -1};
	if (!locks || !b->folder || asprintf(&b->path, "%s/blobs/%s", b->folder, etag) < 0)
		b->path = NULL;
	if (!b->path || asprintf(&b->part, "%s.incomplete", b->path) < 0)
		b->part = NULL;
	if (!b->part || asprintf(&lock, "%s/%s.lock", locks, etag) < 0)
		lock = NULL;
	if (!lock)
		status = ipf_error_memory(err);
	else if ((b->lock = take_lock(lock)) < 0)
		status = cannot_write(err, lock);
	else if (!is_file(b->path))
		status = open_part(b, err);
	free(locks);
	free(lock);
	return status;
}

int hub_blob_finish(struct hub_blob *b, struct ipf_error *err)
{
	if (fsync(b->fd) < 0 || rename(b->part, b->path) < 0)
		return cannot_write(err, b->path);
	return 0;
}

/* A small file that appears complete. */
static int write_ref(const struct hub_blob *b, const char *revision, const char *commit, struct ipf_error *err)
{
	char *path = NULL, *temporary = NULL;
	if (asprintf(&path, "%s/refs/%s", b->folder, revision) < 0)
		return ipf_error_memory(err);
	if (asprintf(&temporary, "%s.XXXXXX", path) < 0) {
		free(path);
		return ipf_error_memory(err);
	}
	int fd = make_folder_of(path) < 0 ? -1 : mkostemp(temporary, O_CLOEXEC), status = 0;
	mode_t mask = umask(0);
	umask(mask);
	bool good = fd >= 0 && fchmod(fd, 0666 & ~mask) == 0 &&
	            write(fd, commit, strlen(commit)) == (ssize_t)strlen(commit);
	if (fd >= 0 && close(fd) < 0)
		good = false;
	if (!good || rename(temporary, path) < 0) {
		status = cannot_write(err, path);
		if (fd >= 0)
			unlink(temporary);
	}
	free(path);
	free(temporary);
	return status;
}

/* A link replacing the file of that name. */
static int make_link(const char *target, const char *path)
{
	char *temporary = NULL;
	if (asprintf(&temporary, "%s.%ld.new", path, (long)getpid()) < 0)
		return -1;
	unlink(temporary);
	int status = symlink(target, temporary) < 0 || rename(temporary, path) < 0 ? -1 : 0;
	if (status < 0)
		unlink(temporary);
	free(temporary);
	return status;
}

int hub_blob_link(const struct hub_blob *b, const struct hub_repository *r, const char *file, const char *commit,
                  struct hub_place *place, struct ipf_error *err)
{
	struct buffer path = {0}, target = {0};
	int status = 0;
	buffer_format(&path, "%s/snapshots/%s/%s", b->folder, commit, file);
	buffer_text(&target, "../../");
	for (const char *c = file; *c; c++)
		if (*c == '/')
			buffer_text(&target, "../");
	buffer_format(&target, "blobs/%s", strrchr(b->path, '/') + 1);
	if (path.failed || target.failed)
		status = ipf_error_memory(err);
	else if (make_folder_of(path.data) < 0 || make_link(target.data, path.data) < 0)
		status = cannot_write(err, path.data);
	else if (strcmp(r->revision, commit) != 0)
		status = write_ref(b, r->revision, commit, err);
	buffer_release(&target);
	if (status < 0) {
		buffer_release(&path);
		return -1;
	}
	*place = (struct hub_place){.path = path.data};
	snprintf(place->commit, sizeof place->commit, "%s", commit);
	return 0;
}

void hub_blob_close(struct hub_blob *b)
{
	struct stat st;
	if (b->fd >= 0) {
		if (b->lock >= 0 && fstat(b->fd, &st) == 0 && st.st_size == 0 && st.st_nlink == 1 && b->part &&
		    !is_file(b->path))
			unlink(b->part);
		close(b->fd);
	}
	if (b->lock >= 0)
		close(b->lock);
	free(b->folder);
	free(b->path);
	free(b->part);
	*b = (struct hub_blob){.lock = -1, .fd = -1};
}
