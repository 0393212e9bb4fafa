#include "api/api_cache_reset.h"

#include <string.h>

static int check_path(struct descriptor_place at, json_t *path, bool each, struct ipf_error *err)
{
	const char *text = json_string_value(path), *variable = text ? strstr(text, API_CACHE_RESET_EACH) : NULL;
	bool good = text && text[0] == '/' && !strpbrk(text, " \r\n\t#");
	if (!good)
		return descriptor_wrong(at, "path", err, "a path beginning with a slash", path);
	if (each != (variable != NULL))
		return descriptor_wrong(at, "path", err, each ? "a path with $each" : "a path without $each", path);
	return 0;
}

static int compile_each(struct api_cache_reset *reset, struct descriptor_place at, json_t *each, struct ipf_error *err)
{
	static const char *const known[] = {"path", "ids", NULL};
	json_t *ids = json_object_get(each, "ids");
	struct ipf_error wrong = {0};
	if (!json_is_object(each))
		return descriptor_wrong(at, "each", err, "an object", each);
	at = descriptor_inside(at, "cache_reset.each");
	if (descriptor_only_members(at, each, known, err) < 0 ||
	    descriptor_check_path(at, "path", json_object_get(each, "path"), err) < 0)
		return -1;
	if (!json_is_string(ids) || api_pointer_new(&reset->each_ids, ids, &wrong) < 0)
		return descriptor_wrong(at, "ids", err, "a JSON Pointer", ids);
	reset->each_path = json_string_value(json_object_get(each, "path"));
	return 0;
}

static int compile(struct api_cache_reset *reset, struct descriptor_place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"method", "path", "needs", "each", NULL};
	json_t *each = json_object_get(json, "each"), *path = json_object_get(json, "path");
	if (descriptor_only_members(at, json, known, err) < 0 ||
	    descriptor_check_string(at, json, "method", false, err) < 0 ||
	    descriptor_check_string(at, json, "needs", true, err) < 0 || check_path(at, path, each != NULL, err) < 0 ||
	    (each && compile_each(reset, at, each, err) < 0))
		return -1;
	reset->method = json_string_value(json_object_get(json, "method"));
	reset->path = json_string_value(path);
	reset->needs = json_string_value(json_object_get(json, "needs"));
	if (reset->method[strspn(reset->method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return descriptor_wrong(at, "method", err, "a method such as \"POST\"", json_object_get(json, "method"));
	return 0;
}

int api_cache_resets_compile(struct api_cache_resets *resets, struct descriptor_place top, json_t *list,
                             struct ipf_error *err)
{
	json_t *one;
	size_t i;
	*resets = (struct api_cache_resets){.count = 0};
	if (!list)
		return 0;
	if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > API_CACHE_RESETS_MOST)
		return descriptor_wrong(top, "cache_reset", err, "an array of at most 8 requests", list);
	json_array_foreach(list, i, one)
	{
		if (!json_is_object(one))
			return descriptor_wrong(top, "cache_reset", err, "an array of objects", one);
		resets->count++;
		if (compile(&resets->list[i], descriptor_inside(top, "cache_reset"), one, err) < 0)
			return -1;
	}
	return 0;
}

void api_cache_resets_release(struct api_cache_resets *resets)
{
	for (size_t i = 0; i < resets->count; i++)
		api_pointer_free(resets->list[i].each_ids);
	resets->count = 0;
}
