/* Which connections requests use, and the HTTP version: --connections, --streams and --http. */
#ifndef IPF_CONNECTION_POLICY_H
#define IPF_CONNECTION_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum connection_policy_kind {
	CONNECTION_POLICY_REUSE,   /* keep connections for later requests */
	CONNECTION_POLICY_FRESH,   /* a new connection for each request */
	CONNECTION_POLICY_POOL,    /* kept, with a maximum per target; a request that finds none free waits */
	CONNECTION_POLICY_SESSION, /* each session has its own connection */
};

enum http_version {
	HTTP_1_1,
	HTTP_2,       /* if a TLS server agrees, else 1.1; without TLS, prior knowledge */
	HTTP_2_PRIOR, /* without negotiation, also without TLS */
};

struct connection_policy {
	enum connection_policy_kind kind;
	int64_t pool; /* maximum per target of CONNECTION_POLICY_POOL; above 0 */
	enum http_version http;
	int64_t streams;    /* HTTP/2: maximum number of concurrent requests on a connection; above 0 */
	bool open_ahead;    /* a pool's connections are opened before the run */
	bool no_resumption; /* TLS sessions are not resumed */
};

/* Reads "reuse", "fresh", "session" or a number above 0. false: none of these. */
bool connection_policy_parse(const char *text, struct connection_policy *c);

/* "1.1", "2", "2-prior", by enum http_version; NULL at the end. */
extern const char *const http_version_names[];

/* The maximum number of concurrent requests on a connection. */
int64_t connection_policy_streams(const struct connection_policy *c);
/* The fewest connections carrying this many requests at once. */
int64_t connection_policy_least(const struct connection_policy *c, size_t targets, int64_t requests);

#endif
