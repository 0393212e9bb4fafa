/* A distribution a tool writes as an object: {"mean": 1, "median": 1, "p99": 2, …}, also "avg" and "std", and
 * {"percentiles": {"p001": …, "p50": …, "p999": …}}, which are the percentiles 0.1, 50 and 99.9. */
#ifndef IPF_DISTRIBUTIONS_H
#define IPF_DISTRIBUTIONS_H

#include "json/jdoc.h"
#include "results/stated.h"

/* Values are multiplied by `unit`. A value that is no object, or null, changes nothing. */
void distribution_read(struct stated_summary *s, const struct jdoc *doc, jdoc_id map, double unit);
/* A number of a map; NAN: there is none. */
double distribution_number(const struct jdoc *doc, jdoc_id map, const char *key);

#endif
