/* How far requests attain the objectives of --slo (results/slo.h).
 *
 *     attainment_of_rows(&a, objective, &rows, false, &s);
 *     attainment_judge(&a, objective);      // a.state: met, missed, or too few requests to say
 *
 * In a run with several loads, failed requests miss every objective, and a load is judged by the percentile of its
 * requests only if these are enough for it (samples_needed). Fewer can still miss it: if so many beyond the limit would
 * be seen less often than in 1 % of the loads just meeting the objective.
 */
#ifndef REPORT_ATTAINMENT_H
#define REPORT_ATTAINMENT_H

#include "figures/row_samples.h"
#include "figures/loads.h"

enum objective_state { OBJECTIVE_UNJUDGED, OBJECTIVE_MET, OBJECTIVE_MISSED, OBJECTIVE_TOO_FEW };
extern const char *const objective_state_names[]; /* NULL, "met", "missed", "too few requests" */

struct attainment {
	int64_t unmeasured; /* requests for which it could not be measured */
	int64_t absent;     /* successful requests missing it, because they have no such latency */
	double share;       /* per-request objective: share of the other requests meeting it */
	double value_ms;    /* objective on a percentile: its value */
	double waited_ms;   /* the same, where failed requests are infinite */
	enum objective_state state;
	int64_t requests, beyond; /* that waited_ms is made of, and of these those beyond the limit */
};

/* Is a value of `requests` within a limit the share `p` (in percent) of them has to meet, if `beyond` do not? */
enum objective_state objective_state(double p, int64_t requests, int64_t beyond, bool within);

/* Sets both values of an objective on a percentile, and of how many requests it is made. `as_inf`: failed requests are
 * infinite in both. `s` is for use within. -1: out of memory. */
int attainment_of_rows(struct attainment *a, const struct objective *objective, const struct picked_rows *rows,
                       bool as_inf, struct samples *s);
/* Judges the load these requests were. */
void attainment_judge(struct attainment *a, const struct objective *objective);

#endif
