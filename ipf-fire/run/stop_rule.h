/* --stop-on: ends the run when too many requests have failed. All that has ended so far in measured stages counts, not
 * a window of the last ones: a limit that is passed early is one of the whole run's, and needs nothing but the gauges.
 * Who was hung up on (--cancel) did not fail.
 */
#ifndef IPF_STOP_RULE_H
#define IPF_STOP_RULE_H

#include "error.h"
#include "job/run_counters.h"

#include <stdbool.h>

#define STOP_RULE_FEWEST 20 /* requests that have ended, before a share of them says anything */

struct stop_rule_rule {
	int64_t count; /* so many failed requests are too many; 0: no such limit */
	double share;  /* more than this is; below 0: no such limit */
};

/* "errors=5%" or "errors=100"; NULL: no limit at all. */
int stop_rule_parse(const char *text, struct stop_rule_rule *rule, struct ipf_error *err);

/* Has it come to that? `why` says so for people, as in "stopped: 12 of 100 requests failed (--stop-on errors=5%)". */
bool stop_rule_due(const struct stop_rule_rule *rule, const char *text, const struct run_counters *g, char why[128]);

#endif
