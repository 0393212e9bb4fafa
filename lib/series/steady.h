/* The steady part of a stage: from when to when did load, throughput and speed neither rise nor fall?
 *
 *     struct steady *s = steady_new();
 *     steady_read(s, line, &err);                   // every line of a window, in any order
 *     for (size_t i = 0; i < steady_stages(s); i++) {
 *         struct steady_finding f = steady_find(s, i);
 *         if (f.found) … f.from_ns, f.to_ns          // else f.reason
 *     }
 *     steady_free(s);
 *
 * The tested windows of a stage are those between the one in which its first request started and the one in which its
 * last did, without these two: later ones are the drain. In each, three figures: the mean number of requests in flight,
 * output tokens per second (or, without tokens, successful requests per second) and the mean inter-token latency. All
 * of them must agree:
 *
 *   1. Warm-up: MSER-5 (stats/mser.h) truncates each of the three; the longest of the three warm-ups counts.
 *   2. Trend: the least-squares line through the rest (stats/trend.h) must not change by more than STEADY_TREND of the
 *      mean from its beginning to its end, unless that can be chance at a confidence of 99.5 %.
 *   3. Spread: the means of its four quarters must not differ by more than STEADY_SPREAD of the mean, unless that can
 *      be chance: 1.5 times the studentized range of four means at 99.9 %, which is 5.31 (Tukey); the error of a
 * quarter's mean comes from the variance within the quarters and its autocorrelation, which short quarters
 * underestimate.
 *   4. Power: a test without a finding says little where noise hides the effect. For each figure it is known how
 *      large a drift would have been found in 80 of 100 such runs; the least of the three must be below STEADY_VISIBLE.
 *
 * A figure that is absent from more than a fifth of the windows (the latency of responses that are not streamed) is
 * left out; in the others the value of the window before it is taken. Pure: the same windows give the same bits on
 * every machine.
 */
#ifndef IPF_STEADY_H
#define IPF_STEADY_H

#include "buffer.h"
#include "series/window.h"
#include "stream/schedule.h"

#include <jansson.h>

#define STEADY_TREND   0.10
#define STEADY_SPREAD  0.15
#define STEADY_VISIBLE 1.0
/* For the run, all stages together: about two days of seconds. A stage with more has no answer. */
#define STEADY_WINDOWS_MOST 200000

enum steady_measure { STEADY_IN_FLIGHT, STEADY_THROUGHPUT, STEADY_ITL, STEADY_MEASURES };

struct steady_figures {
	bool known;     /* false: the windows do not have it */
	double mean;    /* requests; tokens (or requests) per second; ns */
	double spread;  /* the means of the quarters: (highest - lowest) / mean */
	double trend;   /* change of the line from begin to end / mean */
	double n_eff;   /* effective number of windows for the mean */
	double visible; /* a trend as large would be found in 80 of 100 runs; INFINITY: none would */
};

struct steady_finding {
	int64_t stage;
	bool found;
	int64_t from_ns, to_ns; /* on the clock of the windows */
	size_t windows;         /* the steady part's; if not found, those looked at */
	bool tokens;            /* throughput is in tokens; false: in requests */
	struct steady_figures figures[STEADY_MEASURES];
	double visible; /* the least of theirs */
	enum steady_measure visible_in;
	char reason[160]; /* why not; "" if found */
};

struct steady;

struct steady *steady_new(void); /* NULL: out of memory */
void steady_free(struct steady *s);

/* Adds a window; several of the same time and stage add up. All must have the same length. Out of memory is remembered
 * (memory.h). */
void steady_add(struct steady *s, const struct window *w);
/* The same for a body line of results. -1: as window_read. */
int steady_read(struct steady *s, struct slice line, struct ipf_error *err);
/* Adds all windows of another one, such as those of another shard. */
void steady_merge(struct steady *into, const struct steady *from);
size_t steady_stages(const struct steady *s); /* that have windows, in the order of their numbers */
struct steady_finding steady_find(const struct steady *s, size_t i);

/* As in the trailer, see ipf-results(5); new. NULL: out of memory. */
json_t *steady_json(const struct steady_finding *f);
/* The list of those of all measured stages (of all, without a schedule); new. NULL: out of memory. */
json_t *steady_list_json(const struct steady *s, const struct schedule *schedule);
/* Appends a clause for the verdict: "steady from 12 s to 58 s (a drift of 9 % would show, in inter-token latency)",
 * "steady state unknown: too few windows (3, 20 are needed)" or "no steady state in 3 of 8 stages (rate-3: trend: …)";
 * nothing without measured windows. Is every measured stage steady? */
bool steady_summary(const struct steady *s, const struct schedule *schedule, struct buffer *out);

#endif
