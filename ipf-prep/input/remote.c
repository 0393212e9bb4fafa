#include "input/remote.h"

#include "buffer.h"
#include "clock.h"
#include "input/download.h"
#include "input/archive_members.h"
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

#define HUB      "https://huggingface.co"
#define TRIES    5
#define PAUSE_NS (200 * NS_PER_MS)

/* What was brought here. */
static struct origin {
	char *path, *address;
	struct origin *next;
} * origins;

/* A file and its place in the cache. */
struct kept {
	char *url, *folder, *path, *mark_path, *part_path, *part_mark_path;
	char mark[MARK_MAX], part_mark[MARK_MAX];
	bool there, of_hub;
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

/* What may stand in a path as it is; "%" too, since who knows of escapes writes them. */
static void add_escaped(struct buffer *url, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];
		if (c > 32 && c < 127 && !strchr("\"<>?#[]\\^`{|}", c))
			buffer_byte(url, (char)c);
		else
			buffer_format(url, "%%%02X", c);
	}
}

/* hf://datasets/OWNER/NAME[@REVISION]/PATH: the address that the hub serves it under. */
static int hub_address(const char *address, struct buffer *url, struct ipf_error *err)
{
	static const char form[] = "expected hf://datasets/OWNER/NAME/PATH, and perhaps @REVISION behind the name";
	const char *endpoint = getenv("HF_ENDPOINT"), *owner = address + strlen("hf://datasets/");
	if (strncmp(address, "hf://datasets/", strlen("hf://datasets/")) != 0)
		return no_address(address, form, err);
	const char *name = strchr(owner, '/'), *file = name ? strchr(name + 1, '/') : NULL;
	if (!file || !file[1] || name == owner || file == name + 1 || file[strlen(file) - 1] == '/')
		return no_address(address, form, err);
	const char *at = memchr(name, '@', (size_t)(file - name));
	if (at == name + 1 || at == file - 1)
		return no_address(address, form, err);
	endpoint = endpoint && *endpoint ? endpoint : HUB;
	size_t len = strlen(endpoint);
	while (len && endpoint[len - 1] == '/')
		len--;
	buffer_append(url, endpoint, len);
	buffer_text(url, "/datasets/");
	add_escaped(url, owner, (size_t)((at ? at : file) - owner));
	buffer_text(url, "/resolve/");
	if (at)
		add_escaped(url, at + 1, (size_t)(file - at - 1));
	else
		buffer_text(url, "main");
	add_escaped(url, file, strlen(file));
	return 0;
}

static int address_to_url(struct kept *k, const char *address, struct ipf_error *err)
{
	struct buffer url = {0};
	k->of_hub = strncmp(address, "hf://", 5) == 0;
	if (k->of_hub && hub_address(address, &url, err) < 0) {
		buffer_release(&url);
		return -1;
	}
	if (!k->of_hub)
		buffer_text(&url, address);
	k->url = url.failed ? NULL : url.data;
	if (!k->url) {
		buffer_release(&url);
		return ipf_error_memory(err);
	}
	const char *host = strstr(k->url, "://") + 3;
	if (memchr(host, '@', strcspn(host, "/?#")))
		return ipf_error_set(err, IPF_USAGE, "%.*s…: a name or password in an address is not taken",
		                     (int)(host - k->url), k->url);
	return 0;
}

/* ---- the cache ---- */

static int cannot(struct ipf_error *err, const char *path)
{
	return ipf_error_errno(err, errno, path, "cannot keep what is loaded");
}

static char *joined(const char *folder, const char *name)
{
	char *path = NULL;
	return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

/* Makes the folder and those above it. */
static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		int bad = mkdir(path, 0700) < 0 && errno != EEXIST;
		if (!slash)
			return bad ? -1 : 0;
		*slash = '/';
		if (bad && errno != EACCES && errno != EROFS)
			return -1;
	}
}

static void read_mark(const char *path, char mark[MARK_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, mark, MARK_MAX - 1) : 0;
	mark[got > 0 ? got : 0] = '\0';
	mark[strcspn(mark, "\n")] = '\0';
	if (fd >= 0)
		close(fd);
}

static void write_mark(const char *path, const char *mark)
{
	int fd = *mark ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	/* without a whole mark the file is loaded again: nothing worse */
	if (fd < 0 || write(fd, mark, strlen(mark)) < 0)
		unlink(path);
	if (fd >= 0)
		close(fd);
}

