#include "body/body_template.h"

#include <stdlib.h>
#include <string.h>

static const char *const field_names[FIELDS] = {
	"model",
	"adapter",
	"messages",
	"turns",
	"system",
	"prompt",
	"prompt_text",
	"prompt_token_ids",
	"tools",
	"id",
	"session",
	"input_tokens",
	"output_tokens",
	"response_format",
	"response_schema",
	"response_schema_name",
	"message",
	"role",
	"content",
	"has_image",
	"text",
	"url",
	"media_type",
	"data",
	"tool_name",
	"tool_description",
	"tool_parameters",
};

void part_release(struct part *p)
{
	free(p->key);
	free(p->raw);
	for (size_t i = 0; i < p->count; i++)
		part_release(&p->parts[i]);
	free(p->parts);
	json_decref(p->roles);
}

static bool is_operator(const char *key)
{
	return !strcmp(key, "$first") || !strcmp(key, "$if") || !strcmp(key, "$json") || !strcmp(key, "$each") ||
	       !strcmp(key, "$raw") || !strcmp(key, "$values");
}

static bool has_field(json_t *value)
{
	const char *key, *text = json_string_value(value);
	json_t *inner;
	size_t i;
	if (text && text[0] == '$')
		return true;
	json_object_foreach(value, key, inner) if (is_operator(key) || has_field(inner)) return true;
	json_array_foreach(value, i, inner) if (has_field(inner)) return true;
	return false;
}

static char *dump(json_t *value)
{
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
}

char *dump_text(const char *text, const char *after)
{
	json_t *value = json_string(text);
	char *quoted = value ? dump(value) : NULL, *all = NULL;
	if (quoted && (all = malloc(strlen(quoted) + strlen(after) + 1)))
		strcat(strcpy(all, quoted), after);
	free(quoted);
	json_decref(value);
	return all;
}

static int compile(bool *carries, struct part *p, const char *key, json_t *value, struct ipf_error *err);

