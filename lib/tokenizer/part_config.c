#include "tokenizer/part_config.h"

#include "tokenizer/code_point.h"

#include <string.h>

int config_refuse(const char *part, const char *name, const char *expected, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "%s: %s: expected %s", part, name, expected);
}

static struct slice text_of(const json_t *value)
{
	return (struct slice){json_string_value(value), json_string_length(value)};
}

int config_text(const json_t *config, const char *part, const char *name, struct slice *text, struct ipf_error *err)
{
	const json_t *value = json_object_get(config, name);
	if (!json_is_string(value))
		return config_refuse(part, name, "a string", err);
	*text = text_of(value);
	return 0;
}

int config_bool(const json_t *config, const char *part, const char *name, bool optional, bool *value,
                struct ipf_error *err)
{
	const json_t *found = json_object_get(config, name);
	if (optional && !found)
		return 0;
	if (!json_is_boolean(found))
		return config_refuse(part, name, "true or false", err);
	*value = json_is_true(found);
	return 0;
}

int config_size(const json_t *config, const char *part, const char *name, bool optional, size_t *value,
                struct ipf_error *err)
{
	const json_t *found = json_object_get(config, name);
	if (optional && !found)
		return 0;
	if (!json_is_integer(found) || json_integer_value(found) < 0)
		return config_refuse(part, name, "an integer of 0 or more", err);
	*value = (size_t)json_integer_value(found);
	return 0;
}

int config_character(const json_t *config, const char *part, const char *name, struct slice *text,
                     struct ipf_error *err)
{
	if (config_text(config, part, name, text, err) < 0)
		return -1;
	const char *at = text->data;
	if (text->len)
		utf8_next(&at);
	return text->len && at == text->data + text->len ? 0 : config_refuse(part, name, "one character", err);
}

int config_pattern(const json_t *config, const char *part, struct slice *text, bool *literal, struct ipf_error *err)
{
	const json_t *pattern = json_object_get(config, "pattern");
	const json_t *string = json_object_get(pattern, "String"), *regex = json_object_get(pattern, "Regex");
	if (json_object_size(pattern) != 1 || !json_is_string(string ? string : regex))
		return config_refuse(part, "pattern", "{\"String\": …} or {\"Regex\": …}", err);
	*literal = string != NULL;
	*text = text_of(string ? string : regex);
	return 0;
}

int config_type(const json_t *config, const char *part, const char *const *names, size_t count, struct ipf_error *err)
{
	const char *type = json_string_value(json_object_get(config, "type"));
	if (!type)
		return ipf_error_set(err, IPF_INPUT, "%s: expected an object with a \"type\"", part);
	for (size_t i = 0; i < count; i++)
		if (strcmp(type, names[i]) == 0)
			return (int)i;
	return ipf_error_set(err, IPF_INPUT, "%s: unknown type \"%.60s\"", part, type);
}

int config_metaspace(const json_t *config, const char *part, struct metaspace_config *metaspace, struct ipf_error *err)
{
	static const char *const schemes[] = {
		[METASPACE_ALWAYS] = "always", [METASPACE_FIRST] = "first", [METASPACE_NEVER] = "never"};
	struct slice scheme = slice_of("always");
	const json_t *old = json_object_get(config, "add_prefix_space");
	size_t i = 0;

	if (config_character(config, part, "replacement", &metaspace->replacement, err) < 0)
		return -1;
	if (json_object_get(config, "prepend_scheme") && config_text(config, part, "prepend_scheme", &scheme, err) < 0)
		return -1;
	while (i < sizeof schemes / sizeof *schemes && !slice_is(scheme, schemes[i]))
		i++;
	if (i == sizeof schemes / sizeof *schemes)
		return config_refuse(part, "prepend_scheme", "\"always\", \"first\" or \"never\"", err);
	metaspace->scheme = (enum metaspace_scheme)i;
	if (old && !json_is_null(old) && !json_is_boolean(old))
		return config_refuse(part, "add_prefix_space", "true or false", err);
	if (json_is_false(old) && metaspace->scheme != METASPACE_NEVER)
		return ipf_error_set(err, IPF_INPUT, "%s: add_prefix_space does not match prepend_scheme", part);
	return 0;
}
