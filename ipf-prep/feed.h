/* A window on a run of bytes: what the splitter, the line reader and the CSV reader look at.
 *
 * The bytes from `window + begin` to `window + end` have been read and not been consumed; a reader looks at them, asks for
 * more where a record is not whole yet, and moves `begin` past what it has done with. A record is therefore always in one
 * piece, and the memory is that of the largest record.
 *
 *     struct feed feed = {.read = from_file, .data = file};
 *     while (!whole(feed.window + feed.begin, feed.end - feed.begin) && feed_more(&feed, &err) == 1) …
 *     feed_release(&feed);
 */
#ifndef PREP_FEED_H
#define PREP_FEED_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No record is longer than this; what looks like one is a file that is not what it is taken for. */
#define FEED_MAX ((size_t)512 << 20)

struct feed {
	/* Puts at most `cap` bytes at `to`: how many, 0 at the end, -1 on error. */
	int64_t (*read)(void *data, char *to, size_t cap, struct ipf_error *err);
	void *data;
	char *window;
	size_t begin, end, cap;
	bool ended;
};

/* What has been read and not been consumed begins here. */
static inline const char *feed_at(const struct feed *feed)
{
	return feed->window ? feed->window + feed->begin : "";
}

/* Reads on: 1 when there are more bytes (the window may have moved), 0 at the end, -1 on error, also where what has not been
 * consumed is longer than FEED_MAX (IPF_INPUT). */
int feed_more(struct feed *feed, struct ipf_error *err);
/* Forgets what was read, keeps the memory: for the next file. */
void feed_restart(struct feed *feed);
void feed_release(struct feed *feed);

/* The next line without its end (LF or CRLF), consumed: 1, 0 at the end, -1. Good until the feed is used again. */
int feed_line(struct feed *feed, const char **line, size_t *len, struct ipf_error *err);

#endif
