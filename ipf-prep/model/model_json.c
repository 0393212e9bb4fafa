#include "model/model_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

json_t *model_number(double value)
{
	char text[32];
	if (floor(value) == value && fabs(value) < 1e15)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof text, "%.6g", value);
	value = strtod(text, NULL);
	return floor(value) == value && fabs(value) < 1e15 ? json_integer((json_int_t)value) : json_real(value);
}

json_t *model_numbers(const double *values, size_t count)
{
	json_t *list = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(list, model_number(values[i]));
	return list;
}

int model_expected(const json_t *value, const char *place, const char *key, const char *wanted, struct ipf_error *err)
{
	char *got = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	ipf_error_set(err, IPF_INPUT, value ? "%s%s%s: expected %s, got %.40s" : "%s%s%s: expected %s, but it is missing",
	              place, *place && *key ? "." : "", key, wanted, got ? got : "nothing");
	free(got);
	return -1;
}

static int read_number(const struct model_place *at, const json_t *item, const char *key, double *value,
                       struct ipf_error *err)
{
	char wanted[80];
	double number = json_number_value(item);
	if (json_is_number(item) && number >= at->least && number <= at->most) {
		*value = number;
		return 0;
	}
	snprintf(wanted, sizeof wanted, "a number from %g to %g", at->least, at->most);
	return model_expected(item, at->name, key, wanted, err);
}

int model_need(const struct model_place *at, const char *key, double *value, struct ipf_error *err)
{
	return read_number(at, json_object_get(at->map, key), key, value, err);
}

int model_optional(const struct model_place *at, const char *key, double *value, struct ipf_error *err)
{
	const json_t *item = json_object_get(at->map, key);
	return item ? read_number(at, item, key, value, err) : 0;
}

int model_list(const struct model_place *at, const char *key, double *values, size_t most, size_t *count,
               struct ipf_error *err)
{
	const json_t *list = json_object_get(at->map, key);
	char wanted[80];
	*count = json_array_size(list);
	snprintf(wanted, sizeof wanted, "a list of at most %zu numbers", most);
	if (!json_is_array(list) || *count > most)
		return model_expected(json_is_array(list) ? json_array_get(list, most) : list, at->name, key, wanted, err);
	for (size_t i = 0; i < *count; i++) {
		char name[64];
		snprintf(name, sizeof name, "%s[%zu]", key, i);
		if (read_number(at, json_array_get(list, i), name, &values[i], err) < 0)
			return -1;
	}
	return 0;
}
