/* The judgement of each request by the objectives of --slo (objective/objective.h), and by its own.
 *
 *     slo_parse(&slo, "ttft=500ms,tpot=50ms", &err);          // a request that meets both is good: goodput counts it
 *     slo_judge(&slo, &result, &doc, &marks, &err)            // SLO_GOOD, …
 *
 * A latency counting from the start is compared from the due time if there is one: a user waits from then. A successful
 * answer without the latency (TTFT of an empty answer, TTFA of one that only reasons) does not meet the objective.
 * Exceptions: one token has no time between tokens, so nothing can be too slow; TTFT, TTFA and times between tokens
 * cannot be measured in an answer that was not streamed.
 */
#ifndef IPF_SLO_H
#define IPF_SLO_H

#include "error.h"
#include "json/jdoc.h"
#include "objective/objective.h"

struct slo {
	struct objective list[OBJECTIVES_MOST];
	int count;
	bool per_request; /* at least one applies to each request */
};

/* Adds the objectives of `text`, separated by commas. IPF_USAGE. */
int slo_parse(struct slo *slo, const char *text, struct ipf_error *err);

enum slo_answer {
	SLO_NONE,
	SLO_GOOD,
	SLO_MISSED,
	SLO_LEFT_OUT,   /* ipf-fire disconnected on purpose: the rest of the answer is unknown */
	SLO_UNMEASURED, /* it misses no objective, but was not streamed, so one cannot be measured */
};

/* Bit i stands for objective i of `slo`. */
struct slo_marks {
	uint32_t met;        /* the request meets it, or it does not apply */
	uint32_t unmeasured; /* it cannot be measured */
	uint32_t absent;     /* the request succeeded and does not meet it, because it has no such latency */
};

/* Compares a request with `slo` and with its own objectives (result->slo: {"ttft_ms": 500} or {"ttft": "500ms"}), which
 * replace those of `slo` on the same metric. Returns an enum slo_answer. -1: its own objectives are invalid. */
int slo_judge(const struct slo *slo, const struct result *result, struct jdoc *doc, struct slo_marks *marks,
              struct ipf_error *err);

#endif
