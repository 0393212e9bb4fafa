/* The model server's endpoint: the URLs of its targets, the method, the headers of every request, the addresses found.
 * Fixed before the run.
 *
 *     endpoint_open(&endpoint, api, &options, &err);
 *     preflight_connect(&endpoint, &network_path, timeout_ns, &err);   // looks up the addresses
 *     endpoint_address(&endpoint, &variables, &url, &headers, &err);   // for each request
 *     endpoint_close(&endpoint);
 */
#ifndef IPF_ENDPOINT_H
#define IPF_ENDPOINT_H

#include "api/api.h"
#include "cli/options.h"
#include "aws/sigv4.h"
#include "error.h"

#include <curl/curl.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

/* One URL of the endpoint. */
struct target {
	char *url;                  /* with the API's path; "$model" in it is replaced by each request's model */
	CURLU *parsed;              /* the same URL */
	char *shown;                /* the URL without its secrets: credentials and query */
	struct curl_slist *resolve; /* entries of CURLOPT_RESOLVE pinning the addresses of the server and of the proxy; NULL
	                             * if both are numeric */
	struct addrinfo *found, *addresses; /* the addresses for connections: the server's, or the proxy's; the first
	                                     * reachable one, and those after it in `found`. NULL: a Unix socket, or not
	                                     * looked up yet */
	bool addresses_by_user;             /* --resolve gave them */
};

struct endpoint {
	struct target *targets; /* in the user's order; the same API at each */
	size_t count;
	bool url_varies; /* the URL contains "$model" */
	const char *method;
	struct curl_slist *headers;
	bool grpc;                  /* HTTP/2, whatever --http says */
	struct signer *signer;      /* signs each request; NULL if the API needs no signature */
	struct curl_slist *varying; /* headers whose value is "$id", "$session" or another field, different in
	                               each request; NULL if there are none */
};

struct endpoint_options {
	const struct string_list *urls;    /* as the user gave them; at least one */
	const struct string_list *headers; /* "Name: value" */
	const char *key_env;               /* environment variable with the API key; NULL: the descriptor's default */
	const char *key_file;              /* file with the API key, instead of a variable; NULL */
	bool streamed;
	int64_t timeout_ns; /* a request's, for servers taking a deadline (gRPC); 0: none */
};

/* A URL consists of http or https, a host and an optional path. The API's path is appended to it; an overlap between
 * the two is not repeated (a base URL ending in /v1 does not give /v1/v1). The user's headers replace the descriptor's.
 * -1: IPF_USAGE, an unreadable key file, or out of memory; the endpoint is then closed. */
int endpoint_open(struct endpoint *e, const struct api *api, const struct endpoint_options *options,
                  struct ipf_error *err);
void endpoint_close(struct endpoint *e);

/* The user's URL number `index`, with `path` instead of the API's path: for readiness checks. The caller frees it. NULL
 * on error. */
char *endpoint_url_with_path(const struct api *api, const struct endpoint_options *options, size_t index,
                             const char *path, struct ipf_error *err);

/* Fields of a request its URL and headers can contain: JSON texts; absent if the request has none. */
struct request_variables {
	struct slice id, session, model;
	struct slice agent, parent_agent; /* agent_names.h; needed if endpoint_sends(e, "$agent") or "$parent_agent" */
	struct slice traceparent;         /* span_ids.h */
	struct slice headers;             /* map: further headers, which replace others of the same name */
};

/* Whether a header has this field, such as "$traceparent". */
bool endpoint_sends(const struct endpoint *e, const char *field);

/* The parts of a request's URL and headers that vary. If endpoint.url_varies, appends the URL of each target to `url`,
 * each with a NUL after it. If endpoint.varying, or the request has headers of its own, appends all headers to
 * `headers`, except those whose field the request lacks. -1: out of memory, or IPF_INPUT if the path needs a model and
 * the request has none. */
int endpoint_address(const struct endpoint *e, const struct request_variables *variables, struct buffer *url,
                     struct curl_slist **headers, struct ipf_error *err);

/* Appends the URL of a target without its secrets. -1 as for endpoint_address. */
int endpoint_shown_url(const struct endpoint *e, size_t target, struct slice model, struct buffer *shown,
                       struct ipf_error *err);

#endif
