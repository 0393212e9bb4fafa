#include "stream/media_file.h"

#include "hash_index.h"
#include "base64.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MARK_BEGIN "{ipf-media:"
#define HEAD_BYTES (sizeof MEDIA_FILE_HEAD - 1)
#define PIECE      ((size_t)48 << 10) /* a multiple of 3: all pieces but the last have no padding */

/* ---- marks ---- */

void media_mark(struct media_range range, struct buffer *text)
{
	buffer_format(text, MARK_BEGIN "%" PRId64 "+%" PRId64 "}", range.begin, range.len);
}

/* A number of at most 18 digits, without a sign. */
static const char *read_number(const char *at, const char *end, int64_t *number)
{
	const char *first = at;
	for (*number = 0; at < end && isdigit((unsigned char)*at) && at - first < 18; at++)
		*number = *number * 10 + (*at - '0');
	return at == first ? NULL : at;
}

/* The mark beginning at `at`. */
static bool read_mark(struct slice text, const char *at, struct media_mark *mark)
{
	const char *end = text.data + text.len, *next = at + sizeof MARK_BEGIN - 1;
	if (at == text.data || (at[-1] != '"' && at[-1] != ',' && at[-1] != '\n'))
		return false;
	mark->decoded = at[-1] == '\n';
	if (!(next = read_number(next, end, &mark->range.begin)) || next == end || *next != '+' ||
	    !(next = read_number(next + 1, end, &mark->range.len)) || end - next < 2 || *next != '}' ||
	    (mark->decoded ? next[1] != '\r' : next[1] != '"' && next[1] != '\\'))
		return false;
	mark->begin = (size_t)(at - text.data);
	mark->end = (size_t)(next + 1 - text.data);
	return true;
}

bool media_next_mark(struct slice text, size_t from, struct media_mark *mark)
{
	const size_t len = sizeof MARK_BEGIN - 1;
	/* in JSON hardly anything else than a mark has a letter behind a brace: memmem would prepare for worse */
	for (const char *at; from + len < text.len; from = (size_t)(at - text.data) + 1) {
		at = memchr(text.data + from, *MARK_BEGIN, text.len - len - from);
		if (!at)
			return false;
		if (memcmp(at, MARK_BEGIN, len) == 0 && read_mark(text, at, mark))
			return true;
	}
	return false;
}

/* How many backslashes an escape needs in JSON inside JSON: one more than the quote before or behind the mark has. */
static size_t backslashes(struct slice text, const struct media_mark *mark)
{
	size_t before = 0, behind = 0;
	if (text.data[mark->begin - 1] == '"') {
		while (before + 1 < mark->begin && text.data[mark->begin - 2 - before] == '\\')
			before++;
		return before + 1;
	}
	while (mark->end + behind < text.len && text.data[mark->end + behind] == '\\')
		behind++;
	return mark->end + behind < text.len && text.data[mark->end + behind] == '"' ? behind + 1 : 1;
}

void media_hide_marks(struct buffer *text, size_t from)
{
	static const char brace[] = "u007b";
	struct media_mark mark;
	while (!text->failed && media_next_mark(buffer_all(text), from, &mark)) {
		const size_t slashes = backslashes(buffer_all(text), &mark), more = slashes + sizeof brace - 2;
		if (!buffer_reserve(text, more + 1))
			return;
		char *at = text->data + mark.begin;
		memmove(at + more, at, text->len - mark.begin + 1);
		memset(at, '\\', slashes);
		memcpy(at + slashes, brace, sizeof brace - 1);
		text->len += more;
		from = mark.end + more;
	}
}

/* ---- reading ---- */

