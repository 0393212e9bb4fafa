/* "transport" of the JSON report: the findings in the trailers of the results. See ipf-report(1). */
#ifndef REPORT_JSON_TRANSPORT_H
#define REPORT_JSON_TRANSPORT_H

#include "results/run_data.h"

/* A new array, empty if there are none; of several results, each entry has the name of its results in "part". */
json_t *json_transport(const struct run_data *run);

#endif
