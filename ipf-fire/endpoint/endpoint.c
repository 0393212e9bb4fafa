#include "endpoint/endpoint.h"

#include "api/form.h"
#include "clock.h"
#include "header_field.h"
#include "http/libcurl.h"
#include "key_file.h"
#include "redact.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the URL ---- */

/* The API's path, of `path_len`, after the URL's own path. If the end of the URL's path is the beginning of the API's
 * (or all of it), the overlap is not repeated. */
static char *join_paths(const char *base, const char *path, size_t path_len)
{
	size_t len = strlen(base), overlap = path_len;
	while (len && base[len - 1] == '/')
		len--;
	while (overlap) {
		bool boundary = overlap == path_len || path[overlap] == '/';
		if (boundary && overlap <= len && !strncmp(base + len - overlap, path, overlap))
			break;
		overlap--;
	}
	char *joined = NULL;
	int written = asprintf(&joined, "%.*s%.*s", (int)len, base, (int)(path_len - overlap), path + overlap);
	return written < 0 ? NULL : joined;
}

static int url_wrong(const char *url, const char *why, struct ipf_error *err)
{
	struct buffer shown = {0};
	redact_url(url, &shown);
	ipf_error_set(err, IPF_USAGE, "--url: %s: expected an address such as http://localhost:8000, got \"%s\"", why,
	              shown.data ? shown.data : "");
	buffer_release(&shown);
	return -1;
}

/* Never shown: user name, password, and the query, which may contain a key. */
static int show(struct target *t, CURLU *u)
{
	CURLU *copy = curl_url_dup(u);
	char *text = NULL;
	if (copy && !curl_url_set(copy, CURLUPART_USER, NULL, 0) && !curl_url_set(copy, CURLUPART_PASSWORD, NULL, 0) &&
	    !curl_url_set(copy, CURLUPART_QUERY, NULL, 0) && !curl_url_get(copy, CURLUPART_URL, &text, 0))
		t->shown = strdup(text);
	curl_free(text);
	curl_url_cleanup(copy);
	return t->shown ? 0 : -1;
}

/* The API's path after the URL's own, its query after the user's. */
static CURLUcode set_path(CURLU *u, const char *base, const char *path)
{
	size_t len = strcspn(path, "?");
	char *joined = join_paths(base, path, len);
	CURLUcode code = joined ? curl_url_set(u, CURLUPART_PATH, joined, 0) : CURLUE_OUT_OF_MEMORY;
	if (!code && path[len])
		code = curl_url_set(u, CURLUPART_QUERY, path + len + 1, CURLU_APPENDQUERY);
	free(joined);
	return code;
}

/* The address with its scheme, which is http if there is none: "localhost:8000". But "http:/h", which libcurl would
 * accept, is a mistake. */
static CURLUcode parse_url(CURLU *u, const char *url)
{
	if (strstr(url, "://"))
		return curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
	if (!*url || *url == '/' || strchr(url, '@') || !strncasecmp(url, "http:", 5) || !strncasecmp(url, "https:", 6))
		return CURLUE_BAD_SCHEME;
	char *whole = NULL;
	CURLUcode code = asprintf(&whole, "http://%s", url) < 0 ? CURLUE_OUT_OF_MEMORY
	                                                        : curl_url_set(u, CURLUPART_URL, whole, 0);
	free(whole);
	return code;
}

static int open_url(struct target *t, const char *url, const char *path, struct ipf_error *err)
{
	char *scheme = NULL, *base = NULL, *whole = NULL;
	int result = -1;
	CURLU *u = libcurl_url();
	if (!u) {
		ipf_error_memory(err);
		goto out;
	}
	CURLUcode code = parse_url(u, url);
	if (code) {
		url_wrong(url, code == CURLUE_BAD_SCHEME ? "no scheme" : curl_url_strerror(code), err);
		goto out;
	}
	if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
		url_wrong(url, "unsupported scheme", err);
		goto out;
	}
	curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	if (curl_url_get(u, CURLUPART_PATH, &base, 0) || set_path(u, base, path) ||
	    curl_url_get(u, CURLUPART_URL, &whole, 0) || !(t->url = strdup(whole)) || show(t, u) < 0 ||
	    curl_url_set(u, CURLUPART_URL, whole, 0)) {
		ipf_error_memory(err);
		goto out;
	}
	t->parsed = u;
	u = NULL;
	result = 0;
