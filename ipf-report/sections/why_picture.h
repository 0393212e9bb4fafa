/* The parts of the time of requests (--why): their words, and a picture of them for a page: a bar for p50 and one for
 * p99, and a legend.
 *
 *     why_picture(&html, "why-ttft", "TTFT from start, by part", json_at(why, "ttft"));
 */
#ifndef REPORT_WHY_PICTURE_H
#define REPORT_WHY_PICTURE_H

#include "buffer.h"

#include <jansson.h>

/* A part: its name in the JSON report, in tables, and in sentences. In the order in which a request meets them. */
struct why_words {
	const char *part, *row, *phrase;
};
enum { WHY_WORDS = 9 };
extern const struct why_words why_words[WHY_WORDS];

/* Appends an element of a page; nothing if there is nothing to draw. `id` and `title` are texts of ours. */
void why_picture(struct buffer *out, const char *id, const char *title, json_t *latency);

#endif
