/* Common to fuzz targets: a file in memory whose path a reader can open, a text ending in NUL, streams with their right
 * trailer, and a mutator for streams of JSON lines.
 *
 *     static struct memory_file file;
 *     reader_open(&reader, memory_file_set(&file, text), &err);
 */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include "buffer.h"
#include "error.h"
#include "stream/digest.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An oracle: a false condition is a finding. */
#define must(holds) ((holds) ? (void)0 : (fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #holds), abort()))

/* A reader refuses its input with a reason, and for no other: there is no fault of the system here. */
static inline void must_explain(const struct ipf_error *err)
{
	must((err->kind == IPF_INPUT || err->kind == IPF_USAGE || err->kind == IPF_CUT || err->kind == IPF_INVALID) &&
	     err->text[0]);
}

/* The bytes up to the next NUL, or all, in memory of their own with a NUL behind; free() it. *rest is the remaining
 * input. */
static inline char *take_text(struct slice *rest)
{
	const char *nul = rest->len ? memchr(rest->data, 0, rest->len) : NULL;
	size_t len = nul ? (size_t)(nul - rest->data) : rest->len, used = nul ? len + 1 : len;
	char *text = malloc(len + 1);
	must(text != NULL);
	if (len)
		memcpy(text, rest->data, len);
	text[len] = '\0';
	*rest = (struct slice){rest->data + used, rest->len - used};
	return text;
}

/* ---- files in memory --------------------------------------------------------------------------------------------- */

struct memory_file {
	int fd;
	char path[32];
};

static inline const char *memory_file_set(struct memory_file *file, struct slice text)
{
	if (!file->path[0]) {
		must((file->fd = memfd_create("fuzz", MFD_CLOEXEC)) >= 0);
		snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", file->fd);
	}
	must(ftruncate(file->fd, 0) == 0 && (!text.len || pwrite(file->fd, text.data, text.len, 0) == (ssize_t)text.len));
	return file->path;
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

/* Appends the text of a stream with the trailer its lines should have, so the code behind the trailer's checks is
 * reached as well. A header that is missing is `{"ipf":KIND,"version":1}`. */
static inline void seal_stream(struct slice text, const char *kind, struct buffer *out)
{
	const char *end = text.data + text.len, *at = text.data;
	struct digest *digest = digest_new();
	char hex[65];
	long lines = 0;
	must(digest != NULL);
	if (text.len < 7 || memcmp(at, "{\"ipf\":", 7) != 0)
		buffer_format(out, "{\"ipf\":\"%s\",\"version\":1}\n", kind);
	for (bool header = !out->len; at < end; header = false) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((stop ? stop : end) - at);
		if (!header && len >= 7 && memcmp(at, "{\"end\":", 7) == 0)
			break;
		buffer_append(out, at, len);
		buffer_byte(out, '\n');
		if (!header) {
			digest_update(digest, at, len);
			digest_update(digest, "\n", 1);
			lines++;
		}
		at += len + 1;
	}
	digest_hex(digest, hex);
	digest_free(digest);
	buffer_format(out, "{\"end\":{\"lines\":%ld,\"sha256\":\"%s\"}}\n", lines, hex);
}

/* ---- mutations of JSON lines, for libFuzzer only ------------------------------------------------------------------
 */

#if defined FUZZ_JSON_LINES && !defined LLVMFuzzerTestOneInput
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static inline unsigned fuzz_draw(unsigned *state, size_t below)
{
	*state = *state * 1664525u + 1013904223u;
	return below ? (unsigned)((*state >> 8) % below) : 0;
}

/* Replaces data[from, from + old) by other bytes. Returns the new size; the old one if there is no room. */
static inline size_t fuzz_splice(uint8_t *data, size_t size, size_t most, size_t from, size_t old, struct slice by)
{
	if (size - old + by.len > most)
		return size;
	memmove(data + from + by.len, data + from + old, size - from - old);
	if (by.len)
		memcpy(data + from, by.data, by.len);
	return size - old + by.len;
}

/* The line holding the byte `at`, with its newline. */
static inline size_t fuzz_line(const uint8_t *data, size_t size, size_t at, size_t *len)
{
	size_t from = at, to = at;
	while (from > 1 && data[from - 1] != '\n')
		from--;
	while (to < size && data[to] != '\n')
		to++;
	*len = to + (to < size) - from;
	return from;
}

/* How long the scalar, or the flat list or map, at `at` is. */
static inline size_t fuzz_value(const uint8_t *data, size_t size, size_t at)
{
	size_t to = at, depth = 0;
	for (bool text = false; to < size && data[to] != '\n'; to++) {
		if (data[to] == '"' && data[to - 1] != '\\')
			text = !text;
		if (text)
			continue;
		if (strchr("[{", data[to]) && data[to])
			depth++;
		else if (strchr(",]}", data[to]) && data[to] && (depth == 0 || (data[to] != ',' && --depth == 0)))
			return to + (data[to] != ',' && to > at && strchr("[{", data[at])) - at;
	}
	return to - at;
}

/* Half of the time libFuzzer's own change; else a line twice, away or elsewhere, or another value of a member, or
 * none. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
	static const char *const values[] = {"0",
	                                     "1",
	                                     "-1",
	                                     "null",
	                                     "true",
	                                     "false",
	                                     "\"\"",
	                                     "\"a\"",
	                                     "[]",
	                                     "{}",
	                                     "1e308",
	                                     "-0.0",
	                                     "0.5",
	                                     "2",
	                                     "1000000000",
	                                     "2305843009213693951",
	                                     "9223372036854775807",
	                                     "-9223372036854775808",
	                                     "4503599627370496",
	                                     "\"\\u0000\"",
	                                     "\"\\ud83d\\ude00\"",
	                                     "[0,1]",
	                                     "[[0,1,1]]",
	                                     "{\"a\":1}",
	                                     "1e-300",
	                                     "4294967296",
	                                     "\"p99:ttft=1ms\""};
	unsigned state = seed, what = fuzz_draw(&state, 8);
	if (size < 4 || what < 4)
		return LLVMFuzzerMutate(data, size, most);
	size_t at = 1 + fuzz_draw(&state, size - 1), len, from = fuzz_line(data, size, at, &len);
	uint8_t line[4096];
	if (what == 4 && len && len <= sizeof line) { /* the line once more, here or elsewhere */
		size_t other, to = fuzz_line(data, size, 1 + fuzz_draw(&state, size - 1), &other);
		memcpy(line, data + from, len);
		return fuzz_splice(data, size, most, to, 0, (struct slice){(const char *)line, len});
	}
	if (what == 5)
		return fuzz_splice(data, size, most, from, len, (struct slice){0});
	while (at < size && data[at - 1] != ':' && data[at - 1] != '[')
		at++;
	if (at >= size)
		return LLVMFuzzerMutate(data, size, most);
	len = fuzz_value(data, size, at);
	if (what == 6) {
		const char *value = values[fuzz_draw(&state, sizeof values / sizeof *values)];
		return fuzz_splice(data, size, most, at, len, slice_of(value));
	}
	for (from = at; from > 1 && data[from - 1] != ',' && data[from - 1] != '{' && data[from - 1] != '\n';)
		from--;
	size_t end = at + len + (at + len < size && data[at + len] == ',');
	return fuzz_splice(data, size, most, from, end - from, (struct slice){0});
}
#endif

#endif
