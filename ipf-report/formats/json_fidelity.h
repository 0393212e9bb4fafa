/* "fidelity" of the JSON report: how faithful a replay was. */
#ifndef REPORT_JSON_FIDELITY_H
#define REPORT_JSON_FIDELITY_H

#include "formats/report_format.h"

/* A new object, empty without a trace. */
json_t *json_fidelity(const struct report *report);

#endif
