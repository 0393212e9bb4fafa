#include "json_report/json_path.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *json_at(json_t *json, const char *path)
{
	char key[64];
	while (json && *path) {
		size_t len = strcspn(path, "/");
		if (len >= sizeof key)
			return NULL;
		memcpy(key, path, len);
		key[len] = 0;
		json = json_is_array(json) && isdigit((unsigned char)*key) ? json_array_get(json, strtoul(key, NULL, 10))
		                                                           : json_object_get(json, key);
		path += len + (path[len] == '/');
	}
	return json;
}

double figure_at(json_t *json, const char *path)
{
	json_t *value = json_at(json, path);
	if (json_is_string(value) && strcmp(json_string_value(value), "inf") == 0)
		return INFINITY;
	return json_is_number(value) ? json_number_value(value) : NAN;
}

json_t *element_at(json_t *array, double index)
{
	return index >= 0 && index < (double)json_array_size(array) ? json_array_get(array, (size_t)index) : NULL;
}

const char *text_at(json_t *json, const char *path)
{
	return json_string_value(json_at(json, path));
}

double percentile_named(const char *member)
{
	double p;
	return sscanf(member, "p%lf", &p) == 1 ? p : NAN;
}

const char *words_of(json_t *json)
{
	return json_is_string(json) ? json_string_value(json) : "";
}

const char *words_at(json_t *json, const char *path)
{
	return words_of(json_at(json, path));
}
