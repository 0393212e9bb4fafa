#include "tokenizer/compiled_cache.h"

#include "own_file.h"
#include "whole_file.h"
#include "tokenizer/compiled_check.h"
#include "tokenizer/rank_file.h"
#include "tokenizer/tokenizer_json.h"

#include "stream/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SETTLED_SECONDS 3

static bool cache_folder(struct buffer *folder)
{
	const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (xdg && xdg[0] == '/')
		buffer_text(folder, xdg);
	else if (home && home[0] == '/')
		buffer_format(folder, "%s/.cache", home);
	else
		return false;
	return true;
}

/* Whether the cache may be used: files others can write to are not believed. */
static enum own_folder trust(const char *folder)
{
	struct buffer path = {0};
	buffer_format(&path, "%s/ipf", folder);
	enum own_folder found = path.failed ? OWN_FOLDER_SHARED : own_folder(path.data);
	buffer_release(&path);
	return found;
}

bool compiled_cache_refused(char *path, size_t size)
{
	struct buffer folder = {0};
	bool refused = cache_folder(&folder) && !folder.failed && trust(folder.data) == OWN_FOLDER_SHARED;
	if (refused)
		snprintf(path, size, "%s/ipf", folder.data);
	buffer_release(&folder);
	return refused;
}

static bool map_block(struct compiled_block *out, const char *folder, const char *kind, const char *sha256)
{
	struct buffer path = {0};
	struct stat st;
	void *memory = MAP_FAILED;

	buffer_format(&path, "%s/ipf/%s%s.tok", folder, sha256, kind);
	int fd = path.failed ? -1 : own_file_open(path.data, &st);
	if (fd >= 0 && st.st_size > 0)
		memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (fd >= 0)
		close(fd);
	buffer_release(&path);
	if (memory == MAP_FAILED)
		return false;
	*out = (struct compiled_block){.header = memory, .memory = memory, .mapped = (size_t)st.st_size};
	if (compiled_is_sound(memory, (size_t)st.st_size, sha256) && compiled_is_consistent(out))
		return true;
	compiled_release(out);
	return false;
}

static bool write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		data += n;
		len -= (size_t)n;
	}
	return true;
}

static void store(const char *folder, const char *name, const void *data, size_t len)
{
	struct buffer temporary = {0}, path = {0};

	mkdir(folder, 0700);
	buffer_format(&path, "%s/ipf", folder);
	if (!path.failed)
		mkdir(path.data, 0700);
	bool ours = !path.failed && own_folder(path.data) == OWN_FOLDER_OURS;
	buffer_format(&path, "/%s", name);
	buffer_format(&temporary, "%s/ipf/.new.XXXXXX", folder);
	int fd = !ours || path.failed || temporary.failed ? -1 : mkostemp(temporary.data, O_CLOEXEC);
	if (fd >= 0) {
		bool good = write_all(fd, data, len);
		if (close(fd) != 0 || !good || rename(temporary.data, path.data) != 0)
			unlink(temporary.data);
	}
	buffer_release(&temporary);
	buffer_release(&path);
}

static void digest_of(const void *data, size_t len, char hex[65])
{
	struct digest *d = digest_new();
	hex[0] = '\0';
	if (!d)
		return;
	digest_update(d, data, len);
	digest_hex(d, hex);
	digest_free(d);
}

