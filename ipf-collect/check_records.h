/* --check: holds records against ipf-records(5), so another load generator can take the place of ipf-fire.
 *
 *     run.records:7: end_ns: expected start_ns (2000) or more, got 1000
 *     run.records: 1 violation in 12 requests
 *
 * ipf-collect itself reads odd lines, and stops at unreadable ones; this continues and names all.
 */
#ifndef COLLECT_CHECK_RECORDS_H
#define COLLECT_CHECK_RECORDS_H

#include "collect.h"

/* More violations of an input are only counted. */
#define CHECK_SHOWN 1000

/* Reads the records and writes to the output the options name. -1: err; IPF_INPUT if there is any violation. */
int check_run(const struct collect_options *options, const struct operands *records, struct ipf_error *err);

#endif
