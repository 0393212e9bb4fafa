/* --explain: prints, for each response, its events with their times, every value in them with what the descriptor reads
 * it as, the result, and what the descriptor does not find. It helps to write a descriptor.
 */
#ifndef COLLECT_EXPLAIN_H
#define COLLECT_EXPLAIN_H

#include "collect.h"

/* Reads the records and writes to the output that the options name. -1: err. An error in one input is kept in err, and
 * the next input follows. */
int explain_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err);

/* Is it a condition of --where? -1: IPF_USAGE. */
int explain_where_check(const char *where, struct ipf_error *err);

#endif