static int check_file(int fd, const char *path, int64_t *bytes, struct ipf_error *err)
{
	char head[HEAD_BYTES];
	struct stat info;
	if (fstat(fd, &info) < 0)
		return ipf_error_errno(err, errno, path, "cannot read");
	if (!S_ISREG(info.st_mode) || pread(fd, head, sizeof head, 0) != (ssize_t)sizeof head ||
	    memcmp(head, MEDIA_FILE_HEAD, sizeof head) != 0)
		return ipf_error_at(err, IPF_INPUT, path, 0, "not a media file of a trace, which ipf-prep --media writes");
	*bytes = info.st_size;
	return 0;
}

int media_file_open(const char *path, int64_t *bytes, struct ipf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return ipf_error_errno(err, errno, path, "cannot read");
	if (check_file(fd, path, bytes, err) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- writing ---- */

#define DIGEST_BYTES 16 /* a SHA-256's first: no two media with the same occur */

struct known_medium {
	uint64_t key; /* the digest's */
	unsigned char digest[DIGEST_BYTES];
	struct media_range range;
};

struct media_writer {
	char *path;
	FILE *file;
	int64_t bytes;
	struct known_medium *slots; /* hash_index.h */
	size_t count, cap;
	struct buffer piece;
};

static int write_bytes(struct media_writer *w, const char *bytes, size_t len, struct ipf_error *err)
{
	if (fwrite(bytes, 1, len, w->file) != len)
		return ipf_error_errno(err, errno, w->path, "cannot write");
	w->bytes += (int64_t)len;
	return 0;
}

static void writer_free(struct media_writer *w)
{
	free(w->path);
	free(w->slots);
	buffer_release(&w->piece);
	free(w);
}

int media_writer_open(struct media_writer **writer, const char *path, struct ipf_error *err)
{
	*writer = NULL;
	struct media_writer *w = calloc(1, sizeof *w);
	if (!w || !(w->path = strdup(path))) {
		free(w);
		return ipf_error_memory(err);
	}
	w->file = fopen(path, "we");
	if (!w->file) {
		ipf_error_errno(err, errno, path, "cannot write");
		writer_free(w);
		return -1;
	}
	*writer = w;
	return write_bytes(w, MEDIA_FILE_HEAD, HEAD_BYTES, err);
}

static int write_base64(struct media_writer *w, struct slice bytes, struct ipf_error *err)
{
	for (size_t at = 0; at < bytes.len; at += PIECE) {
		buffer_clear(&w->piece);
		base64_encode((struct slice){bytes.data + at, bytes.len - at < PIECE ? bytes.len - at : PIECE}, &w->piece);
		if (w->piece.failed)
			return ipf_error_memory(err);
		if (write_bytes(w, w->piece.data, w->piece.len, err) < 0)
			return -1;
	}
	return 0;
}

int media_writer_add(struct media_writer *w, struct slice bytes, struct media_range *range, struct ipf_error *err)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	uint64_t key;
	if (!hash_index_room(w->slots, w->cap, w->count + 1) ||
	    !EVP_Digest(bytes.data, bytes.len, digest, NULL, EVP_sha256(), NULL))
		return ipf_error_memory(err);
	memcpy(&key, digest, sizeof key);
	key = hash_index_key(key);
	struct known_medium *slot = hash_index_find(w->slots, w->cap, key);
	while (slot->key && memcmp(slot->digest, digest, DIGEST_BYTES) != 0)
		slot = hash_index_next(w->slots, w->cap, slot);
	if (!slot->key) {
		struct media_range new = {.begin = w->bytes};
		if (write_base64(w, bytes, err) < 0)
			return -1;
		new.len = w->bytes - new.begin;
		memcpy(slot->digest, digest, DIGEST_BYTES);
		slot->range = new;
		slot->key = key;
		w->count++;
	}
	*range = slot->range;
	return 0;
}

int media_writer_close(struct media_writer *w, struct ipf_error *err)
{
	int result = 0;
	if (!w)
		return 0;
	if (fclose(w->file) != 0)
		result = ipf_error_errno(err, errno, w->path, "cannot write");
	writer_free(w);
	return result;
}
