/* One window of a run: a stage's events from t_ns to t_ns + length_ns. Windows are added up, over requests, over
 * shards, and over neighbours to longer windows. See "Windows" in ipf-results(5), which defines every member.
 *
 *     struct window *w = window_new(12, 0, NS_PER_S);        // the thirteenth second of the first stage
 *     w->started++;
 *     window_sample(&w->ttft_ns, 35210907, 1);
 *     window_write(w, &line);                                // {"window":12,"t_ns":12000000000,…}
 *     window_free(w);
 *
 * Sums saturate instead of overflowing. Out of memory is remembered (memory.h): later additions are missing, and no
 * stream gets another line.
 */
#ifndef IPF_WINDOW_H
#define IPF_WINDOW_H

#include "json/jdoc.h"
#include "stats/histogram.h"

struct window_failure {
	char kind[16]; /* "timeout" */
	int64_t count;
};

struct window {
	int64_t number; /* floor(t / length) */
	int64_t stage;
	int64_t length_ns;
	int64_t scheduled, started, ok, hung_up, unseen; /* requests */
	struct window_failure *failures;                 /* by kind, in the order of their names */
	size_t failures_count;
	int64_t in_flight_ns, slot_wait_ns, pool_wait_ns; /* sums of time; divided by length_ns: mean numbers */
	int64_t input_tokens, output_tokens, failed_output_tokens, events;
	struct histogram *ttft_ns, *itl_ns, *e2e_ns, *lag_ns; /* coarse; NULL: no values */

	size_t memory; /* private to series.c */
};

struct window *window_new(int64_t number, int64_t stage, int64_t length_ns); /* NULL: out of memory */
void window_free(struct window *w);                                          /* NULL is fine */

int64_t window_begin_ns(const struct window *w);
int64_t window_failed(const struct window *w); /* failures of all kinds */

/* Adds `n` to a sum. */
void window_count(int64_t *sum, int64_t n);
/* Adds failures of a kind: 1 to 15 lower-case letters, digits and hyphens. */
void window_fail(struct window *w, struct slice kind, int64_t count);
/* Adds `count` times a value to one of the histograms. */
void window_sample(struct histogram **h, int64_t value, int64_t count);
/* Adds all that `from` has; number, stage and length remain those of `into`. */
void window_merge(struct window *into, const struct window *from);

/* The sums (requests, time, tokens) and histograms of a window in the order of its line, by number: the name of the
 * member, NULL behind the last one, and its value. */
const char *window_sum_name(size_t i);
int64_t window_sum(const struct window *w, size_t i);
const char *window_histogram_name(size_t i);
const struct histogram *window_histogram(const struct window *w, size_t i); /* NULL: no values */
/* Appends the number of each kind of failure: {"timeout":2} */
void window_write_failures(const struct window *w, struct buffer *out);

/* Renders it as a body line into `line`, which is cleared first. The same window always gives the same bytes. */
void window_write(const struct window *w, struct buffer *line);
/* Reads the map that window_write made. Unknown members are ignored. Returns a new window; NULL: IPF_INPUT for one that
 * contradicts itself, or out of memory. */
struct window *window_read(const struct jdoc *doc, jdoc_id map, struct ipf_error *err);

/* The bytes it takes, the same for the same calls on every machine of 64 bits. */
size_t window_memory(const struct window *w);

#endif
