/* "run" of the JSON report: where a run came from, from the headers of its streams. */
#ifndef REPORT_RUN_INFO_H
#define REPORT_RUN_INFO_H

#include "results/run_data.h"

/* A new object; NULL: out of memory. `reproducible` omits values changing from run to run although no measurement does:
 * dates, host, calibration. */
json_t *run_info_json(const struct run_data *run, bool reproducible);

#endif
