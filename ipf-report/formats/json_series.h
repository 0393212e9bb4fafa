/* "series" of the JSON report: the windows of the run, of all stages together. See ipf-report(1). */
#ifndef REPORT_JSON_SERIES_H
#define REPORT_JSON_SERIES_H

#include "formats/report_format.h"

json_t *json_series(const struct report *report); /* a new object, empty if there are no windows */

#endif
