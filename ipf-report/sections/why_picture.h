/* The parts of the time of requests (--why): their words, and pictures of them for a page, as stacked bars: TTFT and
 * E2E at p50 and at p99, of the run and of each stage, then over the run; one legend for all.
 *
 *     why_pictures(&html, json_at(report, "why"));
 */
#ifndef REPORT_WHY_PICTURE_H
#define REPORT_WHY_PICTURE_H

#include "buffer.h"

#include <jansson.h>

/* A part: its name in the JSON report, in tables, and in sentences. In the order in which a request meets them. */
struct why_words {
	const char *part, *row, *phrase;
};
enum { WHY_WORDS = 10 };
extern const struct why_words why_words[WHY_WORDS];

/* Appends elements of a page; nothing if there is nothing to draw. A picture has at most WHY_STAGES stages. */
enum { WHY_STAGES = 24 };
void why_pictures(struct buffer *out, json_t *why);

#endif
