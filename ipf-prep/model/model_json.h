/* Numbers of a model file: written short, and read with a range, since a file can claim anything.
 *
 *     json_object_set_new(map, "span_s", model_number(3501.722));
 *     struct model_place at = {map, "arrivals", 0, 1e10};
 *     if (model_need(&at, "span_s", &span_s, err) < 0) …
 *
 * Errors are IPF_INPUT and name the place: `arrivals.span_s: expected a number from 0 to 1e+10, got "x"`.
 */
#ifndef PREP_MODEL_JSON_H
#define PREP_MODEL_JSON_H

#include "error.h"

#include <jansson.h>
#include <stddef.h>

/* Six significant digits; an integer if the value is one. */
json_t *model_number(double value);
/* A new list of such numbers. */
json_t *model_numbers(const double *values, size_t count);

/* `PLACE.KEY: expected WANTED, got VALUE` for the member `key` of `place` (absent: its value is missing). -1. */
int model_expected(const json_t *value, const char *place, const char *key, const char *wanted, struct ipf_error *err);

/* A number of a file: its place, and its range. */
struct model_place {
	const json_t *map;
	const char *name; /* the map's: "arrivals", "lengths[2]" */
	double least, most;
};

/* The number, which is required, or … */
int model_need(const struct model_place *at, const char *key, double *value, struct ipf_error *err);
/* … not, and then *value stays as it is. */
int model_optional(const struct model_place *at, const char *key, double *value, struct ipf_error *err);
/* A list of at most `most` such numbers; *count is how many. */
int model_list(const struct model_place *at, const char *key, double *values, size_t most, size_t *count,
               struct ipf_error *err);

#endif
