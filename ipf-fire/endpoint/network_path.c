#include "endpoint/network_path.h"

#include "endpoint/tls_files.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- opening ---- */

static int add_source(struct network_path *r, const char *text, struct ipf_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE}, *list;
	if (getaddrinfo(text, NULL, &hints, &list))
		return ipf_error_set(err, IPF_USAGE, "--bind: expected addresses in figures with commas between, got \"%s\"",
		                     text);
	struct network_path_source *s = &r->sources[r->sources_count++];
	memcpy(&s->address, list->ai_addr, list->ai_addrlen);
	s->len = list->ai_addrlen;
	int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int why = fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(list);
	return why ? ipf_error_set(err, IPF_SYSTEM, "--bind: %s: cannot send from there: %s", text, strerror(why)) : 0;
}

static int open_sources(struct network_path *r, struct ipf_error *err)
{
	size_t count = 1;
	for (const char *at = r->o.bind; at && *at; at++)
		count += *at == ',';
	char *all = strdup(r->o.bind ? r->o.bind : ""), *at = all;
	r->sources = calloc(count, sizeof *r->sources);
	int result = all && r->sources ? 0 : ipf_error_memory(err);
	for (const char *text; r->o.bind && result == 0 && (text = strsep(&at, ","));)
		result = add_source(r, text, err);
	free(all);
	return result;
}

/* libcurl's own default where a proxy's URL has no port. */
static const char *default_port(const char *scheme)
{
	return strcmp(scheme, "https") ? "1080" : "443";
}

static int proxy_wrong(const char *why, struct ipf_error *err)
{
	return ipf_error_set(
		err, IPF_USAGE,
		"--proxy: expected http://, https://, socks5://, socks5h://, socks4:// or socks4a://HOST:PORT: %s", why);
}

static int open_proxy(struct network_path *r, struct ipf_error *err)
{
	static const char *const schemes[] = {"http", "https", "socks5", "socks5h", "socks4", "socks4a"};
	char *scheme = NULL, *host = NULL, *port = NULL, *shown = NULL;
	int result = -1;
	size_t i = 0;
	CURLU *u = curl_url();
	CURLUcode code = !u                          ? CURLUE_OUT_OF_MEMORY
	                 : strstr(r->o.proxy, "://") ? curl_url_set(u, CURLUPART_URL, r->o.proxy, CURLU_NON_SUPPORT_SCHEME)
	                                             : CURLUE_BAD_SCHEME;
	if (code || curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) || curl_url_get(u, CURLUPART_HOST, &host, 0)) {
		proxy_wrong(code ? curl_url_strerror(code) : "no host", err);
		goto out;
	}
	while (i < sizeof schemes / sizeof *schemes && strcmp(schemes[i], scheme) != 0)
		i++;
	if (i == sizeof schemes / sizeof *schemes) {
		proxy_wrong("another scheme", err);
		goto out;
	}
	curl_url_get(u, CURLUPART_PORT, &port, 0);
	curl_url_set(u, CURLUPART_USER, NULL, 0);
	curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
	curl_url_set(u, CURLUPART_PATH, NULL, 0);
	curl_url_set(u, CURLUPART_QUERY, NULL, 0);
	curl_url_get(u, CURLUPART_URL, &shown, 0);
	size_t len = shown ? strlen(shown) : 0;
	if (len && shown[len - 1] == '/')
		shown[len - 1] = '\0';
	r->proxy_shown = strdup(shown ? shown : "");
	r->proxy_host = strdup(host);
	r->proxy_port = strdup(port ? port : default_port(scheme));
	r->proxy_tls = !strcmp(scheme, "https");
	r->proxy_resolves = strcmp(scheme, "socks5") != 0 && strcmp(scheme, "socks4") != 0;
	result = r->proxy_shown && r->proxy_host && r->proxy_port ? 0 : ipf_error_memory(err);
out:
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_free(shown);
	curl_url_cleanup(u);
	return result;
}

