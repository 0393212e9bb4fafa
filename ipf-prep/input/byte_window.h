/* A window on a run of bytes: what the splitter, the line reader and the CSV reader look at.
 *
 * The bytes from `window + begin` to `window + end` have been read and not been consumed; a reader looks at them, asks
 * for more where a record is not whole yet, and moves `begin` past what it has done with. A record is therefore always
 * in one piece, and the memory is that of the largest record.
 *
 *     struct byte_window feed = {.read = from_file, .data = file};
 *     while (!whole(feed.window + feed.begin, feed.end - feed.begin) && byte_window_more(&feed, &err) == 1) …
 *     byte_window_release(&feed);
 */
#ifndef PREP_FEED_H
#define PREP_FEED_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No record is longer than this; what looks like one is a file that is not what it is taken for. */
#define BYTE_WINDOW_MAX ((size_t)512 << 20)

struct byte_window {
	/* Puts at most `cap` bytes at `to`: how many, 0 at the end, -1 on error. */
	int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err);
	void *data;
	char *window;
	size_t begin, end, cap;
	bool ended;
};

/* What has been read and not been consumed begins here. */
static inline const char *byte_window_at(const struct byte_window *feed)
{
	return feed->window ? feed->window + feed->begin : "";
}

/* Reads on: 1 when there are more bytes (the window may have moved), 0 at the end, -1 on error, also where what has not
 * been consumed is longer than BYTE_WINDOW_MAX (IPF_INPUT). */
int byte_window_more(struct byte_window *feed, struct ipf_error *err);
/* Forgets what was read, keeps the memory: for the next file. */
void byte_window_restart(struct byte_window *feed);
void byte_window_release(struct byte_window *feed);

/* The next line without its end (LF or CRLF), consumed: 1, 0 at the end, -1. Good until the feed is used again. */
int byte_window_line(struct byte_window *feed, const char **line, size_t *len, struct ipf_error *err);

#endif