static int compile_inside(bool *carries, struct part *p, json_t *value, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	size_t i, count = p->kind == MAP ? json_object_size(value) : json_array_size(value);
	p->parts = calloc(count ? count : 1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	json_object_foreach(value, key, inner) if (compile(carries, &p->parts[p->count++], key, inner, err) < 0) return -1;
	json_array_foreach(value, i, inner) if (compile(carries, &p->parts[p->count++], NULL, inner, err) < 0) return -1;
	return 0;
}

static int compile_field(bool *carries, struct part *p, const char *key, const char *text, struct ipf_error *err)
{
	p->kind = FIELD;
	while (p->field < FIELDS && strcmp(field_names[p->field], text + 1) != 0)
		p->field++;
	if (p->field == FIELDS)
		return ipf_error_set(err, IPF_INPUT, "%s: unknown field \"%s\"", key ? key : "body", text);
	carries[p->field == TURNS ? MESSAGES : p->field] = true;
	return 0;
}

static int compile_one(bool *carries, struct part *p, json_t *inner, struct ipf_error *err)
{
	p->parts = calloc(1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	p->count = 1;
	return compile(carries, p->parts, NULL, inner, err);
}

static int compile_parts(bool *carries, struct part *p, json_t *value, struct ipf_error *err)
{
	static const char *const kinds[] = {"text", "image"};
	p->parts = calloc(2, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	for (; p->count < 2; p->count++) {
		json_t *as = json_object_get(value, kinds[p->count]);
		p->parts[p->count].kind = RAW;
		if (as && compile(carries, &p->parts[p->count], NULL, as, err) < 0) {
			p->count++; /* to be released */
			return -1;
		}
	}
	return 0;
}

static int compile_each(bool *carries, struct part *p, json_t *value, struct ipf_error *err)
{
	const char *of = json_string_value(json_object_get(value, "$each"));
	p->over = !strcmp(of, "parts")   ? OVER_PARTS
	          : !strcmp(of, "tools") ? OVER_TOOLS
	          : !strcmp(of, "turns") ? OVER_TURNS
	                                 : OVER_MESSAGES;
	if (p->over == OVER_PARTS)
		return compile_parts(carries, p, value, err);
	if (p->over != OVER_TOOLS) {
		p->roles = json_incref(json_object_get(value, "roles"));
		carries[MESSAGES] = true;
	}
	return compile_one(carries, p, json_object_get(value, "as"), err);
}

/* A list that is a map in the template, so that others can add to it. */
static int compile_values(bool *carries, struct part *p, json_t *map, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	p->kind = LIST;
	p->parts = calloc(json_object_size(map) + 1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	json_object_foreach(map, key, inner) if (compile(carries, &p->parts[p->count++], NULL, inner, err) < 0) return -1;
	return 0;
}

/* {"$first": …}, {"$if": …}, {"$json": …}, {"$each": …}, {"$values": …}, {"$raw": …} */
static int compile_operator(bool *carries, struct part *p, json_t *value, struct ipf_error *err)
{
	json_t *first = json_object_get(value, "$first"), *text = json_object_get(value, "$json"),
		   *raw = json_object_get(value, "$raw");
	if (raw) {
		p->kind = RAW;
		p->raw = dump(raw);
		return p->raw ? 0 : ipf_error_memory(err);
	}
	if (first) {
		p->kind = FIRST;
		return compile_inside(carries, p, first, err);
	}
	if (json_object_get(value, "$if")) {
		p->kind = IF; /* the condition, and what it stands before */
		json_t *both = json_pack("[O, O]", json_object_get(value, "$if"), json_object_get(value, "then"));
		int result = compile_inside(carries, p, both, err);
		json_decref(both);
		return result;
	}
	if (json_object_get(value, "$values"))
		return compile_values(carries, p, json_object_get(value, "$values"), err);
	p->kind = text ? TEXT : EACH;
	if (text)
		return compile_one(carries, p, text, err);
	return compile_each(carries, p, value, err);
}

static int compile(bool *carries, struct part *p, const char *key, json_t *value, struct ipf_error *err)
{
	const char *text = json_string_value(value);
	if (key && !(p->key = dump_text(key, ":")))
		return ipf_error_memory(err);
	if (text && text[0] == '$' && text[1] != '$')
		return compile_field(carries, p, key, text, err);
	const char *name;
	json_t *inner;
	json_object_foreach(value, name, inner) if (is_operator(name)) return compile_operator(carries, p, value, err);
	if (has_field(value) && !text) {
		p->kind = json_is_object(value) ? MAP : LIST;
		return compile_inside(carries, p, value, err);
	}
	p->kind = RAW;
	p->raw = text && text[0] == '$' ? dump_text(text + 1, "") : dump(value);
	return p->raw ? 0 : ipf_error_memory(err);
}

/* ---- what is laid over one another ---- */

/* The map at a JSON Pointer into the body, made where it is missing; NULL where something else is in its way. `len`: of
 * the pointer. */
static json_t *map_at(json_t *body, const char *pointer, size_t len)
{
	const char *end = pointer + len;
	while (body && pointer < end) {
		size_t part = strcspn(pointer + 1, "/");
		if (pointer + 1 + part > end)
			part = (size_t)(end - pointer - 1);
		char *key = slice_dup((struct slice){pointer + 1, part});
		json_t *inner = key && json_is_array(body) ? json_array_get(body, strtoul(key, NULL, 10))
		                : key                      ? json_object_get(body, key)
		                                           : NULL;
		if (key && !inner && json_is_object(body)) {
			inner = json_object();
			json_object_set_new(body, key, inner);
		}
		free(key);
		body = inner;
		pointer += 1 + part;
	}
	return json_is_object(body) ? body : NULL;
}

/* The user's own parameters: where the API has them, or where a KEY that begins with a slash says. They hold no fields.
 */
static int add_params(json_t *body, json_t *request, json_t *params, struct ipf_error *err)
{
	const char *home = json_string_value(json_object_get(request, "params")), *key;
	json_t *value;
	json_object_foreach(params, key, value)
	{
		const char *slash = *key == '/' ? strrchr(key, '/') : NULL;
		json_t *map = slash ? map_at(body, key, (size_t)(slash - key))
		                    : map_at(body, home ? home : "", home ? strlen(home) : 0);
		if (!map)
			return ipf_error_set(err, IPF_USAGE, "--param: %s: there is no map to put it into", key);
		if (json_object_set_new(map, slash ? slash + 1 : key, json_pack("{s:O}", "$raw", value)) < 0)
			return ipf_error_memory(err);
	}
	return 0;
}

static json_t *merge(json_t *request, const struct body_renderer_options *options, struct ipf_error *err)
{
	json_t *body = json_deep_copy(json_object_get(request, "body")), *exact = json_object_get(request, "exact_output");
	json_t *mode = json_object_get(request, options->streamed ? "stream" : "whole");
	if (options->exact_output && !json_is_object(exact)) {
		json_decref(body);
		ipf_error_set(err, IPF_USAGE, "--exact-output: this API has no way to ask for an exact length");
		return NULL;
	}
	int bad = mode ? json_object_update_recursive(body, mode) : 0;
	if (options->exact_output)
		bad |= json_object_update_recursive(body, exact);
	if (!body || bad)
		ipf_error_memory(err);
	if (!body || bad || add_params(body, request, options->params, err) < 0) {
		json_decref(body);
		return NULL;
	}
	return body;
}

int body_template_compile(struct part *p, bool carries[FIELDS], json_t *request,
                          const struct body_renderer_options *options, struct ipf_error *err)
{
	json_t *body = merge(request, options, err);
	int result = body ? compile(carries, p, NULL, body, err) : -1;
	json_decref(body);
	return result;
}

int param_parse(json_t *params, const char *text, struct ipf_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals || equals == text)
		return ipf_error_set(err, IPF_USAGE, "--param: expected KEY=JSON, got \"%s\"", text);
	char *key = slice_dup((struct slice){text, (size_t)(equals - text)});
	json_error_t why;
	json_t *value = json_loads(equals + 1, JSON_DECODE_ANY, &why);
	if (!value)
		ipf_error_set(err, IPF_USAGE, "--param: %s: expected JSON (texts in quotes), got \"%s\"", key ? key : "",
		              equals + 1);
	else if (!key || json_object_set(params, key, value) < 0)
		ipf_error_set(err, IPF_USAGE, "--param: \"%s\": not a name", text);
	json_decref(value);
	free(key);
	return err->kind ? -1 : 0;
}
