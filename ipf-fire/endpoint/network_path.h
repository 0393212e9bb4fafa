/* The network path to the targets: direct, through a Unix socket, or through a proxy; the local addresses; which
 * certificates to trust. The environment has no influence: a proxy it names would be measured unnoticed.
 */
#ifndef IPF_NETWORK_PATH_H
#define IPF_NETWORK_PATH_H

#include "cli/options.h"
#include "endpoint/connection_policy.h"
#include "error.h"

#include <curl/curl.h>
#include <sys/socket.h>

struct network_path_options {
	const char *unix_socket;           /* its path; NULL: use the network */
	const char *proxy;                 /* URL: http, https, socks4, socks4a, socks5, socks5h; NULL: none */
	const char *bind;                  /* numeric addresses, separated by commas; NULL: the system chooses */
	const struct string_list *resolve; /* "HOST:PORT:ADDRESS"; HOST may be "*" */
	bool dns_each;                     /* look names up for each connection, not once before the run */
	bool insecure;
	const char *cacert, *cert, *key;
};

/* A local address to connect from. */
struct network_path_source {
	struct sockaddr_storage address;
	socklen_t len;
};

struct network_path {
	struct network_path_options o;
	struct network_path_source *sources;
	size_t sources_count;
	uint32_t other_ports;          /* for IP_LOCAL_PORT_RANGE: all local ports but the first; 0: not known */
	struct curl_slist *resolve;    /* the user's entries */
	char *proxy_shown;             /* the proxy's URL without credentials; NULL: no proxy */
	char *proxy_host, *proxy_port; /* NULL: no proxy */
	bool proxy_tls;                /* the connection to the proxy is encrypted */
	bool proxy_socks;              /* it speaks SOCKS, not HTTP */
	bool proxy_resolves;           /* the proxy looks up the names of the servers */
};

/* Borrows the options. -1: IPF_USAGE, or IPF_SYSTEM for an address that this machine does not have or a file that does
 * not open. */
int network_path_open(struct network_path *p, const struct network_path_options *options, struct ipf_error *err);
void network_path_close(struct network_path *p);

/* Sets everything except the source address on a libcurl handle. */
void network_path_apply(const struct network_path *p, CURL *easy, enum http_version http);
/* Sets the HTTP version of the run for a single request to the URL: some servers support no other. */
void network_path_set_version(CURL *easy, enum http_version http, const char *url);
/* The number of source addresses of this family (AF_INET, …). */
size_t network_path_fitting(const struct network_path *p, int family);
/* The k-th source address of this family, counted modulo their number; NULL: there are none. */
const struct network_path_source *network_path_source(const struct network_path *p, int family, size_t k);
/* Prepares a new socket of this family, the k-th one: binds it to the k-th source address, if the user gave any.
 * Returns 0, or the errno of the failure. Linux looks for a free local port among every second one first: with these
 * all in use, each connect searches all of them, more than a millisecond. Every second socket begins with the
 * others. */
int network_path_bind(const struct network_path *p, size_t k, int fd, int family);
/* How many connections to this number of targets can exist at once, limited by the ports of the source addresses;
 * INT64_MAX if ports do not matter or the limit is unknown. */
int64_t network_path_ports(const struct network_path *p, size_t targets);

#endif
