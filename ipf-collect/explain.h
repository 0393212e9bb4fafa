/* --explain: what is understood of each answer, in plain words: its events, which of their values the descriptor takes
 * for what, which it leaves alone, and what it looks for in vain. With it a descriptor is written.
 */
#ifndef COLLECT_EXPLAIN_H
#define COLLECT_EXPLAIN_H

#include "collect.h"

/* Reads the records and writes to the output of the options. -1: err; what is bad in one input is kept there, and the
 * next one follows. */
int explain_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err);

#endif
