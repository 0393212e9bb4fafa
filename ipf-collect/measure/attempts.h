/* The attempts of a request sent again (ipf-fire --retry), and the waits of refusals. */
#ifndef COLLECT_ATTEMPTS_H
#define COLLECT_ATTEMPTS_H

#include "json/jdoc.h"
#include "stream/record.h"
#include "stream/result.h"

/* Fills the row's members about attempts; its latencies are there. `all`: the run sends again, so each row has the
 * latencies of its last attempt. -1: the record's "attempts" are not as ipf-records(5) describes them. */
int measure_attempts(struct jdoc *doc, const struct record *record, bool all, struct result *row,
                     struct ipf_error *err);

#endif
