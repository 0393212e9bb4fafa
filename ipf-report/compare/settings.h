/* What differs between two runs before anything was measured: servers, traces, schedules, tokenizers, definitions and
 * whatever else the headers of their streams say.
 *
 *     json_t *list = settings_compare(base_header, new_header);       // [{"name": "records.http", "base": "1.1", …},
 * …]
 */
#ifndef COMPARE_SETTINGS_H
#define COMPARE_SETTINGS_H

#include <jansson.h>

enum { SETTINGS_MOST = 60 };

/* Compares the headers of two results, with those of the records, the schedule and the trace in them: a new array of
 * {"name", "base", "new"} with the values as text, one absent where that side does not have it, at most SETTINGS_MOST.
 * What is other in each run is left out: dates, names, paths. NULL: out of memory. */
json_t *settings_compare(json_t *base, json_t *value);

#endif
