/* The report of a run's course on standard error: the progress line, and with --verbose a line after the run. */
#ifndef IPF_PROGRESS_LINE_H
#define IPF_PROGRESS_LINE_H

#include "cli/progress.h"
#include "run/run_counters.h"

struct progress_line {
	const struct run_counters *counters;
	int64_t zero_ns; /* the run's start on the monotonic clock */
	int64_t planned; /* requests of the schedule; 0: unknown */
	int64_t warm;    /* warm-up requests */
	bool timed;      /* the start is a given time (--start-at) */
};

/* Shows the line as of `now`; before the start, the time left until then. */
void progress_line_show(const struct progress_line *line, struct progress *p, int64_t now);

/* Prints the totals of the run at `now`. `unstarted`: arrivals never started. */
void progress_line_summary(const struct progress_line *line, const char *program, int64_t unstarted, int64_t now);

#endif
