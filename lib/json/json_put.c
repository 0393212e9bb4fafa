#include "json/json_put.h"

#include "absent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* As a reader of the written report reads it: 15 digits. A figure computed from more, such as J in kJ, would differ in
 * its last digit from that of a saved report. */
static double as_written(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.15g", value);
	return strtod(text, NULL);
}

json_t *json_figure(double value)
{
	if (isinf(value))
		return json_string("inf");
	const double rounded = round(value * 1e6) / 1e6;
	return json_real(fabs(rounded) < 1e9 ? rounded : as_written(rounded)); /* below, 6 decimals are 15 digits at most */
}

void json_put_exact(json_t *to, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(to, name, json_real(as_written(value)));
}

void json_put(json_t *to, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(to, name, json_figure(value));
}

void json_put_count(json_t *to, const char *name, int64_t value)
{
	if (value != IPF_ABSENT)
		json_object_set_new(to, name, json_integer(value));
}

void json_put_text(json_t *to, const char *name, const char *text)
{
	if (text && *text)
		json_object_set_new(to, name, json_string(text));
}

void json_put_object(json_t *to, const char *name, json_t *value)
{
	if (json_object_size(value) > 0 || json_array_size(value) > 0)
		json_object_set(to, name, value);
	json_decref(value);
}
