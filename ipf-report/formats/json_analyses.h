/* "sessions", "repeats", "autoscaling" and "cost" of the JSON report, see ipf-report(1). */
#ifndef REPORT_JSON_ANALYSES_H
#define REPORT_JSON_ANALYSES_H

#include "formats/report_format.h"

json_t *json_sessions(const struct report *report);    /* a new object, empty if no session has several requests */
json_t *json_repeats(const struct report *report);     /* a new object, empty without repeats */
json_t *json_autoscaling(const struct report *report); /* a new object, empty without spikes and ramps */
json_t *json_cost(const struct report *report);        /* a new object, empty without a price and accelerators */

#endif
