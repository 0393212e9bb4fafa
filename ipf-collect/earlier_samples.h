/* Samples only a live run can take, from results collected while it lasted (--samples): those of servers and devices,
 * and their members of the trailer.
 *
 *     struct earlier_samples *earlier = NULL;                            // stays NULL without a path
 *     if (earlier_samples_open(&earlier, path, &inputs, &err) < 0) …     // results of another run are refused
 *     earlier_samples_copy(earlier, writer, &line, &bad, &err);
 *     earlier_samples_trailer(earlier, trailer);
 *     earlier_samples_close(earlier);
 *
 * All functions accept NULL, and do nothing then.
 */
#ifndef COLLECT_EARLIER_SAMPLES_H
#define COLLECT_EARLIER_SAMPLES_H

#include "record_inputs.h"

struct earlier_samples;

/* `path`: NULL without --samples. -1: IPF_USAGE if both would be read from standard input; IPF_INPUT if the results
 * were not made from the records in `inputs`, which the start of the run in their headers tells (t0_unix_ns); or if the
 * times of their samples count from another start, because the earliest shard is missing in one of the two. */
int earlier_samples_open(struct earlier_samples **earlier, const char *path, const struct record_inputs *inputs,
                         struct ipf_error *err);
/* Writes their samples, in their order. `bad` gets the fault of the earlier results, which may be cut; the samples
 * before it are there. -1: `err`, the output failed. */
int earlier_samples_copy(struct earlier_samples *earlier, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *bad, struct ipf_error *err);
/* Adds the members of their trailer about samples, and "samples": the samples read. */
void earlier_samples_trailer(const struct earlier_samples *earlier, json_t *trailer);
void earlier_samples_close(struct earlier_samples *earlier);

#endif
