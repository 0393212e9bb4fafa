#include "stream/stream.h"

#include "redact.h"
#include "memory.h"
#include "safe_text.h"
#include "stream/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
	STREAM_VERSION = 1,
	IN_SIZE = 256 * 1024,
	BEGINNING = 4096 /* this much of a line decides whether it can be one */
};

static size_t line_limit, window_limit; /* 0: the default */

void stream_limit_lines(size_t bytes)
{
	line_limit = bytes;
}

void stream_limit_windows(size_t bytes)
{
	window_limit = bytes;
}

size_t stream_line_limit(void)
{
	return line_limit;
}

struct stream_reader {
	int fd;
	char *name;
	char kind[16];
	bool seekable, eof, compressed;
	bool frame_open; /* in the middle of a compressed frame: its checksum has not been seen */
	char *in;        /* bytes of the file */
	size_t in_at, in_len;
	ZSTD_DStream *zstd;
	size_t block;       /* bytes that zstd wants: one block, so damage of the next one loses nothing of this one */
	struct buffer text; /* decompressed; lines are handed out from text_at */
	size_t text_at, searched;
	struct digest *digest;
	size_t digest_from, digest_to; /* text: lines the digest lacks, since it is faster for many at once */
	char sha256[65];
	json_t *header, *trailer;
	int64_t lines, line;
	struct ipf_error failure; /* returned again by every further call */
};

/* ---- bytes ---- */

#define FRAME_HEAD 5 /* bytes that zstd wants at first */

static int fill_in(struct stream_reader *r, struct ipf_error *err)
{
	ssize_t got;
	do
		got = read(r->fd, r->in, IN_SIZE);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return ipf_error_errno(err, errno, r->name, "cannot read");
	r->in_at = 0;
	r->in_len = (size_t)got;
	r->eof = got == 0;
	return 0;
}

/* Moves bytes from `in` to `text`, decompressed; as many as one call of zstd gives. */
static int decode(struct stream_reader *r, struct ipf_error *err)
{
	if (!r->compressed) {
		buffer_append(&r->text, r->in + r->in_at, r->in_len - r->in_at);
		r->in_at = r->in_len;
	} else {
		const size_t there = r->in_len - r->in_at;
		ZSTD_inBuffer in = {r->in, r->in_at + (there < r->block ? there : r->block), r->in_at};
		size_t room = ZSTD_DStreamOutSize();
		char *to = buffer_reserve(&r->text, room);
		if (to) {
			ZSTD_outBuffer out = {to, room, 0};
			size_t left = ZSTD_decompressStream(r->zstd, &out, &in);
			if (ZSTD_getErrorCode(left) == ZSTD_error_memory_allocation)
				return ipf_error_memory(err);
			if (ZSTD_getErrorCode(left) == ZSTD_error_frameParameter_windowTooLarge)
				return ipf_error_at(err, IPF_INPUT, r->name, 0,
				                    "compressed with a window of more than %zu MiB; --max-window allows larger ones",
				                    (window_limit ? window_limit : STREAM_WINDOW_MAX) >> 20);
			if (ZSTD_isError(left))
				return ipf_error_at(err, IPF_INPUT, r->name, 0, "damaged compressed data after %lld good lines: %s",
				                    (long long)r->lines, ZSTD_getErrorName(left));
			if (out.pos || in.pos > r->in_at) /* otherwise this only fetched bytes held back by zstd */
				r->frame_open = left != 0;
			r->text.len += out.pos;
			r->in_at = in.pos;
			r->block = left ? left : FRAME_HEAD;
		}
	}
	return r->text.failed ? ipf_error_memory(err) : 0;
}

static void update_digest(struct stream_reader *r)
{
	if (r->digest_from < r->digest_to)
		digest_update(r->digest, r->text.data + r->digest_from, r->digest_to - r->digest_from);
	r->digest_from = r->digest_to = 0;
}

/* Makes room for more text: drops the text handed out. */
static void drop_used(struct stream_reader *r)
{
	if (r->text_at == 0 || r->text_at < r->text.len / 2)
		return;
	update_digest(r);
	buffer_consume(&r->text, r->text_at);
	r->searched -= r->text_at;
	r->text_at = 0;
}

