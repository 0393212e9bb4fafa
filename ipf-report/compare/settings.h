/* Differences between two sides before anything was measured: servers, traces, schedules, tokenizers, definitions and
 * all other members of the headers of their streams, of each run.
 *
 *     json_t *list = settings_compare(base_headers, new_headers);       // of each run of a side
 *     // [{"name": "records.http", "base": "1.1", "new": "1.1 (runs 1, 3); 2 (run 2)"}, …]
 */
#ifndef COMPARE_SETTINGS_H
#define COMPARE_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>

enum { SETTINGS_MOST = 60 };

/* Compares arrays of the headers of results, one of each run, with those of the records, the schedule and the trace in
 * them: a new array of {"name", "base", "new"} with the values as text, one absent where no run of that side has it, at
 * most SETTINGS_MOST. If the runs of a side differ, the text says which run has which value. Values with the same share
 * of the runs on both sides, as when each schedule was run on both, are left out. Values that differ in each run are
 * left out as well: dates, names, paths. NULL: out of memory. */
json_t *settings_compare(json_t *base, json_t *value);

/* A setting as people read it: "server" of "records.target", "load" of "schedule.stages". */
const char *setting_words(const char *name, char words[160]);
/* Its value as people read it: stages without the signs of a JSON array. A new text; NULL: out of memory. */
char *setting_value(const char *value);
/* The first setting of this name in words: its values, NULL where a side has none. False: the sides do not differ. */
bool settings_named(json_t *settings, const char *words, const char **base, const char **value);

#endif
