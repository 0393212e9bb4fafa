/* Requests to the server outside the run, one after another: to reset its prefix cache, to probe it, to read counters.
 *
 *     struct cache_client *c;
 *     if (cache_client_open(&c, &options, &err) < 0) …
 *     struct cache_answer answer = {0};
 *     if (cache_client_call(c, target, &(struct cache_call){.method = "GET", .path = "/metrics"}, &answer, &err) < 0) …
 *     if (answer.status == 200) … answer.body; else … answer.why
 *     cache_answer_release(&answer);
 *     cache_client_close(c);
 *
 * They have the credentials and headers of the run's requests, and connections of their own.
 */
#ifndef IPF_CACHE_CLIENT_H
#define IPF_CACHE_CLIENT_H

#include "api/api.h"
#include "body/body_renderer.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

#define CACHE_WHY 240

/* All borrowed, until the client is closed. */
struct cache_client_options {
	const struct api *api;
	const struct endpoint *endpoint; /* the run's: its addresses are known */
	const struct endpoint_options *endpoint_options;
	const struct network_path *network_path;
	enum http_version http;
	struct body_renderer_options rendering; /* the run's; `streamed` and `live` are not used */
	const char *model;                      /* --model, or the server's only one; NULL: `trace_model` */
	const char *trace_model;                /* that of the trace's first request; NULL: none */
	int stop_fd;                            /* readable: end as soon as possible */
};

struct cache_client;

struct cache_call {
	const char *method;
	const char *path;  /* from the server's root */
	struct slice body; /* absent: none */
	int64_t timeout_ns;
};

struct cache_answer {
	long status; /* 0: none, for the reason `why` */
	char why[CACHE_WHY];
	struct buffer body;
};

/* -1: as for endpoint_open and body_renderer_new. */
int cache_client_open(struct cache_client **client, const struct cache_client_options *options, struct ipf_error *err);
void cache_client_close(struct cache_client *c); /* NULL is fine */

/* Calls target number `target`; `answer` is cleared first. A server that does not answer is no error. -1: stop_fd, or
 * out of memory. */
int cache_client_call(struct cache_client *c, size_t target, const struct cache_call *call, struct cache_answer *answer,
                      struct ipf_error *err);
void cache_answer_release(struct cache_answer *answer);
/* Another stop_fd. */
void cache_client_stop_at(struct cache_client *c, int fd);
/* Waits. -1: stop_fd. */
int cache_client_wait(struct cache_client *c, int64_t ns, struct ipf_error *err);

/* A rendered request with one output token, for whole rather than streamed responses if the API has them.
 * Zero-initialise. */
struct cache_message {
	struct buffer body, urls;
	struct curl_slist *headers;
	bool own_headers;
};
/* -1: out of memory, or the API cannot carry the request. */
int cache_client_prepare(struct cache_client *c, const struct trace_request *request, struct slice context,
                         struct cache_message *message, struct ipf_error *err);
int cache_client_send(struct cache_client *c, size_t target, const struct cache_message *message,
                      struct cache_answer *answer, struct ipf_error *err);
void cache_message_release(struct cache_message *message);

/* Are responses to these streamed? */
bool cache_client_streams(const struct cache_client *c);
const struct cache_client_options *cache_client_options(const struct cache_client *c);

#endif
