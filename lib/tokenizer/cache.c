/* Compiled tokenizers on disk: $XDG_CACHE_HOME/ipf (else ~/.cache/ipf).
 *
 *     SHA256.tok    the block of the file with that digest, mapped read-only (SHA256.cl100k.tok and the like for rank
 * files) KEY.ref       64 characters: the digest of the file that had this device, inode, size and times (KEY is their
 * digest), so that an unchanged file need not be read at all
 *
 * Both appear by rename, whole or not at all. A block that is not as it should be (another version, another machine,
 * damaged, no regular file) is made again; a cache that cannot be written is no error. A file that changed in the last
 * seconds gets no .ref: it could change again without its times showing it.
 */
#include "tokenizer/compiled.h"

#include "stream/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
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

static bool block_is_sound(const void *memory, size_t size, const char *sha256)
{
	const struct compiled_header *h = memory;
	size_t head = offsetof(struct compiled_header, checksum) + sizeof h->checksum;
	if (size < sizeof *h || memcmp(h->magic, "ipf-tok\n", 8) != 0 || h->version != COMPILED_VERSION ||
	    h->order != 0x01020304 || h->size != size || memcmp(h->source_sha256, sha256, 65) != 0)
		return false;
	if (compiled_checksum((const char *)memory + head, size - head) != h->checksum)
		return false;
	for (int s = 0; s < SECTION_COUNT; s++)
		if (h->sections[s].offset > size || h->sections[s].bytes > size - h->sections[s].offset ||
		    h->sections[s].offset % 64)
			return false;
	return true;
}

/* Only a regular file: opening another kind, or reading it, may wait for somebody who never comes. */
static int open_entry(const struct buffer *path, struct stat *st)
{
	int fd = path->failed ? -1 : open(path->data, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, st) != 0 || !S_ISREG(st->st_mode))) {
		close(fd);
		return -1;
	}
	return fd;
}

static bool map_block(struct compiled *out, const char *folder, const char *kind, const char *sha256)
{
	struct buffer path = {0};
	struct stat st;
	void *memory = MAP_FAILED;

	buffer_format(&path, "%s/ipf/%s%s.tok", folder, sha256, kind);
	int fd = open_entry(&path, &st);
	if (fd >= 0 && st.st_size > 0)
		memory = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (fd >= 0)
		close(fd);
	buffer_release(&path);
	if (memory == MAP_FAILED)
		return false;
	if (!block_is_sound(memory, (size_t)st.st_size, sha256)) {
		munmap(memory, (size_t)st.st_size);
		return false;
	}
	*out = (struct compiled){.header = memory, .memory = memory, .mapped = (size_t)st.st_size};
	return true;
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
	buffer_format(&path, "/%s", name);
	buffer_format(&temporary, "%s/ipf/.new.XXXXXX", folder);
	int fd = path.failed || temporary.failed ? -1 : mkostemp(temporary.data, O_CLOEXEC);
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

static bool read_ref(const char *folder, const char *key, char sha256[65])
{
	struct buffer path = {0};
	struct stat st;
	char read_back[66];
	buffer_format(&path, "%s/ipf/%s.ref", folder, key);
	int fd = open_entry(&path, &st);
	ssize_t n = fd >= 0 ? read(fd, read_back, sizeof read_back) : -1;
	if (fd >= 0)
		close(fd);
	buffer_release(&path);
	if (n != 64)
		return false;
	memcpy(sha256, read_back, 64);
	sha256[64] = '\0';
	return strspn(sha256, "0123456789abcdef") == 64;
}

static void write_ref(const char *folder, const struct stat *st, const char *key, const char *sha256)
{
	char name[80];
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	if (now.tv_sec - st->st_ctim.tv_sec < SETTLED_SECONDS || now.tv_sec - st->st_mtim.tv_sec < SETTLED_SECONDS)
		return;
	snprintf(name, sizeof name, "%s.ref", key);
	store(folder, name, sha256, 64);
}

static int read_file(int fd, size_t expected, struct buffer *text, struct ipf_error *err)
{
	for (;;) {
		char *to = buffer_reserve(text, text->len < expected ? expected - text->len + 1 : 65536);
		if (!to)
			return ipf_error_memory(err);
		ssize_t n = read(fd, to, text->cap - text->len - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ipf_error_errno(err, errno, NULL, "cannot be read");
		if (n == 0)
			return 0;
		text->len += (size_t)n;
	}
}

static int compile(struct compiled *out, const char *kind, int fd, const struct stat *st, const char *folder,
                   const char *key, struct ipf_error *err)
{
	struct buffer text = {0};
	char sha256[65], name[100];
	int status = read_file(fd, st->st_size > 0 ? (size_t)st->st_size : 0, &text, err);

	if (status == 0) {
		digest_of(text.data ? text.data : "", text.len, sha256);
		if (!folder || !map_block(out, folder, kind, sha256)) {
			status = kind[0] ? load_ranks(out, kind, text.data ? text.data : "", text.len, sha256, err)
			                 : load_json(out, text.data ? text.data : "", text.len, sha256, err);
			if (status == 0 && folder) {
				snprintf(name, sizeof name, "%s%s.tok", sha256, kind);
				store(folder, name, out->memory, out->header->size);
			}
		}
		if (status == 0 && folder && S_ISREG(st->st_mode))
			write_ref(folder, st, key, sha256);
	}
	buffer_release(&text);
	return status;
}

int cache_open(struct compiled *out, const char *path, struct ipf_error *err)
{
	struct buffer folder = {0};
	struct stat st;
	char key[65], sha256[65];
	const char *kind;
	int status = 0;

	if (rank_file_kind(path, &kind, err) < 0)
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0) {
		ipf_error_errno(err, errno, path, "cannot be opened");
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		close(fd);
		return ipf_error_set(err, IPF_INPUT, "is a folder");
	}
	bool cached = cache_folder(&folder) && !folder.failed;
	identity(&st, kind, key);
	if (!(cached && key[0] && S_ISREG(st.st_mode) && read_ref(folder.data, key, sha256) &&
	      map_block(out, folder.data, kind, sha256)))
		status = compile(out, kind, fd, &st, cached ? folder.data : NULL, key, err);
	close(fd);
	buffer_release(&folder);
	return status;
}
