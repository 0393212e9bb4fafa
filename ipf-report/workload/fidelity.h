/* How faithful a replay of a recorded trace was: one figure, 1 for a replay as recorded, and its loss to each cause.
 *
 *     struct fidelity f;
 *     fidelity_find(&f, &workload, &cache, &run, &err);
 *     if (!f.absent) … f.value, f.causes[FIDELITY_SLOTS].loss …
 *
 * The fidelity of a request is the product of shares, each 1 as recorded: of its time, its lengths and its reuse of
 * prefixes. 1 less it is lost, and divided among the causes in proportion to the lack of each share; the losses of all
 * causes add up to 1 - value. "Fidelity of a replay" in ipf-report-definitions(1) defines the shares.
 *
 * A request following others is due when they have ended, as recorded: a server of another speed moves it, which is a
 * result of the replay, and no loss. It is told beside (`moved`).
 */
#ifndef REPORT_FIDELITY_H
#define REPORT_FIDELITY_H

#include "workload/cache_truth.h"

/* Later than recorded by this is as recorded: servers take up requests between steps of some 10 ms. */
#define FIDELITY_TOLERANCE_NS INT64_C(10000000)
/* Later by this, a request's time counts half: loads are looked at in windows of a second. */
#define FIDELITY_HALF_NS INT64_C(1000000000)

enum fidelity_cause {
	FIDELITY_UNSENT,    /* in the schedule, and never sent */
	FIDELITY_SCHEDULE,  /* the schedule has another time than the trace */
	FIDELITY_SLOTS,     /* waited for a slot of the stage, or for a connection of the pool */
	FIDELITY_CLIENT,    /* the client was late */
	FIDELITY_CAUSALITY, /* sent before its parents had ended */
	FIDELITY_INPUT,     /* the server counted another length of the prompt */
	FIDELITY_ROUTING,   /* it went to a replica without the prefix, which another one had computed */
	FIDELITY_FAILED,    /* from here on the server's: no complete answer */
	FIDELITY_OUTPUT,    /* an answer of another length */
	FIDELITY_PREFIX,    /* it computed known blocks again */
	FIDELITY_CAUSES,
};
extern const char *const fidelity_cause_names[FIDELITY_CAUSES]; /* "unsent", "schedule", … */
bool fidelity_is_server(enum fidelity_cause cause);

struct fidelity_part {
	double loss;      /* the value's */
	int64_t requests; /* with a loss to it */
	double mean;      /* mean over these: ms too late; tokens of the server for each recorded one; NAN for others */
};

enum { FIDELITY_WORST = 5 };
struct fidelity_request {
	int64_t n, req;
	double value;
	enum fidelity_cause cause; /* the largest one */
};

struct fidelity {
	const char *absent; /* why there is no figure; NULL: there is */
	double value;
	int64_t requests; /* to be sent */
	double speed;     /* the recorded times were divided by this; NAN: nothing was timed */
	struct fidelity_part causes[FIDELITY_CAUSES];
	bool input_known, output_known, prefix_known; /* for any request */
	int64_t followers, moved;                     /* requests following others; those the server's speed moved */
	double moved_ms;                              /* by how much, in the mean */
	struct fidelity_request worst[FIDELITY_WORST];
	int worst_count;
};

/* Fails only when memory runs out. */
int fidelity_find(struct fidelity *f, const struct workload *w, const struct cache_truth *cache,
                  const struct run_data *run, struct ipf_error *err);

#endif
