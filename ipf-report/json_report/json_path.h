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
const char *text_at(json_t *json, const char *path); /* NULL: no text */

#endif
