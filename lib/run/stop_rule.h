/* --stop-on and --stop-after-failures: end the run when too many requests have failed, or all of the first ones.
 *
 * All requests of measured stages that have ended so far count, not a window of the latest: the limit is one for the
 * whole run, and needs the run's counters only. A request that --cancel aborted has not failed.
 */
#ifndef IPF_STOP_RULE_H
#define IPF_STOP_RULE_H

#include "error.h"
#include "run/run_counters.h"

#include <stdbool.h>

#define STOP_RULE_FEWEST 20 /* requests that must have ended before a share is compared */

struct stop_rule {
	const char *text; /* as the user gave it; NULL: no limit */
	int64_t count;    /* stop at this many failed requests; 0: no such limit */
	double share;     /* stop above this share of failed requests; negative: no such limit */
};

#define STOP_RULE_NONE                                                                                                 \
	{                                                                                                                  \
		.share = -1                                                                                                    \
	}

/* "errors=5%" or "errors=100"; `text` is borrowed. -1: IPF_USAGE. */
int stop_rule_parse(const char *text, struct stop_rule *rule, struct ipf_error *err);

/* Have the first `after` requests failed, warm-ups included, and all others that have ended? Those in flight among the
 * first ones may still succeed, as when a burst is more than a server takes: so they hold it back. `after` 0: no such
 * limit; counters->first_left must begin with it. `why` is as below: "stopped: all 104 requests so far failed
 * (--stop-after-failures 100)". */
bool stop_rule_hopeless(int64_t after, const struct run_counters *counters, char why[128]);
/* Can that still become true? */
bool stop_rule_looks(int64_t after, const struct run_counters *counters);
/* Has the limit been reached? `why` is then a message such as "stopped: 12 of 100 requests failed (--stop-on
 * errors=5%)". */
bool stop_rule_reached(const struct stop_rule *rule, const struct run_counters *counters, char why[128]);

#endif
