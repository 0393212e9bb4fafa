/* The accelerators of a run (--gpu): samples of them while it lasts, and their energy at its end.
 *
 *     struct accelerators *a;
 *     accelerators_start(&a, &options->gpu, every_ns, queue, &err);  // a thread for each source; lines go to the queue
 *     accelerators_align(a, run_clock);                              // the records' header has come
 *     accelerators_row(a, &observation);                             // each request: when it and its stage were busy
 *     accelerators_stop(a);                                          // the last samples are in the queue
 *     json_t *list = accelerators_json(a, schedule);                 // "accelerators" of the trailer
 *     accelerators_free(a);
 *
 * No fault of a source ends the run or delays rows: it is counted, and named in the trailer. A hanging tool or exporter
 * is given up after GPU_PATIENCE_NS; a hanging driver costs at most three seconds at the end.
 *
 * The functions are for the main thread.
 */
#ifndef COLLECT_ACCELERATORS_H
#define COLLECT_ACCELERATORS_H

#include "cli/option_table.h"
#include "live/line_queue.h"
#include "live/run_clock.h"
#include "measure/observation.h"
#include "stream/schedule.h"

#include <jansson.h>

struct accelerators;

/* The values of --gpu: "auto", "nvml", "nvidia-smi", "amd-smi", "dcgm:URL", "amd:URL". -1: IPF_USAGE. */
int accelerators_check(const struct string_list *choices, struct ipf_error *err);

/* Starts a thread for each choice, which samples each `every_ns` or more often. -1: no memory or no thread. */
int accelerators_start(struct accelerators **accelerators, const struct string_list *choices, int64_t every_ns,
                       struct line_queue *queue, struct ipf_error *err);
/* Gives the samples their times of the run; before, none are written. The clock knows the start of the run, and is
 * borrowed until accelerators_free. */
void accelerators_align(struct accelerators *a, const struct run_clock *clock);
/* A sent request. -1: no memory. */
int accelerators_row(struct accelerators *a, const struct observation *o);
/* Takes the last samples and ends the threads. */
void accelerators_stop(struct accelerators *a);
/* After accelerators_stop: one entry for each device of each source, and for each source without devices. `schedule`
 * names the stages. New; NULL: out of memory. */
json_t *accelerators_json(const struct accelerators *a, const struct schedule *schedule);
/* After accelerators_stop: appends a line for each source: the devices of "auto", and why there are none. */
void accelerators_describe(const struct accelerators *a, bool verbose, struct buffer *out);
void accelerators_free(struct accelerators *a); /* NULL is fine */

#endif
