#include "api/descriptor_check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int descriptor_error(struct descriptor_place at, const char *member, struct ipf_error *err, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return ipf_error_at(err, IPF_INPUT, at.file, 0, "%s%s%s: %s", at.inside ? at.inside : "", at.inside ? "." : "",
	                    member, text);
}

int descriptor_wrong(struct descriptor_place at, const char *member, struct ipf_error *err, const char *expected,
                     json_t *got)
{
	char *text = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	descriptor_error(at, member, err, "expected %s, got %.60s", expected,
	                 got ? (text ? text : "something else") : "nothing");
	free(text);
	return -1;
}

int descriptor_only_members(struct descriptor_place at, json_t *object, const char *const *known, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach(object, key, value)
	{
		size_t i = 0;
		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i] && !at.recorded)
			return descriptor_error(at, key, err, "unknown member");
	}
	return 0;
}

int descriptor_check_string(struct descriptor_place at, json_t *object, const char *key, bool optional,
                            struct ipf_error *err)
{
	json_t *value = json_object_get(object, key);
	if (!value && optional)
		return 0;
	if (!json_is_string(value) || (!optional && !json_string_length(value)))
		return descriptor_wrong(at, key, err, "a string", value);
	return 0;
}

int descriptor_check_path(struct descriptor_place at, const char *member, json_t *path, struct ipf_error *err)
{
	const char *text = json_string_value(path), *dollar = text;
	bool good = text && text[0] == '/' && !strpbrk(text, " \r\n\t#");
	while (good && (dollar = strchr(dollar, '$'))) {
		good = !strncmp(dollar, "$model", 6);
		dollar++;
	}
	return good ? 0 : descriptor_wrong(at, member, err, "a path beginning with a slash", path);
}
