/* --check: holds records against ipf-records(5), so that another load generator can take the place of ipf-fire.
 *
 *     run.records:7: end_ns: expected start_ns (2000) or more, got 1000
 *     run.records: 1 violation in 12 requests
 *
 * ipf-collect itself reads what is only odd, and stops at what it cannot read; this goes on after it and names all.
 */
#ifndef COLLECT_CHECK_RECORDS_H
#define COLLECT_CHECK_RECORDS_H

#include "collect.h"

/* Of one input, more violations are only counted. */
#define CHECK_SHOWN 1000

/* Reads the records and writes to the output that the options name. -1: err; IPF_INPUT if there is any violation. */
int check_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err);

#endif
