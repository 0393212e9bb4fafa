#include "input/byte_window.h"

#include "stream/stream.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK        ((size_t)256 << 10)
#define CHECKED_FROM ((size_t)1 << 20)

/* Makes room for a chunk at the end of the window. */
static int make_room(struct byte_window *window, struct ipf_error *err)
{
	size_t held = window->end - window->begin;
	size_t limit = stream_line_limit() ? stream_line_limit() : BYTE_WINDOW_MAX;
	if (held > limit)
		return ipf_error_set(err, IPF_INPUT,
		                     "a record of more than %zu MiB; is the format right? --max-line allows longer ones",
		                     limit >> 20);
	if (held > CHECKED_FROM && !window->binary &&
	    memchr(window->bytes + window->end - window->last, '\0', window->last))
		return ipf_error_set(err, IPF_INPUT, "a record of more than %zu MiB that has bytes 0x00: this is no text",
		                     CHECKED_FROM >> 20);
	if (window->cap - window->end >= CHUNK)
		return 0;
	/* Moving alone suffices if few bytes are held; else the window doubles, so moving stays cheap. */
	if (held > 0 && window->begin > 0)
		memmove(window->bytes, window->bytes + window->begin, held);
	window->begin = 0;
	window->end = held;
	if (window->cap - held >= CHUNK && held <= window->cap / 2)
		return 0;
	size_t cap = window->cap * 2 > 4 * CHUNK ? window->cap * 2 : 4 * CHUNK;
	char *bytes = realloc(window->bytes, cap);
	if (!bytes)
		return ipf_error_memory(err);
	window->bytes = bytes;
	window->cap = cap;
	return 0;
}

int byte_window_more(struct byte_window *window, struct ipf_error *err)
{
	if (window->ended)
		return 0;
	int64_t got = -1;
	if (make_room(window, err) == 0)
		got = window->read(window->data, window->bytes + window->end, window->cap - window->end, err);
	window->stuck = got < 0;
	if (got < 0)
		return -1;
	if (got == 0) {
		window->ended = true;
		return 0;
	}
	window->end += (size_t)got;
	window->last = (size_t)got;
	return 1;
}

void byte_window_restart(struct byte_window *window)
{
	window->begin = window->end = window->last = 0;
	window->ended = window->stuck = window->binary = false;
}

void byte_window_release(struct byte_window *window)
{
	free(window->bytes);
	*window = (struct byte_window){0};
}

int byte_window_line(struct byte_window *window, const char **line, size_t *len, struct ipf_error *err)
{
	size_t seen = 0;
	for (;;) {
		const char *start = byte_window_at(window);
		size_t held = window->end - window->begin;
		const char *newline = held > seen ? memchr(start + seen, '\n', held - seen) : NULL;
		if (!newline) {
			seen = held;
			int got = byte_window_more(window, err);
			if (got < 0)
				return -1;
			if (got > 0)
				continue;
			if (held == 0)
				return 0;
			start = byte_window_at(window);
		}
		size_t length = newline ? (size_t)(newline - start) : held;
		window->begin += length + (newline != NULL);
		*line = start;
		*len = length > 0 && start[length - 1] == '\r' ? length - 1 : length;
		return 1;
	}
}

int64_t byte_window_read_slice(void *slice, char *to, size_t cap, struct ipf_error *err)
{
	struct slice *left = slice;
	size_t len = left->len < cap ? left->len : cap;
	(void)err;
	if (len > 0)
		memcpy(to, left->data, len);
	*left = (struct slice){left->data + len, left->len - len};
	return (int64_t)len;
}
