#include "api/object_store.h"

#include "clock.h"
#include "memory.h"

#include <string.h>
#include <unistd.h>

enum { WATCH_S = 240, WATCH_LIMIT_S = 300, PAGE = 500, CONNECT_TIMEOUT_MS = 5000 };
static const size_t watch_most = (size_t)1 << 30;

json_t *object_meta(const json_t *object, const char *member)
{
	return json_object_get(json_object_get(object, "metadata"), member);
}

const char *object_name(const json_t *object)
{
	const char *name = json_string_value(object_meta(object, "name"));
	return name ? name : "";
}

const char *object_label(const json_t *object, const char *label)
{
	const char *value = json_string_value(json_object_get(object_meta(object, "labels"), label));
	return value ? value : "";
}

bool object_is_deleted(const json_t *object)
{
	return json_is_string(object_meta(object, "deletionTimestamp"));
}

int object_by_age(const void *a, const void *b)
{
	const json_t *x = *(json_t *const *)a, *y = *(json_t *const *)b;
	const char *of_x = json_string_value(object_meta(x, "creationTimestamp"));
	const char *of_y = json_string_value(object_meta(y, "creationTimestamp"));
	int by_time = strcmp(of_x ? of_x : "", of_y ? of_y : "");
	return by_time ? by_time : strcmp(object_name(x), object_name(y));
}

static size_t take(char *data, size_t size, size_t count, void *context)
{
	struct object_store *s = context;
	const char *at = data, *end = data + count, *newline;
	(void)size;
	if (!http_handle_takes(&s->http, count))
		return 0;
	if (http_handle_status(&s->http) != 200)
		return count;
	for (; (newline = memchr(at, '\n', (size_t)(end - at))); at = newline + 1) {
		buffer_append(&s->line, at, (size_t)(newline - at));
		if (s->line.len > STORE_LINE_MOST || s->line.failed)
			break;
		store_take_line(s, s->line.data, s->line.len);
		buffer_clear(&s->line);
		if (!s->version[0])
			return 0; /* no reader for the rest: all is listed again */
	}
	if (!newline)
		buffer_append(&s->line, at, (size_t)(end - at));
	if (s->line.len > STORE_LINE_MOST) {
		ipf_error_set(&s->error, IPF_INPUT, "an object of more than %d MiB", STORE_LINE_MOST >> 20);
		s->version[0] = '\0';
		return 0;
	}
	return s->line.failed ? 0 : count;
}