static void identity(const struct stat *st, const char *kind, char key[65])
{
	struct buffer text = {0};
	buffer_format(&text, "%d%s %ju %ju %jd %jd.%09ld %jd.%09ld", COMPILED_VERSION, kind, (uintmax_t)st->st_dev,
	              (uintmax_t)st->st_ino, (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec,
	              (intmax_t)st->st_ctim.tv_sec, st->st_ctim.tv_nsec);
	key[0] = '\0';
	if (!text.failed)
		digest_of(text.data, text.len, key);
	buffer_release(&text);
}

/* The contents of a .ref: the file's digest, and one that binds it to the key, so another file's .ref is none. */
static bool ref_text(const char *key, const char *sha256, char text[129])
{
	char both[129];
	snprintf(both, sizeof both, "%.64s%.64s", key, sha256);
	memcpy(text, sha256, 64);
	digest_of(both, strlen(both), text + 64);
	return text[64] != '\0';
}

static bool read_ref(const char *folder, const char *key, char sha256[65])
{
	struct buffer path = {0};
	struct stat st;
	char read_back[130], expected[129];
	buffer_format(&path, "%s/ipf/%s.ref", folder, key);
	int fd = path.failed ? -1 : own_file_open(path.data, &st);
	ssize_t n = fd >= 0 ? read(fd, read_back, sizeof read_back) : -1;
	if (fd >= 0)
		close(fd);
	buffer_release(&path);
	if (n != 128)
		return false;
	memcpy(sha256, read_back, 64);
	sha256[64] = '\0';
	return strspn(sha256, "0123456789abcdef") == 64 && ref_text(key, sha256, expected) &&
	       memcmp(read_back, expected, 128) == 0;
}

static void write_ref(const char *folder, const struct stat *st, const char *key, const char *sha256)
{
	char name[80], text[129];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - st->st_ctim.tv_sec < SETTLED_SECONDS || now.tv_sec - st->st_mtim.tv_sec < SETTLED_SECONDS)
		return;
	snprintf(name, sizeof name, "%s.ref", key);
	if (ref_text(key, sha256, text))
		store(folder, name, text, 128);
}

/* The file opened, and its place in the cache. */
struct source {
	const char *path;
	int fd;
	struct stat st;
	const char *kind;   /* a rank file's; "" for a tokenizer.json */
	const char *folder; /* the cache's; NULL: there is none, or others may write to it */
	bool anew;          /* write the cache's file again */
	char key[65];       /* empty: no .ref */
};

static int compile_text(struct compiled_block *out, const struct source *source, struct slice text, const char *sha256,
                        struct ipf_error *err)
{
	char name[100];
	if (source->folder && !source->anew && map_block(out, source->folder, source->kind, sha256))
		return 0;
	int status = source->kind[0] ? rank_file_compile(out, source->kind, text, sha256, err)
	                             : tokenizer_json_compile(out, text, sha256, err);
	if (status == 0 && source->folder) {
		snprintf(name, sizeof name, "%s%s.tok", sha256, source->kind);
		store(source->folder, name, out->memory, out->header->size);
	}
	return status;
}

static int compile(struct compiled_block *out, const struct source *source, struct ipf_error *err)
{
	struct buffer text = {0};
	char sha256[65];
	static const struct whole_file tokenizer_file = {"a tokenizer", (size_t)128 << 20};
	int status = whole_file_read_fd(source->fd, source->path, tokenizer_file, &text, err);

	if (status == 0) {
		struct slice all = {text.data ? text.data : "", text.len};
		digest_of(all.data, all.len, sha256);
		status = compile_text(out, source, all, sha256, err);
		if (status == 0 && source->folder && S_ISREG(source->st.st_mode))
			write_ref(source->folder, &source->st, source->key, sha256);
	}
	buffer_release(&text);
	return status;
}

int compiled_cache_open(struct compiled_block *out, const char *path, bool anew, struct ipf_error *err)
{
	struct source source = {.path = path, .kind = "", .anew = anew};
	struct buffer folder = {0};
	char sha256[65];
	int status = 0;

	if (rank_file_kind(path, &source.kind, err) < 0)
		return -1;
	source.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (source.fd < 0 || fstat(source.fd, &source.st) != 0) {
		ipf_error_errno(err, errno, path, "cannot open");
		if (source.fd >= 0)
			close(source.fd);
		return -1;
	}
	if (S_ISDIR(source.st.st_mode)) {
		close(source.fd);
		return ipf_error_set(err, IPF_INPUT, "expected a file, got a folder");
	}
	if (cache_folder(&folder) && !folder.failed && trust(folder.data) != OWN_FOLDER_SHARED)
		source.folder = folder.data;
	identity(&source.st, source.kind, source.key);
	if (!(source.folder && !anew && source.key[0] && S_ISREG(source.st.st_mode) &&
	      read_ref(folder.data, source.key, sha256) && map_block(out, folder.data, source.kind, sha256)))
		status = compile(out, &source, err);
	close(source.fd);
	buffer_release(&folder);
	return status;
}
