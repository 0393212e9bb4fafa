/* "saturation" of the JSON report, see ipf-report(1). */
#ifndef REPORT_JSON_SATURATION_H
#define REPORT_JSON_SATURATION_H

#include "formats/report_format.h"

json_t *json_saturation(const struct report *report); /* a new object, empty if the run has no curve */

#endif
