#include "api/api_request.h"

#include "api/descriptor_check.h"
#include "api/form.h"
#include "header_field.h"

#include <string.h>

/* Where in a template a field may be used: anywhere, or inside the $each of messages, parts, tools or inputs, in a
 * form, or in the template of a tool call or of its result (IN_CALL), of which only a call has arguments. */
enum scope {
	ANYWHERE = 0,
	IN_MESSAGE = 1,
	IN_PART = 2,
	IN_TOOL = 4,
	IN_INPUTS = 8,
	IN_FORM = 16,
	IN_CALL = 32,
	IN_ARGUMENTS = 64,
	IN_RESULTS = 128,
};

static const struct {
	const char *name;
	enum scope scope;
} fields[] = {
	{"model", ANYWHERE},
	{"adapter", ANYWHERE},
	{"messages", ANYWHERE},
	{"turns", ANYWHERE},
	{"system", ANYWHERE},
	{"prompt", ANYWHERE},
	{"prompt_text", ANYWHERE},
	{"prompt_token_ids", ANYWHERE},
	{"token_ids_wanted", ANYWHERE},
	{"inputs", ANYWHERE},
	{"input_texts", ANYWHERE},
	{"query", ANYWHERE},
	{"previous", ANYWHERE},
	{"tools", ANYWHERE},
	{"output_tokens", ANYWHERE},
	{"answer_token_ids", ANYWHERE},
	{"input_tokens", ANYWHERE},
	{"session", ANYWHERE},
	{"agent", ANYWHERE},
	{"parent_agent", ANYWHERE},
	{"id", ANYWHERE},
	{"response_format", ANYWHERE},
	{"response_schema", ANYWHERE},
	{"response_schema_name", ANYWHERE},
	{"message", IN_MESSAGE},
	{"role", IN_MESSAGE},
	{"content", IN_MESSAGE},
	{"has_image", IN_MESSAGE},
	{"has_media", IN_MESSAGE},
	{"has_calls", IN_MESSAGE},
	{"call_id", IN_CALL},
	{"call_name", IN_CALL},
	{"call_arguments", IN_ARGUMENTS},
	{"call_arguments_text", IN_ARGUMENTS},
	{"text", IN_PART},
	{"url", IN_PART},
	{"media_type", IN_PART},
	{"data", IN_PART},
	{"tool_name", IN_TOOL},
	{"tool_description", IN_TOOL},
	{"tool_parameters", IN_TOOL},
	{"input", IN_INPUTS},
	{"audio", IN_FORM},
};
enum { FIELDS = sizeof fields / sizeof *fields };

static bool field_fits(const char *name, unsigned scopes)
{
	for (size_t i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].name, name))
			return (fields[i].scope & scopes) == fields[i].scope;
	return false;
}

bool api_header_field(const char *value)
{
	static const char *const known[] = {"$id", "$session", "$agent", "$parent_agent", "$model", "$traceparent"};
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(value, known[i]))
			return true;
	return false;
}

static int check_template(struct descriptor_place at, const char *member, json_t *value, unsigned scopes,
                          struct ipf_error *err);

/* {"$each": "parts", "text": TEMPLATE, "image": TEMPLATE, "audio": TEMPLATE, "video": TEMPLATE, "call": TEMPLATE}; one
 * of them at least */
static int check_parts(struct descriptor_place at, json_t *map, unsigned scopes, struct ipf_error *err)
{
	static const char *const known[] = {"text", "image", "audio", "video", "call", "$each", NULL};
	size_t given = 0;
	if (!(scopes & IN_MESSAGE))
		return descriptor_error(at, "$each", err, "\"parts\" is only allowed inside the $each of messages or turns");
	if (descriptor_only_members(at, map, known, err) < 0)
		return -1;
	for (size_t i = 0; known[i][0] != '$'; i++) {
		json_t *as = json_object_get(map, known[i]);
		if (as && check_template(at, known[i], as,
		                         scopes | (!strcmp(known[i], "call") ? IN_CALL | IN_ARGUMENTS : IN_PART), err) < 0)
			return -1;
		given += as != NULL;
	}
	return given ? 0
	             : descriptor_wrong(at, "$each", err,
	                                "\"text\", \"image\", \"audio\", \"video\" or \"call\" next to it", map);
}

