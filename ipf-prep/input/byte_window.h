/* A window on a stream of bytes, through which the JSON splitter, the CSV reader and the line reader look at a file.
 *
 * The bytes from `begin` to `end` have been read but not consumed. A reader looks at them, asks for more if a record is
 * incomplete, and advances `begin` past the used ones. A record is therefore always contiguous, and the memory used is
 * the largest record's.
 *
 *     struct byte_window window = {.read = input_read, .data = input};
 *     while (!complete(byte_window_at(&window), window.end - window.begin) && byte_window_more(&window, &err) == 1) …
 *     byte_window_release(&window);
 */
#ifndef PREP_BYTE_WINDOW_H
#define PREP_BYTE_WINDOW_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The largest record, in bytes, unless --max-line says otherwise. A larger one means the file has another format.
 */
#define BYTE_WINDOW_MAX ((size_t)512 << 20)

struct byte_window {
	/* Writes up to `cap` bytes to `to`: how many, 0 at the end, -1 on error. */
	int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err);
	void *data;
	char *bytes;
	size_t begin, end, cap;
	size_t last; /* how many bytes the last read gave */
	bool ended;
	bool stuck;  /* the last attempt to get more failed */
	bool binary; /* bytes 0x00 are no error */
};

/* The first unconsumed byte. */
static inline const char *byte_window_at(const struct byte_window *window)
{
	return window->bytes ? window->bytes + window->begin : "";
}

/* Reads more: 1 if there are more bytes (they may have moved), 0 at the end, -1 on error, also if the unconsumed bytes
 * exceed the largest record, or are a MiB with NULs, which no text has (IPF_INPUT). */
int byte_window_more(struct byte_window *window, struct ipf_error *err);
/* Forgets all bytes but keeps the memory, for the next file. */
void byte_window_restart(struct byte_window *window);
void byte_window_release(struct byte_window *window);

/* Consumes the next line: 1 and the line without its end (LF or CRLF), 0 at the end, -1. The line is valid until the
 * window is used again. */
int byte_window_line(struct byte_window *window, const char **line, size_t *len, struct ipf_error *err);

/* A `read` for bytes in memory: `data` is a struct slice of the remaining ones. */
int64_t byte_window_read_slice(void *slice, char *to, size_t cap, struct ipf_error *err);

#endif
