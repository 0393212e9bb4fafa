#include "api/api.h"

#include "api/api_lookup.h"
#include "api/api_grpc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api {
	json_t *json;
	struct api_response streamed, whole;
	bool has_streamed, has_whole;
	struct api_pointer *model_names; /* NULL: the server does not list its models */
	struct api_grpc grpc;
	struct api_cache_resets cache_resets;
	enum api_kind kind;
};

/* ---- checking ---- */

/* One path for all responses, or one for each kind the API has. */
static int check_paths(struct descriptor_place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"stream", "whole", NULL};
	json_t *path = json_object_get(json, "path");
	if (!json_is_object(path))
		return path ? descriptor_check_path(at, "path", path, err)
		            : descriptor_check_string(at, json, "path", false, err);
	at.inside = "path";
	if (descriptor_only_members(at, path, known, err) < 0 ||
	    (json_object_get(json, "response") &&
	     descriptor_check_path(at, "stream", json_object_get(path, "stream"), err) < 0) ||
	    (json_object_get(json, "response_whole") &&
	     descriptor_check_path(at, "whole", json_object_get(path, "whole"), err) < 0))
		return -1;
	return 0;
}

static int check_ready(struct descriptor_place at, json_t *ready, struct ipf_error *err)
{
	json_t *path;
	size_t i;
	if (ready && (!json_is_array(ready) || !json_array_size(ready)))
		return descriptor_wrong(at, "ready", err, "an array of paths", ready);
	json_array_foreach(ready, i, path)
	{
		if (descriptor_check_path(at, "ready", path, err) < 0)
			return -1;
	}
	return 0;
}

static int check_aliases(struct descriptor_place at, json_t *aliases, struct ipf_error *err)
{
	json_t *alias;
	size_t i;
	if (aliases && !json_is_array(aliases))
		return descriptor_wrong(at, "aliases", err, "an array of names", aliases);
	json_array_foreach(aliases, i, alias)
	{
		if (!json_is_string(alias))
			return descriptor_wrong(at, "aliases", err, "an array of names", alias);
	}
	return 0;
}

static int compile_models(struct api *a, struct descriptor_place top, struct ipf_error *err)
{
	static const char *const known[] = {"path", "names", NULL};
	json_t *models = json_object_get(a->json, "models"), *names = json_object_get(models, "names");
	struct descriptor_place at = descriptor_inside(top, "models");
	struct ipf_error wrong = {0};
	if (!models)
		return 0;
	if (!json_is_object(models))
		return descriptor_wrong(top, "models", err, "an object", models);
	if (descriptor_only_members(at, models, known, err) < 0 ||
	    descriptor_check_path(at, "path", json_object_get(models, "path"), err) < 0)
		return -1;
	if (!json_is_string(names) || api_pointer_new(&a->model_names, names, &wrong) < 0)
		return descriptor_wrong(at, "names", err, "a JSON Pointer", names);
	return 0;
}

static int check_head(struct descriptor_place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"ipf",    "version", "name",        "about",          "aliases",
	                                    "method", "path",    "cache_reset", "ready",          "models",
	                                    "grpc",   "request", "response",    "response_whole", NULL};
	if (!json_is_object(json))
		return ipf_error_at(err, IPF_INPUT, at.file, 0, "expected an API descriptor (a JSON object)");
	const char *kind = json_string_value(json_object_get(json, "ipf"));
	if (!kind || strcmp(kind, "api") != 0)
		return descriptor_wrong(at, "ipf", err, "\"api\"", json_object_get(json, "ipf"));
	json_t *version = json_object_get(json, "version");
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return descriptor_wrong(at, "version", err, "1, the only version known to this program", version);
	if (descriptor_only_members(at, json, known, err) < 0 ||
	    descriptor_check_string(at, json, "name", false, err) < 0 ||
	    descriptor_check_string(at, json, "about", true, err) < 0 ||
	    descriptor_check_string(at, json, "method", false, err) < 0 || check_paths(at, json, err) < 0 ||
	    check_ready(at, json_object_get(json, "ready"), err) < 0 ||
	    check_aliases(at, json_object_get(json, "aliases"), err) < 0)
		return -1;
	const char *method = json_string_value(json_object_get(json, "method"));
	if (method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return descriptor_wrong(at, "method", err, "a method such as \"POST\"", json_object_get(json, "method"));
	return 0;
}

/* gRPC concerns both halves: either all framings are "grpc", or none, and there is no "grpc" object. */
static int check_grpc(struct api *a, struct descriptor_place top, struct ipf_error *err)
{
	json_t *json = json_object_get(a->json, "grpc"), *encoding = json_object_get(api_request(a), "encoding");
	bool streamed = a->has_streamed && a->streamed.framing == FRAMING_GRPC,
		 whole = a->has_whole && a->whole.framing == FRAMING_GRPC;
	if (!json && !streamed && !whole)
		return 0;
	if ((a->has_streamed && !streamed) || (a->has_whole && !whole))
		return ipf_error_at(err, IPF_INPUT, top.file, 0,
		                    "%s.framing: expected \"grpc\", as elsewhere in the descriptor",
		                    a->has_streamed && !streamed ? "response" : "response_whole");
	if (encoding)
		return descriptor_wrong(descriptor_inside(top, "request"), "encoding", err, "none with gRPC", encoding);
	return api_grpc_compile(descriptor_inside(top, "grpc"), json, json_object_get(a->json, "request"), &a->grpc, err);
}