/* The templates beside that of messages: of each tool call, of each result, or of results following each other. */
static int check_tool_templates(struct descriptor_place at, json_t *map, unsigned scopes, struct ipf_error *err)
{
	static const struct {
		const char *name;
		unsigned scopes;
	} templates[] = {{"call", IN_CALL | IN_ARGUMENTS}, {"result", IN_CALL}, {"results", IN_RESULTS}};
	for (size_t i = 0; i < sizeof templates / sizeof *templates; i++) {
		json_t *as = json_object_get(map, templates[i].name);
		if (as && !json_is_object(as))
			return descriptor_wrong(at, templates[i].name, err, "an object", as);
		if (as && check_template(at, templates[i].name, as, scopes | IN_MESSAGE | templates[i].scopes, err) < 0)
			return -1;
	}
	if (json_object_get(map, "result") && json_object_get(map, "results"))
		return descriptor_error(at, "results", err, "cannot be combined with result");
	return 0;
}

/* {"$each": "messages", "as": TEMPLATE, "roles": {ROLE: ROLE}, "call_ids": "word", "call": …, "result": … or "results":
 * …} */
static int check_each(struct descriptor_place at, json_t *map, unsigned scopes, struct ipf_error *err)
{
	static const char *const of_messages[] = {"$each", "as", "roles", "call_ids", "call", "result", "results", NULL},
							 *const of_others[] = {"$each", "as", NULL};
	json_t *each = json_object_get(map, "$each"), *as = json_object_get(map, "as"),
		   *roles = json_object_get(map, "roles"), *ids = json_object_get(map, "call_ids"), *role;
	const char *key, *of = json_is_string(each) ? json_string_value(each) : "";
	bool tools = !strcmp(of, "tools"), inputs = !strcmp(of, "inputs"), results = !strcmp(of, "results");
	if (!strcmp(of, "parts"))
		return check_parts(at, map, scopes, err);
	if (results && !(scopes & IN_RESULTS))
		return descriptor_error(at, "$each", err, "\"results\" is only allowed inside the template \"results\"");
	if (!tools && !inputs && !results && strcmp(of, "messages") != 0 && strcmp(of, "turns") != 0)
		return descriptor_wrong(at, "$each", err, "\"messages\", \"turns\", \"parts\", \"tools\" or \"inputs\"", each);
	if (descriptor_only_members(at, map, tools || inputs || results ? of_others : of_messages, err) < 0)
		return -1;
	if (!json_is_object(as))
		return descriptor_wrong(at, "as", err, "an object", as);
	if (roles && !json_is_object(roles))
		return descriptor_wrong(at, "roles", err, "an object of strings", roles);
	json_object_foreach(roles, key, role)
	{
		if (!json_is_string(role))
			return descriptor_wrong(at, key, err, "a string", role);
	}
	if (ids && !(json_is_string(ids) && strcmp(json_string_value(ids), "word") == 0))
		return descriptor_wrong(at, "call_ids", err, "\"word\"", ids);
	if (check_tool_templates(at, map, scopes, err) < 0)
		return -1;
	return check_template(at, "as", as,
	                      scopes | (tools     ? IN_TOOL
	                                : inputs  ? IN_INPUTS
	                                : results ? IN_MESSAGE | IN_CALL
	                                          : IN_MESSAGE),
	                      err);
}

/* A string beginning with "$" has to name a field available here; "$$" escapes a dollar sign. */
static int check_template(struct descriptor_place at, const char *member, json_t *value, unsigned scopes,
                          struct ipf_error *err)
{
	const char *key, *text = json_string_value(value);
	json_t *inner, *first = json_object_get(value, "$first");
	size_t i;
	if (text && text[0] == '$' && text[1] != '$' && !field_fits(text + 1, scopes))
		return descriptor_wrong(at, member, err, "a known field, such as \"$messages\", or \"$$\" for a dollar sign",
		                        value);
	if (json_object_get(value, "$each"))
		return check_each(at, value, scopes, err);
	if (json_object_get(value, "$if") && (json_object_size(value) != 2 || !json_object_get(value, "then") ||
	                                      !json_is_string(json_object_get(value, "$if"))))
		return descriptor_wrong(at, "$if", err, "a field name, with \"then\" as the only other member", value);
	if (first && (!json_is_array(first) || !json_array_size(first) || json_object_size(value) != 1))
		return descriptor_wrong(at, "$first", err, "an array as the only member", first);
	if (json_object_get(value, "$values") &&
	    (json_object_size(value) != 1 || !json_is_object(json_object_get(value, "$values"))))
		return descriptor_wrong(at, "$values", err, "an object as the only member", json_object_get(value, "$values"));
	if (json_object_get(value, "$json") && json_object_size(value) != 1)
		return descriptor_wrong(at, "$json", err, "an object with no other member", value);
	json_object_foreach(value, key, inner)
	{
		if (check_template(at, key, inner, scopes, err) < 0)
			return -1;
	}
	json_array_foreach(value, i, inner)
	{
		if (check_template(at, member, inner, scopes, err) < 0)
			return -1;
	}
	return 0;
}

