/* Activities beside the records while a run lasts: other threads take samples (of accelerators and servers), and the
 * main thread writes them between the rows.
 *
 *     struct live_run *live = NULL;                                 // stays NULL if nothing is asked for
 *     live_run_start(&live, options, &err);                         // before the records' header has come
 *     live_run_begin(live, &inputs, &err);                          // it has
 *     live_run_write(live, writer, view, &err);                     // before each record: the samples so far
 *     poll() on live_run_fd(live) together with the input
 *     live_run_stop(live);                                          // the run is over: the last samples
 *     live_run_trailer(live, schedule, trailer);
 *     live_run_free(live);
 *
 * All functions accept NULL, and do nothing then.
 */
#ifndef COLLECT_LIVE_RUN_H
#define COLLECT_LIVE_RUN_H

#include "collect.h"
#include "measure/observation.h"
#include "record_inputs.h"
#include "view/run_view.h"

struct live_run;

int live_run_start(struct live_run **live, const struct collect_options *options, struct ipf_error *err);
/* -1: IPF_USAGE if the records are complete, so there is nothing left to watch; IPF_INPUT if they do not say when the
 * run began. */
int live_run_begin(struct live_run *live, const struct record_inputs *inputs, struct ipf_error *err);
/* Readable when there are samples to write; -1 for NULL. */
int live_run_fd(const struct live_run *live);
/* Writes the samples so far, and shows them in the view (NULL: none). */
int live_run_write(struct live_run *live, struct stream_writer *writer, struct run_view *view, struct ipf_error *err);
int live_run_row(struct live_run *live, const struct observation *o, struct ipf_error *err);
void live_run_stop(struct live_run *live);
/* Adds the members only a live run has. */
void live_run_trailer(const struct live_run *live, const struct schedule *schedule, json_t *trailer);
/* Appends the notes for the end of the run, a line each. */
void live_run_describe(const struct live_run *live, bool verbose, struct buffer *out);
void live_run_free(struct live_run *live);

#endif
