#include "target.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the URL ---- */

/* The API's path, of `path_len`, after the URL's own; where the one ends as the other begins (or is the whole of it), that part stands
 * once. */
static char *join_paths(const char *base, const char *path, size_t path_len)
{
	size_t len = strlen(base), overlap = path_len;
	while (len && base[len - 1] == '/')
		len--;
	while (overlap) {
		bool seam = overlap == path_len || path[overlap] == '/';
		if (seam && overlap <= len && !strncmp(base + len - overlap, path, overlap))
			break;
		overlap--;
	}
	char *joined = NULL;
	int written = asprintf(&joined, "%.*s%.*s", (int)len, base, (int)(path_len - overlap), path + overlap);
	return written < 0 ? NULL : joined;
}

static int url_wrong(const char *url, const char *why, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "--url: %s: expected http://HOST[:PORT][/PATH] or https://…, got \"%s\"", why, url);
}

/* Never shown: a user's name and password, and the query, which may hold a key. */
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

static int open_url(struct target *t, const char *url, const char *path, struct ipf_error *err)
{
	char *scheme = NULL, *base = NULL, *joined = NULL, *whole = NULL;
	int result = -1;
	CURLU *u = curl_url();
	if (!u) {
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
		goto out;
	}
	/* libcurl would take "http:/h" as well */
	CURLUcode code = strstr(url, "://") ? curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME) : CURLUE_BAD_SCHEME;
	if (code) {
		url_wrong(url, code == CURLUE_BAD_SCHEME ? "no scheme" : curl_url_strerror(code), err);
		goto out;
	}
	if (curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
		url_wrong(url, "another scheme", err);
		goto out;
	}
	curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	size_t path_len = strcspn(path, "?");
	if (curl_url_get(u, CURLUPART_PATH, &base, 0) || !(joined = join_paths(base, path, path_len)) ||
	    curl_url_set(u, CURLUPART_PATH, joined, 0) ||
	    (path[path_len] && curl_url_set(u, CURLUPART_QUERY, path + path_len + 1, CURLU_APPENDQUERY)) || curl_url_get(u, CURLUPART_URL, &whole, 0) || !(t->url = strdup(whole)) ||
	    show(t, u) < 0) {
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
		goto out;
	}
	result = 0;
out:
	curl_free(scheme);
	curl_free(base);
	curl_free(whole);
	free(joined);
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

static int add(struct target *t, const char *line, struct ipf_error *err)
{
	struct curl_slist *list = curl_slist_append(t->headers, line);
	if (!list)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	t->headers = list;
	return 0;
}

static int add_pair(struct target *t, const struct string_list *user, const char *name, const char *prefix, const char *value,
                    struct ipf_error *err)
{
	char *line;
	if (overridden(user, name))
		return 0;
	if (asprintf(&line, "%s: %s%s", name, prefix, value) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	int result = add(t, line, err);
	free(line);
	return result;
}

static int add_key(struct target *t, json_t *auth, const struct string_list *user, const char *key_env, struct ipf_error *err)
{
	const char *env = key_env ? key_env : json_string_value(json_object_get(auth, "env"));
	const char *key = env ? getenv(env) : NULL, *prefix = json_string_value(json_object_get(auth, "prefix"));
	if (key_env && !auth)
		return ipf_error_set(err, IPF_USAGE, "--key-env: this API takes no key");
	if (key_env && (!key || !*key))
		return ipf_error_set(err, IPF_USAGE, "--key-env: %s is not set in the environment", key_env);
	if (!auth || !key || !*key)
		return 0;
	if (strpbrk(key, "\r\n"))
		return ipf_error_set(err, IPF_USAGE, "%s: a key of several lines cannot be sent", env);
	return add_pair(t, user, json_string_value(json_object_get(auth, "header")), prefix ? prefix : "", key, err);
}

static int add_headers(struct target *t, json_t *request, const struct string_list *user, const char *key_env, struct ipf_error *err)
{
	const char *name;
	json_t *value;
	for (size_t i = 0; i < user->count; i++) {
		const char *colon = strchr(user->items[i], ':');
		if (!colon || colon == user->items[i] || strpbrk(user->items[i], "\r\n"))
			return ipf_error_set(err, IPF_USAGE, "--header: expected \"Name: value\", got \"%s\"", user->items[i]);
		if (add(t, user->items[i], err) < 0)
			return -1;
	}
	json_object_foreach(json_object_get(request, "headers"), name, value)
		if (add_pair(t, user, name, "", json_string_value(value), err) < 0)
			return -1;
	if (add_pair(t, user, "Accept-Encoding", "", "identity", err) < 0 ||
	    add_key(t, json_object_get(request, "auth"), user, key_env, err) < 0)
		return -1;
	/* no waiting for "100 Continue" before the body */
	return overridden(user, "Expect") ? 0 : add(t, "Expect:", err);
}

int target_open(struct target *t, const struct api *api, const char *url, const struct string_list *headers, const char *key_env,
                struct ipf_error *err)
{
	*t = (struct target){.method = api_method(api)};
	if (open_url(t, url, api_path(api), err) == 0 && add_headers(t, api_request(api), headers, key_env, err) == 0)
		return 0;
	target_close(t);
	return -1;
}

void target_close(struct target *t)
{
	free(t->url);
	free(t->shown);
	curl_slist_free_all(t->resolve);
	curl_slist_free_all(t->headers);
	*t = (struct target){0};
}

/* ---- is it there? ---- */

/* 0, or the errno of why not. */
static int try_address(const struct addrinfo *a, int64_t timeout_ns)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), why = 0;
	if (fd < 0)
		return errno;
	if (connect(fd, a->ai_addr, a->ai_addrlen) < 0)
		why = errno;
	if (why == EINPROGRESS) {
		struct pollfd p = {.fd = fd, .events = POLLOUT};
		int64_t ms = timeout_ns / NS_PER_MS + 1;
		socklen_t len = sizeof why;
		int got = poll(&p, 1, ms > 1000000 ? 1000000 : (int)ms);
		if (got < 0)
			why = errno;
		else if (got == 0)
			why = ETIMEDOUT;
		else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &len) < 0)
			why = errno;
	}
	close(fd);
	return why;
}

