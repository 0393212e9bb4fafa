#include "input/byte_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEED_CHUNK ((size_t)256 << 10)

/* Room for a chunk at the end of the window. */
static int make_room(struct byte_window *feed, struct ipf_error *err)
{
	size_t held = feed->end - feed->begin;
	if (held > BYTE_WINDOW_MAX)
		return ipf_error_set(err, IPF_INPUT, "a record of more than %zu MiB", BYTE_WINDOW_MAX >> 20);
	if (feed->cap - feed->end >= FEED_CHUNK)
		return 0;
	/* Moving what is held is worth it only where it is the smaller part; else the window doubles. */
	if (held > 0 && feed->begin > 0)
		memmove(feed->window, feed->window + feed->begin, held);
	feed->begin = 0;
	feed->end = held;
	if (feed->cap - held >= FEED_CHUNK && held <= feed->cap / 2)
		return 0;
	size_t cap = feed->cap * 2 > 4 * FEED_CHUNK ? feed->cap * 2 : 4 * FEED_CHUNK;
	char *window = realloc(feed->window, cap);
	if (!window)
		return ipf_error_errno(err, ENOMEM, NULL, "no memory for a record of %zu bytes", held);
	feed->window = window;
	feed->cap = cap;
	return 0;
}

int byte_window_more(struct byte_window *feed, struct ipf_error *err)
{
	if (feed->ended)
		return 0;
	if (make_room(feed, err) < 0)
		return -1;
	int64_t got = feed->read(feed->data, feed->window + feed->end, feed->cap - feed->end, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		feed->ended = true;
		return 0;
	}
	feed->end += (size_t)got;
	return 1;
}

void byte_window_restart(struct byte_window *feed)
{
	feed->begin = feed->end = 0;
	feed->ended = false;
}

void byte_window_release(struct byte_window *feed)
{
	free(feed->window);
	*feed = (struct byte_window){0};
}

int byte_window_line(struct byte_window *feed, const char **line, size_t *len, struct ipf_error *err)
{
	size_t seen = 0;
	for (;;) {
		const char *start = byte_window_at(feed);
		size_t held = feed->end - feed->begin;
		const char *newline = held > seen ? memchr(start + seen, '\n', held - seen) : NULL;
		if (!newline) {
			seen = held;
			int got = byte_window_more(feed, err);
			if (got < 0)
				return -1;
			if (got > 0)
				continue;
			if (held == 0)
				return 0;
			start = byte_window_at(feed);
		}
		size_t length = newline ? (size_t)(newline - start) : held;
		feed->begin += length + (newline != NULL);
		*line = start;
		*len = length > 0 && start[length - 1] == '\r' ? length - 1 : length;
		return 1;
	}
}
