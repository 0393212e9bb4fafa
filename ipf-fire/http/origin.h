/* A target of the endpoint for connections and requests: where to connect, the host's name, the path. Made once, before
 * the run.
 */
#ifndef IPF_ORIGIN_H
#define IPF_ORIGIN_H

#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

#include <netdb.h>
#include <sys/un.h>

enum route {
	ROUTE_DIRECT,  /* to the server, or to its Unix socket; also through a SOCKS proxy */
	ROUTE_FORWARD, /* a proxy forwards each request, which names the whole URL */
	ROUTE_TUNNEL,  /* a proxy connects to the server (CONNECT) */
};

struct origin {
	enum route route;
	bool by_libcurl;            /* libcurl connects: SOCKS proxies, and names looked up each time */
	bool tls;                   /* to the server */
	char *host;                 /* without brackets */
	char *authority;            /* "host:port", the port left out if it is the scheme's own */
	char *connect_to;           /* "host:port", for CONNECT */
	char *url;                  /* without credentials and fragment; its path begins at `path` */
	struct slice path;          /* with the query */
	char *authorization;        /* "Basic …", by the user and the password of the URL; NULL: it has none */
	char *proxy_authorization;  /* the same by the proxy's URL */
	struct curl_slist *resolve; /* addresses for libcurl; borrowed */
	struct addrinfo *addresses; /* to connect to, the first one tried first; borrowed, or `local` */
	struct addrinfo local;      /* a Unix socket's */
	struct sockaddr_un local_address;
	struct buffer head; /* its requests', if they differ in their bodies only; empty: not made yet */
};

/* After preflight_connect has found the target's addresses, which are borrowed. `http2`: requests are sent in HTTP/2,
 * also without TLS. -1: out of memory; close it all the same. */
int origin_open(struct origin *o, const struct target *target, const struct network_path *path, bool http2,
                struct ipf_error *err);
void origin_close(struct origin *o);

/* The path, with the query, of a URL without fragment. */
struct slice origin_path_of(const char *url);

#endif
