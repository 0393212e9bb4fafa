/* --explain: prints, for each response, its events with their times, the role of every value by the descriptor, the
 * result, and the pointers without a value. It helps to write a descriptor.
 */
#ifndef COLLECT_EXPLAIN_H
#define COLLECT_EXPLAIN_H

#include "collect.h"

/* Reads the records and writes to the output the options name. -1: err. An error in one input is kept in err, and the
 * next input follows. */
int explain_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err);

/* Is it a condition of --where? -1: IPF_USAGE. */
int explain_where_check(const char *where, struct ipf_error *err);

#endif