static int check(const struct network_path_options *o, struct ipf_error *err)
{
	if (strcmp(o->dns, "once") != 0 && strcmp(o->dns, "each") != 0)
		return ipf_error_set(err, IPF_USAGE, "--dns: expected once or each, got \"%s\"", o->dns);
	if (o->unix_socket && (o->proxy || o->bind))
		return ipf_error_set(err, IPF_USAGE, "--unix-socket: there is no %s on the way",
		                     o->proxy ? "proxy" : "address");
	for (size_t i = 0; i < o->resolve->count; i++) {
		const char *colon = strchr(o->resolve->items[i], ':'), *second = colon ? strchr(colon + 1, ':') : NULL;
		if (!second || colon == o->resolve->items[i] || second == colon + 1 || !second[1])
			return ipf_error_set(err, IPF_USAGE, "--resolve: expected HOST:PORT:ADDRESS, got \"%s\"",
			                     o->resolve->items[i]);
	}
	return 0;
}

int network_path_open(struct network_path *r, const struct network_path_options *options, struct ipf_error *err)
{
	*r = (struct network_path){.o = *options};
	if (check(options, err) < 0 || tls_files_check(options->cacert, options->cert, options->key, err) < 0)
		return -1;
	r->dns_each = !strcmp(options->dns, "each");
	int result = (options->proxy && open_proxy(r, err) < 0) || open_sources(r, err) < 0 ? -1 : 0;
	for (size_t i = 0; result == 0 && i < options->resolve->count; i++) {
		struct curl_slist *list = curl_slist_append(r->resolve, options->resolve->items[i]);
		if (list)
			r->resolve = list;
		else
			result = ipf_error_memory(err);
	}
	if (result < 0) {
		network_path_close(r);
		return -1;
	}
	return 0;
}

void network_path_close(struct network_path *r)
{
	free(r->sources);
	curl_slist_free_all(r->resolve);
	free(r->proxy_shown);
	free(r->proxy_host);
	free(r->proxy_port);
	*r = (struct network_path){0};
}

/* ---- using ---- */

void network_path_apply(const struct network_path *r, CURL *easy, enum http_version http)
{
	const struct network_path_options *o = &r->o;
	curl_easy_setopt(easy, CURLOPT_PROXY, o->proxy ? o->proxy : "");
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	/* a proxy that forwards does so in HTTP/1.1 */
	curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, r->proxy_host && http != HTTP_1_1 ? 1L : 0L);
	/* what a proxy says before the server can speak is no answer */
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (o->unix_socket)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, o->unix_socket);
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, r->dns_each ? 0L : -1L);
	if (o->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
	}
	if (o->cacert) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, o->cacert);
		curl_easy_setopt(easy, CURLOPT_PROXY_CAINFO, o->cacert);
	}
	if (o->cert)
		curl_easy_setopt(easy, CURLOPT_SSLCERT, o->cert);
	if (o->key)
		curl_easy_setopt(easy, CURLOPT_SSLKEY, o->key);
}

size_t network_path_fitting(const struct network_path *r, int family)
{
	size_t count = 0;
	for (size_t i = 0; i < r->sources_count; i++)
		count += r->sources[i].address.ss_family == family;
	return count;
}

const struct network_path_source *network_path_source(const struct network_path *r, int family, size_t k)
{
	size_t fitting = network_path_fitting(r, family), left = fitting ? k % fitting : 0;
	for (size_t i = 0; fitting && i < r->sources_count; i++)
		if (r->sources[i].address.ss_family == family && left-- == 0)
			return &r->sources[i];
	return NULL;
}

int network_path_bind(const struct network_path *r, size_t k, int fd, int family)
{
	const struct network_path_source *s = network_path_source(r, family, k);
	int on = 1;
	if (!s)
		return r->sources_count ? EAFNOSUPPORT : 0;
	/* the port is chosen when the socket connects, and need only differ from others to the same server */
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
	return bind(fd, (const struct sockaddr *)&s->address, s->len) < 0 ? errno : 0;
}

int64_t network_path_ports(const struct network_path *r, size_t targets)
{
	FILE *range = r->o.unix_socket ? NULL : fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	long first, last;
	bool known = range && fscanf(range, "%ld %ld", &first, &last) == 2 && last >= first;
	if (range)
		fclose(range);
	size_t sources = r->sources_count ? r->sources_count : 1;
	return known ? (int64_t)(last - first + 1) * (int64_t)sources * (int64_t)(r->o.proxy ? 1 : targets) : INT64_MAX;
}
