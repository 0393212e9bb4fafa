#include "endpoint/network_path.h"

#include "http/libcurl.h"
#include "http/tls_files.h"
#include "http/authorities.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#ifndef IP_LOCAL_PORT_RANGE
#define IP_LOCAL_PORT_RANGE 51
#endif

/* ---- opening ---- */

static int add_source(struct network_path *p, const char *text, struct ipf_error *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_PASSIVE}, *list;
	int wrong = getaddrinfo(text, NULL, &hints, &list);
	if (wrong == EAI_MEMORY)
		return ipf_error_memory(err);
	if (wrong)
		return ipf_error_set(err, IPF_USAGE, "--bind: expected numeric addresses separated by commas, got \"%s\"",
		                     text);
	struct network_path_source *s = &p->sources[p->sources_count++];
	memcpy(&s->address, list->ai_addr, list->ai_addrlen);
	s->len = list->ai_addrlen;
	int fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int why = fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen) < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	freeaddrinfo(list);
	return why ? ipf_error_set(err, IPF_SYSTEM, "--bind: %s: cannot bind to this address: %s", text, strerror(why)) : 0;
}

static int open_sources(struct network_path *p, struct ipf_error *err)
{
	size_t count = 1;
	for (const char *at = p->o.bind; at && *at; at++)
		count += *at == ',';
	char *all = strdup(p->o.bind ? p->o.bind : ""), *at = all;
	p->sources = calloc(count, sizeof *p->sources);
	int result = all && p->sources ? 0 : ipf_error_memory(err);
	for (const char *text; p->o.bind && result == 0 && (text = strsep(&at, ","));)
		result = add_source(p, text, err);
	free(all);
	return result;
}

/* As libcurl has it, if a proxy's URL has no port. */
static const char *default_port(const char *scheme)
{
	return strcmp(scheme, "https") ? "1080" : "443";
}

static int proxy_wrong(const char *why, struct ipf_error *err)
{
	return ipf_error_set(
		err, IPF_USAGE,
		"--proxy: %s: expected http://, https://, socks5://, socks5h://, socks4:// or socks4a://HOST:PORT", why);
}

static int open_proxy(struct network_path *p, struct ipf_error *err)
{
	static const char *const schemes[] = {"http", "https", "socks5", "socks5h", "socks4", "socks4a"};
	char *scheme = NULL, *host = NULL, *port = NULL, *shown = NULL;
	int result = -1;
	size_t i = 0;
	CURLU *u = libcurl_url();
	CURLUcode code = !u                          ? CURLUE_OUT_OF_MEMORY
	                 : strstr(p->o.proxy, "://") ? curl_url_set(u, CURLUPART_URL, p->o.proxy, CURLU_NON_SUPPORT_SCHEME)
	                                             : CURLUE_BAD_SCHEME;
	if (code || curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) || curl_url_get(u, CURLUPART_HOST, &host, 0)) {
		proxy_wrong(code ? curl_url_strerror(code) : "no host", err);
		goto out;
	}
	while (i < sizeof schemes / sizeof *schemes && strcmp(schemes[i], scheme) != 0)
		i++;
	if (i == sizeof schemes / sizeof *schemes) {
		proxy_wrong("unsupported scheme", err);
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
	p->proxy_shown = strdup(shown ? shown : "");
	p->proxy_host = strdup(host);
	p->proxy_port = strdup(port ? port : default_port(scheme));
	p->proxy_tls = !strcmp(scheme, "https");
	p->proxy_socks = !strncmp(scheme, "socks", 5);
	p->proxy_resolves = strcmp(scheme, "socks5") != 0 && strcmp(scheme, "socks4") != 0;
	result = p->proxy_shown && p->proxy_host && p->proxy_port ? 0 : ipf_error_memory(err);
out:
	curl_free(scheme);
	curl_free(host);
	curl_free(port);
	curl_free(shown);
	curl_url_cleanup(u);
	return result;
}

/* An IPv6 address may be in brackets. */
static bool is_address(const char *text)
{
	unsigned char to[16];
	char inner[INET6_ADDRSTRLEN];
	size_t len = strlen(text);
	bool brackets = *text == '[' && text[len - 1] == ']';
	if (brackets)
		snprintf(inner, sizeof inner, "%.*s", (int)(len - 2), text + 1);
	return (!brackets && inet_pton(AF_INET, text, to) == 1) || inet_pton(AF_INET6, brackets ? inner : text, to) == 1;
}

/* libcurl would keep an entry it does not understand, and look the name up. */
static int check_resolve(const char *entry, struct ipf_error *err)
{
	size_t host = strcspn(entry, ":"), digits = entry[host] ? strspn(entry + host + 1, "0123456789") : 0;
	const char *second = entry + host + 1 + digits;
	if (!host || !entry[host] || !digits || *second != ':' || !second[1])
		return ipf_error_set(err, IPF_USAGE, "--resolve: expected HOST:PORT:ADDRESS, got \"%s\"", entry);
	/* to libcurl, "-" removes an entry and "+" limits its time */
	if (strpbrk(entry, " \t\r\n,/@?#") || strchr("+-", *entry))
		return ipf_error_set(err, IPF_USAGE, "--resolve: expected the name of a host before the port, got \"%s\"",
		                     entry);
	if (digits > 5 || atoi(entry + host + 1) < 1 || atoi(entry + host + 1) > 65535)
		return ipf_error_set(err, IPF_USAGE, "--resolve: %s: expected a port from 1 to 65535", entry);
	if (!is_address(second + 1))
		return ipf_error_set(err, IPF_USAGE, "--resolve: %.*s: expected a numeric address, got \"%s\"",
		                     (int)(second - entry), entry, second + 1);
	return 0;
}