/* Gets more text: 1; 0: end of the input; -1. */
static int more(struct stream_reader *r, struct ipf_error *err)
{
	size_t before;
	drop_used(r);
	do {
		before = r->text.len;
		/* zstd may hold decompressed bytes back if its last output was full: fetch them before reading more */
		if (r->in_at == r->in_len && !r->compressed) {
			if (r->eof || fill_in(r, err) < 0)
				return r->eof ? 0 : -1;
		} else if (r->in_at == r->in_len) {
			if (decode(r, err) < 0)
				return -1;
			if (r->text.len > before)
				return 1;
			if (r->eof || fill_in(r, err) < 0)
				return r->eof ? 0 : -1;
		}
		if (decode(r, err) < 0)
			return -1;
	} while (r->text.len == before && !r->eof);
	return r->text.len > before;
}

static int too_long(struct stream_reader *r, size_t limit, struct ipf_error *err)
{
	return ipf_error_at(err, IPF_INPUT, r->name, r->line + 1,
	                    "the line is longer than %zu MiB, after %lld good lines; --max-line allows longer ones",
	                    limit >> 20, (long long)r->lines);
}

/* Whether the `len` bytes at `line`, whose end has not been seen, can become a line. Damage is found at its first byte:
 * memory does not depend on how much of it there is. */
static int check_beginning(struct stream_reader *r, const char *line, size_t len, struct ipf_error *err)
{
	size_t limit = line_limit ? line_limit : r->line == 0 ? STREAM_HEADER_MAX : STREAM_LINE_MAX;
	if (len > limit)
		return too_long(r, limit, err);
	if (len < BEGINNING || *line == '{')
		return 0;
	if (r->line == 0)
		return ipf_error_at(err, IPF_INPUT, r->name, 1, "not an ipf stream: it does not begin with \"{\"");
	return ipf_error_at(err, IPF_CUT, r->name, r->line + 1,
	                    "damaged after %lld good line%s: expected \"{\", got \"%s\"", (long long)r->lines,
	                    r->lines == 1 ? "" : "s", shown_slice((struct slice){line, 8}).text);
}

/* 1: a whole line, without its newline; 0: end of the input, the rest is not a whole line; -1. */
static int next_line(struct stream_reader *r, struct slice *line, struct ipf_error *err)
{
	for (;;) {
		size_t from = r->searched > r->text_at ? r->searched : r->text_at;
		char *newline = r->text.len > from ? memchr(r->text.data + from, '\n', r->text.len - from) : NULL;
		if (newline) {
			*line = (struct slice){r->text.data + r->text_at, (size_t)(newline - r->text.data) - r->text_at};
			if (check_beginning(r, line->data, line->len, err) < 0)
				return -1;
			r->text_at = r->searched = (size_t)(newline - r->text.data) + 1;
			r->line++;
			return 1;
		}
		r->searched = r->text.len;
		size_t pending = r->text.len - r->text_at;
		if (pending > 0 && check_beginning(r, r->text.data + r->text_at, pending, err) < 0)
			return -1;
		int got = more(r, err);
		if (got <= 0)
			return got;
	}
}

/* ---- opening ---- */

static int cut_at_header(struct stream_reader *r, struct ipf_error *err)
{
	struct stat file;
	if (r->text.len || r->compressed)
		return ipf_error_at(err, IPF_CUT, r->name, 0, "cut in the header: 0 good lines");
	bool pipe = r->fd == STDIN_FILENO && fstat(r->fd, &file) == 0 && (S_ISFIFO(file.st_mode) || S_ISSOCK(file.st_mode));
	return ipf_error_at(err, pipe ? IPF_UNFED : IPF_CUT, r->name, 0, "empty: expected an ipf %s%sstream", r->kind,
	                    *r->kind ? " " : "");
}

