#include "api.h"
#include "api_builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api {
	json_t *json;
	struct api_response streamed, whole;
	bool has_streamed, has_whole;
};

/* Where we are in the descriptor, for messages: file and the dotted path of the member. */
struct place {
	const char *file;
	const char *inside; /* "response" or NULL */
};

static const char *const fields[] = {
	"model", "messages", "prompt", "prompt_token_ids", "tools", "output_tokens", "input_tokens", "session", "id", NULL,
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

/* ---- checking ---- */

static int wrong(struct place at, const char *member, struct ipf_error *err, const char *wanted, json_t *got)
{
	char *text = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	ipf_error_at(err, IPF_INPUT, at.file, 0, "%s%s%s: expected %s, got %.60s", at.inside ? at.inside : "",
	             at.inside ? "." : "", member, wanted, got ? (text ? text : "something else") : "nothing");
	free(text);
	return -1;
}

static int only_members(struct place at, json_t *map, const char *const *known, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach(map, key, value) {
		size_t i = 0;
		while (known[i] && strcmp(known[i], key) != 0)
			i++;
		if (!known[i])
			return ipf_error_at(err, IPF_INPUT, at.file, 0, "%s%s%s: unknown member", at.inside ? at.inside : "",
			                    at.inside ? "." : "", key);
	}
	return 0;
}

/* A text that has to be there (or may be missing, where `optional`). */
static int check_text(struct place at, json_t *map, const char *key, bool optional, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	if (!value && optional)
		return 0;
	if (!json_is_string(value) || (!optional && !json_string_length(value)))
		return wrong(at, key, err, "a text", value);
	return 0;
}

/* ---- the request half ---- */

/* Every text in a template that begins with "$" has to name a field of the trace ("$$" stands for a "$"). */
static int check_template(struct place at, const char *member, json_t *value, struct ipf_error *err)
{
	const char *key;
	json_t *inner;
	size_t i;
	if (json_is_string(value)) {
		const char *text = json_string_value(value);
		if (text[0] == '$' && text[1] != '$' && !api_field_known(text + 1))
			return wrong(at, member, err, "a field of the trace, such as \"$messages\"", value);
	}
	json_object_foreach(value, key, inner)
		if (check_template(at, key, inner, err) < 0)
			return -1;
	json_array_foreach(value, i, inner)
		if (check_template(at, member, inner, err) < 0)
			return -1;
	return 0;
}

static int check_headers(struct place at, json_t *headers, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	if (headers && !json_is_object(headers))
		return wrong(at, "headers", err, "a map of texts", headers);
	json_object_foreach(headers, key, value) {
		if (!json_is_string(value))
			return wrong(at, key, err, "a text", value);
		if (!*key || strpbrk(key, ": \r\n") || strpbrk(json_string_value(value), "\r\n"))
			return wrong(at, key, err, "a header's name and value", value);
	}
	return 0;
}

static int check_request(struct place at, json_t *request, struct ipf_error *err)
{
	static const char *const known[] = {"headers", "auth", "body", "stream", "whole", "exact_output", NULL};
	static const char *const auth_known[] = {"header", "prefix", "env", NULL};
	static const char *const templates[] = {"body", "stream", "whole", "exact_output", NULL};
	if (!json_is_object(request))
		return wrong((struct place){at.file, NULL}, "request", err, "a map", request);
	if (only_members(at, request, known, err) < 0 || check_headers(at, json_object_get(request, "headers"), err) < 0)
		return -1;
	for (size_t i = 0; templates[i]; i++) {
		json_t *value = json_object_get(request, templates[i]);
		if (value ? !json_is_object(value) : i == 0)
			return wrong(at, templates[i], err, "a map", value);
		if (check_template(at, templates[i], value, err) < 0)
			return -1;
	}
	json_t *auth = json_object_get(request, "auth");
	if (!auth)
		return 0;
	if (!json_is_object(auth))
		return wrong(at, "auth", err, "a map", auth);
	at.inside = "request.auth";
	return only_members(at, auth, auth_known, err) < 0 || check_text(at, auth, "header", false, err) < 0 ||
	       check_text(at, auth, "prefix", true, err) < 0 || check_text(at, auth, "env", true, err) < 0 ? -1 : 0;
}

/* ---- the response half ---- */

static void pointers_release(struct api_pointers *p)
{
	for (size_t i = 0; i < p->count; i++)
		api_pointer_free(p->list[i]);
	free(p->list);
}

static int compile_pointers(struct place at, json_t *map, const char *key, struct api_pointers *to, struct ipf_error *err)
{
	json_t *list = json_object_get(map, key), *value;
	size_t i;
	if (!list)
		return 0;
	if (!json_is_array(list) || !json_array_size(list))
		return wrong(at, key, err, "a list of JSON Pointers", list);
	to->list = calloc(json_array_size(list), sizeof(*to->list));
	if (!to->list)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	json_array_foreach(list, i, value) {
		struct ipf_error why = {0};
		if (api_pointer_new(&to->list[i], value, &why) < 0)
			return ipf_error_at(err, why.kind, at.file, 0, "%s.%s[%zu]: %s", at.inside, key, i, why.text);
		to->count++;
	}
	return 0;
}

/* One word out of a list, as its index. */
static int compile_word(struct place at, json_t *map, const char *key, const char *const *words, const char *wanted, int *to,
                        struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	for (int i = 0; json_is_string(value) && words[i]; i++) {
		if (!strcmp(words[i], json_string_value(value))) {
			*to = i;
			return 0;
		}
	}
	return wrong(at, key, err, wanted, value);
}

static int copy_text(struct place at, json_t *map, const char *key, char **to, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	if (!value)
		return 0;
	if (!json_is_string(value) || !json_string_length(value))
		return wrong(at, key, err, "a text", value);
	*to = strdup(json_string_value(value));
	return *to ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

static int compile_end(struct place at, json_t *end, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"data", "when", "eof", NULL};
	json_t *eof = json_object_get(end, "eof");
	if (!json_is_object(end))
		return wrong(at, "end", err, "a map with data, when or eof", end);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.end", at.inside);
	struct place within = {at.file, inside};
	if (only_members(within, end, known, err) < 0 || copy_text(within, end, "data", &r->end_data, err) < 0 ||
	    compile_pointers(within, end, "when", &r->end_when, err) < 0)
		return -1;
	if (eof && !json_is_true(eof))
		return wrong(within, "eof", err, "true", eof);
	r->end_at_eof = eof != NULL;
	if (!r->end_data && !r->end_when.count && !r->end_at_eof)
		return wrong(at, "end", err, "one of data, when and eof in it", end);
	if (r->end_data && r->framing != API_SSE)
		return wrong(within, "data", err, "framing \"sse\" with it", json_object_get(end, "data"));
	return 0;
}

static int compile_usage(struct place at, json_t *usage, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"input_tokens", "output_tokens", "reasoning_tokens", "cached_tokens", NULL};
	if (!usage)
		return 0;
	if (!json_is_object(usage))
		return wrong(at, "usage", err, "a map", usage);
	char inside[64];
	snprintf(inside, sizeof inside, "%s.usage", at.inside);
	at.inside = inside;
	return only_members(at, usage, known, err) < 0 ||
	       compile_pointers(at, usage, "input_tokens", &r->input_tokens, err) < 0 ||
	       compile_pointers(at, usage, "output_tokens", &r->output_tokens, err) < 0 ||
	       compile_pointers(at, usage, "reasoning_tokens", &r->reasoning_tokens, err) < 0 ||
	       compile_pointers(at, usage, "cached_tokens", &r->cached_tokens, err) < 0 ? -1 : 0;
}