out:
	curl_free(scheme);
	curl_free(base);
	curl_free(whole);
	curl_url_cleanup(u);
	return result;
}

/* ---- headers ---- */

static bool same_name(const char *header, const char *name, size_t len)
{
	return !strncasecmp(header, name, len) && (header[len] == ':' || header[len] == ';');
}

static bool overridden(const struct string_list *headers, const char *name)
{
	for (size_t i = 0; i < headers->count; i++)
		if (same_name(headers->items[i], name, strlen(name)))
			return true;
	return false;
}

static int add(struct endpoint *e, const char *line, struct ipf_error *err)
{
	const char *value = strchr(line, ':');
	value = value ? value + 1 + strspn(value + 1, " \t") : "";
	struct curl_slist **to = api_header_field(value) ? &e->varying : &e->headers, *list = curl_slist_append(*to, line);
	if (!list)
		return ipf_error_memory(err);
	*to = list;
	return 0;
}

static int add_pair(struct endpoint *e, const struct string_list *user, const char *name, const char *prefix,
                    const char *value, struct ipf_error *err)
{
	char *line;
	if (overridden(user, name))
		return 0;
	if (asprintf(&line, "%s: %s%s", name, prefix, value) < 0)
		return ipf_error_memory(err);
	int result = add(e, line, err);
	free(line);
	return result;
}

#define KEY_MAX 16384

/* The content of the file without surrounding white space. */
static int read_key(const char *path, char key[KEY_MAX], struct ipf_error *err)
{
	size_t len;
	if (key_file_read(path, key, KEY_MAX, &len, err) < 0)
		return -1;
	while (len && strchr(" \t\r\n", key[len - 1]))
		len--;
	key[len] = '\0';
	size_t blank = strspn(key, " \t\r\n");
	memmove(key, key + blank, len - blank + 1);
	if (!*key || strlen(key) != len - blank)
		return ipf_error_at(err, IPF_USAGE, path, 0, "--key-file: the file contains no key");
	return 0;
}

