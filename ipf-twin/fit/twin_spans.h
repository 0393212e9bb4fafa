/* The work of a server between two moments, from the times of its answers, whatever the steps were: how many tokens
 * were decoded, at how much context, how many prompts were computed, how many requests waited.
 *
 *     struct twin_spans spans;
 *     int64_t next;
 *     if (twin_spans_open(&spans, &data, first_request, &next, &err) == 0)   // of the server of this request
 *         struct twin_span span = twin_spans_between(&spans, from_ns, to_ns);
 *     twin_spans_close(&spans);
 */
#ifndef TWIN_TWIN_SPANS_H
#define TWIN_TWIN_SPANS_H

#include "fit/twin_data.h"

/* The sums of two weights over all moments up to one. */
struct twin_moment {
	int64_t t_ns;
	double sums[2];
};

struct twin_series {
	struct twin_moment *list; /* sorted by time */
	int64_t count;
};

struct twin_spans {
	int64_t begin_ns;          /* its first request's */
	struct twin_series starts; /* requests: ns since the beginning */
	struct twin_series firsts; /* first events: ns since the beginning, tokens of the prompt */
	struct twin_series lasts;  /* last events */
	struct twin_series events; /* after the first of an answer: tokens of context */
};

struct twin_span {
	double decoded, context; /* events after the first of an answer, and the tokens before all of these */
	double prompts, prompt_tokens;
	double waiting; /* requests without a first token, on average */
};

/* next: the first request of the next server, or request_count. -1: out of memory. */
int twin_spans_open(struct twin_spans *spans, const struct twin_data *data, int64_t first, int64_t *next,
                    struct ipf_error *err);
void twin_spans_close(struct twin_spans *spans); /* to be called after an error, too */

/* After from_ns, up to to_ns, which is later. */
struct twin_span twin_spans_between(const struct twin_spans *spans, int64_t from_ns, int64_t to_ns);
/* Answers that have begun and not ended, and waiting requests, just after this moment. */
int64_t twin_spans_decoding(const struct twin_spans *spans, int64_t at_ns);
int64_t twin_spans_waiting(const struct twin_spans *spans, int64_t at_ns);

#endif