static int compile_response(struct place at, json_t *json, struct api_response *r, struct ipf_error *err)
{
	static const char *const known[] = {"framing", "text_mode", "text", "reasoning", "tools", "finish", "error", "error_event",
	                                    "usage", "end", NULL};
	static const char *const framings[] = {"sse", "ndjson", "json", NULL};
	static const char *const modes[] = {"delta", "cumulative", "cumulative-with-prompt", NULL};
	int framing = 0, mode = 0;
	if (!json_is_object(json))
		return wrong((struct place){at.file, NULL}, at.inside, err, "a map", json);
	if (only_members(at, json, known, err) < 0 ||
	    compile_word(at, json, "framing", framings, "\"sse\", \"ndjson\" or \"json\"", &framing, err) < 0)
		return -1;
	if (json_object_get(json, "text_mode") &&
	    compile_word(at, json, "text_mode", modes, "\"delta\", \"cumulative\" or \"cumulative-with-prompt\"", &mode, err) < 0)
		return -1;
	r->framing = (enum api_framing)framing;
	r->text_mode = (enum api_text_mode)mode;
	if (compile_pointers(at, json, "text", &r->text, err) < 0 ||
	    compile_pointers(at, json, "reasoning", &r->reasoning, err) < 0 ||
	    compile_pointers(at, json, "tools", &r->tools, err) < 0 ||
	    compile_pointers(at, json, "finish", &r->finish, err) < 0 ||
	    compile_pointers(at, json, "error", &r->error, err) < 0 ||
	    copy_text(at, json, "error_event", &r->error_event, err) < 0 ||
	    compile_usage(at, json_object_get(json, "usage"), r, err) < 0 ||
	    compile_end(at, json_object_get(json, "end"), r, err) < 0)
		return -1;
	if (!r->text.count)
		return wrong(at, "text", err, "a list of JSON Pointers", NULL);
	if (r->error_event && r->framing != API_SSE)
		return wrong(at, "error_event", err, "framing \"sse\" with it", json_object_get(json, "error_event"));
	return 0;
}

