/* The findings as JSON: the block "why" of ipf-report-json(5). */
#ifndef TWIN_WHY_JSON_H
#define TWIN_WHY_JSON_H

#include "why/why_findings.h"

/* New; members that are not known are left out. */
json_t *why_json(const struct why_findings *found, const struct run_data *run);

#endif
