/* Inter-token latencies of a whole run, pooled over the requests that went well: a histogram a stage, written as `histogram` lines
 * at the end of the results, from where any number of runs can be merged.
 */
#ifndef COLLECT_TALLY_H
#define COLLECT_TALLY_H

#include "measure.h"
#include "stream.h"

struct tally;

struct tally *tally_new(void); /* NULL: out of memory */
void tally_free(struct tally *tally);

/* -1: out of memory, or more stages than any schedule has. */
int tally_add(struct tally *tally, int64_t stage, const struct itl_sample *samples, size_t count, struct ipf_error *err);

/* {"histogram":"itl_ns","stage":0,"count":…} for every stage that has samples, in the order of the stages. `line` is scratch. */
int tally_write(const struct tally *tally, struct stream_writer *writer, struct buffer *line, struct ipf_error *err);

#endif