static void response_release(struct api_response *r)
{
	struct api_pointers *all[] = {&r->text, &r->reasoning, &r->tools, &r->finish, &r->error, &r->input_tokens,
	                              &r->output_tokens, &r->reasoning_tokens, &r->cached_tokens, &r->end_when};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		pointers_release(all[i]);
	free(r->error_event);
	free(r->end_data);
}

/* ---- the whole ---- */

static int check_head(struct place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"ipf", "version", "name", "about", "method", "path", "request", "response",
	                                    "response_whole", NULL};
	if (!json_is_object(json))
		return ipf_error_at(err, IPF_INPUT, at.file, 0, "expected an API descriptor (a JSON map)");
	const char *kind = json_string_value(json_object_get(json, "ipf"));
	if (!kind || strcmp(kind, "api") != 0)
		return wrong(at, "ipf", err, "\"api\"", json_object_get(json, "ipf"));
	json_t *version = json_object_get(json, "version");
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return wrong(at, "version", err, "1, the one that this program knows", version);
	if (only_members(at, json, known, err) < 0 || check_text(at, json, "name", false, err) < 0 ||
	    check_text(at, json, "about", true, err) < 0 || check_text(at, json, "method", false, err) < 0 ||
	    check_text(at, json, "path", false, err) < 0)
		return -1;
	const char *path = json_string_value(json_object_get(json, "path"));
	if (path[0] != '/' || strpbrk(path, " \r\n\t"))
		return wrong(at, "path", err, "a path that begins with a slash", json_object_get(json, "path"));
	const char *method = json_string_value(json_object_get(json, "method"));
	if (method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return wrong(at, "method", err, "a method such as \"POST\"", json_object_get(json, "method"));
	return 0;
}

int api_from_json(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err)
{
	struct place top = {where, NULL};
	*api = NULL;
	struct api *a = calloc(1, sizeof *a);
	if (!a)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	a->json = json_incref(descriptor);
	json_t *streamed = json_object_get(descriptor, "response"), *whole = json_object_get(descriptor, "response_whole");
	a->has_streamed = streamed != NULL;
	a->has_whole = whole != NULL;
	if (check_head(top, descriptor, err) < 0 ||
	    check_request((struct place){where, "request"}, json_object_get(descriptor, "request"), err) < 0)
		goto fail;
	if (!streamed && !whole) {
		wrong(top, "response", err, "a map", NULL);
		goto fail;
	}
	if ((streamed && compile_response((struct place){where, "response"}, streamed, &a->streamed, err) < 0) ||
	    (whole && compile_response((struct place){where, "response_whole"}, whole, &a->whole, err) < 0))
		goto fail;
	*api = a;
	return 0;
fail:
	api_close(a);
	return -1;
}

