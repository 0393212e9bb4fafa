/* The requests of a run, sent to a twin at their recorded times, and its answers compared with the measured ones.
 *
 *     struct twin_replay replay;
 *     if (twin_replay_begin(&replay, &data, &err) == 0 && twin_replay_run(&replay, &twin, &err) == 0)
 *         … twin_replay_distance(&replay) …
 *     twin_replay_end(&replay);
 */
#ifndef TWIN_TWIN_REPLAY_H
#define TWIN_TWIN_REPLAY_H

#include "stats/samples.h"
#include "fit/twin_data.h"

#include "twin/twin_server.h"

/* Called when a step begins, before that for each answer it lets in or throws out, and when the request of this number
 * got tokens. */
struct twin_replay_watch {
	void (*on_step)(size_t replica, const struct batching_step *step, void *data);
	void (*on_move)(const struct twin_answer *answer, int64_t at_ns, void *data);
	void (*on_tokens)(int64_t request, void *data);
	void *data;
};

struct twin_replay {
	const struct twin_data *data;
	const struct twin_replay_watch *watch; /* set after twin_replay_begin; NULL: nobody */
	struct twin_answer *answers;           /* each request's */
	int64_t *first_ns, *last_ns;
	int64_t now_ns;
	int64_t room; /* a request of more tokens is not sent: the twin could not hold it */
	/* Results of the last twin_replay_run, or of the stage of twin_replay_stage. */
	double computed[2]; /* tokens of prompts that no cache had: measured, predicted */
	struct samples measured[TWIN_ERROR_COUNT], predicted[TWIN_ERROR_COUNT]; /* ns */
	struct samples late;                                                    /* first tokens' delays behind the
	                                                                         * prediction */
};

int twin_replay_begin(struct twin_replay *replay, const struct twin_data *data, struct ipf_error *err);
void twin_replay_end(struct twin_replay *replay); /* to be called after an error, too */
int twin_replay_run(struct twin_replay *replay, const struct twin *twin, struct ipf_error *err);
/* After it: only requests of this stage count from here on. */
int twin_replay_stage(struct twin_replay *replay, int32_t stage, struct ipf_error *err);

/* Is this request sent? Known while its replay lasts, and after it. */
bool twin_replay_fits(const struct twin_replay *replay, int64_t request);
/* Are common beginnings of prompts known? Else the cached part counts as not sent. */
bool twin_replay_shares(const struct twin_replay *replay, const struct twin *twin);
/* |predicted / measured - 1| of a percentile; NAN: there is none. */
double twin_replay_error(struct twin_replay *replay, enum twin_error_of of, double percentile);
/* How far off the twin is: the mean of |log(predicted / measured)| of p25, p50, p75, p90 and p99 of all three
 * latencies, and ten times that of the prompt tokens that no cache had. */
double twin_replay_distance(struct twin_replay *replay);
/* Its median over the stages that have as many requests: in one in which the server is overloaded small differences
 * grow without bound. NAN: there is no such stage. Afterwards
 * only requests of the last stage count (twin_replay_stage). */
int twin_replay_by_stage(struct twin_replay *replay, double *distance, struct ipf_error *err);
#define TWIN_STAGE_LEAST 20

#endif
