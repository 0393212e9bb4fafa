/* From what was seen of a request and what its answer says to its row of results. Every definition of ipf-results(5) is
 * here, and nowhere else; ipf-report only gathers.
 */
#ifndef COLLECT_MEASURE_H
#define COLLECT_MEASURE_H

#include "api/response.h"
#include "stream/record.h"
#include "stream/result.h"

/* The rule for a stall where the user gave no limit: a gap over so many medians of the request's own gaps, and over so
 * long. */
#define STALL_MEDIANS  10
#define STALL_LEAST_NS (INT64_C(100) * 1000 * 1000)

/* What an inter-token sample is. */
enum itl_mode {
	ITL_GAP,     /* a gap between content events */
	ITL_TOKEN,   /* the gap shared out over the tokens of the event that ends it, as many samples */
	ITL_REQUEST, /* the mean gap of a request */
};

struct measure_options {
	enum itl_mode itl;
	int64_t stall_ns;                   /* a gap over it is a stall; IPF_ABSENT: the rule above */
	int64_t deadline_ns;                /* between tokens, for the fluidity; 0: none is measured */
	bool keep_events, keep_text;        /* --events, --text */
	const struct token_counter *tokens; /* NULL: no tokenizer */
};

/* `count` inter-token latencies of this value. */
struct itl_sample {
	int64_t value_ns, count;
};

/* Scratch and results, used again for each row. Zero-initialise. */
struct measure {
	struct itl_sample *samples; /* of the last row */
	size_t samples_count;
	bool tokens_unknown; /* ITL_TOKEN, and there were gaps, but nobody knows the tokens of the events */

	/* private */
	int64_t *gaps, *event_tokens;
	size_t *event_ends;
	size_t cap;
	struct buffer kind, error_text, finish, finish_server, text, reasoning, event_ns, tokens_list;
};

/* Fills `row`, whose slices point into the record, the answer and `m`: good until one of them is used again. -1: out of
 * memory, or the tokenizer cannot encode the answer. */
int measure_row(struct measure *m, const struct record *record, const struct response *answer,
                const struct measure_options *options, struct result *row, struct ipf_error *err);
void measure_release(struct measure *m);

#endif
