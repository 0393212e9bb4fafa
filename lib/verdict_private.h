/* What verdict.c gathers and verdict_judge.c judges. */
#ifndef IPF_VERDICT_PRIVATE_H
#define IPF_VERDICT_PRIVATE_H

#include "histogram.h"
#include "stats.h"
#include "verdict.h"

struct verdict_stage {
	char *name;
	bool measured, closed, cycle;
	int64_t scheduled, scheduled_most; /* arrivals: of all parts together, of the largest */
	int64_t started, ok, waited;       /* waited: requests with a due time that waited for a slot for more than a blink */
	int64_t due_first, due_last, start_first, start_last; /* of the part that is being read; IPF_ABSENT */
	int64_t due_span, start_span;      /* of the parts before it */
	int64_t timed;                     /* requests with a due time */
};

struct verdict {
	struct verdict_stage *stages;
	size_t count;
	int64_t parts;
	bool shards, failed;

	int64_t rows, ok, errors[VERDICT_KINDS], stale;
	int64_t asked_rows, as_asked, asked_tokens, got_tokens;
	int64_t events, coalesced;
	struct histogram *lag, *client_lag, *slot_wait; /* ns */

	int64_t client_lines;
	int64_t first_start, last_end;    /* of the measured rows of the part that is being read */
	struct verdict_second *seconds;  /* client lines of the part that is being read */
	size_t seconds_count, seconds_cap;
	struct samples cpu, loop_ms;     /* of the parts before it, only from its measured time */

	char missing[512];
	struct jdoc doc;
	struct verdict_finding finding;
};

struct verdict_second {
	int64_t t_ns;
	double send_s;  /* CPU seconds of the sending thread so far; NAN */
	double loop_ms; /* worst loop lag of this second; NAN */
};

/* Folds the part that is being read into the sums. */
void verdict_fold(struct verdict *v);

#endif
