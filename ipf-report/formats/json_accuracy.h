/* "accuracy" of the JSON report: the bars of each stage's latencies, and what --accuracy says of those of the total. */
#ifndef REPORT_JSON_ACCURACY_H
#define REPORT_JSON_ACCURACY_H

#include "formats/report_format.h"

#include <jansson.h>

/* Of the run: {"known": …, "limit_ms": …, "missed": …}; empty if the results are not ours. */
json_t *json_run_accuracy(const struct report *report);
/* Of a stage, or of the total: {"ttft_ms": {"from_start": {"low": {…}, "high": {…}}, …}, …}; empty if none is known. */
json_t *json_accuracy(const struct report *report, const struct figures *f);

#endif
