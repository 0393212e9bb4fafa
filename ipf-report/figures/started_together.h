/* The requests of a closed loop beginning at the same moment, because its users did: without a warm-up and without
 * `rampup=`, the server computes the prompts of all of them at once. Latencies of such a stage are those of this burst
 * and of the load after it.
 *
 *     struct started_together t;
 *     started_together_find(&t, &run, stage, &err);
 *     if (t.requests > 0) … t.ttft_p99_ms …
 */
#ifndef REPORT_STARTED_TOGETHER_H
#define REPORT_STARTED_TOGETHER_H

#include "results/run_data.h"

struct started_together {
	int64_t requests;               /* 0: none, or no more than chance explains */
	double ttft_p99_ms, e2e_p99_ms; /* all other requests'; NAN: they have none */
};

/* Together are requests whose start is at most 5 % of the mean E2E after the first one, if they are at least five, and
 * half as many as there are users. Fails only when memory runs out. */
int started_together_find(struct started_together *t, const struct run_data *run, int32_t stage, struct ipf_error *err);

#endif
