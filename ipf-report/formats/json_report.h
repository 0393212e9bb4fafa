/* The JSON report as an object. The formats that show all figures of a run read them from it, so that every format has
 * the same numbers under the same names, and a new figure is in all of them. */
#ifndef REPORT_JSON_REPORT_H
#define REPORT_JSON_REPORT_H

#include "formats/report_format.h"

/* A new object, as ipf-report(1) describes it. */
json_t *report_json(const struct report *report);

#endif
