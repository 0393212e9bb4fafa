/* The way to the servers, as the user wants it: directly, by a Unix socket, or by a proxy; from which addresses;
 * trusting whom. The environment has no say in it: a proxy that it names would be measured unseen.
 */
#ifndef IPF_NETWORK_PATH_H
#define IPF_NETWORK_PATH_H

#include "endpoint/connection_policy.h"
#include "error.h"
#include "cli/options.h"

#include <curl/curl.h>
#include <sys/socket.h>

struct network_path_options {
	const char *unix_socket;           /* its path; NULL: the network */
	const char *proxy;                 /* URL: http, https, socks4, socks4a, socks5, socks5h; NULL */
	const char *bind;                  /* numeric addresses with commas between; NULL: the system's choice */
	const struct string_list *resolve; /* "HOST:PORT:ADDRESS", HOST may be "*" */
	const char *dns;                   /* "once" or "each" */
	bool insecure;
	const char *cacert, *cert, *key;
};

struct network_path_source {
	struct sockaddr_storage address;
	socklen_t len;
};

struct network_path {
	struct network_path_options o;
	bool dns_each; /* names are looked up for each connection */
	struct network_path_source *sources;
	size_t sources_count;
	struct curl_slist *resolve;    /* the user's entries */
	char *proxy_shown;             /* without name and password; NULL: none */
	char *proxy_host, *proxy_port; /* NULL: none */
	bool proxy_tls;                /* the way to the proxy is encrypted */
	bool proxy_resolves;           /* it looks the servers' names up, not we */
};

/* The options are borrowed. -1: IPF_USAGE, or IPF_SYSTEM for an address that is none of this machine's or a file that
 * cannot be opened. */
int network_path_open(struct network_path *r, const struct network_path_options *options, struct ipf_error *err);
void network_path_close(struct network_path *r);

/* Tells a libcurl handle that is to speak so all of it but the source addresses. */
void network_path_apply(const struct network_path *r, CURL *easy, enum http_version http);
/* How many of the source addresses a connection of this family (AF_INET, …) can come from, and the k-th of them (they
 * are taken round and round); NULL: none. */
size_t network_path_fitting(const struct network_path *r, int family);
const struct network_path_source *network_path_source(const struct network_path *r, int family, size_t k);
/* Binds a new socket of this family to it; 0, or the errno of why not. Nothing where the user gave no address. */
int network_path_bind(const struct network_path *r, size_t k, int fd, int family);
/* How many connections there can be at once to so many targets, by the ports of the addresses that they are made from;
 * INT64_MAX where ports do not matter, or nobody says. */
int64_t network_path_ports(const struct network_path *r, size_t targets);

#endif
