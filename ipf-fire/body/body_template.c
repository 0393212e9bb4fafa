#include "body/body_template.h"

#include "absent.h"
#include "requests/chat_parts.h"

#include <stdlib.h>
#include <string.h>

static const char *const field_names[FIELD_COUNT] = {
	"model",
	"adapter",
	"messages",
	"turns",
	"system",
	"prompt",
	"prompt_text",
	"prompt_token_ids",
	"token_ids_wanted",
	"inputs",
	"input_texts",
	"query",
	"previous",
	"tools",
	"id",
	"session",
	"agent",
	"parent_agent",
	"input_tokens",
	"output_tokens",
	"answer_token_ids",
	"response_format",
	"response_schema",
	"response_schema_name",
	"message",
	"role",
	"content",
	"has_image",
	"has_media",
	"has_calls",
	"call_id",
	"call_name",
	"call_arguments",
	"call_arguments_text",
	"text",
	"url",
	"media_type",
	"data",
	"tool_name",
	"tool_description",
	"tool_parameters",
	"input",
	"audio",
};

void template_part_release(struct template_part *p)
{
	free(p->key);
	free(p->raw);
	for (size_t i = 0; i < p->count; i++)
		template_part_release(&p->parts[i]);
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

char *quote_text(const char *text, const char *after)
{
	json_t *value = json_string(text);
	char *quoted = value ? dump(value) : NULL, *all = NULL;
	if (quoted && (all = malloc(strlen(quoted) + strlen(after) + 1)))
		strcat(strcpy(all, quoted), after);
	free(quoted);
	json_decref(value);
	return all;
}

static int compile(bool *carries, struct template_part *p, const char *key, json_t *value, struct ipf_error *err);

static int compile_inside(bool *carries, struct template_part *p, json_t *value, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	size_t i, count = p->kind == PART_MAP ? json_object_size(value) : json_array_size(value);
	p->parts = calloc(count ? count : 1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	json_object_foreach(value, key, inner) if (compile(carries, &p->parts[p->count++], key, inner, err) < 0) return -1;
	json_array_foreach(value, i, inner) if (compile(carries, &p->parts[p->count++], NULL, inner, err) < 0) return -1;
	return 0;
}

static int compile_field(bool *carries, struct template_part *p, const char *key, const char *text,
                         struct ipf_error *err)
{
	p->kind = PART_FIELD;
	while (p->field < FIELD_COUNT && strcmp(field_names[p->field], text + 1) != 0)
		p->field++;
	if (p->field == FIELD_COUNT)
		return ipf_error_set(err, IPF_INPUT, "%s: unknown field \"%s\"", key ? key : "body", text);
	carries[p->field == FIELD_TURNS ? FIELD_MESSAGES : p->field] = true;
	carries[FIELD_MESSAGE] |= p->field == FIELD_MESSAGES || p->field == FIELD_TURNS;
	return 0;
}

static int compile_one(bool *carries, struct template_part *p, json_t *inner, struct ipf_error *err)
{
	p->parts = calloc(1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	p->count = 1;
	return compile(carries, p->parts, NULL, inner, err);
}

/* The templates among the members of a map, those it has. */
static int compile_members(bool *carries, struct template_part *p, json_t *map, const char *const *names, size_t count,
                           struct ipf_error *err)
{
	p->parts = calloc(count, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	p->count = count;
	for (size_t i = 0; i < count; i++)
		p->parts[i].kind = PART_RAW;
	for (size_t i = 0; i < count; i++) {
		json_t *as = json_object_get(map, names[i]);
		if (as && compile(carries, &p->parts[i], NULL, as, err) < 0)
			return -1;
	}
	return 0;
}

static int compile_each(bool *carries, struct template_part *p, json_t *value, struct ipf_error *err)
{
	const char *of = json_string_value(json_object_get(value, "$each"));
	p->over = !strcmp(of, "parts")     ? OVER_PARTS
	          : !strcmp(of, "tools")   ? OVER_TOOLS
	          : !strcmp(of, "inputs")  ? OVER_INPUTS
	          : !strcmp(of, "results") ? OVER_RESULTS
	          : !strcmp(of, "turns")   ? OVER_TURNS
	                                   : OVER_MESSAGES;
	static const char *const parts[PARTS_COUNT] = {"text", "image", "audio", "video", "call"};
	static const char *const messages[EACH_COUNT] = {"as", "call", "result", "results"};
	if (p->over == OVER_PARTS)
		return compile_members(carries, p, value, parts, PARTS_COUNT, err);
	if (p->over == OVER_MESSAGES || p->over == OVER_TURNS) {
		p->roles = json_incref(json_object_get(value, "roles"));
		p->call_ids = json_object_get(value, "call_ids") ? CALL_IDS_WORD : CALL_IDS_ANY;
		carries[FIELD_MESSAGES] = true;
		return compile_members(carries, p, value, messages, EACH_COUNT, err);
	}
	carries[FIELD_INPUTS] |= p->over == OVER_INPUTS;
	return compile_one(carries, p, json_object_get(value, "as"), err);
}

/* A list the template writes as a map, so other maps can be merged into it. */
static int compile_values(bool *carries, struct template_part *p, json_t *map, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	p->kind = PART_LIST;
	p->parts = calloc(json_object_size(map) + 1, sizeof *p->parts);
	if (!p->parts)
		return ipf_error_memory(err);
	json_object_foreach(map, key, inner) if (compile(carries, &p->parts[p->count++], NULL, inner, err) < 0) return -1;
	return 0;
}

/* {"$first": …}, {"$if": …}, {"$json": …}, {"$each": …}, {"$values": …}, {"$raw": …} */
static int compile_operator(bool *carries, struct template_part *p, json_t *value, struct ipf_error *err)
{
	json_t *first = json_object_get(value, "$first"), *text = json_object_get(value, "$json"),
		   *raw = json_object_get(value, "$raw");
	if (raw) {
		p->kind = PART_RAW;
		p->raw = dump(raw);
		return p->raw ? 0 : ipf_error_memory(err);
	}
	if (first) {
		p->kind = PART_FIRST;
		return compile_inside(carries, p, first, err);
	}
	if (json_object_get(value, "$if")) {
		p->kind = PART_IF;
		json_t *both = json_pack("[O, O]", json_object_get(value, "$if"), json_object_get(value, "then"));
		int result = compile_inside(carries, p, both, err);
		json_decref(both);
		return result;
	}
	if (json_object_get(value, "$values"))
		return compile_values(carries, p, json_object_get(value, "$values"), err);
	p->kind = text ? PART_TEXT : PART_EACH;
	if (text)
		return compile_one(carries, p, text, err);
	return compile_each(carries, p, value, err);
}

static int compile(bool *carries, struct template_part *p, const char *key, json_t *value, struct ipf_error *err)
{
	const char *text = json_string_value(value);
	if (key && !(p->key = quote_text(key, ":")))
		return ipf_error_memory(err);
	if (text && text[0] == '$' && text[1] != '$')
		return compile_field(carries, p, key, text, err);
	const char *name;
	json_t *inner;
	json_object_foreach(value, name, inner) if (is_operator(name)) return compile_operator(carries, p, value, err);
	if (has_field(value) && !text) {
		p->kind = json_is_object(value) ? PART_MAP : PART_LIST;
		return compile_inside(carries, p, value, err);
	}
	p->kind = PART_RAW;
	p->raw = text && text[0] == '$' ? quote_text(text + 1, "") : dump(value);
	return p->raw ? 0 : ipf_error_memory(err);
}

/* ---- merging ---- */

/* The map at the first `len` characters of a JSON Pointer into the body, created if it is missing. NULL: there is
 * something else. */
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

/* Members of the request for a user's parameters. */
static bool is_param_field(const char *text)
{
	static const char *const fields[] = {"$id", "$session", "$agent", "$parent_agent", "$model"};
	for (size_t i = 0; text && i < sizeof fields / sizeof *fields; i++)
		if (!strcmp(text, fields[i]))
			return true;
	return false;
}

/* A user's value as a part of the template: itself, but for its fields, which are it or members of its maps. NULL:
 * memory. */
static json_t *param_part(json_t *value)
{
	const char *name;
	json_t *inner;
	if (is_param_field(json_string_value(value)))
		return json_incref(value);
	bool fields = has_field(value);
	json_object_foreach(value, name, inner) fields &= !is_operator(name);
	if (!json_is_object(value) || !fields)
		return json_pack("{s:O}", "$raw", value);
	json_t *part = json_object();
	int bad = part ? 0 : -1;
	json_object_foreach(value, name, inner) bad |= json_object_set_new(part, name, param_part(inner));
	if (bad)
		json_decref(part);
	return bad ? NULL : part;
}

/* Is this one of the members of "exact_output", at any depth? */
static bool forces_length(json_t *exact, const char *key)
{
	const char *name;
	json_t *inner;
	json_object_foreach(exact, name, inner) if (strcmp(name, key) == 0 || forces_length(inner, key)) return true;
	return false;
}

/* Adds the user's parameters at the place the API names, or at the JSON Pointer a KEY with a slash is. */
static int add_params(json_t *body, json_t *request, const struct body_renderer_options *options, struct ipf_error *err)
{
	const char *home = json_string_value(json_object_get(request, "params")), *key;
	json_t *value;
	json_object_foreach(options->params, key, value)
	{
		const char *slash = *key == '/' ? strrchr(key, '/') : NULL;
		if (options->free_end && forces_length(json_object_get(request, "exact_output"), slash ? slash + 1 : key))
			continue;
		json_t *map = slash ? map_at(body, key, (size_t)(slash - key))
		                    : map_at(body, home ? home : "", home ? strlen(home) : 0);
		if (!map)
			return ipf_error_set(err, IPF_USAGE, "--param: %s: the request body has no JSON object at this place", key);
		if (json_object_set_new(map, slash ? slash + 1 : key, param_part(value)) < 0)
			return ipf_error_memory(err);
	}
	return 0;
}

/* Does the API have the parameters that the options need? */
static int check_parts(json_t *request, const struct body_renderer_options *options, struct ipf_error *err)
{
	if (options->exact_output && !json_is_object(json_object_get(request, "exact_output")))
		return ipf_error_set(err, IPF_USAGE, "--exact-output: this API has no parameter for an exact output length");
	if (options->recorded_answers && !json_is_object(json_object_get(request, "recorded_answers")))
		return ipf_error_set(err, IPF_USAGE, "--answers recorded: this API has no parameter for a given answer");
	return 0;
}

static json_t *merge(json_t *request, const struct body_renderer_options *options, struct ipf_error *err)
{
	if (check_parts(request, options, err) < 0)
		return NULL;
	json_t *body = json_deep_copy(json_object_get(request, "body"));
	json_t *mode = json_object_get(request, options->streamed ? "stream" : "whole");
	int bad = mode ? json_object_update_recursive(body, mode) : 0;
	if (options->exact_output && !options->free_end)
		bad |= json_object_update_recursive(body, json_object_get(request, "exact_output"));
	if (options->recorded_answers && !options->free_end)
		bad |= json_object_update_recursive(body, json_object_get(request, "recorded_answers"));
	if (!body || bad)
		ipf_error_memory(err);
	if (!body || bad || add_params(body, request, options, err) < 0) {
		json_decref(body);
		return NULL;
	}
	return body;
}

/* A number of results the body limits, such as 3 in "top_n": 3 or --param top_n=3. */
static int64_t outputs_limit(json_t *body, json_t *request)
{
	const char *member = json_string_value(json_object_get(request, "outputs_limit"));
	json_t *value = member ? json_object_get(body, member) : NULL, *raw = json_object_get(value, "$raw");
	value = raw ? raw : value;
	return json_is_integer(value) && json_integer_value(value) > 0 ? json_integer_value(value) : IPF_ABSENT;
}

int body_template_compile(struct body_template *t, json_t *request, const struct body_renderer_options *options,
                          struct ipf_error *err)
{
	json_t *body = merge(request, options, err);
	int result = body ? compile(t->carries, &t->body, NULL, body, err) : -1;
	t->outputs_limit = outputs_limit(body, request);
	t->form = json_object_get(request, "encoding") != NULL;
	json_decref(body);
	return result;
}
