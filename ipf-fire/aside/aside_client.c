#include "aside/aside_client.h"

#include "clock.h"
#include "http/libcurl.h"
#include "job/agent_names.h"
#include "version.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MAX (16 << 20)
#define SEND_NS    (120 * NS_PER_S)

struct aside_client {
	struct aside_client_options o;
	struct endpoint_options endpoint_options; /* as the run's, for whole responses if the API has them */
	struct endpoint endpoint;
	struct body_renderer *renderer;
	CURL *easy;
};

static bool must_stop(const struct aside_client *c)
{
	struct pollfd fd = {.fd = c->o.stop_fd, .events = POLLIN};
	return c->o.stop_fd >= 0 && poll(&fd, 1, 0) > 0;
}

static int stopped(struct ipf_error *err)
{
	return ipf_error_set(err, IPF_SYSTEM, "interrupted while the server was prepared");
}

static size_t keep(char *data, size_t size, size_t count, void *user)
{
	struct buffer *body = user;
	if (body->len + size * count > ANSWER_MAX)
		return 0;
	buffer_append(body, data, size * count);
	return body->failed ? 0 : size * count;
}

static int look_for_stop(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	(void)a, (void)b, (void)c, (void)d;
	return must_stop(user);
}

static CURL *open_handle(struct aside_client *c)
{
	CURL *easy = curl_easy_init();
	if (!easy)
		return NULL;
	network_path_apply(c->o.network_path, easy, c->o.http);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "ipf-fire/" IPF_VERSION);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, keep);
	curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, look_for_stop);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, c);
	return easy;
}

int aside_client_open(struct aside_client **client, const struct aside_client_options *options, struct ipf_error *err)
{
	*client = NULL;
	struct aside_client *c = calloc(1, sizeof *c);
	if (!c)
		return ipf_error_memory(err);
	c->o = *options;
	bool streamed = !api_response(options->api, false);
	c->endpoint_options = *options->endpoint_options;
	c->endpoint_options.streamed = streamed;
	c->o.rendering.streamed = streamed;
	c->o.rendering.live = c->o.rendering.exact_output = false;
	c->o.rendering.message = api_request_type(options->api, streamed);
	if (endpoint_open(&c->endpoint, options->api, &c->endpoint_options, err) < 0 ||
	    body_renderer_new(&c->renderer, api_request(options->api), &c->o.rendering, err) < 0 ||
	    (options->model && body_renderer_set_default_model(c->renderer, options->model, err) < 0) ||
	    (!(c->easy = open_handle(c)) && ipf_error_memory(err) < 0)) {
		aside_client_close(c);
		return -1;
	}
	*client = c;
	return 0;
}

void aside_client_close(struct aside_client *c)
{
	if (!c)
		return;
	curl_easy_cleanup(c->easy);
	body_renderer_free(c->renderer);
	endpoint_close(&c->endpoint);
	free(c);
}

void aside_answer_release(struct aside_answer *answer)
{
	buffer_release(&answer->body);
}

const struct aside_client_options *aside_client_options(const struct aside_client *c)
{
	return &c->o;
}

void aside_client_stop_at(struct aside_client *c, int fd)
{
	c->o.stop_fd = fd;
}

int aside_client_wait(struct aside_client *c, int64_t ns, struct ipf_error *err)
{
	struct pollfd fd = {.fd = c->o.stop_fd, .events = POLLIN};
	int got = poll(&fd, c->o.stop_fd >= 0 ? 1 : 0, (int)(ns / NS_PER_MS));
	return got > 0 ? stopped(err) : 0;
}

static void set_method(CURL *easy, const struct aside_call *call)
{
	bool get = !strcmp(call->method, "GET");
	curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
	if (!get) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.len);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body.data ? call->body.data : "");
	}
	curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, get ? NULL : call->method);
}

static void clear(struct aside_answer *answer)
{
	buffer_clear(&answer->body);
	answer->status = 0;
	answer->why[0] = '\0';
}

struct destination {
	size_t target;
	const char *url;
	struct curl_slist *headers;
};

