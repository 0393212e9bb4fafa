/* Why requests failed: the most frequent texts of their errors, by kind and status, and a remedy.
 *
 *     struct failure_tally t = {0};
 *     failure_tally_add(&t, "http-status", 404, text);
 *     failure_tally_sort(&t);                          // the most frequent first
 *     failure_describe(&t.list[0], line, sizeof line); // "404 ×30: model "x" does not exist"
 *
 * Texts that differ only in numbers, or in words that are ids (twelve characters or more with four digits), are one:
 * the differing parts are shown as "…". A word after a quote is a name, and kept. Bounded: after half of FAILURES_MOST,
 * new texts are counted by kind and status only; kinds and statuses beyond FAILURES_MOST in `others`.
 */
#ifndef IPF_FAILURE_TALLY_H
#define IPF_FAILURE_TALLY_H

#include "buffer.h"
#include "stream/result.h"

#include <stdint.h>

enum { FAILURES_MOST = 128, FAILURE_TEXT = 200 };

struct failure {
	char kind[24];
	int64_t status, count;   /* status IPF_ABSENT: none */
	char text[FAILURE_TEXT]; /* one of the texts, or with "…" where they differ; safe for a terminal; "": several
	                          * differ */
	char key[FAILURE_TEXT];  /* the text without the differing parts */
};

struct failure_tally {
	struct failure list[FAILURES_MOST];
	int count;
	int64_t all, others;
};

/* `kind` as ipf-results(5) names it; `text` is plain bytes, may be absent. */
void failure_tally_add(struct failure_tally *t, struct slice kind, int64_t status, struct slice text);
/* The same of texts that are JSON, with their quotes. -1: out of memory. */
int failure_tally_add_json(struct failure_tally *t, struct slice kind, int64_t status, struct slice text);
/* That of a failed request. -1: out of memory. */
int failure_tally_add_row(struct failure_tally *t, const struct result *row);
/* By count, then by kind, status and text. */
void failure_tally_sort(struct failure_tally *t);

/* The most frequent one; NULL: nothing failed. */
const struct failure *failure_tally_most(const struct failure_tally *t);

/* Such as `404 ×30: model "x" does not exist` or `timeout ×3: …`. Returns `text`. */
char *failure_describe(const struct failure *f, char *text, size_t size);
/* One line about all, whose order changes: `274 of 311 requests failed (273 in-band, 1 reset): most often in-band ×273:
 * overloaded`, with a remedy; nothing if none failed. `failed`: how to say it, "failed". */
void failure_tally_sum_up(struct failure_tally *t, int64_t requests, const char *failed, struct buffer *out);
/* A remedy, such as "-m names the model"; NULL: none is known. */
const char *failure_hint(const struct failure *f);

#endif