/* The values may be secrets, and are not quoted. */
static int check_headers(struct descriptor_place at, json_t *headers, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	if (headers && !json_is_object(headers))
		return descriptor_wrong(at, "headers", err, "an object of strings", headers);
	json_object_foreach(headers, key, value)
	{
		if (!json_is_string(value))
			return descriptor_wrong(at, key, err, "a string", value);
		if (!header_name_is_valid(key, strlen(key)) || !header_value_is_valid(json_string_value(value)))
			return descriptor_error(at, key, err,
			                        "expected a valid header name, and a value without control characters");
		if (*json_string_value(value) == '$' && !api_header_field(json_string_value(value)))
			return descriptor_error(
				at, key, err,
				"expected \"$id\", \"$session\", \"$agent\", \"$parent_agent\", \"$model\" or \"$traceparent\" if the value "
				"begins with $");
	}
	return 0;
}

int api_request_check(struct descriptor_place at, json_t *request, struct ipf_error *err)
{
	static const char *const known[] = {
		"headers",          "auth",   "body",          "stream",   "whole", "exact_output",
		"recorded_answers", "params", "outputs_limit", "encoding", NULL};
	static const char *const auth_known[] = {"header", "prefix", "env", NULL}, *const sign_known[] = {"sign", "service",
	                                                                                                  NULL};
	static const char *const templates[] = {"body", "stream", "whole", "exact_output", "recorded_answers", NULL};
	if (!json_is_object(request))
		return descriptor_wrong(descriptor_inside(at, NULL), "request", err, "an object", request);
	if (descriptor_only_members(at, request, known, err) < 0 ||
	    check_headers(at, json_object_get(request, "headers"), err) < 0)
		return -1;
	json_t *encoding = json_object_get(request, "encoding");
	if (encoding && (!json_is_string(encoding) || strcmp(json_string_value(encoding), FORM_ENCODING) != 0))
		return descriptor_wrong(at, "encoding", err, "\"" FORM_ENCODING "\"", encoding);
	for (size_t i = 0; templates[i]; i++) {
		json_t *value = json_object_get(request, templates[i]);
		if (value ? !json_is_object(value) : i == 0)
			return descriptor_wrong(at, templates[i], err, "an object", value);
		if (check_template(at, templates[i], value, encoding ? IN_FORM : ANYWHERE, err) < 0)
			return -1;
	}
	json_t *auth = json_object_get(request, "auth"), *params = json_object_get(request, "params");
	if (params && (!json_is_string(params) || json_string_value(params)[0] != '/'))
		return descriptor_wrong(at, "params", err, "a JSON Pointer into the body", params);
	if (descriptor_check_string(at, request, "outputs_limit", true, err) < 0)
		return -1;
	if (!auth)
		return 0;
	if (!json_is_object(auth))
		return descriptor_wrong(at, "auth", err, "an object", auth);
	at.inside = "request.auth";
	json_t *sign = json_object_get(auth, "sign");
	if (sign && (!json_is_string(sign) || strcmp(json_string_value(sign), "aws-sigv4") != 0))
		return descriptor_wrong(at, "sign", err, "\"aws-sigv4\"", sign);
	if (sign)
		return descriptor_only_members(at, auth, sign_known, err) < 0 ||
		               descriptor_check_string(at, auth, "service", false, err) < 0
		           ? -1
		           : 0;
	const char *header = json_string_value(json_object_get(auth, "header"));
	if (header && !header_name_is_valid(header, strlen(header)))
		return descriptor_wrong(at, "header", err, "a valid header name", json_object_get(auth, "header"));
	return descriptor_only_members(at, auth, auth_known, err) < 0 ||
	               descriptor_check_string(at, auth, "header", false, err) < 0 ||
	               descriptor_check_string(at, auth, "prefix", true, err) < 0 ||
	               descriptor_check_string(at, auth, "env", true, err) < 0
	           ? -1
	           : 0;
}