static int perform(struct aside_client *c, const struct destination *to, const struct aside_call *call,
                   struct aside_answer *answer, struct ipf_error *err)
{
	struct curl_slist *pinned = c->o.endpoint->targets[to->target].resolve;
	CURL *easy = c->easy;
	curl_easy_setopt(easy, CURLOPT_RESOLVE, pinned ? pinned : c->o.network_path->resolve);
	curl_easy_setopt(easy, CURLOPT_URL, to->url);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, to->headers);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)(call->timeout_ns / NS_PER_MS));
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, &answer->body);
	set_method(easy, call);
	network_path_set_version(easy, c->o.http, to->url);
	CURLcode code = curl_easy_perform(easy);
	if (code == CURLE_OK)
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &answer->status);
	else
		snprintf(answer->why, sizeof answer->why, "%s", libcurl_why(code, NULL));
	if (answer->body.failed)
		return ipf_error_memory(err);
	return code == CURLE_ABORTED_BY_CALLBACK ? stopped(err) : 0;
}

int aside_client_call(struct aside_client *c, size_t target, const struct aside_call *call, struct aside_answer *answer,
                      struct ipf_error *err)
{
	clear(answer);
	char *url = endpoint_url_with_path(c->o.api, &c->endpoint_options, target, call->path, err);
	int result = url ? perform(c, &(struct destination){target, url, c->endpoint.headers}, call, answer, err) : -1;
	free(url);
	return result;
}

/* The URL of a target, of those that endpoint_address appended. */
static const char *url_of(const struct aside_client *c, const struct buffer *urls, size_t target)
{
	const char *url = urls->data;
	if (!c->endpoint.url_varies)
		return c->endpoint.targets[target].url;
	for (; target > 0; target--)
		url += strlen(url) + 1;
	return url;
}

static int prepare(struct aside_client *c, const struct trace_request *q, struct aside_message *m,
                   struct ipf_error *err)
{
	struct agent_names names = {0};
	int result = agent_names_find(&names, q->session, q->tags) ? 0 : ipf_error_memory(err);
	const struct request_variables variables = {.id = q->id,
	                                            .session = q->session,
	                                            .agent = names.agent,
	                                            .parent_agent = names.parent,
	                                            .model = body_renderer_model(c->renderer, q),
	                                            .headers = q->headers};
	if (result == 0)
		result = endpoint_address(&c->endpoint, &variables, &m->urls, &m->headers, err);
	m->own_headers = c->endpoint.varying || q->headers.data;
	agent_names_release(&names);
	return result;
}

int aside_client_prepare(struct aside_client *c, const struct trace_request *request, struct slice context,
                         struct aside_message *m, struct ipf_error *err)
{
	struct trace_request short_request = *request;
	if (!c->o.rendering.recorded_answers)
		short_request.output_tokens = 1;
	aside_message_release(m);
	return body_renderer_render(c->renderer, &short_request, context, &m->body, err) < 0
	           ? -1
	           : prepare(c, &short_request, m, err);
}

int aside_client_send(struct aside_client *c, size_t target, const struct aside_message *m, struct aside_answer *answer,
                      struct ipf_error *err)
{
	const struct aside_call call = {.method = c->endpoint.method, .body = buffer_all(&m->body), .timeout_ns = SEND_NS};
	clear(answer);
	return perform(
		c,
		&(struct destination){target, url_of(c, &m->urls, target), m->own_headers ? m->headers : c->endpoint.headers},
		&call, answer, err);
}

int aside_client_parse(const struct aside_client *c, const struct aside_answer *answer,
                       const struct response_options *options, struct response *response, struct ipf_error *err)
{
	struct slice body = buffer_all(&answer->body);
	const struct record_read read = {.bytes = (int64_t)body.len};
	struct record record;
	record_init(&record);
	record.status = answer->status;
	record.streamed = c->endpoint_options.streamed;
	record.start_ns = record.first_byte_ns = record.end_ns = 0;
	record.reads = &read;
	record.reads_count = 1;
	record.body = body;
	return response_parse(response, &record, c->o.api, options, err);
}

void aside_message_release(struct aside_message *m)
{
	buffer_release(&m->body);
	buffer_release(&m->urls);
	curl_slist_free_all(m->headers);
	*m = (struct aside_message){.headers = NULL};
}