/* Does the template name the field? */
static bool names(json_t *template, const char *field)
{
	const char *key, *text = json_string_value(template);
	json_t *inner;
	size_t i;
	if (text && strcmp(text, field) == 0)
		return true;
	json_object_foreach(template, key, inner) if (names(inner, field)) return true;
	json_array_foreach(template, i, inner) if (names(inner, field)) return true;
	return false;
}

static enum api_kind find_kind(const struct api *a)
{
	json_t *body = json_object_get(api_request(a), "body");
	if (names(body, "$audio"))
		return API_TRANSCRIBE;
	if (a->has_streamed && a->streamed.framing == FRAMING_BYTES)
		return API_SPEAK;
	if (!a->has_whole || !a->whole.outputs.count)
		return API_GENERATE;
	return names(body, "$query") ? API_RANK : API_EMBED;
}

/* A recorded one needs no request part any more. */
static int compile(struct api **api, json_t *descriptor, struct descriptor_place top, struct ipf_error *err)
{
	*api = NULL;
	struct api *a = calloc(1, sizeof *a);
	if (!a)
		return ipf_error_memory(err);
	a->json = json_incref(descriptor);
	json_t *streamed = json_object_get(descriptor, "response"), *whole = json_object_get(descriptor, "response_whole");
	a->has_streamed = streamed != NULL;
	a->has_whole = whole != NULL;
	if (check_head(top, descriptor, err) < 0 ||
	    (!top.recorded &&
	     api_request_check(descriptor_inside(top, "request"), json_object_get(descriptor, "request"), err) < 0))
		goto fail;
	if (!streamed && !whole) {
		descriptor_wrong(top, "response", err, "an object", NULL);
		goto fail;
	}
	if ((streamed && api_response_compile(descriptor_inside(top, "response"), streamed, &a->streamed, err) < 0) ||
	    (whole && api_response_compile(descriptor_inside(top, "response_whole"), whole, &a->whole, err) < 0) ||
	    check_grpc(a, top, err) < 0 || compile_models(a, top, err) < 0 ||
	    api_cache_resets_compile(&a->cache_resets, top, json_object_get(descriptor, "cache_reset"), err) < 0)
		goto fail;
	a->kind = find_kind(a);
	*api = a;
	return 0;
fail:
	api_close(a);
	return -1;
}

int api_from_json(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err)
{
	return compile(api, descriptor, (struct descriptor_place){.file = where}, err);
}

/* RFC 7396. Not 0: out of memory. */
static int merge_patch(json_t *into, json_t *patch)
{
	const char *key;
	json_t *value;
	int bad = 0;
	json_object_foreach(patch, key, value)
	{
		json_t *old = json_object_get(into, key);
		if (json_is_null(value)) {
			json_object_del(into, key);
		} else if (json_is_object(value) && json_is_object(old)) {
			bad |= merge_patch(old, value);
		} else {
			bad |= json_object_set(into, key, value);
		}
	}
	return bad;
}

/* Resolves "like": the descriptor merged into the built-in one that it names. New; NULL: err. */
static json_t *resolve_like(json_t *json, const char *where, struct ipf_error *err)
{
	json_t *like = json_object_get(json, "like");
	const char *text = json_is_string(like) ? api_lookup(json_string_value(like)) : NULL;
	if (!like)
		return json_incref(json);
	if (!text) {
		descriptor_wrong((struct descriptor_place){.file = where}, "like", err, "the name of a built-in descriptor",
		                 like);
		return NULL;
	}
	json_t *base = json_loads(text, 0, NULL),
		   *whole = json_object_get(base, "like") ? resolve_like(base, where, err) : json_incref(base);
	json_decref(base);
	json_object_del(whole, "aliases"); /* they name the other descriptor */
	if (!whole || merge_patch(whole, json) || json_object_del(whole, "like")) {
		ipf_error_memory(err);
		json_decref(whole);
		return NULL;
	}
	return whole;
}

static int from_text(struct api **api, const char *text, size_t len, const char *where, struct ipf_error *err)
{
	json_error_t why;
	json_t *json = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	if (!json)
		return ipf_error_at(err, IPF_INPUT, where, why.line > 0 ? why.line : 0,
		                    "not an API descriptor (ipf-api(5)): expected a JSON object: %s", why.text);
	json_t *whole = resolve_like(json, where, err);
	int got = whole ? api_from_json(api, whole, where, err) : -1;
	json_object_del(whole, "aliases"); /* for api_lookup only, not for the records */
	json_decref(json);
	json_decref(whole);
	return got;
}