int store_open(struct object_store *s, const struct store_kind *kind, struct api_client *api, struct ipf_error *err)
{
	const struct http_settings http = {.url = api->settings->server,
	                                   .timeout_ns = WATCH_LIMIT_S * NS_PER_S,
	                                   .most_bytes = watch_most,
	                                   .cacert = api->settings->cacert};
	*s = (struct object_store){.kind = *kind, .api = api, .objects = json_object()};
	backoff_init(&s->backoff, (uint64_t)clock_wall() ^ (uint64_t)getpid());
	if (!s->objects || http_handle_open(&s->http, &http, err) < 0)
		return ipf_error_memory(err);
	curl_easy_setopt(s->http.curl, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(s->http.curl, CURLOPT_WRITEDATA, (void *)s);
	curl_easy_setopt(s->http.curl, CURLOPT_PRIVATE, (void *)s);
	curl_easy_setopt(s->http.curl, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
	curl_easy_setopt(s->http.curl, CURLOPT_TCP_KEEPALIVE, 1L);
	curl_easy_setopt(s->http.curl, CURLOPT_TCP_KEEPIDLE, 30L);
	curl_easy_setopt(s->http.curl, CURLOPT_TCP_KEEPINTVL, 10L);
	return 0;
}

static void stop_watching(struct object_store *s, CURLM *multi)
{
	if (s->watching)
		curl_multi_remove_handle(multi, s->http.curl);
	s->watching = false;
	curl_easy_setopt(s->http.curl, CURLOPT_HTTPHEADER, NULL);
	curl_slist_free_all(s->headers);
	s->headers = NULL;
	buffer_clear(&s->line);
}

void store_close(struct object_store *s, CURLM *multi)
{
	if (s->http.curl)
		stop_watching(s, multi);
	http_handle_close(&s->http);
	buffer_release(&s->line);
	json_decref(s->objects);
	s->objects = NULL;
}

static bool keep_version(struct object_store *s, const json_t *version)
{
	const char *text = json_string_value(version);
	if (!text || !*text || strlen(text) >= sizeof s->version || strspn(text, "0123456789") != strlen(text))
		return false;
	strcpy(s->version, text);
	return true;
}

/* Puts the kept members into `objects`. */
static int keep(struct object_store *s, json_t *objects, json_t *object)
{
	const char *name = object_name(object);
	if (!*name)
		return ipf_error_set(&s->error, IPF_INPUT, "an object without a name");
	if (json_object_size(objects) >= STORE_OBJECTS_MOST && !json_object_get(objects, name))
		return ipf_error_set(&s->error, IPF_INPUT, "more than %d objects", STORE_OBJECTS_MOST);
	json_object_del(json_object_get(object, "metadata"), "managedFields");
	if (s->kind.without_spec)
		json_object_del(object, "spec");
	return json_object_set(objects, name, object) < 0 ? ipf_error_memory(&s->error) : 0;
}

void store_put(struct object_store *s, json_t *object)
{
	if (json_is_object(object) && keep(s, s->objects, object) == 0)
		s->changed = true;
}

void store_take_line(struct object_store *s, const char *line, size_t len)
{
	json_t *event = json_loadb(line, len, 0, NULL);
	const char *type = json_string_value(json_object_get(event, "type"));
	json_t *object = json_object_get(event, "object");
	bool known = type && json_is_object(object) && keep_version(s, object_meta(object, "resourceVersion"));

	if (known && strcmp(type, "DELETED") == 0) {
		json_object_del(s->objects, object_name(object));
		s->changed = true;
	} else if (known && (strcmp(type, "ADDED") == 0 || strcmp(type, "MODIFIED") == 0)) {
		store_put(s, object);
	} else if (!known || strcmp(type, "BOOKMARK") != 0) {
		/* usually {"type": "ERROR", "object": {"code": 410}}: missed changes are in a new list */
		s->version[0] = '\0';
	}
	if (known && s->version[0])
		backoff_reset(&s->backoff);
	json_decref(event);
}

static void store_url(const struct object_store *s, const char *more, struct buffer *to)
{
	buffer_format(to, "%s?", s->kind.path);
	if (s->kind.selector) {
		char *selector = curl_easy_escape(s->http.curl, s->kind.selector, 0);
		buffer_format(to, "labelSelector=%s&", selector ? selector : "");
		to->failed |= !selector;
		curl_free(selector);
	}
	buffer_text(to, more);
}

/* One page into `objects`. 1: there is another one, after `next`; 0: no more; -1: error. */
static int list_page(struct object_store *s, json_t *objects, struct buffer *next)
{
	struct buffer path = {0}, more = {0};
	struct api_answer answer = {0};
	int result = -1;
	size_t i;
	json_t *item;

	buffer_format(&more, "limit=%d%s%s", PAGE, next->len ? "&continue=" : "", next->len ? next->data : "");
	if (!more.failed)
		store_url(s, more.data, &path);
	if (more.failed || path.failed) {
		ipf_error_memory(&s->error);
	} else if (api_call(s->api, "GET", path.data, NULL, &answer, &s->error) == 0) {
		json_t *meta = json_object_get(answer.body, "metadata");
		const char *token = json_string_value(json_object_get(meta, "continue"));
		result = token && *token;
		if (answer.status != 200)
			result = ipf_error_set(&s->error, IPF_INPUT, "HTTP status %ld %s", answer.status,
			                       api_answer_message(&answer));
		else if (!keep_version(s, json_object_get(meta, "resourceVersion")))
			result = ipf_error_set(&s->error, IPF_INPUT, "a list without a version");
		json_array_foreach(json_object_get(answer.body, "items"), i,
		                   item) if (result >= 0 && keep(s, objects, item) < 0) result = -1;
		buffer_clear(next);
		if (result == 1) {
			char *escaped = curl_easy_escape(s->http.curl, token, 0);
			buffer_text(next, escaped ? escaped : "");
			curl_free(escaped);
		}
	}
	api_answer_release(&answer);
	buffer_release(&path);
	buffer_release(&more);
	return result;
}

static int list_all(struct object_store *s)
{
	json_t *objects = json_object();
	struct buffer next = {0};
	int result;

	while ((result = list_page(s, objects, &next)) == 1)
		;
	buffer_release(&next);
	if (result < 0) {
		s->version[0] = '\0';
		json_decref(objects);
		return -1;
	}
	json_decref(s->objects);
	s->objects = objects;
	s->listed = s->changed = true;
	return 0;
}

static int begin_watch(struct object_store *s, CURLM *multi)
{
	struct buffer url = {0};
	char more[160];

	snprintf(more, sizeof more, "watch=true&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s", WATCH_S,
	         s->version);
	buffer_text(&url, s->api->settings->server);
	store_url(s, more, &url);
	s->headers = url.failed ? NULL : api_headers(s->api->settings, "application/json", &s->error);
	if (url.failed || (s->headers && (curl_easy_setopt(s->http.curl, CURLOPT_URL, url.data) != CURLE_OK ||
	                                  curl_easy_setopt(s->http.curl, CURLOPT_HTTPHEADER, s->headers) != CURLE_OK)))
		ipf_error_memory(&s->error);
	buffer_release(&url);
	if (s->error.kind != IPF_OK)
		return -1;
	http_handle_begin(&s->http);
	s->watching = curl_multi_add_handle(multi, s->http.curl) == CURLM_OK;
	return s->watching ? 0 : ipf_error_memory(&s->error);
}

void store_step(struct object_store *s, CURLM *multi, int64_t now_ns)
{
	if (s->watching || now_ns < s->retry_at_ns)
		return;
	s->error = (struct ipf_error){0};
	if ((!s->version[0] && list_all(s) < 0) || begin_watch(s, multi) < 0) {
		stop_watching(s, multi);
		s->retry_at_ns = now_ns + backoff_next(&s->backoff);
	}
	s->begun_ns = now_ns;
}

void store_finished(struct object_store *s, CURLM *multi, CURLcode result, int64_t now_ns)
{
	long status = http_handle_status(&s->http);
	bool ended_well = result == CURLE_OK && status == 200;

	if (s->error.kind == IPF_OK && !ended_well && status != 410 && s->version[0])
		http_handle_judge(&s->http, result, &s->error);
	if (status == 410)
		s->version[0] = '\0';
	stop_watching(s, multi);
	/* A lasting watch may be begun again at once; one ending at once shall not become a busy loop. */
	if (s->error.kind == IPF_OK && now_ns - s->begun_ns > 10 * NS_PER_S)
		backoff_reset(&s->backoff);
	else
		s->retry_at_ns = now_ns + backoff_next(&s->backoff);
}
