#include "api/api_builtin.h"
#include "api/api_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct api {
	json_t *json;
	struct api_response streamed, whole;
	bool has_streamed, has_whole;
	struct api_grpc grpc;
};

/* ---- checking ---- */

int api_wrong(struct api_place at, const char *member, struct ipf_error *err, const char *wanted, json_t *got)
{
	char *text = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	ipf_error_at(err, IPF_INPUT, at.file, 0, "%s%s%s: expected %s, got %.60s", at.inside ? at.inside : "",
	             at.inside ? "." : "", member, wanted, got ? (text ? text : "something else") : "nothing");
	free(text);
	return -1;
}

int api_only_members(struct api_place at, json_t *map, const char *const *known, struct ipf_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach(map, key, value)
	{
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
int api_check_text(struct api_place at, json_t *map, const char *key, bool optional, struct ipf_error *err)
{
	json_t *value = json_object_get(map, key);
	if (!value && optional)
		return 0;
	if (!json_is_string(value) || (!optional && !json_string_length(value)))
		return api_wrong(at, key, err, "a text", value);
	return 0;
}

/* ---- the whole ---- */

int api_check_path(struct api_place at, const char *member, json_t *path, struct ipf_error *err)
{
	const char *text = json_string_value(path), *dollar = text;
	bool good = text && text[0] == '/' && !strpbrk(text, " \r\n\t#");
	while (good && (dollar = strchr(dollar, '$'))) {
		good = !strncmp(dollar, "$model", 6);
		dollar++;
	}
	return good ? 0 : api_wrong(at, member, err, "a path that begins with a slash", path);
}

/* One for all answers, or one for each kind that there is. */
static int check_paths(struct api_place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"stream", "whole", NULL};
	json_t *path = json_object_get(json, "path");
	if (!json_is_object(path))
		return path ? api_check_path(at, "path", path, err) : api_check_text(at, json, "path", false, err);
	at.inside = "path";
	if (api_only_members(at, path, known, err) < 0 ||
	    (json_object_get(json, "response") && api_check_path(at, "stream", json_object_get(path, "stream"), err) < 0) ||
	    (json_object_get(json, "response_whole") &&
	     api_check_path(at, "whole", json_object_get(path, "whole"), err) < 0))
		return -1;
	return 0;
}

static int check_ready(struct api_place at, json_t *ready, struct ipf_error *err)
{
	json_t *path;
	size_t i;
	if (ready && (!json_is_array(ready) || !json_array_size(ready)))
		return api_wrong(at, "ready", err, "a list of paths", ready);
	json_array_foreach(ready, i, path) if (api_check_path(at, "ready", path, err) < 0) return -1;
	return 0;
}

static int check_head(struct api_place at, json_t *json, struct ipf_error *err)
{
	static const char *const known[] = {"ipf",   "version", "name",    "about",    "method",         "path",
	                                    "ready", "grpc",    "request", "response", "response_whole", NULL};
	if (!json_is_object(json))
		return ipf_error_at(err, IPF_INPUT, at.file, 0, "expected an API descriptor (a JSON map)");
	const char *kind = json_string_value(json_object_get(json, "ipf"));
	if (!kind || strcmp(kind, "api") != 0)
		return api_wrong(at, "ipf", err, "\"api\"", json_object_get(json, "ipf"));
	json_t *version = json_object_get(json, "version");
	if (!json_is_integer(version) || json_integer_value(version) != 1)
		return api_wrong(at, "version", err, "1, the one that this program knows", version);
	if (api_only_members(at, json, known, err) < 0 || api_check_text(at, json, "name", false, err) < 0 ||
	    api_check_text(at, json, "about", true, err) < 0 || api_check_text(at, json, "method", false, err) < 0 ||
	    check_paths(at, json, err) < 0 || check_ready(at, json_object_get(json, "ready"), err) < 0)
		return -1;
	const char *method = json_string_value(json_object_get(json, "method"));
	if (method[strspn(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")])
		return api_wrong(at, "method", err, "a method such as \"POST\"", json_object_get(json, "method"));
	return 0;
}

/* gRPC is a matter of the whole: of both halves and of the messages. */
static int check_grpc(struct api *a, const char *where, struct ipf_error *err)
{
	json_t *json = json_object_get(a->json, "grpc");
	bool streamed = a->has_streamed && a->streamed.framing == API_GRPC,
		 whole = a->has_whole && a->whole.framing == API_GRPC;
	if (!json && !streamed && !whole)
		return 0;
	if ((a->has_streamed && !streamed) || (a->has_whole && !whole))
		return ipf_error_at(err, IPF_INPUT, where, 0, "%s.framing: expected \"grpc\", as the rest has it",
		                    a->has_streamed && !streamed ? "response" : "response_whole");
	return api_grpc_compile((struct api_place){where, "grpc"}, json, json_object_get(a->json, "request"), &a->grpc,
	                        err);
}

int api_from_json(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err)
{
	struct api_place top = {where, NULL};
	*api = NULL;
	struct api *a = calloc(1, sizeof *a);
	if (!a)
		return ipf_error_memory(err);
	a->json = json_incref(descriptor);
	json_t *streamed = json_object_get(descriptor, "response"), *whole = json_object_get(descriptor, "response_whole");
	a->has_streamed = streamed != NULL;
	a->has_whole = whole != NULL;
	if (check_head(top, descriptor, err) < 0 ||
	    api_check_request((struct api_place){where, "request"}, json_object_get(descriptor, "request"), err) < 0)
		goto fail;
	if (!streamed && !whole) {
		api_wrong(top, "response", err, "a map", NULL);
		goto fail;
	}
	if ((streamed && api_response_compile((struct api_place){where, "response"}, streamed, &a->streamed, err) < 0) ||
	    (whole && api_response_compile((struct api_place){where, "response_whole"}, whole, &a->whole, err) < 0) ||
	    check_grpc(a, where, err) < 0)
		goto fail;
	*api = a;
	return 0;
fail:
	api_close(a);
	return -1;
}

/* As RFC 7396 has it; -1: out of memory. */
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

static const char *builtin_text(const char *name)
{
	for (size_t i = 0; api_builtins[i].name; i++)
		if (!strcmp(api_builtins[i].name, name))
			return api_builtins[i].json;
	return NULL;
}

/* The descriptor with what it takes from the one that it is like; NULL where that cannot be. */
static json_t *with_likeness(json_t *json, const char *where, struct ipf_error *err)
{
	json_t *like = json_object_get(json, "like");
	const char *text = json_is_string(like) ? builtin_text(json_string_value(like)) : NULL;
	if (!like)
		return json_incref(json);
	if (!text) {
		api_wrong((struct api_place){where, NULL}, "like", err, "the name of a built-in descriptor", like);
		return NULL;
	}
	json_t *base = json_loads(text, 0, NULL),
		   *whole = json_object_get(base, "like") ? with_likeness(base, where, err) : json_incref(base);
	json_decref(base);
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
		return ipf_error_at(err, IPF_INPUT, where, why.line > 0 ? why.line : 0, "%s", why.text);
	json_t *whole = with_likeness(json, where, err);
	int got = whole ? api_from_json(api, whole, where, err) : -1;
	json_decref(json);
	json_decref(whole);
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

int api_open(struct api **api, const char *name, struct ipf_error *err)
{
	char known[640] = "";
	size_t len = 0;
	*api = NULL;
	if (is_file(name))
		return from_file(api, name, err);
	const char *text = builtin_text(name);
	if (text)
		return from_text(api, text, strlen(text), name, err);
	for (size_t i = 0; api_builtins[i].name; i++) {
		int put = snprintf(known + len, sizeof known - len, "%s%s", len ? ", " : "", api_builtins[i].name);
		len += put > 0 && (size_t)put < sizeof known - len ? (size_t)put : 0;
	}
	return ipf_error_set(err, IPF_USAGE, "unknown api \"%s\": known are %s, or give a descriptor as FILE.json", name,
	                     known);
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
	api_response_release(&a->streamed);
	api_response_release(&a->whole);
	protobuf_schema_free(a->grpc.protobuf);
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

const char *api_response_header(const struct api *a, size_t i)
{
	for (int half = 0; half < 2; half++) {
		const struct api_response *r = api_response(a, !half);
		const struct api_pointers *usage[] = {r ? &r->input_tokens : NULL, r ? &r->output_tokens : NULL,
		                                      r ? &r->reasoning_tokens : NULL, r ? &r->cached_tokens : NULL};
		for (size_t k = 0; r && k < sizeof usage / sizeof *usage; k++)
			if (usage[k]->header && i-- == 0)
				return usage[k]->header;
		for (size_t k = 0; r && k < API_SERVER_TIMES; k++)
			if (r->times[k].at.header && i-- == 0)
				return r->times[k].at.header;
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
