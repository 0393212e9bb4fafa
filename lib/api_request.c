#include "api_parts.h"

#include <string.h>

static const char *const fields[] = {
	"model", "adapter", "messages", "turns", "system", "prompt", "prompt_text", "prompt_token_ids", "tools", "output_tokens",
	"input_tokens", "session", "id", "role", "content", NULL,
};

const char *api_field(size_t i)
{
	return i < sizeof fields / sizeof *fields ? fields[i] : NULL;
}

bool api_field_known(const char *name)
{
	for (size_t i = 0; fields[i]; i++)
		if (!strcmp(fields[i], name))
			return true;
	return false;
}

bool api_header_field(const char *value)
{
	return !strcmp(value, "$id") || !strcmp(value, "$session") || !strcmp(value, "$model");
}

/* ---- the request half ---- */

static int check_template(struct api_place at, const char *member, json_t *value, bool in_each, struct ipf_error *err);

/* {"$each": "messages", "as": TEMPLATE, "roles": {ROLE: ROLE}} */
static int check_each(struct api_place at, json_t *map, struct ipf_error *err)
{
	static const char *const known[] = {"$each", "as", "roles", NULL};
	json_t *of = json_object_get(map, "$each"), *as = json_object_get(map, "as"), *roles = json_object_get(map, "roles"), *role;
	const char *key;
	if (api_only_members(at, map, known, err) < 0)
		return -1;
	if (!json_is_string(of) || (strcmp(json_string_value(of), "messages") != 0 && strcmp(json_string_value(of), "turns") != 0))
		return api_wrong(at, "$each", err, "\"messages\" or \"turns\"", of);
	if (!json_is_object(as))
		return api_wrong(at, "as", err, "a map", as);
	if (roles && !json_is_object(roles))
		return api_wrong(at, "roles", err, "a map of texts", roles);
	json_object_foreach(roles, key, role)
		if (!json_is_string(role))
			return api_wrong(at, key, err, "a text", role);
	return check_template(at, "as", as, true, err);
}

static bool field_fits(const char *name, bool in_each)
{
	bool of_a_message = !strcmp(name, "role") || !strcmp(name, "content");
	return api_field_known(name) && (!of_a_message || in_each);
}

/* Every text in a template that begins with "$" has to name a field of the trace ("$$" stands for a "$"). */
static int check_template(struct api_place at, const char *member, json_t *value, bool in_each, struct ipf_error *err)
{
	const char *key, *text = json_string_value(value);
	json_t *inner, *first = json_object_get(value, "$first");
	size_t i;
	if (text && text[0] == '$' && text[1] != '$' && !field_fits(text + 1, in_each))
		return api_wrong(at, member, err, "a field of the trace, such as \"$messages\"", value);
	if (json_object_get(value, "$each"))
		return check_each(at, value, err);
	if (json_object_get(value, "$if") && (json_object_size(value) != 2 || !json_object_get(value, "then") ||
	                                      !json_is_string(json_object_get(value, "$if"))))
		return api_wrong(at, "$if", err, "a field, and \"then\" beside it", value);
	if (first && (!json_is_array(first) || !json_array_size(first) || json_object_size(value) != 1))
		return api_wrong(at, "$first", err, "a list, and nothing beside it", first);
	if (json_object_get(value, "$values") && (json_object_size(value) != 1 || !json_is_object(json_object_get(value, "$values"))))
		return api_wrong(at, "$values", err, "a map, and nothing beside it", json_object_get(value, "$values"));
	if (json_object_get(value, "$json") && json_object_size(value) != 1)
		return api_wrong(at, "$json", err, "nothing beside it", value);
	json_object_foreach(value, key, inner)
		if (check_template(at, key, inner, in_each, err) < 0)
			return -1;
	json_array_foreach(value, i, inner)
		if (check_template(at, member, inner, in_each, err) < 0)
			return -1;
	return 0;
}

static int check_headers(struct api_place at, json_t *headers, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	if (headers && !json_is_object(headers))
		return api_wrong(at, "headers", err, "a map of texts", headers);
	json_object_foreach(headers, key, value) {
		if (!json_is_string(value))
			return api_wrong(at, key, err, "a text", value);
		if (!*key || strpbrk(key, ": \r\n") || strpbrk(json_string_value(value), "\r\n"))
			return api_wrong(at, key, err, "a header's name and value", value);
		if (*json_string_value(value) == '$' && !api_header_field(json_string_value(value)))
			return api_wrong(at, key, err, "\"$id\", \"$session\" or \"$model\"", value);
	}
	return 0;
}

int api_check_request(struct api_place at, json_t *request, struct ipf_error *err)
{
	static const char *const known[] = {"headers", "auth", "body", "stream", "whole", "exact_output", "params", NULL};
	static const char *const auth_known[] = {"header", "prefix", "env", NULL};
	static const char *const templates[] = {"body", "stream", "whole", "exact_output", NULL};
	if (!json_is_object(request))
		return api_wrong((struct api_place){at.file, NULL}, "request", err, "a map", request);
	if (api_only_members(at, request, known, err) < 0 || check_headers(at, json_object_get(request, "headers"), err) < 0)
		return -1;
	for (size_t i = 0; templates[i]; i++) {
		json_t *value = json_object_get(request, templates[i]);
		if (value ? !json_is_object(value) : i == 0)
			return api_wrong(at, templates[i], err, "a map", value);
		if (check_template(at, templates[i], value, false, err) < 0)
			return -1;
	}
	json_t *auth = json_object_get(request, "auth"), *params = json_object_get(request, "params");
	if (params && (!json_is_string(params) || json_string_value(params)[0] != '/'))
		return api_wrong(at, "params", err, "a JSON Pointer into the body", params);
	if (!auth)
		return 0;
	if (!json_is_object(auth))
		return api_wrong(at, "auth", err, "a map", auth);
	at.inside = "request.auth";
	return api_only_members(at, auth, auth_known, err) < 0 || api_check_text(at, auth, "header", false, err) < 0 ||
	       api_check_text(at, auth, "prefix", true, err) < 0 || api_check_text(at, auth, "env", true, err) < 0 ? -1 : 0;
}

