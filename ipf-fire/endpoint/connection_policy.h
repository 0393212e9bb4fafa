/* Which connections requests are sent on, and in which protocol: what --connections and --http say. */
#ifndef IPF_CONNECTION_POLICY_H
#define IPF_CONNECTION_POLICY_H

#include <stdbool.h>
#include <stdint.h>

enum connection_policy_kind {
	CONNECTION_POLICY_REUSE, /* kept, and used again by whoever comes next */
	CONNECTION_POLICY_FRESH, /* a new one for each request */
	CONNECTION_POLICY_POOL,  /* the same as kept ones, but never more than so many to a target; who finds none waits */
	CONNECTION_POLICY_SESSION, /* each session has one of its own */
};

enum http_version {
	HTTP_1_1,
	HTTP_2,       /* over TLS where the server agrees, else 1.1; at once where there is no TLS */
	HTTP_2_PRIOR, /* at once, also without TLS */
};

struct connection_policy {
	enum connection_policy_kind kind;
	int64_t pool; /* of CONNECTION_POLICY_POOL; above 0 */
	enum http_version http;
	int64_t streams;    /* of HTTP/2: most at once on a connection; above 0 */
	bool no_resumption; /* of TLS sessions */
};

/* "reuse", "fresh", "session", or how many. */
bool connection_policy_parse(const char *text, struct connection_policy *c);
/* "1.1", "2", "2-prior". */
bool http_parse(const char *text, enum http_version *http);

/* Of a run: gRPC is spoken over HTTP/2 whatever --http says, set up at once where there is no TLS. */
enum http_version http_of(const char *text, bool grpc);

/* How many requests a connection carries at once. */
int64_t connection_policy_streams(const struct connection_policy *c);

#endif
