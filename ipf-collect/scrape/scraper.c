#include "scrape/scraper.h"

#include "clock.h"
#include "http/http_handle.h"
#include "http/libcurl.h"
#include "live/sampler.h"
#include "safe_text.h"
#include "scrape/bearer.h"
#include "scrape/target.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define ACCEPT                                                                                                         \
	"Accept: application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.9,"                                   \
	"text/plain;version=0.0.4;escaping=allow-utf-8;q=0.8,text/plain;q=0.5,*/*;q=0.1"
#define BEFORE_START_NS NS_PER_S        /* the least time between two scrapes before the run (target.h) */
#define BEARER_AGAIN_NS (60 * NS_PER_S) /* a token refused is read again, at most so often */

/* A target and its connection. */
struct transfer {
	struct scraper *scraper;
	struct target target;
	struct http_handle http;
	bool in_flight;
	int64_t began_ns; /* the answer; 0: not yet */
};

struct scraper {
	const struct scrape_options *options;
	const struct run_clock *clock;
	struct line_queue *queue;
	struct sampler *sampler;
	CURLM *multi;
	struct curl_slist *headers;
	struct bearer bearer;
	int64_t bearer_ns;  /* when it was read */
	int64_t started_ns; /* the latest scrapes */
	struct transfer *list;
	size_t count, in_flight;
	atomic_bool abandoned; /* the results will not be complete: no last scrape */
};

/* ---- one transfer ---- */

static size_t take_header(char *line, size_t size, size_t count, void *data)
{
	struct transfer *t = data;
	(void)line;
	if (!t->began_ns)
		t->began_ns = clock_now();
	return size * count;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *t = data;
	if (!http_handle_takes(&t->http, size * count) || http_handle_status(&t->http) != 200)
		return 0; /* its body does not matter */
	exposition_feed(t->target.exposition, bytes, size * count);
	return size * count;
}

static int open_handle(struct transfer *t, struct ipf_error *err)
{
	const struct scrape_options *o = t->scraper->options;
	const struct http_settings settings = {.url = t->target.url,
	                                       .timeout_ns = o->timeout_ns,
	                                       .most_bytes = SCRAPE_BYTES_MAX,
	                                       .cacert = o->cacert,
	                                       .insecure = o->insecure};
	if (http_handle_open(&t->http, &settings, err) < 0)
		return -1;
	CURL *c = t->http.curl;
	bool good = true;
#define SET(option, value) good &= curl_easy_setopt(c, option, value) == CURLE_OK
	SET(CURLOPT_PRIVATE, t);
	SET(CURLOPT_HEADERFUNCTION, take_header);
	SET(CURLOPT_HEADERDATA, t);
	SET(CURLOPT_WRITEFUNCTION, take_body);
	SET(CURLOPT_WRITEDATA, t);
#undef SET
	return good ? 0 : ipf_error_memory(err);
}

static void start_transfer(struct transfer *t)
{
	struct scraper *s = t->scraper;
	t->began_ns = 0;
	http_handle_begin(&t->http);
	if (!target_begin(&t->target) || curl_easy_setopt(t->http.curl, CURLOPT_HTTPHEADER, s->headers) != CURLE_OK ||
	    curl_multi_add_handle(s->multi, t->http.curl) != CURLM_OK) {
		struct ipf_error err = {0};
		ipf_error_memory(&err);
		target_end(&t->target, clock_now(), &err);
		return;
	}
	t->in_flight = true;
	s->in_flight++;
}

/* A new token for the next scrapes. */
static void renew_bearer(struct scraper *s)
{
	struct ipf_error ignored = {0};
	if (!s->bearer.source || clock_now() < s->bearer_ns + BEARER_AGAIN_NS)
		return;
	s->bearer_ns = clock_now();
	if (bearer_read(&s->bearer, &ignored) < 0)
		return;
	struct curl_slist *headers = curl_slist_append(NULL, ACCEPT);
	struct curl_slist *both = headers ? curl_slist_append(headers, s->bearer.header) : NULL;
	if (!both) {
		curl_slist_free_all(headers);
		return;
	}
	curl_slist_free_all(s->headers);
	s->headers = both;
}

static void end_transfer(struct transfer *t, CURLcode code)
{
	struct scraper *s = t->scraper;
	struct ipf_error err = {0};
	http_handle_judge(&t->http, code, &err);
	curl_multi_remove_handle(s->multi, t->http.curl);
	t->in_flight = false;
	s->in_flight--;
	target_end(&t->target, t->began_ns ? t->began_ns : clock_now(), &err);
	if (http_handle_status(&t->http) == 401 && s->in_flight == 0)
		renew_bearer(s);
}

/* ---- the thread ---- */

static void publish(struct scraper *s)
{
	for (size_t i = 0; run_clock_knows(s->clock) && i < s->count; i++)
		if (!s->list[i].in_flight)
			target_publish(&s->list[i].target, s->clock, s->queue);
}

