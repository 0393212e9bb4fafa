#include "input/remote.h"

#include "buffer.h"
#include "clock.h"
#include "folders.h"
#include "hub/download.h"
#include "hub/hub_file.h"
#include "input/archive_members.h"
#include "own_file.h"
#include "safe_text.h"
#include "stream/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TRIES    5
#define PAUSE_NS (200 * NS_PER_MS)

/* Files this process fetched. */
static struct origin {
	char *path, *address;
	bool temporary;
	struct origin *next;
} * origins;

/* A file and its place in the cache. */
struct cached_file {
	char *url, *folder, *path, *mark_path, *part_path, *part_mark_path;
	char mark[MARK_MAX], part_mark[MARK_MAX];
	bool there;     /* the cache has the file */
	bool temporary; /* the folder is no cache: it is removed in the end */
	int lock;
};

bool is_remote(const char *path)
{
	return strncmp(path, "https://", 8) == 0 || strncmp(path, "http://", 7) == 0 || strncmp(path, "hf://", 5) == 0;
}

size_t remote_length(const char *path)
{
	size_t len = strlen(path);
	for (const char *colon = strchr(strstr(path, "://") + 3, ':'); colon; colon = strchr(colon + 1, ':')) {
		char *front = strndup(path, (size_t)(colon - path));
		bool archive = front && is_archive(front);
		free(front);
		if (archive)
			return (size_t)(colon - path);
	}
	return len;
}

/* ---- addresses ---- */

static int no_address(const char *address, const char *why, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: %s", address, why);
}

static int check_address(struct cached_file *k, struct ipf_error *err)
{
	const char *host = strstr(k->url, "://") + 3;
	if (memchr(host, '@', strcspn(host, "/?#")))
		return ipf_error_set(err, IPF_USAGE, "%.*s…: a user name or password in an address is not supported",
		                     (int)(host - k->url), k->url);
	return 0;
}

/* ---- the cache ---- */

void remote_say(const char *line)
{
	fputs("ipf-prep: ", stderr);
	safe_text_write(stderr, slice_of(line));
	fputc('\n', stderr);
}

static int cannot_cache(struct ipf_error *err, const char *path)
{
	return ipf_error_errno(err, errno, path, "cannot write the download cache");
}

