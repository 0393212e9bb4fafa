/* The parts of each request's time, by a twin of the server: the requests are sent to the twin at their recorded times,
 * and the parts of its steps are added up for each of them.
 *
 *     struct twin_why why;
 *     if (twin_why_find(&why, &twin, &data, &err) == 0)
 *         … twin_why_ns(&why, i, WHY_E2E, WHY_QUEUE) …      // for each request of the data that twin_why_knows
 *     twin_why_release(&why);
 *
 * The parts of a request add up to the measured time: WHY_UNEXPLAINED is the rest. The twin runs without jitter and
 * pauses here, which hit a request by chance and explain nothing.
 */
#ifndef TWIN_TWIN_WHY_H
#define TWIN_TWIN_WHY_H

#include "fit/twin_data.h"
#include "fit/twin_replay.h"

enum why_latency { WHY_TTFT, WHY_E2E, WHY_LATENCIES };
extern const char *const why_latency_names[WHY_LATENCIES]; /* "ttft", "e2e" */

/* In the order in which a request meets them. */
enum why_part {
	WHY_CONNECT,       /* until its connection was there */
	WHY_OVERHEAD,      /* network, parsing, a first wait: the twin's overhead */
	WHY_QUEUE,         /* until its first step */
	WHY_THROWN_OUT,    /* thrown out of the KV cache: see struct why_request */
	WHY_OWN_PROMPT,    /* until its first token: its own prompt is computed, less the cached part */
	WHY_OTHER_PROMPTS, /* prompts of others are computed in the same steps */
	WHY_STEPS,         /* the rest of these steps */
	WHY_LATER_PROMPTS, /* after the first token: prompts of others are computed in its steps */
	WHY_DECODING,      /* the rest of these steps */
	WHY_UNEXPLAINED,   /* measured, and not predicted; negative: the other way round */
	WHY_PARTS,
};
extern const char *const why_part_names[WHY_PARTS]; /* "connect", "overhead", … */

/* A request thrown out of the KV cache before its first token loses all since its first step: WHY_THROWN_OUT is from
 * there to the step that lets it in for good. One that is thrown out later loses the time from then to its next token:
 * it waits, and its prompt and the tokens of its answer are computed again. */
struct why_request {
	int64_t ns[WHY_UNEXPLAINED];
	int64_t thrown_out_ns; /* part of ns[WHY_THROWN_OUT] before its first token */
	double
		others[WHY_LATENCIES]; /* mean number of other sequences in its steps: up to the first token; after it; NAN */
};

struct twin_why {
	const struct twin_data *data;
	struct twin_replay replay;
	struct why_request *requests; /* for each request of the data */
	/* While it runs. */
	struct why_sums {
		int64_t prompts_ns, busy_ns;
		double sequence_ns; /* sequences × time */
	} sums;                 /* over all steps so far */
	struct why_mark {
		struct why_sums before; /* sums when it was let in; then up to its first token, and its time thrown out */
		int64_t let_in_ns;
		int64_t own_tokens;  /* uncached tokens of its prompt then */
		struct why_sums out; /* before the step that threw it out */
		int64_t out_ns;      /* IPF_ABSENT: it is not */
	} * marks;
	double prompt_ns; /* for each token */
};

/* -1: out of memory. */
int twin_why_find(struct twin_why *why, const struct twin *twin, const struct twin_data *data, struct ipf_error *err);
void twin_why_release(struct twin_why *why); /* to be called after an error, too */

/* False: the twin could not hold it, and nothing is known. */
bool twin_why_knows(const struct twin_why *why, int64_t request);
int64_t twin_why_measured_ns(const struct twin_why *why, int64_t request, enum why_latency of);
int64_t twin_why_ns(const struct twin_why *why, int64_t request, enum why_latency of, enum why_part part);

#endif
