/* What verdict.c gathers and verdict_judge.c judges. */
#ifndef IPF_VERDICT_PRIVATE_H
#define IPF_VERDICT_PRIVATE_H

#include "stats/histogram.h"
#include "stats/samples.h"
#include "verdict/verdict.h"

struct verdict_stage {
	char *name;
	bool measured, closed, cycle;
	int64_t scheduled, scheduled_most; /* arrivals: of all parts together, of the largest */
	int64_t started, ok, waited; /* waited: requests with a due time that waited for a slot for more than a blink */
	int64_t due_first, due_last, start_first, start_last; /* of the part that is being read; IPF_ABSENT */
	int64_t due_span, start_span;                         /* of the parts before it */
	int64_t timed;                                        /* requests with a due time */
};

/* What client lines count from the beginning of the run. */
struct verdict_totals {
	int64_t started, starved, stamped, rejected, clock_steps;
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
	int64_t first_start, last_end;  /* of the measured rows of the part that is being read */
	struct verdict_second *seconds; /* client lines of the part that is being read */
	size_t seconds_count, seconds_cap;
	/* Of the parts before it, only from its measured time. */
	struct samples cpu, wait, loop_ms, delay_ms, full;
	struct verdict_totals totals, part_totals; /* of the parts before it; of the part that is being read */

	char missing[512];
	struct jdoc doc;
	struct verdict_finding finding;
};

struct verdict_second {
	int64_t t_ns;
	/* NAN where the line has it not */
	double send_s;   /* CPU seconds of the sending threads so far */
	double cpu;      /* share of this second that the busiest of them ran */
	double wait;     /* likewise, that it was ready and did not */
	double loop_ms;  /* worst loop lag of this second */
	double delay_ms; /* p99 of what reads came after the kernel's stamps */
	double full;     /* the queue of what is to be written, in parts of 1 */
};

/* Folds the part that is being read into the sums. */
void verdict_fold(struct verdict *v);

/* ---- verdict_client.c ---- */

void verdict_fold_client(struct verdict *v);
bool verdict_client_failed(const struct verdict *v); /* memory ran out */
void verdict_client_release(struct verdict *v);
bool verdict_judge_client(struct verdict *v, struct verdict_check *check); /* false: out of memory */

/* Known and within 30 years: differences never overflow. */
static inline bool verdict_sane(int64_t ns)
{
	return ns >= -INT64_C(1000000000000000000) && ns <= INT64_C(1000000000000000000);
}

/* Known, and no sum of them overflows. */
static inline bool verdict_countable(int64_t count)
{
	return count >= 0 && count <= INT64_C(1000000000000);
}

/* ---- verdict_say.c: what answers are put together from ---- */

/* Adds a clause to the sentence and lets it weigh. */
__attribute__((format(printf, 3, 4))) void verdict_say(struct verdict_check *check, enum verdict_status status,
                                                       const char *format, ...);
enum verdict_status verdict_above(double value, double doubtful, double invalid);
bool verdict_figure(json_t *to, const char *name, double value); /* false: out of memory */
bool verdict_count(json_t *to, const char *name, int64_t value); /* likewise */
const char *verdict_duration(double ms, char text[32]);
const char *verdict_plural(int64_t n); /* "s", or "" */
const char *verdict_percent(double share, char text[32]);

#endif