static char *joined(const char *folder, const char *name)
{
	char *path = NULL;
	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

static void read_mark(const char *path, char mark[MARK_MAX])
{
	struct stat st;
	int fd = own_file_open(path, &st);
	ssize_t got = fd >= 0 ? read(fd, mark, MARK_MAX - 1) : 0;
	mark[got > 0 ? got : 0] = '\0';
	mark[strcspn(mark, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void write_mark(const char *path, const char *mark)
{
	int fd = *mark ? own_file_create(path) : -1;
	/* Without a complete mark, the file is merely downloaded again. */
	if (fd < 0 || ftruncate(fd, 0) < 0 || write(fd, mark, strlen(mark)) < 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
}

/* Whether others may write in the cache's folder: they would choose the bytes read. Sets this folder. */
static bool is_shared(const char *folder, char **which)
{
	for (int up = 0; up < 3; up++) { /* KEY, sources, ipf */
		char *path = strdup(folder);
		for (int i = 0; path && i < up; i++)
			*strrchr(path, '/') = '\0';
		if (!path || own_folder(path) == OWN_FOLDER_SHARED) {
			*which = path;
			return true;
		}
		free(path);
	}
	return false;
}

/* A folder for this process alone, instead of the cache. */
static int use_temporary_folder(struct cached_file *k, const char *shared, struct ipf_error *err)
{
	const char *place = getenv("TMPDIR");
	struct buffer line = {0};
	free(k->folder);
	if (asprintf(&k->folder, "%s/ipf-XXXXXX", place && *place ? place : "/tmp") < 0)
		k->folder = NULL;
	if (!k->folder)
		return ipf_error_memory(err);
	if (!mkdtemp(k->folder))
		return ipf_error_errno(err, errno, k->folder, "cannot make a folder for the download");
	k->temporary = true;
	buffer_format(&line, "%s: not used as the download cache: it is not ours alone (chmod go-w, or chown)", shared);
	if (!line.failed)
		remote_say(line.data);
	buffer_release(&line);
	return 0;
}

static int make_folder(struct cached_file *k, const char *hex, struct ipf_error *err)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *shared = NULL;
	int made = xdg && *xdg == '/' ? asprintf(&k->folder, "%s/ipf/sources/%.32s", xdg, hex)
	           : home && *home == '/'
	               ? asprintf(&k->folder, "%s/.cache/ipf/sources/%.32s", home, hex)
	               : ipf_error_set(err, IPF_SYSTEM, "no place for the download cache: set XDG_CACHE_HOME or HOME");
	if (made < 0) {
		k->folder = NULL;
		return err->kind ? -1 : ipf_error_memory(err);
	}
	if (!is_shared(k->folder, &shared))
		return folders_make(k->folder, 0700) < 0 ? cannot_cache(err, k->folder) : 0;
	int status = shared ? use_temporary_folder(k, shared, err) : ipf_error_memory(err);
	free(shared);
	return status;
}

static int take_lock(struct cached_file *k, struct ipf_error *err)
{
	char *lock = joined(k->folder, ".lock");
	int status = 0;
	if (!lock)
		status = ipf_error_memory(err);
	else if ((k->lock = own_file_create(lock)) < 0 || flock(k->lock, LOCK_EX) < 0)
		status = cannot_cache(err, lock);
	free(lock);
	return status;
}

static bool is_there(const char *path)
{
	struct stat st;
	int fd = own_file_open(path, &st);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int find_place(struct cached_file *k, struct ipf_error *err)
{
	char hex[65];
	size_t len = strcspn(k->url, "?#");
	const char *name = memrchr(k->url, '/', len), *host = strstr(k->url, "://") + 3;
	if (!name || name < host || name + 1 == k->url + len || name[1] == '.')
		return no_address(k->url, "expected an address ending in a file name", err);
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	digest_update(digest, k->url, strlen(k->url));
	digest_hex(digest, hex);
	digest_free(digest);
	if (make_folder(k, hex, err) < 0)
		return -1;
	char *own = strndup(name + 1, (size_t)(k->url + len - name - 1));
	k->path = own ? joined(k->folder, own) : NULL;
	free(own);
	k->mark_path = joined(k->folder, ".mark");
	k->part_path = joined(k->folder, ".part");
	k->part_mark_path = joined(k->folder, ".part-mark");
	if (!k->path || !k->mark_path || !k->part_path || !k->part_mark_path)
		return ipf_error_memory(err);
	if (take_lock(k, err) < 0)
		return -1;
	if ((k->there = is_there(k->path)))
		read_mark(k->mark_path, k->mark);
	read_mark(k->part_mark_path, k->part_mark);
	return 0;
}

/* Removes the files in a temporary folder beside the file, and both if the file is not `kept`. */
static void clean_temporary(const struct cached_file *k, bool kept)
{
	char *lock = joined(k->folder, ".lock");
	const char *const paths[] = {lock, k->mark_path, k->part_path, k->part_mark_path, kept ? NULL : k->path};
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (paths[i])
			unlink(paths[i]);
	if (!kept)
		rmdir(k->folder);
	free(lock);
}

static void cached_file_release(struct cached_file *k)
{
	if (k->lock >= 0)
		close(k->lock);
	free(k->url);
	free(k->folder);
	free(k->path);
	free(k->mark_path);
	free(k->part_path);
	free(k->part_mark_path);
}

/* ---- downloading ---- */

/* One attempt, which resumes an incomplete download. */
static int attempt(struct cached_file *k, struct download *d, struct ipf_error *err)
{
	struct stat st;
	d->fd = own_file_create(k->part_path);
	if (d->fd < 0 || fstat(d->fd, &st) < 0)
		return cannot_cache(err, k->part_path);
	d->had = *k->part_mark ? st.st_size : 0;
	d->part_mark = k->part_mark;
	if (ftruncate(d->fd, d->had) < 0 || lseek(d->fd, d->had, SEEK_SET) < 0)
		return cannot_cache(err, k->part_path);
	int status = download_run(d, err);
	if (d->status == 416) { /* the file is shorter now than the part we have */
		k->part_mark[0] = '\0';
	} else if (d->status == 200 || d->status == 206) {
		memcpy(k->part_mark, d->mark, sizeof k->part_mark);
		write_mark(k->part_mark_path, k->part_mark);
	}
	return status;
}

static int download_to_cache(struct cached_file *k, struct download *d, struct ipf_error *err)
{
	for (int try = 1;; try++) {
		int status = attempt(k, d, err);
		bool cut = status < 0 && err->kind == IPF_SYSTEM &&
		           ((d->had > 0 && (d->status == 200 || d->status == 206)) || d->status == 416);
		int why = status == 0 && d->whole && fsync(d->fd) < 0 ? errno : 0;
		close(d->fd);
		if (why)
			return ipf_error_errno(err, why, k->part_path, "cannot write the download cache");
		if (!cut || err->errno_value || try == TRIES)
			return status;
		ipf_error_clear(err);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS * try}, NULL);
	}
}

/* Moves the download to its place. */
static int install(struct cached_file *k, const struct download *d, struct ipf_error *err)
{
	unlink(k->mark_path); /* it is the old file's */
	unlink(k->part_mark_path);
	if (rename(k->part_path, k->path) < 0)
		return cannot_cache(err, k->path);
	write_mark(k->mark_path, d->mark);
	return 0;
}

/* Uses the cached file if the server cannot be reached. */
static bool fall_back_to_cache(const struct cached_file *k, const struct download *d, bool quiet, struct ipf_error *err)
{
	if (!k->there || err->kind != IPF_SYSTEM || !(d->unreached || d->status == 429 || d->status >= 500))
		return false;
	if (!quiet)
		fprintf(stderr, "ipf-prep: %s: %s; using the file downloaded earlier\n", err->file, err->text);
	ipf_error_clear(err);
	return true;
}

static int remember(const char *path, const char *url, struct ipf_error *err)
{
	struct origin *o = calloc(1, sizeof *o);
	if (o && (o->path = strdup(path)) && (o->address = strndup(url, strcspn(url, "?#")))) {
		o->next = origins;
		origins = o;
		return 0;
	}
	if (o)
		free(o->path);
	free(o);
	return ipf_error_memory(err);
}

/* ---- the hub ---- */

/* Whether a file is more likely data than a description. */
static bool is_data(const char *path)
{
	static const char *const endings[] = {".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".parquet", ".txt",
	                                      ".gz",   ".zst",   ".xz",     ".bz2", ".tar", ".tgz",     ".zip"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t len = strlen(path), end = strlen(endings[i]);
		if (len > end && strcasecmp(path + len - end, endings[i]) == 0)
			return true;
	}
	return false;
}

/* Without a path: lists the possible files, data first. */
static int list_dataset(const struct hub_repository *r, struct ipf_error *err)
{
	struct ipf_error why = {0};
	json_t *files = hub_files(r, &why), *entry;
	size_t i, count = json_array_size(files), data = 0;
	bool main = strcmp(r->revision, "main") == 0;
	for (int wanted = 1; wanted >= 0; wanted--)
		json_array_foreach(files, i, entry)
		{
			const char *path = json_string_value(entry);
			struct buffer line = {0};
			data += wanted && is_data(path);
			if (is_data(path) != wanted || (!wanted && data))
				continue;
			buffer_format(&line, "hf://datasets/%s%s%s/%s", r->name, main ? "" : "@", main ? "" : r->revision, path);
			if (!line.failed)
				remote_say(line.data);
			buffer_release(&line);
		}
	json_decref(files);
	if (count)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: expected hf://datasets/OWNER/NAME[@REVISION]/PATH: name one of the %zu files above",
		                     r->typed, data ? data : count);
	return ipf_error_set(err, IPF_USAGE, "%s: expected hf://datasets/OWNER/NAME[@REVISION]/PATH%s%s", r->typed,
	                     why.kind ? "; its files cannot be listed: " : "", why.text);
}

/* A file of the hub: its address in the trailer is the commit's. */
static int fetch_from_hub(const char *address, struct progress *progress, char **path, struct ipf_error *err)
{
	struct hub_repository r;
	struct hub_place place;
	struct hub_voice voice = {.say = remote_say, .progress = progress};
	struct buffer url = {0};
	if (hub_repository_parse(&r, address, err) < 0)
		return -1;
	if (r.kind != HUB_DATASET)
		return no_address(address, "expected hf://datasets/OWNER/NAME[@REVISION]/PATH", err);
	if (!r.path[0])
		return list_dataset(&r, err);
	if (hub_file(&r, r.path, &voice, &place, err) < 0)
		return -1;
	hub_file_url(&r, r.path, place.commit, &url);
	int status = url.failed ? ipf_error_memory(err) : remember(place.path, url.data, err);
	buffer_release(&url);
	if (status == 0)
		*path = place.path;
	else
		free(place.path);
	return status;
}

/* ---- other servers ---- */

static int fetch_from_server(struct cached_file *k, struct progress *progress, bool quiet, char **path,
                             struct ipf_error *err)
{
	struct download d = {.url = k->url, .progress = progress};
	int status = check_address(k, err);
	if (status == 0)
		status = find_place(k, err);
	if (status == 0) {
		d.unless = k->there ? k->mark : NULL;
		status = download_to_cache(k, &d, err);
		if (progress)
			progress_end(progress);
		if (status == 0 && d.whole)
			status = install(k, &d, err);
		else if (status < 0 && fall_back_to_cache(k, &d, quiet, err))
			status = 0;
	}
	if (status == 0)
		status = remember(k->path, k->url, err);
	if (k->temporary)
		clean_temporary(k, status == 0);
	if (status == 0)
		origins->temporary = k->temporary;
	if (status == 0 && !(*path = strdup(k->path)))
		status = ipf_error_memory(err);
	return status;
}

int remote_fetch(const char *address, size_t len, struct progress *progress, bool quiet, char **path,
                 struct ipf_error *err)
{
	struct cached_file k = {.lock = -1, .url = strndup(address, len)};
	int status = !k.url                            ? ipf_error_memory(err)
	             : strncmp(k.url, "hf://", 5) == 0 ? fetch_from_hub(k.url, progress, path, err)
	                                               : fetch_from_server(&k, progress, quiet, path, err);
	cached_file_release(&k);
	return status;
}

const char *remote_origin(const char *path)
{
	for (const struct origin *o = origins; o; o = o->next) {
		size_t len = strlen(o->path);
		if (strncmp(o->path, path, len) == 0 && (path[len] == '\0' || path[len] == ':'))
			return o->address;
	}
	return NULL;
}

void remote_release(void)
{
	while (origins) {
		struct origin *o = origins;
		origins = o->next;
		if (o->temporary && unlink(o->path) == 0) {
			*strrchr(o->path, '/') = '\0';
			rmdir(o->path);
		}
		free(o->path);
		free(o->address);
		free(o);
	}
}
