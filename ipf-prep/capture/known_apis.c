#include "capture/known_apis.h"

#include "api/api_lookup.h"
#include "array.h"

#include <stdlib.h>
#include <string.h>

struct known_api {
	struct api *api;
	bool derived; /* its descriptor is that of another API with changes */
};

struct known_apis {
	struct known_api *list;
	size_t count, cap;
};

static bool is_derived(const char *name)
{
	const char *text = api_lookup(name);
	json_t *json = text ? json_loads(text, 0, NULL) : NULL;
	const bool derived = json_object_get(json, "like") != NULL;
	json_decref(json);
	return derived;
}

static int add(struct known_apis *a, const char *name, bool only_text, struct ipf_error *err)
{
	struct api *api;
	if (api_open(&api, name, err) < 0)
		return -1;
	if (only_text && api_kind(api) != API_GENERATE) {
		api_close(api);
		return 0;
	}
	if (!array_room(a->list, a->cap, a->count + 1)) {
		api_close(api);
		return ipf_error_memory(err);
	}
	a->list[a->count++] = (struct known_api){api, is_derived(name)};
	return 0;
}

int known_apis_open(struct known_apis **apis, const struct string_list *names, struct ipf_error *err)
{
	struct known_apis *a = *apis = calloc(1, sizeof *a);
	const char *name, *about;
	int status = a ? 0 : ipf_error_memory(err);
	for (size_t i = 0; status == 0 && i < names->count; i++)
		status = add(a, names->items[i], false, err);
	for (size_t i = 0; status == 0 && !names->count && (name = api_builtin(i, &about)); i++)
		status = add(a, name, true, err);
	if (status < 0) {
		known_apis_close(a);
		*apis = NULL;
	}
	return status;
}

/* ---- paths ---- */

struct slice known_apis_path(struct slice target)
{
	const char *from = target.data, *end = target.data + target.len;
	const char *scheme = target.len ? memmem(target.data, target.len, "://", 3) : NULL;
	for (const char *c = from; c < end; c++)
		if (*c == '?' || *c == '#' || *c == ';')
			end = c;
	if (scheme && scheme < end) {
		from = memchr(scheme + 3, '/', (size_t)(end - scheme - 3));
		from = from ? from : end;
	}
	while (end - from > 1 && end[-1] == '/')
		end--;
	return (struct slice){from, (size_t)(end - from)};
}

/* Does the path end in the pattern, in which "$model" stands for one or more characters but slashes? Both are read
 * backwards. */
static bool ends_in(struct slice path, struct slice pattern)
{
	static const char model[] = "$model";
	const size_t model_len = sizeof model - 1;
	while (pattern.len) {
		if (pattern.len >= model_len && memcmp(pattern.data + pattern.len - model_len, model, model_len) == 0) {
			const size_t before = path.len;
			const char stop = pattern.len > model_len ? pattern.data[pattern.len - model_len - 1] : '/';
			while (path.len && path.data[path.len - 1] != '/' && path.data[path.len - 1] != stop)
				path.len--;
			if (path.len == before)
				return false;
			pattern.len -= model_len;
		} else if (path.len && path.data[path.len - 1] == pattern.data[pattern.len - 1]) {
			path.len--;
			pattern.len--;
		} else {
			return false;
		}
	}
	return true;
}

/* The length of the API's path that the target ends in; 0: it does not. */
static size_t match(const struct api *api, bool streamed, struct slice path)
{
	const struct slice pattern = known_apis_path(slice_of(api_path(api, streamed)));
	return pattern.len > 1 && ends_in(path, pattern) ? pattern.len : 0;
}

/* ---- bodies ---- */

/* Members of the descriptor's body that the request has. */
static size_t shared_members(struct api *api, const struct jdoc *body)
{
	json_t *value;
	const char *key;
	size_t shared = 0;
	if (!body)
		return 0;
	json_object_foreach(json_object_get(api_request(api), "body"), key, value)
		shared += jdoc_get(body, JDOC_ROOT, key) != JDOC_NONE;
	return shared;
}

int known_apis_find(const struct known_apis *a, struct slice target, const struct jdoc *body)
{
	const struct slice path = known_apis_path(target);
	size_t longest = 0, most = 0;
	bool derived = false;
	int found = -1;
	for (size_t i = 0; i < a->count; i++) {
		const struct known_api *one = &a->list[i];
		const size_t whole = match(one->api, false, path), stream = match(one->api, true, path);
		const size_t len = whole > stream ? whole : stream, shared = len ? shared_members(one->api, body) : 0;
		const bool better = len > longest ||
		                    (len == longest && (shared > most || (shared == most && derived && !one->derived)));
		if (!len || (found >= 0 && !better))
			continue;
		found = (int)i;
		longest = len;
		most = shared;
		derived = one->derived;
	}
	return found;
}

int known_apis_count(const struct known_apis *a)
{
	return (int)a->count;
}

struct api *known_apis_api(const struct known_apis *a, int index)
{
	return a->list[index].api;
}

bool known_apis_path_streams(const struct known_apis *a, int index, struct slice target)
{
	const struct slice path = known_apis_path(target);
	const struct api *api = a->list[index].api;
	return match(api, true, path) > 0 && !match(api, false, path);
}

void known_apis_close(struct known_apis *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		api_close(a->list[i].api);
	if (a)
		free(a->list);
	free(a);
}