static int find_place(struct kept *k, struct ipf_error *err)
{
	char hex[65];
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	size_t len = strcspn(k->url, "?#");
	const char *name = memrchr(k->url, '/', len), *host = strstr(k->url, "://") + 3;
	if (!name || name < host || name + 1 == k->url + len || name[1] == '.')
		return no_address(k->url, "there is no name of a file in this address", err);
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	digest_update(digest, k->url, strlen(k->url));
	digest_hex(digest, hex);
	digest_free(digest);
	int made = xdg && *xdg == '/' ? asprintf(&k->folder, "%s/ipf/sources/%.32s", xdg, hex)
	           : home && *home == '/'
	               ? asprintf(&k->folder, "%s/.cache/ipf/sources/%.32s", home, hex)
	               : ipf_error_set(err, IPF_SYSTEM,
	                               "there is no place to keep what is loaded: set XDG_CACHE_HOME or HOME");
	if (made < 0) {
		k->folder = NULL;
		return err->kind ? -1 : ipf_error_memory(err);
	}
	char *own = strndup(name + 1, (size_t)(k->url + len - name - 1));
	k->path = own ? joined(k->folder, own) : NULL;
	free(own);
	k->mark_path = joined(k->folder, ".mark");
	k->part_path = joined(k->folder, ".part");
	k->part_mark_path = joined(k->folder, ".part-mark");
	char *lock = joined(k->folder, ".lock");
	int status = 0;
	if (!k->path || !k->mark_path || !k->part_path || !k->part_mark_path || !lock)
		status = ipf_error_memory(err);
	else if (make_folders(k->folder) < 0)
		status = cannot(err, k->folder);
	else if ((k->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600)) < 0 || flock(k->lock, LOCK_EX) < 0)
		status = cannot(err, lock);
	free(lock);
	struct stat st;
	if (status == 0 && (k->there = stat(k->path, &st) == 0))
		read_mark(k->mark_path, k->mark);
	if (status == 0)
		read_mark(k->part_mark_path, k->part_mark);
	return status;
}

static void kept_release(struct kept *k)
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

/* ---- loading ---- */

/* One attempt; what came of the file before is gone on with. */
static int attempt(struct kept *k, struct download *d, struct ipf_error *err)
{
	struct stat st;
	d->fd = open(k->part_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (d->fd < 0 || fstat(d->fd, &st) < 0)
		return cannot(err, k->part_path);
	d->had = *k->part_mark ? st.st_size : 0;
	d->part_mark = k->part_mark;
	if (ftruncate(d->fd, d->had) < 0 || lseek(d->fd, d->had, SEEK_SET) < 0)
		return cannot(err, k->part_path);
	int status = download_run(d, err);
	if (d->status == 416) { /* it is shorter now than what we have */
		k->part_mark[0] = '\0';
	} else if (d->status == 200 || d->status == 206) {
		memcpy(k->part_mark, d->mark, sizeof k->part_mark);
		write_mark(k->part_mark_path, k->part_mark);
	}
	return status;
}

static int load(struct kept *k, struct download *d, struct ipf_error *err)
{
	for (int try = 1;; try++) {
		int status = attempt(k, d, err);
		bool cut = status < 0 && err->kind == IPF_SYSTEM &&
		           ((d->had > 0 && (d->status == 200 || d->status == 206)) || d->status == 416);
		int why = status == 0 && d->whole && fsync(d->fd) < 0 ? errno : 0;
		close(d->fd);
		if (why)
			return ipf_error_errno(err, why, k->part_path, "cannot keep what is loaded");
		if (!cut || err->errno_value || try == TRIES)
			return status;
		ipf_error_clear(err);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS * try}, NULL);
	}
}

/* What came takes its place. */
static int put(struct kept *k, const struct download *d, struct ipf_error *err)
{
	unlink(k->mark_path); /* no mark for another file, whatever happens now */
	unlink(k->part_mark_path);
	if (rename(k->part_path, k->path) < 0)
		return cannot(err, k->path);
	write_mark(k->mark_path, d->mark);
	return 0;
}

/* The one that is kept is taken where nobody can be asked about it. */
static bool make_do(const struct kept *k, const struct download *d, bool quiet, struct ipf_error *err)
{
	if (!k->there || err->kind != IPF_SYSTEM || !(d->unreached || d->status == 429 || d->status >= 500))
		return false;
	if (!quiet)
		fprintf(stderr, "ipf-prep: %s: %s; the one that was loaded earlier is taken\n", err->file, err->text);
	ipf_error_clear(err);
	return true;
}

static int remember(const struct kept *k, struct ipf_error *err)
{
	struct origin *o = calloc(1, sizeof *o);
	if (o && (o->path = strdup(k->path)) && (o->address = strndup(k->url, strcspn(k->url, "?#")))) {
		o->next = origins;
		origins = o;
		return 0;
	}
	if (o)
		free(o->path);
	free(o);
	return ipf_error_memory(err);
}

int remote_fetch(const char *address, size_t len, struct progress *progress, bool quiet, char **path,
                 struct ipf_error *err)
{
	struct kept k = {.lock = -1};
	char *own = strndup(address, len);
	int status = own ? address_to_url(&k, own, err) : ipf_error_memory(err);
	if (status == 0)
		status = find_place(&k, err);
	if (status == 0) {
		const char *token = k.of_hub ? getenv("HF_TOKEN") : NULL;
		struct download d = {.url = k.url,
		                     .token = token && *token ? token : NULL,
		                     .unless = k.there ? k.mark : NULL,
		                     .progress = progress};
		status = load(&k, &d, err);
		if (progress)
			progress_end(progress);
		if (status == 0 && d.whole)
			status = put(&k, &d, err);
		else if (status < 0 && make_do(&k, &d, quiet, err))
			status = 0;
	}
	if (status == 0)
		status = remember(&k, err);
	if (status == 0 && !(*path = strdup(k.path)))
		status = ipf_error_memory(err);
	kept_release(&k);
	free(own);
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
		free(o->path);
		free(o->address);
		free(o);
	}
}