/* A stream of another kind: which programs make the expected kind of it. */
static int wrong_kind(const struct stream_reader *r, const char *kind, struct ipf_error *err)
{
	static const struct {
		const char *kind, *program;
	} steps[] = {{"trace", "ipf-prep"}, {"schedule", "ipf-sched"}, {"records", "ipf-fire"}, {"results", "ipf-collect"}};
	enum { STEPS = sizeof steps / sizeof *steps };
	char programs[64] = "";
	size_t got = STEPS, expected = 0;
	for (size_t i = 0; i < STEPS; i++) {
		got = strcmp(kind, steps[i].kind) == 0 ? i : got;
		expected = strcmp(r->kind, steps[i].kind) == 0 ? i : expected;
	}
	for (size_t i = got + 1; i <= expected; i++) {
		size_t len = strlen(programs);
		snprintf(programs + len, sizeof programs - len, "%s%s",
		         len == 0        ? ""
		         : i == expected ? " and "
		                         : ", ",
		         steps[i].program);
	}
	return ipf_error_at(err, IPF_INPUT, r->name, 1, "expected an ipf %s stream, got \"%s\"%s%s%s", r->kind, kind,
	                    *programs ? ": run " : "", programs, *programs ? " first" : "");
}

static int read_header(struct stream_reader *r, struct ipf_error *err)
{
	struct slice line;
	int got = next_line(r, &line, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		if (r->text.len && r->text.data[0] != '{')
			return ipf_error_at(err, IPF_INPUT, r->name, 1, "not an ipf stream: the first line is not a header");
		return cut_at_header(r, err);
	}
	json_error_t why;
	json_decref(r->header);
	r->header = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &why);
	const char *kind = json_string_value(json_object_get(r->header, "ipf"));
	if (!kind)
		return ipf_error_at(err, IPF_INPUT, r->name, 1, "not an ipf stream: the first line is not a header");
	if (*r->kind && strcmp(kind, r->kind) != 0)
		return wrong_kind(r, kind, err);
	json_t *version = json_object_get(r->header, "version");
	if (!json_is_integer(version) || json_integer_value(version) < 1)
		return ipf_error_at(err, IPF_INPUT, r->name, 1, "version: expected an integer of 1 or more");
	if (json_integer_value(version) > STREAM_VERSION)
		return ipf_error_at(err, IPF_INPUT, r->name, 1,
		                    "version: expected at most %d, got %lld: a newer ipf wrote this stream", STREAM_VERSION,
		                    (long long)json_integer_value(version));
	/* another program may have written it */
	return redact_stream_header(r->header) < 0 ? ipf_error_at(err, IPF_SYSTEM, r->name, 1, "out of memory") : 0;
}

