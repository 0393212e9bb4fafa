/* Tables whose rows are distributions: the mean, the minimum, percentiles and the maximum across. */
#ifndef REPORT_DISTRIBUTION_TABLE_H
#define REPORT_DISTRIBUTION_TABLE_H

#include "sections/sections.h"

enum { DISTRIBUTION_COLUMNS = 40, FEW_PERCENTILES = 3 };

/* A table of distributions as the JSON report has them. `like`: an object containing one, from which the percentiles
 * follow. `spec` without columns. */
struct doc_table *distribution_table(const struct telling *t, struct doc_table_spec spec, json_t *like);
/* The names of a few percentiles of it: p50, p90 and p99, or the last of those the user chose. Returns how many.
 */
int few_percentiles(const struct telling *t, json_t *like, const char *names[FEW_PERCENTILES]);

/* How a latency of the JSON report is called: "ttft_ms" is TTFT, "itl_max_ms" is ITL, longest. `remark` NULL: none. */
struct latency_name {
	const char *label, *remark;
	char definition[40];
};
struct latency_name latency_name(const char *member);

#endif
