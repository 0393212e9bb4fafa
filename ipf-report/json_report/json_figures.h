/* Distributions of the JSON report. */
#ifndef REPORT_JSON_FIGURES_H
#define REPORT_JSON_FIGURES_H

#include "figures/metric_summary.h"
#include "json/json_put.h"

/* A distribution, DIST in ipf-report(1): a new object, empty without samples. */
json_t *json_summary(const struct metric_summary *d, const struct percentiles *list);

#endif
