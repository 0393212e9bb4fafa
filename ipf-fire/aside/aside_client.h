/* Requests to the server outside the run, one after another: to reset its prefix cache, to probe it, to read counters,
 * to find out whether it replays answers.
 *
 *     struct aside_client *c;
 *     if (aside_client_open(&c, &options, &err) < 0) …
 *     struct aside_answer answer = {0};
 *     if (aside_client_call(c, target, &(struct aside_call){.method = "GET", .path = "/metrics"}, &answer, &err) < 0) …
 *     if (answer.status == 200) … answer.body; else … answer.why
 *     aside_answer_release(&answer);
 *     aside_client_close(c);
 *
 * They have the credentials and headers of the run's requests, and connections of their own.
 */
#ifndef IPF_ASIDE_CLIENT_H
#define IPF_ASIDE_CLIENT_H

#include "api/api.h"
#include "api/response.h"
#include "body/body_renderer.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

#define ASIDE_WHY 240

/* All borrowed, until the client is closed. */
struct aside_client_options {
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

struct aside_client;

struct aside_call {
	const char *method;
	const char *path;  /* from the server's root */
	struct slice body; /* absent: none */
	int64_t timeout_ns;
};

struct aside_answer {
	long status; /* 0: none, for the reason `why` */
	char why[ASIDE_WHY];
	struct buffer body;
};

/* -1: as for endpoint_open and body_renderer_new. */
int aside_client_open(struct aside_client **client, const struct aside_client_options *options, struct ipf_error *err);
void aside_client_close(struct aside_client *c); /* NULL is fine */

/* Calls target number `target`; `answer` is cleared first. A server that does not answer is no error. -1: stop_fd, or
 * out of memory. */
int aside_client_call(struct aside_client *c, size_t target, const struct aside_call *call, struct aside_answer *answer,
                      struct ipf_error *err);
void aside_answer_release(struct aside_answer *answer);
/* Another stop_fd. */
void aside_client_stop_at(struct aside_client *c, int fd);
/* Waits. -1: stop_fd. */
int aside_client_wait(struct aside_client *c, int64_t ns, struct ipf_error *err);

/* A rendered request with one output token, or with its recorded answer if `rendering` asks for these; for whole rather
 * than streamed responses if the API has them. Zero-initialise. */
struct aside_message {
	struct buffer body, urls;
	struct curl_slist *headers;
	bool own_headers;
};
/* -1: out of memory, or the API cannot carry the request. */
int aside_client_prepare(struct aside_client *c, const struct trace_request *request, struct slice context,
                         struct aside_message *message, struct ipf_error *err);
int aside_client_send(struct aside_client *c, size_t target, const struct aside_message *message,
                      struct aside_answer *answer, struct ipf_error *err);
void aside_message_release(struct aside_message *message);
/* Parses the answer to a message. -1: out of memory. */
int aside_client_parse(const struct aside_client *c, const struct aside_answer *answer,
                       const struct response_options *options, struct response *response, struct ipf_error *err);

const struct aside_client_options *aside_client_options(const struct aside_client *c);

#endif