/* Handles all ready sockets, then waits for the network at most until then. */
static void turn(struct scraper *s, int64_t until_ns)
{
	int running, left;
	CURLMsg *message;
	curl_multi_perform(s->multi, &running);
	while ((message = curl_multi_info_read(s->multi, &left))) {
		struct transfer *t = NULL;
		if (message->msg == CURLMSG_DONE && curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &t) == CURLE_OK)
			end_transfer(t, message->data.result);
	}
	publish(s);
	int64_t wait_ms = (until_ns - clock_now() + NS_PER_MS - 1) / NS_PER_MS;
	if (wait_ms > 0)
		curl_multi_poll(s->multi, NULL, 0, wait_ms < 1000 ? (int)wait_ms : 1000, NULL);
}

static void start_all(struct scraper *s)
{
	s->started_ns = clock_now();
	for (size_t i = 0; i < s->count; i++)
		if (!s->list[i].in_flight)
			start_transfer(&s->list[i]);
}

/* Each transfer has its own time limit. */
static void finish_all(struct scraper *s)
{
	while (s->in_flight && !atomic_load(&s->abandoned))
		turn(s, clock_now() + NS_PER_S);
	publish(s);
}

static void sample(void *data, enum sampler_tick tick)
{
	struct scraper *s = data;
	if (tick == SAMPLER_LAST)
		finish_all(s);
	bool early = !run_clock_knows(s->clock) && tick == SAMPLER_NEXT && clock_now() < s->started_ns + BEFORE_START_NS;
	if (!early && !atomic_load(&s->abandoned))
		start_all(s);
	if (tick == SAMPLER_LAST)
		finish_all(s);
}

static void wait_until(void *data, int64_t until_ns)
{
	turn(data, until_ns);
}

/* From any thread. */
static void wake(void *data)
{
	struct scraper *s = data;
	curl_multi_wakeup(s->multi);
}

/* ---- beginning and end ---- */

static int open_target(struct scraper *s, const char *text, struct ipf_error *err)
{
	struct transfer *t = &s->list[s->count++];
	t->scraper = s;
	if (target_open(&t->target, text, s->options->metrics.items, s->options->metrics.count, err) < 0)
		return -1;
	for (size_t i = 0; i + 1 < s->count; i++)
		if (strcmp(s->list[i].target.name, t->target.name) == 0)
			return ipf_error_set(err, IPF_USAGE, "--scrape: expected different names, got \"%s\" twice",
			                     t->target.name);
	return open_handle(t, err);
}

static int open_all(struct scraper *s, struct ipf_error *err)
{
	s->bearer.source = s->options->bearer;
	s->bearer_ns = clock_now();
	s->multi = curl_multi_init();
	s->list = calloc(s->options->targets.count, sizeof *s->list);
	s->headers = curl_slist_append(NULL, ACCEPT);
	if (!s->multi || !s->list || !s->headers)
		return ipf_error_memory(err);
	if (bearer_read(&s->bearer, err) < 0)
		return -1;
	if (s->bearer.header && !curl_slist_append(s->headers, s->bearer.header))
		return ipf_error_memory(err);
	for (size_t i = 0; i < s->options->targets.count; i++)
		if (open_target(s, s->options->targets.items[i], err) < 0)
			return -1;
	return 0;
}

int scraper_start(struct scraper **scraper, const struct scrape_options *options, int64_t every_ns,
                  const struct run_clock *clock, struct line_queue *queue, struct ipf_error *err)
{
	struct scraper *s = calloc(1, sizeof *s);
	*scraper = s;
	if (!s)
		return ipf_error_memory(err);
	*s = (struct scraper){.options = options, .clock = clock, .queue = queue};
	struct sampler_source source = {.data = s, .sample = sample, .wait = wait_until, .wake = wake};
	if (libcurl_start(err) < 0)
		return -1;
	return open_all(s, err) < 0 ? -1 : sampler_start(&s->sampler, &source, every_ns, err);
}

void scraper_align(struct scraper *s)
{
	sampler_align(s->sampler, run_clock_zero(s->clock));
}

void scraper_stop(struct scraper *s)
{
	sampler_stop(s->sampler);
	s->sampler = NULL;
}

json_t *scraper_json(const struct scraper *s)
{
	json_t *targets = json_array();
	for (size_t i = 0; i < s->count; i++)
		json_array_append_new(targets, target_json(&s->list[i].target, s->clock));
	return targets;
}

void scraper_free(struct scraper *s)
{
	if (!s)
		return;
	atomic_store(&s->abandoned, true);
	scraper_stop(s);
	for (size_t i = 0; i < s->count; i++) {
		http_handle_close(&s->list[i].http);
		target_release(&s->list[i].target);
	}
	curl_multi_cleanup(s->multi);
	curl_slist_free_all(s->headers);
	bearer_release(&s->bearer);
	free(s->list);
	free(s);
}
