#include "formats/json_figures.h"

#include "absent.h"

#include <math.h>

json_t *json_figure(double value)
{
	return isinf(value) ? json_string("inf") : json_real(round(value * 1e6) / 1e6);
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

void json_put_object(json_t *to, const char *name, json_t *value)
{
	if (json_object_size(value) > 0)
		json_object_set(to, name, value);
	json_decref(value);
}
