/* Was the client the limit? Collects ipf-fire's `client` lines, one a second, and judges the client's CPU, its lateness
 * and its shortages.
 *
 *     client_health_line(&h, line, err);                       // every client line of a run's part, in any order
 *     client_health_end_part(&h, first_start, last_end);       // before the next part (shard or repeat)
 *     client_health_judge(&h, first_start, last_end, check);   // at any time, and as often as you like
 *     client_health_release(&h);
 */
#ifndef IPF_CLIENT_HEALTH_H
#define IPF_CLIENT_HEALTH_H

#include "json/jdoc.h"
#include "stats/samples.h"
#include "verdict/verdict_check.h"

/* One client line. NAN: the line does not have the value. */
struct client_second {
	int64_t t_ns;
	double send_s;   /* CPU seconds of the sending threads so far */
	double cpu;      /* share of this second the busiest of them ran */
	double wait;     /* share of this second it was ready to run and had no core */
	double loop_ms;  /* worst loop lag of this second */
	double delay_ms; /* p99 of the delay between the kernel's timestamps and our reads */
	double full;     /* fill level of the record queue, 0…1 */
};

/* Counts since the beginning of the run. */
struct client_totals {
	int64_t started, no_files, syn_retransmits, kernel_timestamps, rejected_timestamps, clock_steps;
};

/* The judged values: those of the seconds in the measured time of parts, and the counts of these parts. */
struct client_values {
	struct samples cpu, wait, loop_ms, delay_ms, full;
	struct client_totals totals;
};

/* Zero-initialise. */
struct client_health {
	int64_t lines;
	struct client_values ended;    /* the ended parts' */
	struct client_second *seconds; /* the current part's, like the next */
	size_t seconds_count, seconds_cap;
	struct client_totals part_totals;
	struct jdoc doc;
	bool failed; /* out of memory */
};

/* Takes a line as ipf-fire wrote it. Members that are absent are not judged. -1: IPF_INPUT for a number too large to be
 * one, with its field; out of memory. */
int client_health_line(struct client_health *h, struct slice line, struct ipf_error *err);
/* Ends a part whose measured requests ran from first_start_ns to last_end_ns (IPF_ABSENT: it has none). */
void client_health_end_part(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns);
bool client_health_failed(const struct client_health *h); /* out of memory */
/* Judges the parts so far; the measured requests of the current one ran from first_start_ns to last_end_ns. False: out
 * of memory. */
bool client_health_judge(struct client_health *h, int64_t first_start_ns, int64_t last_end_ns,
                         struct verdict_check *check);
void client_health_release(struct client_health *h);

#endif