static int pin(struct target *t, const char *host, const char *port, const struct addrinfo *a, struct ipf_error *err)
{
	char address[64], *entry;
	if (getnameinfo(a->ai_addr, a->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
		return 0; /* left to libcurl, then */
	if (!strcmp(address, host))
		return 0;
	if (asprintf(&entry, a->ai_family == AF_INET6 ? "%s:%s:[%s]" : "%s:%s:%s", host, port, address) < 0)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	t->resolve = curl_slist_append(NULL, entry);
	free(entry);
	return t->resolve ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

static int reach(struct target *t, char *host, const char *port, int64_t timeout_ns, struct ipf_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	size_t len = strlen(host);
	if (*host == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		host++;
	}
	int why = getaddrinfo(host, port, &hints, &list), failed = 0;
	if (why)
		return ipf_error_at(err, IPF_SYSTEM, t->shown, 0, "cannot resolve %s: %s", host,
		                    why == EAI_SYSTEM ? strerror(errno) : gai_strerror(why));
	const struct addrinfo *a = list;
	for (; a && (why = try_address(a, timeout_ns)); a = a->ai_next)
		failed = why;
	int result = a ? pin(t, host, port, a, err) : ipf_error_errno(err, failed, t->shown, "cannot connect");
	freeaddrinfo(list);
	return result;
}

int target_reach(struct target *t, int64_t timeout_ns, struct ipf_error *err)
{
	char *host = NULL, *port = NULL;
	CURLU *u = curl_url();
	int result = -1;
	if (u && !curl_url_set(u, CURLUPART_URL, t->url, 0) && !curl_url_get(u, CURLUPART_HOST, &host, 0) &&
	    !curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		result = reach(t, host, port, timeout_ns, err);
	else
		ipf_error_set(err, IPF_SYSTEM, "out of memory");
	curl_free(host);
	curl_free(port);
	curl_url_cleanup(u);
	return result;
}

/* ---- what must not be kept ---- */

static bool secret(const char *name, size_t len)
{
	static const char *const signs[] = {"auth", "key", "token", "secret", "cookie", "password", "signature"};
	char lower[64] = "";
	for (size_t i = 0; i < len && i + 1 < sizeof lower; i++)
		lower[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] | 32 : name[i]);
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
		if (strstr(lower, signs[i]))
			return true;
	return false;
}

/* "…://user:password@host/path?query" without the secret parts. */
static char *redact_url(const char *text)
{
	const char *authority = strstr(text, "://"), *at, *query;
	if (!authority)
		return NULL;
	authority += 3;
	size_t host = strcspn(authority, "/?#");
	at = memrchr(authority, '@', host);
	query = strchr(authority, '?');
	if (!at && !query)
		return NULL;
	char *clean = NULL;
	const char *rest = at ? at + 1 : authority;
	int rest_len = (int)(query ? query - rest : (ptrdiff_t)strlen(rest));
	int len = asprintf(&clean, "%.*s%.*s%s", (int)(authority - text), text, rest_len, rest, query ? "?…" : "");
	return len < 0 ? NULL : clean;
}

static char *redact_header(const char *text)
{
	const char *from = !strncmp(text, "--header=", 9) ? text + 9 : !strncmp(text, "-H", 2) ? text + 2 : text;
	const char *colon = strchr(from, ':');
	char *clean = NULL;
	if (!colon || !strncmp(colon, "://", 3) || !secret(from, (size_t)(colon - from)))
		return NULL;
	return asprintf(&clean, "%.*s: …", (int)(colon - text), text) < 0 ? NULL : clean;
}

void argv_redact(json_t *argv)
{
	for (size_t i = 0; i < json_array_size(argv); i++) {
		const char *text = json_string_value(json_array_get(argv, i));
		char *clean = text ? redact_url(text) : NULL;
		if (text && !clean)
			clean = redact_header(text);
		if (clean)
			json_array_set_new(argv, i, json_string(clean));
		free(clean);
	}
}