static int add_key(struct endpoint *e, json_t *auth, const struct endpoint_options *o, struct ipf_error *err)
{
	const char *env = o->key_env ? o->key_env : json_string_value(json_object_get(auth, "env"));
	const char *key = env ? getenv(env) : NULL, *prefix = json_string_value(json_object_get(auth, "prefix"));
	const char *source = o->key_file ? o->key_file : env;
	char from_file[KEY_MAX];
	const char *service = json_string_value(json_object_get(auth, "service"));
	if ((o->key_env || o->key_file) && service)
		return ipf_error_set(err, IPF_USAGE, "%s: this API uses AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead",
		                     o->key_file ? "--key-file" : "--key-env");
	const struct signer_source aws = signer_aws(service, e->targets[0].url);
	if (service)
		return signer_new(&e->signer, &aws, err);
	if ((o->key_env || o->key_file) && !auth)
		return ipf_error_set(err, IPF_USAGE, "%s: this API does not use a key",
		                     o->key_file ? "--key-file" : "--key-env");
	if (o->key_env && o->key_file)
		return ipf_error_set(err, IPF_USAGE, "--key-file cannot be combined with --key-env");
	if (o->key_env && (!key || !*key))
		/* an unusual name may be the key */
		return strspn(o->key_env, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == strlen(o->key_env)
		           ? ipf_error_set(err, IPF_USAGE, "--key-env: %s is not set in the environment", o->key_env)
		           : ipf_error_set(err, IPF_USAGE,
		                           "--key-env: expected the name of a variable in the environment, "
		                           "such as OPENAI_API_KEY");
	if (o->key_file && read_key(o->key_file, from_file, err) < 0)
		return -1;
	if (o->key_file)
		key = from_file;
	int result = 0;
	if (auth && key && *key)
		result = strpbrk(key, "\r\n")
		             ? ipf_error_set(err, IPF_USAGE, "%s: the key has several lines, expected one", source)
		         : !header_value_is_valid(key)
		             ? ipf_error_set(err, IPF_USAGE, "%s: the key contains control characters", source)
		             : add_pair(e, o->headers, json_string_value(json_object_get(auth, "header")), prefix ? prefix : "",
		                        key, err);
	explicit_bzero(from_file, sizeof from_file);
	return result;
}

/* The format of the header grpc-timeout: at most eight digits and a unit. */
static void grpc_timeout(int64_t ns, char text[16])
{
	int64_t ms = (ns + NS_PER_MS - 1) / NS_PER_MS;
	if (ms <= 99999999)
		snprintf(text, 16, "%lldm", (long long)ms);
	else
		snprintf(text, 16, "%lldS", (long long)(ms / 1000 > 99999999 ? 99999999 : ms / 1000));
}

static int add_grpc(struct endpoint *e, const struct endpoint_options *o, struct ipf_error *err)
{
	char timeout[16];
	if (add_pair(e, o->headers, "Content-Type", "", "application/grpc", err) < 0 ||
	    add_pair(e, o->headers, "TE", "", "trailers", err) < 0 ||
	    add_pair(e, o->headers, "grpc-accept-encoding", "", "identity", err) < 0)
		return -1;
	grpc_timeout(o->timeout_ns, timeout);
	return o->timeout_ns ? add_pair(e, o->headers, "grpc-timeout", "", timeout, err) : 0;
}

/* The user's. A wrong name is not quoted: it may be the key, as in "Bearer KEY: …". */
static int check_header(const char *line, struct ipf_error *err)
{
	const char *colon = strchr(line, ':');
	if (!colon || colon == line)
		return ipf_error_set(err, IPF_USAGE, "--header: expected \"Name: value\", got %zu bytes without a name",
		                     strlen(line));
	if (!header_name_is_valid(line, (size_t)(colon - line)))
		return ipf_error_set(err, IPF_USAGE,
		                     "--header: expected \"Name: value\", got a name of %zu bytes with a space or another "
		                     "character not allowed in names of headers",
		                     (size_t)(colon - line));
	if (strpbrk(line, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "--header: \"%.*s\": expected one line, got several", (int)(colon - line),
		                     line);
	if (!header_value_is_valid(colon + 1))
		return ipf_error_set(err, IPF_USAGE, "--header: \"%.*s\": expected a value without control characters",
		                     (int)(colon - line), line);
	return 0;
}

static bool has_content_type(json_t *headers)
{
	const char *name;
	json_t *value;
	json_object_foreach(headers, name, value)
	{
		if (!strcasecmp(name, "Content-Type"))
			return true;
	}
	return false;
}

static int add_headers(struct endpoint *e, json_t *request, const struct endpoint_options *o, struct ipf_error *err)
{
	const struct string_list *user = o->headers;
	const char *name;
	json_t *value;
	for (size_t i = 0; i < user->count; i++) {
		if (check_header(user->items[i], err) < 0 || add(e, user->items[i], err) < 0)
			return -1;
	}
	json_object_foreach(json_object_get(request, "headers"), name,
	                    value) if (add_pair(e, user, name, "", json_string_value(value), err) < 0) return -1;
	/* The body's type, unless a header gives it already. */
	const char *type = json_object_get(request, "encoding") ? FORM_CONTENT_TYPE : "application/json";
	bool told = e->grpc || !json_object_get(request, "body") || has_content_type(json_object_get(request, "headers"));
	if (!told && add_pair(e, user, "Content-Type", "", type, err) < 0)
		return -1;
	if ((e->grpc && add_grpc(e, o, err) < 0) || add_pair(e, user, "Accept-Encoding", "", "identity", err) < 0)
		return -1;
	return add_key(e, json_object_get(request, "auth"), o, err);
}

int endpoint_open(struct endpoint *e, const struct api *api, const struct endpoint_options *o, struct ipf_error *err)
{
	const char *path = api_path(api, o->streamed);
	*e = (struct endpoint){.method = api_method(api),
	                       .grpc = api_protobuf(api),
	                       .url_varies = strstr(path, "$model") != NULL,
	                       .targets = calloc(o->urls->count, sizeof(struct target))};
	int result = e->targets ? 0 : ipf_error_memory(err);
	for (; result == 0 && e->count < o->urls->count; e->count++)
		result = open_url(&e->targets[e->count], o->urls->items[e->count], path, err);
	if (result == 0)
		result = add_headers(e, api_request(api), o, err);
	if (result < 0)
		endpoint_close(e);
	return result;
}

static void close_target(struct target *p)
{
	free(p->url);
	curl_url_cleanup(p->parsed);
	free(p->shown);
	curl_slist_free_all(p->resolve);
	if (p->found)
		freeaddrinfo(p->found);
}

void endpoint_close(struct endpoint *e)
{
	for (size_t i = 0; i < e->count; i++)
		close_target(&e->targets[i]);
	free(e->targets);
	curl_slist_free_all(e->headers);
	curl_slist_free_all(e->varying);
	signer_free(e->signer);
	*e = (struct endpoint){0};
}

/* The user's URL may already contain the API's path, or the beginning of it. */
char *endpoint_url_with_path(const struct api *api, const struct endpoint_options *o, size_t index, const char *path,
                             struct ipf_error *err)
{
	struct target base = {0};
	const char *own = api_path(api, o->streamed);
	char *url = NULL, *shorter = strdup(o->urls->items[index]);
	size_t len = shorter ? strcspn(shorter, "?#") : 0, most = strcspn(own, "?");
	while (len && shorter[len - 1] == '/')
		len--;
	/* remove the longest beginning of the API's path the URL ends in */
	for (; most; most--)
		if ((own[most] == '/' || own[most] == '\0' || own[most] == '?') && most <= len &&
		    !strncmp(shorter + len - most, own, most)) {
			shorter[len - most] = '\0';
			break;
		}
	if (!shorter)
		ipf_error_memory(err);
	else if (open_url(&base, shorter, path, err) == 0)
		url = strdup(base.url);
	close_target(&base);
	free(shorter);
	return url;
}

/* ---- URL and headers of one request ---- */

/* Appends the characters of a JSON string. */
static int decode(struct slice json, struct buffer *out, struct ipf_error *err)
{
	struct jdoc doc = {0};
	int result = json.data ? jdoc_parse(&doc, json.data, json.len, err) : 0;
	if (json.data && result == 0)
		jdoc_text(&doc, JDOC_ROOT, out);
	jdoc_release(&doc);
	return result;
}

/* `from`: a URL with "$model". */
static int fill_url(const char *from, struct slice model, struct buffer *url, struct ipf_error *err)
{
	struct buffer name = {0};
	if (!model.data)
		return ipf_error_set(err, IPF_INPUT,
		                     "model is missing: it is part of this API's path, and the trace has none; use --model");
	int result = decode(model, &name, err);
	char *escaped = result == 0 ? curl_easy_escape(NULL, name.data ? name.data : "", (int)name.len) : NULL;
	for (const char *at; escaped && (at = strstr(from, "$model")); from = at + strlen("$model")) {
		buffer_append(url, from, (size_t)(at - from));
		buffer_text(url, escaped);
	}
	buffer_text(url, from);
	if (result == 0 && (!escaped || url->failed))
		result = ipf_error_memory(err);
	curl_free(escaped);
	buffer_release(&name);
	return result;
}

static int append_header(struct curl_slist **list, const char *line, struct ipf_error *err)
{
	struct curl_slist *longer = curl_slist_append(*list, line);
	if (!longer)
		return ipf_error_memory(err);
	*list = longer;
	return 0;
}

static int fill_header(const char *line, struct slice value, struct curl_slist **headers, struct ipf_error *err)
{
	struct buffer text = {0};
	if (!value.data)
		return 0;
	buffer_append(&text, line, (size_t)(strrchr(line, '$') - line));
	int result = decode(value, &text, err);
	for (size_t i = 0; i < text.len; i++)
		if (strchr("\r\n", text.data[i])) /* finds NUL, too */
			text.data[i] = ' ';
	if (result == 0)
		result = text.failed ? ipf_error_memory(err) : append_header(headers, text.data, err);
	buffer_release(&text);
	return result;
}

bool endpoint_sends(const struct endpoint *e, const char *field)
{
	for (const struct curl_slist *own = e->varying; own; own = own->next)
		if (!strcmp(strrchr(own->data, '$'), field))
			return true;
	return false;
}

/* The request's own headers, which the reader of the trace has checked. */
static int add_own(const struct jdoc *own, struct curl_slist **headers, struct ipf_error *err)
{
	struct buffer line = {0};
	int result = 0;
	for (struct jdoc_each e = jdoc_each(own, JDOC_ROOT); result == 0 && jdoc_step(&e);) {
		buffer_clear(&line);
		jdoc_text(own, e.key, &line);
		buffer_text(&line, jdoc_text_empty(own, e.value) ? ";" : ": ");
		jdoc_text(own, e.value, &line);
		result = line.failed ? ipf_error_memory(err) : append_header(headers, line.data, err);
	}
	buffer_release(&line);
	return result;
}

/* Does one of the headers so far have the name of this one? */
static bool replaced(const struct curl_slist *own, const char *line)
{
	for (; own; own = own->next)
		if (same_name(line, own->data, strcspn(own->data, ":;")))
			return true;
	return false;
}

/* The headers the endpoint has for all requests, and those whose fields this request has, but for `own` ones. */
static int add_common(const struct endpoint *e, const struct request_variables *variables, const struct curl_slist *own,
                      struct curl_slist **headers, struct ipf_error *err)
{
	for (const struct curl_slist *h = e->varying; h; h = h->next) {
		const char *field = strrchr(h->data, '$');
		struct slice value = !strcmp(field, "$id")             ? variables->id
		                     : !strcmp(field, "$session")      ? variables->session
		                     : !strcmp(field, "$agent")        ? variables->agent
		                     : !strcmp(field, "$parent_agent") ? variables->parent_agent
		                     : !strcmp(field, "$traceparent")  ? variables->traceparent
		                                                       : variables->model;
		if (!replaced(own, h->data) && fill_header(h->data, value, headers, err) < 0)
			return -1;
	}
	for (const struct curl_slist *h = e->headers; h; h = h->next)
		if (!replaced(own, h->data) && append_header(headers, h->data, err) < 0)
			return -1;
	return 0;
}

static int add_all(const struct endpoint *e, const struct request_variables *variables, struct curl_slist **headers,
                   struct ipf_error *err)
{
	struct jdoc doc = {0};
	struct curl_slist *own = NULL;
	int result = 0;
	if (variables->headers.data)
		result = jdoc_parse(&doc, variables->headers.data, variables->headers.len, err) < 0 ? -1
		                                                                                    : add_own(&doc, &own, err);
	if (result == 0)
		result = add_common(e, variables, own, headers, err);
	for (const struct curl_slist *h = own; result == 0 && h; h = h->next)
		result = append_header(headers, h->data, err);
	curl_slist_free_all(own);
	jdoc_release(&doc);
	return result;
}

int endpoint_address(const struct endpoint *e, const struct request_variables *variables, struct buffer *url,
                     struct curl_slist **headers, struct ipf_error *err)
{
	for (size_t i = 0; e->url_varies && i < e->count; i++) {
		if (fill_url(e->targets[i].url, variables->model, url, err) < 0)
			return -1;
		buffer_byte(url, '\0');
	}
	return e->varying || variables->headers.data ? add_all(e, variables, headers, err) : 0;
}

int endpoint_shown_url(const struct endpoint *e, size_t target, struct slice model, struct buffer *shown,
                       struct ipf_error *err)
{
	if (e->url_varies)
		return fill_url(e->targets[target].shown, model, shown, err);
	buffer_text(shown, e->targets[target].shown);
	return shown->failed ? ipf_error_memory(err) : 0;
}