static int from_text(struct api **api, const char *text, size_t len, const char *where, struct ipf_error *err)
{
	json_error_t why;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		return ipf_error_at(err, IPF_INPUT, where, why.line > 0 ? why.line : 0, "%s", why.text);
	int got = api_from_json(api, json, where, err);
	json_decref(json);
	return got;
}

/* Far more than any descriptor needs; keeps a wrong file from filling the memory. */
#define DESCRIPTOR_MAX (1 << 20)

static int from_file(struct api **api, const char *path, struct ipf_error *err)
{
	int got = -1;
	char *text = NULL;
	FILE *file = fopen(path, "re");
	if (!file)
		return ipf_error_errno(err, errno, path, "cannot open");
	text = malloc(DESCRIPTOR_MAX);
	if (!text) {
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
		goto out;
	}
	size_t len = fread(text, 1, DESCRIPTOR_MAX, file);
	if (ferror(file)) {
		ipf_error_errno(err, errno, path, "cannot read");
		goto out;
	}
	if (len == DESCRIPTOR_MAX) {
		ipf_error_at(err, IPF_INPUT, path, 0, "expected an API descriptor, got a file of more than 1 MiB");
		goto out;
	}
	got = from_text(api, text, len, path, err);
out:
	free(text);
	fclose(file);
	return got;
}

static bool is_file(const char *name)
{
	size_t len = strlen(name);
	return strchr(name, '/') || (len > 5 && !strcmp(name + len - 5, ".json"));
}

int api_open(struct api **api, const char *name, struct ipf_error *err)
{
	char known[512] = "";
	size_t len = 0;
	*api = NULL;
	if (is_file(name))
		return from_file(api, name, err);
	for (size_t i = 0; api_builtins[i].name; i++) {
		if (!strcmp(api_builtins[i].name, name))
			return from_text(api, api_builtins[i].json, strlen(api_builtins[i].json), name, err);
		int put = snprintf(known + len, sizeof known - len, "%s%s", len ? ", " : "", api_builtins[i].name);
		len += put > 0 && (size_t)put < sizeof known - len ? (size_t)put : 0;
	}
	return ipf_error_set(err, IPF_USAGE, "unknown api \"%s\": known are %s, or give a descriptor as FILE.json", name, known);
}

const char *api_builtin(size_t i, const char **about)
{
	static char text[256];
	size_t count = 0;
	while (api_builtins[count].name)
		count++;
	if (i >= count)
		return NULL;
	if (about) {
		json_t *json = json_loads(api_builtins[i].json, 0, NULL);
		const char *says = json_string_value(json_object_get(json, "about"));
		snprintf(text, sizeof text, "%s", says ? says : "");
		json_decref(json);
		*about = text;
	}
	return api_builtins[i].name;
}

void api_close(struct api *a)
{
	if (!a)
		return;
	response_release(&a->streamed);
	response_release(&a->whole);
	json_decref(a->json);
	free(a);
}

const char *api_name(const struct api *a)
{
	return json_string_value(json_object_get(a->json, "name"));
}

const char *api_method(const struct api *a)
{
	return json_string_value(json_object_get(a->json, "method"));
}

const char *api_path(const struct api *a)
{
	return json_string_value(json_object_get(a->json, "path"));
}

json_t *api_request(const struct api *a)
{
	return json_object_get(a->json, "request");
}

json_t *api_json(const struct api *a)
{
	return a->json;
}

const struct api_response *api_response(const struct api *a, bool streamed)
{
	if (streamed)
		return a->has_streamed ? &a->streamed : NULL;
	return a->has_whole ? &a->whole : NULL;
}