static bool is_standard(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* The smallest power of two holding the limit, of those that zstd knows. */
static int window_log(void)
{
	size_t limit = window_limit ? window_limit : STREAM_WINDOW_MAX;
	int log = 10;
	while (log < 31 && (size_t)1 << log < limit)
		log++;
	return log;
}

/* Looks at the first bytes, which a pipe may deliver one by one. */
static int detect_compression(struct stream_reader *r, struct ipf_error *err)
{
	static const char magic[4] = {'\x28', '\xb5', '\x2f', '\xfd'};
	while (r->in_len < sizeof magic && !r->eof) {
		ssize_t got = read(r->fd, r->in + r->in_len, IN_SIZE - r->in_len);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ipf_error_errno(err, errno, r->name, "cannot read");
		r->eof = got == 0;
		r->in_len += (size_t)got;
	}
	size_t compare = r->in_len < sizeof magic ? r->in_len : sizeof magic;
	r->compressed = compare > 0 && memcmp(r->in, magic, compare) == 0;
	if (!r->compressed)
		return 0;
	if (!r->zstd && !(r->zstd = ZSTD_createDStream()))
		return ipf_error_memory(err);
	if (ZSTD_isError(ZSTD_initDStream(r->zstd)) ||
	    ZSTD_isError(ZSTD_DCtx_setParameter(r->zstd, ZSTD_d_windowLogMax, window_log())))
		return ipf_error_at(err, IPF_SYSTEM, r->name, 0, "cannot set the decompressor up");
	r->block = FRAME_HEAD;
	return 0;
}

static int start(struct stream_reader *r, struct ipf_error *err)
{
	r->eof = r->frame_open = false;
	r->in_at = r->in_len = r->text_at = r->searched = r->digest_from = r->digest_to = 0;
	r->lines = r->line = 0;
	buffer_clear(&r->text);
	json_decref(r->trailer);
	r->trailer = NULL;
	ipf_error_clear(&r->failure);
	digest_free(r->digest);
	if (!(r->digest = digest_new()))
		return ipf_error_memory(err);
	return detect_compression(r, err);
}

int stream_reader_open_input(struct stream_reader **reader, const char *path, struct ipf_error *err)
{
	*reader = NULL;
	struct stream_reader *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	r->fd = -1;
	r->name = strdup(is_standard(path) ? "standard input" : path);
	r->in = malloc(IN_SIZE);
	if (!r->name || !r->in) {
		ipf_error_memory(err);
		goto fail;
	}
	r->fd = is_standard(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (r->fd < 0) {
		ipf_error_errno(err, errno, r->name, "cannot open");
		goto fail;
	}
	r->seekable = lseek(r->fd, 0, SEEK_CUR) >= 0;
	if (start(r, err) < 0)
		goto fail;
	*reader = r;
	return 0;
fail:
	stream_reader_close(r);
	return -1;
}

int stream_reader_begin(struct stream_reader *r, const char *kind, struct ipf_error *err)
{
	snprintf(r->kind, sizeof r->kind, "%s", kind ? kind : "");
	return read_header(r, err);
}

int stream_reader_open(struct stream_reader **reader, const char *path, const char *kind, struct ipf_error *err)
{
	if (stream_reader_open_input(reader, path, err) < 0)
		return -1;
	if (stream_reader_begin(*reader, kind, err) == 0)
		return 0;
	stream_reader_close(*reader);
	*reader = NULL;
	return -1;
}

/* ---- input that may be no stream ---- */

int stream_reader_peek(struct stream_reader *r, size_t size, struct slice *text, struct ipf_error *err)
{
	int got = 1;
	while (got > 0 && r->text.len - r->text_at < size)
		got = more(r, err);
	*text = (struct slice){r->text.data ? r->text.data + r->text_at : "", r->text.len - r->text_at};
	return got < 0 ? -1 : 0;
}

int stream_reader_text(struct stream_reader *r, struct slice *text, struct ipf_error *err)
{
	int got = r->text_at < r->text.len ? 1 : more(r, err);
	if (got == 0 && r->frame_open)
		return ipf_error_at(err, IPF_CUT, r->name, 0, "cut: the compressed data end in the middle");
	if (got <= 0)
		return got;
	*text = (struct slice){r->text.data + r->text_at, r->text.len - r->text_at};
	digest_update(r->digest, text->data, text->len);
	r->text_at = r->searched = r->text.len;
	return 1;
}

int stream_text_read(const char *path, size_t most, struct buffer *text, struct ipf_error *err)
{
	struct stream_reader *reader = NULL;
	struct slice part;
	int got = stream_reader_open_input(&reader, path, err) < 0 ? -1 : 1;
	while (got == 1 && text->len <= most && (got = stream_reader_text(reader, &part, err)) == 1)
		buffer_slice(text, part);
	stream_reader_close(reader);
	if (got < 0)
		return -1;
	return text->failed ? ipf_error_memory(err) : 0;
}

/* ---- the body ---- */

static int read_trailer(struct stream_reader *r, struct slice line, struct ipf_error *err)
{
	if (line.len > STREAM_HEADER_MAX && line.len > line_limit)
		return too_long(r, STREAM_HEADER_MAX, err);
	json_error_t why;
	json_t *end = json_loadb(line.data, line.len, JSON_REJECT_DUPLICATES, &why);
	r->trailer = json_incref(json_object_get(end, "end"));
	json_decref(end);
	const char *sha256 = json_string_value(json_object_get(r->trailer, "sha256"));
	json_t *lines = json_object_get(r->trailer, "lines");
	if (!sha256 || !json_is_integer(lines))
		return ipf_error_at(err, IPF_INPUT, r->name, r->line, "end: expected \"lines\" and \"sha256\" in the trailer");
	if (json_integer_value(lines) != r->lines)
		return ipf_error_at(err, IPF_INPUT, r->name, r->line, "end: the trailer counts %lld lines, the stream has %lld",
		                    (long long)json_integer_value(lines), (long long)r->lines);
	if (strcmp(sha256, stream_reader_sha256(r)) != 0)
		return ipf_error_at(err, IPF_INPUT, r->name, r->line,
		                    "end: the SHA-256 of the %lld lines differs from the trailer: the stream was changed",
		                    (long long)r->lines);
	struct slice rest;
	int got = next_line(r, &rest, err);
	if (got < 0)
		return -1;
	if (r->frame_open)
		return ipf_error_at(err, IPF_CUT, r->name, 0, "cut in the last bytes, after %lld good line%s",
		                    (long long)r->lines, r->lines == 1 ? "" : "s");
	if (got > 0 || r->text_at < r->text.len)
		return ipf_error_at(err, IPF_INPUT, r->name, r->line, "data after the trailer");
	return 0;
}

static int read_body_line(struct stream_reader *r, struct slice *line, struct ipf_error *err)
{
	static const char trailer[] = "{\"end\":";
	int got = next_line(r, line, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return ipf_error_at(err, IPF_CUT, r->name, 0, "cut after %lld good line%s: the trailer is missing",
		                    (long long)r->lines, r->lines == 1 ? "" : "s");
	if (line->len >= sizeof trailer - 1 && memcmp(line->data, trailer, sizeof trailer - 1) == 0)
		return read_trailer(r, *line, err);
	r->lines++;
	if (r->digest_from == r->digest_to)
		r->digest_from = (size_t)(line->data - r->text.data);
	r->digest_to = r->text_at; /* with its newline */
	return 1;
}

int stream_reader_next(struct stream_reader *r, struct slice *line, struct ipf_error *err)
{
	if (r->failure.kind == IPF_OK && r->trailer)
		return 0;
	if (r->failure.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&r->failure);
	if (r->failure.kind == IPF_OK) {
		int got = read_body_line(r, line, &r->failure);
		if (got >= 0)
			return got;
	}
	if (err && err->kind == IPF_OK)
		*err = r->failure;
	return -1;
}

int stream_reader_rewind(struct stream_reader *r, struct ipf_error *err)
{
	if (!r->seekable || lseek(r->fd, 0, SEEK_SET) < 0)
		return ipf_error_at(err, IPF_SYSTEM, r->name, 0,
		                    "cannot be read twice: it is not a regular file; write it to a file first");
	return start(r, err) < 0 ? -1 : read_header(r, err);
}

int stream_reader_ready(struct stream_reader *r, int *fd)
{
	*fd = r->fd;
	if (r->failure.kind != IPF_OK || r->trailer || r->eof)
		return 1;
	size_t from = r->searched > r->text_at ? r->searched : r->text_at;
	if (r->compressed && r->in_at < r->in_len && !memchr(r->text.data + from, '\n', r->text.len - from)) {
		drop_used(r);
		if (decode(r, &r->failure) < 0)
			return 1;
		from = r->searched > r->text_at ? r->searched : r->text_at;
	}
	char *newline = r->text.len > from ? memchr(r->text.data + from, '\n', r->text.len - from) : NULL;
	r->searched = newline ? (size_t)(newline - r->text.data) : r->text.len; /* the next search begins here */
	return newline != NULL;
}

json_t *stream_reader_header(const struct stream_reader *r)
{
	return r->header;
}

json_t *stream_reader_trailer(const struct stream_reader *r)
{
	return r->trailer;
}

int64_t stream_reader_lines(const struct stream_reader *r)
{
	return r->lines;
}

int64_t stream_reader_line(const struct stream_reader *r)
{
	return r->line;
}

const char *stream_reader_name(const struct stream_reader *r)
{
	return r->name;
}

const char *stream_reader_sha256(struct stream_reader *r)
{
	update_digest(r);
	digest_hex(r->digest, r->sha256);
	return r->sha256;
}

void stream_reader_close(struct stream_reader *r)
{
	if (!r)
		return;
	if (r->fd > STDIN_FILENO)
		close(r->fd);
	ZSTD_freeDStream(r->zstd);
	buffer_release(&r->text);
	digest_free(r->digest);
	json_decref(r->header);
	json_decref(r->trailer);
	free(r->in);
	free(r->name);
	free(r);
}
