/* Adds the blocks of a trace's requests, which show the common beginnings of recorded prompts ("Blocks" in
 * ipf-trace(5)), to a finder of their reuse.
 *
 *     struct prefix_reuse reuse = {0};
 *     trace_blocks_add(&reuse, &request, &doc, &err);     // for each request
 *     prefix_reuse_compute(&reuse);
 */
#ifndef IPF_TRACE_BLOCKS_H
#define IPF_TRACE_BLOCKS_H

#include "stats/prefix_reuse.h"
#include "stream/trace.h"

/* A request without blocks shares nothing with others; if its length is not known, it is left out. Uses `doc`. -1:
 * IPF_INPUT if the blocks break the rules of ipf-trace(5). */
int trace_blocks_add(struct prefix_reuse *reuse, const struct trace_request *request, struct jdoc *doc,
                     struct ipf_error *err);

#endif