/* Far more than any descriptor needs; bounds memory if the file is something else. */
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
		ipf_error_memory(err);
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

/* Adds the places of a list it lacks. Not 0: out of memory. */
static int add_places(json_t *into, json_t *known)
{
	size_t i, k;
	json_t *place, *old;
	int bad = 0;
	json_array_foreach(known, i, place)
	{
		bool found = false;
		json_array_foreach(into, k, old) found |= json_equal(old, place) == 1;
		bad |= !found && json_array_append(into, place);
	}
	return bad;
}

/* The members of a response half saying where to find something. Not 0: out of memory. */
static int add_known(json_t *into, json_t *known, const char *const members[])
{
	int bad = 0;
	for (size_t i = 0; members[i]; i++) {
		json_t *from = json_object_get(known, members[i]), *to = json_object_get(into, members[i]);
		if (from && !to)
			bad |= json_object_set_new(into, members[i], json_deep_copy(from));
		else if (json_is_array(from) && json_is_array(to))
			bad |= add_places(to, from);
	}
	return bad;
}

/* Adds the newer pointers of the built-in descriptor of the same name to text, usage and errors, behind the recorded
 * ones. Not 0: out of memory. */
static int add_builtin(json_t *recorded)
{
	static const char *const halves[] = {"response", "response_whole"},
							 *const members[] = {"reasoning", "hidden_reasoning", "tools", "choice", "error", NULL},
							 *const usage[] = {"input_tokens",  "output_tokens", "reasoning_tokens",
	                                           "cached_tokens", "total_tokens",  NULL};
	const char *name = json_string_value(json_object_get(recorded, "name")), *text = name ? api_lookup(name) : NULL;
	struct ipf_error ignored = {0};
	json_t *base = text ? json_loads(text, 0, NULL) : NULL;
	json_t *known = json_object_get(base, "like") ? resolve_like(base, name, &ignored) : json_incref(base);
	int bad = 0;
	for (size_t i = 0; i < 2 && known; i++) {
		json_t *into = json_object_get(recorded, halves[i]), *from = json_object_get(known, halves[i]);
		if (!json_is_object(into) || !from)
			continue;
		bad |= add_known(into, from, members);
		if (json_is_object(json_object_get(into, "usage")))
			bad |= add_known(json_object_get(into, "usage"), json_object_get(from, "usage"), usage);
	}
	json_decref(known);
	json_decref(base);
	return bad;
}

int api_from_records(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err)
{
	json_t *whole = json_deep_copy(descriptor);
	int result = !whole || (json_is_object(whole) && add_builtin(whole))
	                 ? ipf_error_memory(err)
	                 : compile(api, whole, (struct descriptor_place){.file = where, .recorded = true}, err);
	json_decref(whole);
	return result;
}

int api_open(struct api **api, const char *name, struct ipf_error *err)
{
	*api = NULL;
	if (is_file(name))
		return from_file(api, name, err);
	const char *text = api_lookup(name);
	return text ? from_text(api, text, strlen(text), name, err) : api_lookup_failed(name, err);
}

void api_close(struct api *a)
{
	if (!a)
		return;
	api_response_release(&a->streamed);
	api_response_release(&a->whole);
	protobuf_schema_free(a->grpc.protobuf);
	api_pointer_free(a->model_names);
	api_cache_resets_release(&a->cache_resets);
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

const char *api_path(const struct api *a, bool streamed)
{
	json_t *path = json_object_get(a->json, "path");
	return json_string_value(json_is_object(path) ? json_object_get(path, streamed ? "stream" : "whole") : path);
}

const char *api_ready_path(const struct api *a, size_t i)
{
	return json_string_value(json_array_get(json_object_get(a->json, "ready"), i));
}

const char *api_models_path(const struct api *a)
{
	return json_string_value(json_object_get(json_object_get(a->json, "models"), "path"));
}

const struct api_cache_resets *api_cache_resets(const struct api *a)
{
	return &a->cache_resets;
}

const struct api_pointer *api_model_names(const struct api *a)
{
	return a->model_names;
}

const char *api_response_header(const struct api *a, size_t i)
{
	const char *name;
	for (int half = 0; half < 2; half++) {
		const struct api_response *r = api_response(a, !half);
		for (size_t k = 0; r && (name = api_response_used_header(r, k)); k++)
			if (i-- == 0)
				return name;
	}
	return a->grpc.protobuf ? api_grpc_header(i) : NULL;
}

const struct protobuf_schema *api_protobuf(const struct api *a)
{
	return a->grpc.protobuf;
}

int api_request_type(const struct api *a, bool streamed)
{
	return a->grpc.request[streamed];
}

int api_response_type(const struct api *a, bool streamed)
{
	return a->grpc.response[streamed];
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

const char *const api_kind_names[API_KINDS] = {"generate", "embed", "rank", "transcribe", "speak"};

enum api_kind api_kind(const struct api *a)
{
	return a->kind;
}
