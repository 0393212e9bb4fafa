/* How many replicas of a server there are, on a clock the caller holds: as many as a simulated autoscaler has for the
 * load, or as a series says; a fixed number is an autoscaler's whose least is its most.
 *
 * Wanted are  ceil(signal / scale_at)  replicas, at least `least` (and one as long as there are requests), at most
 * `most`, as from Kubernetes' horizontal autoscaler for an average value. The signal is the number of requests that
 * run, wait, or both.
 *
 * More than there are: they are added at once, and each is ready delay_ns later. Fewer, for idle_ns without a break:
 * then those beyond the most wanted in this time are removed at once, first those that are not ready.
 *
 *     replicas_init(&replicas, &options);
 *     if (replicas_update(&replicas, running, waiting, now)) batching_set_replicas(engine, replicas.ready);
 *     come back at replicas_deadline(&replicas), or when the load changes
 */
#ifndef IPF_REPLICAS_H
#define IPF_REPLICAS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { REPLICAS_MOST = 1024, REPLICAS_CHANGES_MOST = 300 };

enum replicas_signal { REPLICAS_ON_LOAD, REPLICAS_ON_RUNNING, REPLICAS_ON_WAITING };
extern const char *const replicas_signals[]; /* "load", "running", "waiting"; NULL at the end */

/* The number of ready replicas from this time on. */
struct replicas_change {
	int64_t at_ns, count;
};

struct replicas_options {
	int64_t least, most;
	int64_t delay_ns, idle_ns;
	int64_t scale_at;
	int signal; /* enum replicas_signal */
	/* A series: the first one is at 0, and the rule above does not count. */
	struct replicas_change changes[REPLICAS_CHANGES_MOST];
	size_t changes_count; /* 0: there is none */
};
#define REPLICAS_DEFAULT                                                                                               \
	{                                                                                                                  \
		.least = 1, .most = 1, .delay_ns = INT64_C(5000000000), .idle_ns = INT64_C(10000000000), .scale_at = 8         \
	}

struct replicas {
	struct replicas_options options;
	int64_t desired; /* those that are ready, and those that will be */
	int64_t ready;
	int64_t wanted; /* by the rule, now */
	/* Its own. */
	int64_t ready_at_ns[REPLICAS_MOST]; /* for those that are not ready, ascending */
	int64_t below_since_ns;             /* fewer are wanted since then; INT64_MAX: they are not */
	int64_t below_most;                 /* the most wanted since */
	size_t next;                        /* the series' */
};

/* "MIN:MAX[,delay=TIME][,idle=TIME][,scale-at=N][,on=load|running|waiting]" into the options at `replicas`; a missing
 * part has its default. -1: IPF_USAGE. */
int replicas_parse(const char *text, void *replicas, struct ipf_error *err);
/* The same, or "N", or a series "N,N@TIME[,N@TIME…]". */
int replicas_parse_any(const char *text, void *replicas, struct ipf_error *err);

/* Can their number change? */
bool replicas_vary(const struct replicas_options *options);

/* As many as the least are ready from the beginning. */
void replicas_init(struct replicas *replicas, const struct replicas_options *options);

/* Takes in the load as it is from now on. True: another number is ready. */
bool replicas_update(struct replicas *replicas, int64_t running, int64_t waiting, int64_t now_ns);

/* When the next change comes if the load stays; INT64_MAX: none. */
int64_t replicas_deadline(const struct replicas *replicas);

#endif
