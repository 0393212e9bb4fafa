/* Figures of the JSON report by their path.
 *
 *     figure_at(total, "latency/ttft_ms/from_due/p99")     // NAN: there is none
 */
#ifndef REPORT_JSON_PATH_H
#define REPORT_JSON_PATH_H

#include <jansson.h>

/* A member by the names on the way, separated by slashes; a number is the index into an array. Borrowed; NULL: none. */
json_t *json_at(json_t *json, const char *path);
double figure_at(json_t *json, const char *path);    /* NAN: no number; INFINITY */
json_t *element_at(json_t *array, double index);     /* NULL: none, whatever the number is */
const char *text_at(json_t *json, const char *path); /* NULL: no text */
double percentile_named(const char *member);         /* 99.9 of "p99.9"; NAN: it is none */

/* Texts to be printed: "" where there is none, since a saved report can have anything in their place. */
const char *words_at(json_t *json, const char *path);
const char *words_of(json_t *json);

#endif
