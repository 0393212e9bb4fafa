/* --start-at: the run begins at a given time of the wall clock, so clients on several machines begin together.
 * Everything is made ready before it.
 */
#ifndef IPF_START_TIME_H
#define IPF_START_TIME_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct start_time {
	const char *text; /* as the user gave it; NULL: as soon as everything is ready */
	bool relative;    /* counted from when the command line was parsed */
	int64_t at_ns;    /* on the wall clock; if relative, on the monotonic clock */
};

/* "2026-11-20T18:00:00.5+01:00", "@1763662800.5", "/10s" or "+30s"; `text` is borrowed. -1: IPF_USAGE. */
int start_time_parse(const char *text, struct start_time *start, struct ipf_error *err);

/* The start on the monotonic clock, by the clocks' current times. */
int64_t start_time_monotonic(const struct start_time *start);

/* -1: less than `need_ns` is left until the start. */
int start_time_check(const struct start_time *start, int64_t need_ns, struct ipf_error *err);

struct start_time_display {
	bool left;     /* the progress belongs to another program */
	bool quiet;    /* nothing on standard error */
	bool progress; /* a progress line even if standard error is not a terminal */
	bool verbose;  /* a message before waiting */
};

/* Sleeps until a second before the start, and compares the clocks now and then, in case the wall clock is set. Returns
 * how many signals came on `signal_fd` and ended the wait early; 0: the start is near. */
int start_time_wait(const struct start_time *start, int signal_fd, struct start_time_display display);

#endif
