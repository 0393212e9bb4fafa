/* The last seconds of a run, for the view: the requests ending in each of them, and the servers' figures in it.
 *
 *     struct recent recent = {0};
 *     recent_row(&recent, &observation);
 *     recent_waiting(&recent, t_ns, 12);
 *     double rate[RECENT_SECONDS];
 *     recent_values(&recent, RECENT_REQUESTS, rate);         // the oldest first
 *
 * A request counts in the second in which it ended, with all its tokens and its mean latencies. Requests in flight are
 * not known yet, so the windows of the results, which go by the time of each event, are complete only later.
 */
#ifndef COLLECT_RECENT_H
#define COLLECT_RECENT_H

#include "measure/observation.h"

enum { RECENT_SECONDS = 120 };

enum recent_figure {
	RECENT_REQUESTS,      /* ended, per second */
	RECENT_FAILED,        /* the failed ones of these */
	RECENT_OUTPUT_TOKENS, /* per second */
	RECENT_TTFT,          /* mean, ns */
	RECENT_ITL,           /* mean over the requests, ns */
	RECENT_WAITING,       /* in the servers' queues */
	RECENT_FIGURES,
};

struct recent_second {
	double sum[RECENT_FIGURES], count[RECENT_FIGURES];
};

/* Zero-initialise. */
struct recent {
	struct recent_second seconds[RECENT_SECONDS]; /* a ring: second s is at s mod RECENT_SECONDS */
	int64_t first, last; /* seconds of the run; first > last or both 0 and `used` false: none */
	bool used;
};

void recent_row(struct recent *r, const struct observation *o);
void recent_waiting(struct recent *r, int64_t t_ns, double waiting);
/* The seconds known, the oldest first, RECENT_SECONDS at most; NAN: nothing in that second. Returns their number.
 * Requests and tokens of a second without any are 0. */
size_t recent_values(const struct recent *r, enum recent_figure figure, double values[RECENT_SECONDS]);
/* The mean of the last full seconds; NAN: none is. */
double recent_mean(const struct recent *r, enum recent_figure figure, int seconds);

#endif
