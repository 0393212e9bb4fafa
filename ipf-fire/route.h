/* The way to the servers, as the user wants it: directly, by a Unix socket, or by a proxy; from which addresses; trusting whom. The
 * environment has no say in it: a proxy that it names would be measured unseen.
 */
#ifndef IPF_ROUTE_H
#define IPF_ROUTE_H

#include "connections.h"
#include "error.h"
#include "options.h"

#include <curl/curl.h>
#include <sys/socket.h>

struct route_options {
	const char *unix_socket;   /* its path; NULL: the network */
	const char *proxy;         /* URL: http, https, socks4, socks4a, socks5, socks5h; NULL */
	const char *bind;          /* numeric addresses with commas between; NULL: the system's choice */
	const struct string_list *resolve; /* "HOST:PORT:ADDRESS", HOST may be "*" */
	const char *dns;           /* "once" or "each" */
	bool insecure;
	const char *cacert, *cert, *key;
};

struct route_source {
	struct sockaddr_storage address;
	socklen_t len;
};

struct route {
	struct route_options o;
	bool dns_each;             /* names are looked up for each connection */
	struct route_source *sources;
	size_t sources_count;
	struct curl_slist *resolve; /* the user's entries */
	char *proxy_shown;         /* without name and password; NULL: none */
	char *proxy_host, *proxy_port; /* NULL: none */
	bool proxy_tls;            /* the way to the proxy is encrypted */
	bool proxy_resolves;       /* it looks the servers' names up, not we */
};

/* The options are borrowed. -1: IPF_USAGE, or IPF_SYSTEM for an address that is none of this machine's or a file that cannot be opened. */
int route_open(struct route *r, const struct route_options *options, struct ipf_error *err);
void route_close(struct route *r);

/* Tells a libcurl handle that is to speak so all of it but the source addresses. */
void route_apply(const struct route *r, CURL *easy, enum http_kind http);
/* How many of the source addresses a connection of this family (AF_INET, …) can come from, and the k-th of them (they are taken round and
 * round); NULL: none. */
size_t route_fitting(const struct route *r, int family);
const struct route_source *route_source(const struct route *r, int family, size_t k);
/* Binds a new socket of this family to it; 0, or the errno of why not. Nothing where the user gave no address. */
int route_bind(const struct route *r, size_t k, int fd, int family);
/* How many connections there can be at once to so many places, by the ports of the addresses that they are made from; INT64_MAX where ports do not
 * matter, or nobody says. */
int64_t route_ports(const struct route *r, size_t places);

#endif
