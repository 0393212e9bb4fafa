/* A descriptor of a test's own with one member changed, and its error. */
#ifndef IPF_TEST_API_CASES_H
#define IPF_TEST_API_CASES_H

#include "api/api.h"
#include "unit.h"

#include <jansson.h>

static inline json_t *parse(const char *text)
{
	json_error_t why;
	json_t *json = json_loads(text, JSON_DECODE_ANY, &why);
	if (!json)
		fail_msg("test data is not JSON: %s: %s", why.text, text);
	return json;
}

/* Sets (or with "gone" removes) the member at a dotted path of the descriptor; it is refused as `expected` says, NULL:
 * it stays good. */
static inline void api_told(const char *descriptor, const char *path, const char *value, const char *expected)
{
	json_t *json = parse(descriptor), *map = json;
	char copy[128], *key = copy, *dot;
	struct ipf_error err = {0};
	struct api *api = NULL;
	snprintf(copy, sizeof copy, "%s", path);
	for (; (dot = strchr(key, '.')); key = dot + 1) {
		*dot = '\0';
		map = json_object_get(map, key);
	}
	if (!strcmp(value, "gone"))
		json_object_del(map, key);
	else
		json_object_set_new(map, key, parse(value));
	int got = api_from_json(&api, json, "mine.json", &err);
	if (!expected) {
		if (got < 0)
			fail_msg("%s = %s: refused: %s", path, value, err.text);
	} else {
		assert_int_equal(got, -1);
		assert_null(api);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_string_equal(err.file, "mine.json");
		assert_string_equal(err.text, expected);
	}
	api_close(api);
	json_decref(json);
}

#endif