static int check(const struct network_path_options *o, struct ipf_error *err)
{
	if (o->unix_socket && (o->proxy || o->bind))
		return ipf_error_set(err, IPF_USAGE, "--unix-socket cannot be combined with --%s", o->proxy ? "proxy" : "bind");
	for (size_t i = 0; i < o->resolve->count; i++)
		if (check_resolve(o->resolve->items[i], err) < 0)
			return -1;
	return 0;
}

/* The local ports the system chooses from. false: not known. */
static bool port_range(long *first, long *last)
{
	FILE *range = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
	bool known = range && fscanf(range, "%ld %ld", first, last) == 2 && *first > 0 && *last >= *first && *last < 65536;
	if (range)
		fclose(range);
	return known;
}

int network_path_open(struct network_path *p, const struct network_path_options *options, struct ipf_error *err)
{
	long first, last;
	*p = (struct network_path){.o = *options};
	if (!options->unix_socket && port_range(&first, &last) && last > first)
		p->other_ports = (uint32_t)last << 16 | (uint32_t)(first + 1);
	if (check(options, err) < 0 || tls_files_check(options->cacert, options->cert, options->key, err) < 0)
		return -1;
	int result = (options->proxy && open_proxy(p, err) < 0) || open_sources(p, err) < 0 ? -1 : 0;
	for (size_t i = 0; result == 0 && i < options->resolve->count; i++) {
		struct curl_slist *list = curl_slist_append(p->resolve, options->resolve->items[i]);
		if (list)
			p->resolve = list;
		else
			result = ipf_error_memory(err);
	}
	if (result < 0) {
		network_path_close(p);
		return -1;
	}
	return 0;
}

void network_path_close(struct network_path *p)
{
	free(p->sources);
	curl_slist_free_all(p->resolve);
	free(p->proxy_shown);
	free(p->proxy_host);
	free(p->proxy_port);
	*p = (struct network_path){0};
}

/* ---- using ---- */

void network_path_apply(const struct network_path *p, CURL *easy, enum http_version http)
{
	const struct network_path_options *o = &p->o;
	curl_easy_setopt(easy, CURLOPT_PROXY, o->proxy ? o->proxy : "");
	curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
	/* a forwarding proxy speaks HTTP/1.1 */
	curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, p->proxy_host && http != HTTP_1_1 ? 1L : 0L);
	/* the headers of a CONNECT response are not part of the server's response */
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	if (o->unix_socket)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, o->unix_socket);
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, p->o.dns_each ? 0L : -1L);
	if (o->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_VERIFYHOST, 0L);
	}
	authorities_apply(easy, o->cacert);
	if (o->cert)
		curl_easy_setopt(easy, CURLOPT_SSLCERT, o->cert);
	if (o->key)
		curl_easy_setopt(easy, CURLOPT_SSLKEY, o->key);
}

void network_path_set_version(CURL *easy, enum http_version http, const char *url)
{
	bool negotiate = http == HTTP_2 && !strncasecmp(url, "https:", 6);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
	                 http == HTTP_1_1 ? CURL_HTTP_VERSION_1_1
	                 : negotiate      ? CURL_HTTP_VERSION_2TLS
	                                  : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	/* libcurl before 8.0 cannot reuse a connection made with prior knowledge */
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, http != HTTP_1_1 ? 1L : 0L);
}

size_t network_path_fitting(const struct network_path *p, int family)
{
	size_t count = 0;
	for (size_t i = 0; i < p->sources_count; i++)
		count += p->sources[i].address.ss_family == family;
	return count;
}

const struct network_path_source *network_path_source(const struct network_path *p, int family, size_t k)
{
	size_t fitting = network_path_fitting(p, family), left = fitting ? k % fitting : 0;
	for (size_t i = 0; fitting && i < p->sources_count; i++)
		if (p->sources[i].address.ss_family == family && left-- == 0)
			return &p->sources[i];
	return NULL;
}

int network_path_bind(const struct network_path *p, size_t k, int fd, int family)
{
	const struct network_path_source *s = network_path_source(p, family, k);
	int on = 1;
	if (p->other_ports &&
	    k / (p->sources_count ? p->sources_count : 1) % 2) /* without it (before Linux 6.3) it is slower */
		setsockopt(fd, IPPROTO_IP, IP_LOCAL_PORT_RANGE, &p->other_ports, sizeof p->other_ports);
	if (!s)
		return p->sources_count ? EAFNOSUPPORT : 0;
	/* the kernel chooses the port at connect; it only has to differ from other connections to the same server */
	setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
	return bind(fd, (const struct sockaddr *)&s->address, s->len) < 0 ? errno : 0;
}

int64_t network_path_ports(const struct network_path *p, size_t targets)
{
	long first, last;
	bool known = !p->o.unix_socket && port_range(&first, &last);
	size_t sources = p->sources_count ? p->sources_count : 1;
	return known ? (int64_t)(last - first + 1) * (int64_t)sources * (int64_t)(p->o.proxy ? 1 : targets) : INT64_MAX;
}
