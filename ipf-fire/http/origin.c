#include "http/origin.h"

#include "base64.h"
#include "http/libcurl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* User and password of the URL as a header's value: "Basic " and both in base64 (RFC 7617). NULL: it has none. -1: out
 * of memory. */
static int authorization_of(CURLU *u, char **authorization)
{
	char *user = NULL, *password = NULL;
	struct buffer both = {0}, text = {0};
	*authorization = NULL;
	if (curl_url_get(u, CURLUPART_USER, &user, CURLU_URLDECODE) != CURLUE_OK)
		return 0;
	curl_url_get(u, CURLUPART_PASSWORD, &password, CURLU_URLDECODE);
	buffer_text(&both, user);
	buffer_byte(&both, ':');
	buffer_text(&both, password ? password : "");
	buffer_text(&text, "Basic ");
	base64_encode(buffer_all(&both), &text);
	*authorization = both.failed || text.failed ? NULL : strdup(text.data);
	if (password)
		explicit_bzero(password, strlen(password));
	if (both.data)
		explicit_bzero(both.data, both.len);
	buffer_release(&both);
	buffer_release(&text);
	curl_free(user);
	curl_free(password);
	return *authorization ? 0 : -1;
}

static int proxy_authorization(struct origin *o, const char *proxy)
{
	CURLU *u = libcurl_url();
	int result = u && !curl_url_set(u, CURLUPART_URL, proxy, CURLU_NON_SUPPORT_SCHEME)
	                 ? authorization_of(u, &o->proxy_authorization)
	                 : -1;
	curl_url_cleanup(u);
	return result;
}

struct slice origin_path_of(const char *url)
{
	const char *authority = strstr(url, "://");
	const char *path = authority ? strpbrk(authority + 3, "/?") : NULL;
	return slice_of(path ? path : "/");
}

/* The parts of the URL. -1: out of memory. */
static int take_apart(struct origin *o, CURLU *parsed)
{
	char *scheme = NULL, *host = NULL, *given = NULL, *port = NULL, *url = NULL;
	CURLU *u = curl_url_dup(parsed);
	int result = -1;
	if (!u || authorization_of(u, &o->authorization) < 0 || curl_url_set(u, CURLUPART_USER, NULL, 0) ||
	    curl_url_set(u, CURLUPART_PASSWORD, NULL, 0) || curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0) ||
	    curl_url_get(u, CURLUPART_URL, &url, 0) || curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) ||
	    curl_url_get(u, CURLUPART_HOST, &host, 0) || curl_url_get(u, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT))
		goto out;
	curl_url_get(u, CURLUPART_PORT, &given, CURLU_NO_DEFAULT_PORT);
	o->tls = !strcmp(scheme, "https");
	size_t len = strlen(host);
	bool brackets = *host == '[' && host[len - 1] == ']';
	o->host = brackets ? strndup(host + 1, len - 2) : strdup(host);
	o->url = strdup(url);
	if (asprintf(&o->authority, given ? "%s:%s" : "%s", host, given) < 0)
		o->authority = NULL;
	if (asprintf(&o->connect_to, "%s:%s", host, port) < 0)
		o->connect_to = NULL;
	if (o->host && o->url && o->authority && o->connect_to) {
		o->path = origin_path_of(o->url);
		result = 0;
	}
out:
	curl_free(scheme);
	curl_free(host);
	curl_free(given);
	curl_free(port);
	curl_free(url);
	curl_url_cleanup(u);
	return result;
}

static void use_unix_socket(struct origin *o, const char *path)
{
	o->local_address = (struct sockaddr_un){.sun_family = AF_UNIX};
	/* the preflight has checked its length */
	snprintf(o->local_address.sun_path, sizeof o->local_address.sun_path, "%s", path);
	o->local = (struct addrinfo){.ai_family = AF_UNIX,
	                             .ai_socktype = SOCK_STREAM,
	                             .ai_addr = (struct sockaddr *)&o->local_address,
	                             .ai_addrlen = sizeof o->local_address};
	o->addresses = &o->local;
}

int origin_open(struct origin *o, const struct target *target, const struct network_path *path, bool http2,
                struct ipf_error *err)
{
	*o = (struct origin){.route = ROUTE_DIRECT, .addresses = target->addresses, .resolve = target->resolve};
	if (take_apart(o, target->parsed) < 0 || (path->o.proxy && proxy_authorization(o, path->o.proxy) < 0))
		return ipf_error_memory(err);
	if (path->o.unix_socket)
		use_unix_socket(o, path->o.unix_socket);
	else
		o->by_libcurl = path->proxy_socks || (path->o.dns_each && !target->addresses_by_user);
	if (path->o.proxy && !path->proxy_socks)
		o->route = o->tls || http2 ? ROUTE_TUNNEL : ROUTE_FORWARD;
	return 0;
}

void origin_close(struct origin *o)
{
	char *const texts[] = {o->host, o->authority, o->connect_to, o->url, o->authorization, o->proxy_authorization};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		free(texts[i]);
	buffer_release(&o->head);
	*o = (struct origin){0};
}
