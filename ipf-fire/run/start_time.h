/* --start-at: the run begins at a time of the wall clock, so that clients on several machines begin together. All is
 * made ready before it. */
#ifndef IPF_START_TIME_H
#define IPF_START_TIME_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct start_time {
	const char *text; /* as the user gave it; NULL: as soon as all is ready */
	bool relative;    /* so long after the program began */
	int64_t at_ns;    /* on the wall clock; a relative one on the monotonic clock */
};

/* "2026-11-20T18:00:00.5+01:00", "@1763662800.5", "+30s". */
int start_time_parse(const char *text, struct start_time *start, struct ipf_error *err);

/* On the monotonic clock, by what the clocks say now. */
int64_t start_time_monotonic(const struct start_time *start);

/* -1: there is less time until then than `need_ns`. */
int start_time_check(const struct start_time *start, int64_t need_ns, struct ipf_error *err);

enum {
	START_TIME_SHOW = 1,
	START_TIME_TELL = 2
}; /* progress also where standard error is no terminal; a line beforehand */

/* Sleeps until the last second before it, with a look at the clocks now and then: somebody may set them. How many
 * signals came on `signal_fd` and ended that; 0: it is near. */
int start_time_wait(const struct start_time *start, int signal_fd, bool quiet, unsigned show);

#endif
