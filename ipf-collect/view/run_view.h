/* A live run on one screen of the terminal: stage, requests, rates, latencies with the course of the last seconds,
 * failures by kind, the servers' queues, accelerators, and the verdict so far. It is drawn again in place, and its last
 * state stays.
 *
 *     struct run_view *view = run_view_new(name, &schedule);
 *     run_view_row(view, &observation);                   // each row
 *     run_view_client(view, client);                      // each client line of the records
 *     run_view_sample(view, line);                        // each sample of a server or an accelerator
 *     run_view_show(view, &counts, verdict);              // often: it draws five times a second
 *     run_view_end(view, &counts, verdict);
 *     run_view_free(view);
 *
 * The terminal is taken meanwhile (terminal.h), so ipf-fire does not write into the picture.
 *
 * All functions accept NULL and do nothing then: there is no view unless standard error is a terminal.
 */
#ifndef COLLECT_RUN_VIEW_H
#define COLLECT_RUN_VIEW_H

#include "measure/observation.h"
#include "measure/run_counts.h"
#include "stream/schedule.h"
#include "verdict/verdict.h"

struct run_view;

/* A view of a run with this name (NULL: none) and schedule; both are borrowed. NULL: out of memory. */
struct run_view *run_view_new(const char *name, const struct schedule *schedule);
void run_view_free(struct run_view *view);

void run_view_row(struct run_view *view, const struct observation *o);
void run_view_client(struct run_view *view, struct slice client);
void run_view_sample(struct run_view *view, struct slice line);

/* Draws if it is time to, with the verdict so far. */
void run_view_show(struct run_view *view, const struct run_counts *counts, struct verdict *verdict);
/* Draws the last state with the verdict of the run, and leaves it. The terminal stays taken (terminal_take), so lines
 * of the caller come before those of others: until terminal_give. */
void run_view_end(struct run_view *view, const struct run_counts *counts, struct verdict *verdict);

#endif
