/* The windows of a run (window.h): an ordered set of them, by time and stage, within a limit of memory.
 *
 *     struct series *s = series_new(NS_PER_S, 64 << 20);
 *     struct window *w = series_at(s, t_ns, stage);            // the window of a time, made if it is new
 *     if (w) w->started++;
 *     while (series_spill(s, &line)) …                         // too many: write out the oldest as lines
 *     while (series_take(s, &line)) …                          // the end: all of them, in order
 *     series_free(s);
 *
 * A window written out and is needed again is made anew, so several lines may be of the same window and stage: a reader
 * adds them up. To read:
 *
 *     series_read(s, line, 0, &err)
 *     for (size_t i = 0; i < series_count(s); i++) { const struct window *w = series_get(s, i); … }
 *
 * A set whose windows are longer than those read adds up the windows beginning in each of its own.
 */
#ifndef IPF_SERIES_H
#define IPF_SERIES_H

#include "series/window.h"

/* The range of `--every`. */
#define SERIES_EVERY_LEAST_NS (INT64_C(100) * 1000 * 1000)
#define SERIES_EVERY_MOST_NS  (INT64_C(3600) * 1000 * 1000 * 1000)

struct series;

/* An empty set of windows of a length. `limit`: the bytes from which on series_spill empties it; 0: none. NULL: out of
 * memory. */
struct series *series_new(int64_t every_ns, size_t limit);
void series_free(struct series *s); /* NULL is fine */
int64_t series_every_ns(const struct series *s);

/* The window containing a time, which may be negative. The set owns it; it is valid until windows are taken or spilled.
 * NULL: out of memory. */
struct window *series_at(struct series *s, int64_t t_ns, int64_t stage);

/* Adds a window, moved by an offset in time: to the one in which it then begins. -1: out of memory. */
int series_add(struct series *s, const struct window *w, int64_t offset_ns, struct ipf_error *err);
/* The same for a line of results. -1: also IPF_INPUT. */
int series_read(struct series *s, struct slice line, int64_t offset_ns, struct ipf_error *err);

/* The windows in the order of their times and, of one time, of their stages. Valid until the set changes. series_get
 * returns NULL beyond the end, and when out of memory. */
size_t series_count(const struct series *s);
const struct window *series_get(struct series *s, size_t i);
/* The sum of all windows of a stage, or of the run if it is IPF_ABSENT, as a new window, whose number and length mean
 * nothing. NULL: out of memory. */
struct window *series_total(struct series *s, int64_t stage);

/* Removes the first window and renders it into `line`. False: there is none, or no memory to sort them. */
bool series_take(struct series *s, struct buffer *line);
/* The same if the set takes more memory than its limit, and then until it takes less than three quarters of it. */
bool series_spill(struct series *s, struct buffer *line);
size_t series_memory(struct series *s);

#endif
