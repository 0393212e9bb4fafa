/* "cache" of the JSON report: what a prefix cache could have found, and what the server says it found. */
#ifndef REPORT_JSON_CACHE_H
#define REPORT_JSON_CACHE_H

#include "formats/report_format.h"

/* A new object, empty without a trace. */
json_t *json_cache(const struct report *report);

#endif
