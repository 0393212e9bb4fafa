/* One scraped server: its address, its snapshots, and its lines of the results.
 *
 *     target_open(&target, "decode=http://10.0.0.7:8000", &err);
 *     target_begin(&target, own);                    // an answer begins
 *     exposition_feed(target.exposition, bytes, len);
 *     target_end(&target, now_ns, NULL);             // … or the error
 *     target_publish(&target, clock, queue);         // as soon as the run's start is known
 *
 * The base of increases moves only when a sample has been handed over: nothing is lost if its line was dropped. While
 * the run's start is not known, the latest two scrapes are kept: one of them is from before the first request, also if
 * the records' header comes late.
 */
#ifndef COLLECT_TARGET_H
#define COLLECT_TARGET_H

#include "live/line_queue.h"
#include "live/run_clock.h"
#include "scrape/snapshot.h"

#include <jansson.h>

struct target {
	char *name;
	char *url;                     /* complete, with /metrics if there was no path */
	char *shown;                   /* without secrets */
	const char *server;            /* whose names it has; NULL: not known yet */
	struct exposition *exposition; /* the answer being received */
	struct snapshot now, before;
	bool has_before;
	bool held; /* `before` has not been handed over: two scrapes before the run's start was known */
	struct own_metrics own;
	bool *seen;     /* per common_metrics */
	int64_t now_ns; /* clock_now() at the latest scrape not yet handed over */
	int64_t before_ns;
	bool pending;    /* `now`, or an error, has not been handed over */
	char error[300]; /* the latest scrape's; "": it worked */
	char last_error[300];
	int64_t scrapes, failed, bad_lines, first_ns, last_ns; /* the times are of clock_now(); IPF_ABSENT: none */
	int64_t restarts;                                      /* samples in which counters fell */
};

/* `text`: [NAME=]URL. -1: IPF_USAGE. The user's patterns are borrowed. */
int target_open(struct target *target, const char *text, const char *const *patterns, size_t patterns_count,
                struct ipf_error *err);
/* One whose series come from elsewhere, and which is not scraped. -1: no memory. */
int target_named(struct target *target, struct slice name, struct ipf_error *err);
void target_release(struct target *target);

/* False: no memory. */
bool target_begin(struct target *target);
/* The answer is complete, or ended with an error. `now_ns`: clock_now() when it began to come. */
void target_end(struct target *target, int64_t now_ns, struct ipf_error *err);
/* Hands the pending sample over, if there is one. The clock must know the run's start. */
void target_publish(struct target *target, const struct run_clock *clock, struct line_queue *queue);

/* Appends the line of a sample: the change from `base` (NULL: the first sample) to `now`, or the latest error if it is
 * NULL. False: no memory. */
bool target_line(struct target *target, int64_t t_ns, const struct snapshot *now, const struct snapshot *base,
                 struct buffer *line);
/* The old `now` is the base of the next increases. */
void target_keep(struct target *target);

/* Common names the table has for the target's server, and absent from all samples. New. */
json_t *target_missing(const struct target *target);
/* The target's entry in the trailer. New. */
json_t *target_json(const struct target *target, const struct run_clock *clock);

#endif
