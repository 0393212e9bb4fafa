/* The client's view beside the server's: each cause alone is named, and nothing where nothing differs. */
#include "unit.h"

#include "clock.h"
#include "figures/server_comparison.h"

#include <math.h>

#define MS 1e6

/* Equal on both sides: 100 requests of 200 and 30 tokens, TTFT 50 ms, TPOT 10 ms. */
struct sides {
	struct client_facts client;
	struct server_facts server;
	struct server_comparison result;
};

static struct client_latency latency(double mean_ms)
{
	return (struct client_latency){
		.n = 100, .mean = mean_ms * MS, .p50 = mean_ms * MS, .p90 = mean_ms * MS, .p99 = mean_ms * MS};
}

/* 100 values of a mean, in a bucket around it. */
static void server_latency(struct bucket_histogram *h, double mean_ms)
{
	bucket_histogram_release(h);
	bucket_histogram_add(h, 0.8 * mean_ms * MS, 1.3 * mean_ms * MS, 100);
	h->sum = 100 * mean_ms * MS;
}

static int setup(void **state)
{
	struct sides *s = calloc(1, sizeof *s);
	s->client = (struct client_facts){.ended = 100,
	                                  .ok = 100,
	                                  .input_tokens = 20000,
	                                  .output_tokens = 3000,
	                                  .usage = true,
	                                  .template_tokens = NAN,
	                                  .cached_share = NAN,
	                                  .wait_mean = 0,
	                                  .ttfb_mean = 50 * MS,
	                                  .connect_min = NAN};
	s->server = (struct server_facts){
		.requests = 100, .input_tokens = 20000, .output_tokens = 3000, .hit_rate = NAN, .queue_mean = NAN};
	const double means[COMPARED_LATENCIES] = {50, 10, 10, 340};
	for (int i = 0; i < COMPARED_LATENCIES; i++) {
		s->client.latency[i] = latency(means[i]);
		server_latency(&s->server.latency[i], means[i]);
	}
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct sides *s = *state;
	server_facts_release(&s->server);
	free(s);
	return 0;
}

/* The only note is of this kind and contains this text; NULL: there is none. */
static void finds(struct sides *s, enum comparison_kind kind, const char *text)
{
	server_comparison_make(&s->result, &s->client, &s->server);
	if (s->result.count != (text != NULL))
		fail_msg("%d notes, the first: %s", s->result.count, s->result.count ? s->result.notes[0].text : "");
	if (!text)
		return;
	assert_string_equal(comparison_kind_names[s->result.notes[0].kind], comparison_kind_names[kind]);
	if (!strstr(s->result.notes[0].text, text))
		fail_msg("%s", s->result.notes[0].text);
}

static void test_equal(void **state)
{
	finds(*state, 0, NULL);
}

/* Readings the range covers in part: nothing is said about numbers they can explain. */
static void test_unsure(void **state)
{
	struct sides *s = *state;
	s->server.requests = 94;
	finds(s, COMPARISON_FEWER_REQUESTS, "counted 94 requests");
	s->server.unsure_requests = 5;
	finds(s, 0, NULL);
	s->server.requests = 106;
	finds(s, 0, NULL);
	s->server.requests = 107;
	finds(s, COMPARISON_MORE_REQUESTS, "counted 107 requests");
	s->server.requests = 100;
	s->server.output_tokens = 3100;
	finds(s, COMPARISON_MORE_OUTPUT, "counted 3100 output tokens");
	s->server.unsure_output = 80;
	finds(s, 0, NULL);
	s->client.cached_share = 0.5;
	s->server.hit_rate = 0.43;
	finds(s, COMPARISON_HIT_RATE, "43.0 %");
	s->server.unsure_hit_rate = 0.03;
	finds(s, 0, NULL);
}

/* If the range covers a reading in part, all or nothing may have come within it. */
static void test_unsure_reading(void **state)
{
	struct sample_store *store = sample_store_new(SAMPLE_STORE_BYTES);
	int source = sample_store_source(store, 0, slice_of("a"));
	struct server_facts facts;
	(void)state;
	for (int64_t t = 1; t <= 3; t++) {
		struct sample_range second = {(t - 1) * NS_PER_S, t * NS_PER_S};
		assert_true(sample_store_tick(store, source, second.end_ns));
		assert_int_equal(sample_store_increase(store, source, slice_of("requests_ok"), second, 40), 0);
	}
	server_facts_read(&facts, store, &source, 1, &(struct sample_range){0, 3 * NS_PER_S});
	assert_float_equal(facts.requests, 120, 1e-9);
	assert_float_equal(facts.unsure_requests, 0, 1e-9);
	server_facts_release(&facts);
	server_facts_read(&facts, store, &source, 1, &(struct sample_range){NS_PER_S / 4, 2 * NS_PER_S});
	assert_float_equal(facts.requests, 70, 1e-9);
	assert_float_equal(facts.unsure_requests, 30, 1e-9);
	server_facts_release(&facts);
	sample_store_free(store);
}

static void test_nothing_known(void **state)
{
	struct sides *s = *state;
	server_facts_release(&s->server);
	s->server = (struct server_facts){
		.requests = NAN, .input_tokens = NAN, .output_tokens = NAN, .hit_rate = NAN, .queue_mean = NAN};
	finds(s, 0, NULL);
	s->client = (struct client_facts){.template_tokens = NAN, .cached_share = NAN};
	s->server = (struct server_facts){.requests = 7, .input_tokens = 5, .output_tokens = 3, .hit_rate = 1};
	finds(s, 0, NULL);
}

static void test_other_client(void **state)
{
	struct sides *s = *state;
	s->server.requests = 130;
	finds(s, COMPARISON_MORE_REQUESTS, "the server counted 130 requests, this client had 100: another client");
	s->client.edges = 30;
	finds(s, 0, NULL);
	s->client.edges = 0;
	s->server.output_tokens = 3900;
	server_comparison_make(&s->result, &s->client, &s->server);
	assert_int_equal(s->result.count, 2);
	assert_non_null(strstr(s->result.notes[1].text, "those of the other requests"));
}

static void test_missing_replica(void **state)
{
	struct sides *s = *state;
	s->server.requests = 52;
	finds(s, COMPARISON_FEWER_REQUESTS, "a replica is not scraped");
	s->client.ok = 50; /* the others failed, and may never have reached the server */
	finds(s, 0, NULL);
}

static void test_restart_explains_what_is_missing(void **state)
{
	static const char why[] = ": the server restarted, and its counts after the last reading before are lost";
	struct sides *s = *state;
	s->server.restarts = 1;
	finds(s, 0, NULL);
	s->server.output_tokens = 2000;
	finds(s, COMPARISON_FEWER_OUTPUT, why);
	s->server.requests = NAN;
	finds(s, COMPARISON_FEWER_OUTPUT, why);
	s->client.given_up = 3;
	s->client.given_up_output = 2000;
	finds(s, COMPARISON_FEWER_OUTPUT, why);
	s->server.output_tokens = s->client.output_tokens;
	s->server.input_tokens = 0.5 * s->client.input_tokens;
	finds(s, COMPARISON_FEWER_INPUT, why);
	s->server.requests = 52;
	s->server.input_tokens = NAN;
	finds(s, COMPARISON_FEWER_REQUESTS, why);
}

static void test_tokens(void **state)
{
	struct sides *s = *state;
	s->server.output_tokens = 3025;
	finds(s, 0, NULL);
	s->server.output_tokens = 3040;
	finds(s, COMPARISON_MORE_OUTPUT, ": unsent tokens, such as rejected ones");
	s->server.requests = NAN;
	finds(s, COMPARISON_MORE_OUTPUT, "another client");
	s->server.requests = 100;
	s->client.unknown_output = 10;
	finds(s, 0, NULL);
	s->client.usage = false;
	s->server.output_tokens = 2860;
	finds(s, 0, NULL);
	s->server.output_tokens = 2840;
	finds(s, COMPARISON_FEWER_OUTPUT, "not the server's own");
}

static void test_template(void **state)
{
	struct sides *s = *state;
	s->client.usage = false;
	s->server.input_tokens = 20700;
	finds(s, COMPARISON_TEMPLATE, "the server counted 7 input tokens a request more");
	s->server.input_tokens = 20750; /* no constant */
	finds(s, COMPARISON_MORE_INPUT, "a chat template, or prompts computed again");
	s->client.usage = true;
	s->server.input_tokens = 20000;
	s->client.template_tokens = 7;
	finds(s, COMPARISON_TEMPLATE, "each request has 7 input tokens more at the server than in the trace");
}

static void test_delay_in_front(void **state)
{
	struct sides *s = *state;
	s->client.latency[COMPARED_TTFT] = latency(150);
	s->client.latency[COMPARED_E2E] = latency(440);
	s->client.ttfb_mean = 150 * MS;
	finds(s, COMPARISON_TTFT_LONGER, "TTFT is 100 ms longer at the client, 150 against 50 ms on average");
	assert_non_null(strstr(s->result.notes[0].text, "a queue in front of the server"));
	s->client.ttfb_mean = 2 * MS;
	finds(s, COMPARISON_TTFT_LONGER, "holding back the body");
	s->client.connect_min = 0.2 * MS;
	finds(s, COMPARISON_TTFT_LONGER, "holding back the body, or a network losing packets");
	s->client.ttfb_mean = 150 * MS;
	finds(s, COMPARISON_TTFT_LONGER,
	      "and a connection took 0.2 ms to open: a proxy, or a queue in front of the server; not");
	s->client.direct = true;
	finds(
		s, COMPARISON_TTFT_LONGER,
		"took 0.2 ms to open: the server's own HTTP layer, in which its figures do not begin yet, or a queue there; not");
	s->client.direct = false;
	s->client.connect_min = 20 * MS;
	finds(s, COMPARISON_TTFT_LONGER, "and a connection took 20 ms to open: the network, a proxy, or a queue");
	s->client.connect_min = 98 * MS;
	finds(s, COMPARISON_TTFT_LONGER, "and a connection took 98 ms to open: the network");
	assert_null(strstr(s->result.notes[0].text, "queue"));
}

/* A request in flight when the run was ended on purpose has no row, but the server counted it. */
static void test_stopped(void **state)
{
	struct sides *s = *state;
	s->client.stopped = true;
	s->server.requests = 130;
	s->server.output_tokens = 3900;
	s->server.input_tokens = 26000;
	finds(s, 0, NULL);
	s->server.requests = 70;
	s->server.output_tokens = s->server.input_tokens = NAN;
	finds(s, COMPARISON_FEWER_REQUESTS, "the server counted 70 requests");
}

/* 12 ms more, but both are within 40 to 65 ms. */
static void test_below_resolution(void **state)
{
	struct sides *s = *state;
	s->client.latency[COMPARED_TTFT] = latency(62);
	finds(s, 0, NULL);
	s->client.latency[COMPARED_TTFT] = latency(66);
	finds(s, COMPARISON_TTFT_LONGER, "16 ms longer");
}

static void test_slower_tokens(void **state)
{
	struct sides *s = *state;
	s->client.latency[COMPARED_TPOT] = latency(20);
	finds(s, COMPARISON_TPOT, "TPOT is 10 ms longer at the client, 20 against 10 ms on average");
	s->client.latency[COMPARED_TPOT] = latency(10);
	s->client.latency[COMPARED_TTFT].n = 0;
	s->client.latency[COMPARED_E2E] = latency(640);
	finds(s, COMPARISON_E2E, "E2E is 300 ms longer");
}

/* The server's latencies include requests this client gave up: no other client is needed to explain them. */
static void test_given_up(void **state)
{
	struct sides *s = *state;
	s->client.latency[COMPARED_TTFT] = latency(20);
	finds(s, COMPARISON_TTFT_SHORTER, "both count the same requests, but not from the same moment");
	s->client.ok = 90;
	finds(s, COMPARISON_TTFT_SHORTER, "the server's figures include 10 requests that failed");
	s->client.given_up = 10;
	finds(s, COMPARISON_TTFT_SHORTER, "include 10 requests this client gave up (timed out, disconnected or cancelled)");
	s->client.given_up_early = 8;
	finds(s, COMPARISON_TTFT_SHORTER, "or cancelled, 8 of them before a first token)");
	s->client.latency[COMPARED_TTFT] = latency(50);
	s->client.latency[COMPARED_TPOT] = latency(2);
	finds(s, COMPARISON_TPOT,
	      "8 ms shorter at the client, 2 against 10 ms on average: the server's figures include 10");
	s->client.given_up = 0;
	s->client.ok = 100;
	s->server.requests = NAN;
	finds(s, COMPARISON_TPOT, "other clients' requests");
}

static void test_tokens_given_up(void **state)
{
	struct sides *s = *state;
	s->server.input_tokens = 18000;
	finds(s, COMPARISON_FEWER_INPUT, "it may not count cached ones");
	assert_null(strstr(s->result.notes[0].text, "replica")); /* all requests were counted */
	s->client.cached_share = 0;
	finds(s, COMPARISON_FEWER_INPUT, "it may count other tokens than its answers report");
	s->server.requests = NAN;
	finds(s, COMPARISON_FEWER_INPUT, ": a replica is not scraped");
	s->client.given_up = 10;
	s->client.given_up_input = 2000;
	finds(s, COMPARISON_FEWER_INPUT, "10 requests this client gave up");
	s->client.given_up_input = 1000; /* too few to explain it */
	finds(s, COMPARISON_FEWER_INPUT, ": a replica is not scraped");
	s->server.input_tokens = 21000;
	finds(s, COMPARISON_MORE_INPUT, "computed again");
	s->client.unknown_input = 1000;
	finds(s, COMPARISON_MORE_INPUT, "10 requests this client gave up");
	s->server.input_tokens = 20000;
	s->server.output_tokens = 2900;
	s->client.given_up_output = 100;
	finds(s, COMPARISON_FEWER_OUTPUT, "10 requests this client gave up");
	s->client.given_up_output = 0;
	finds(s, COMPARISON_FEWER_OUTPUT, "a replica is not scraped");
	s->server.output_tokens = 3100;
	finds(s, COMPARISON_MORE_OUTPUT, "10 requests this client gave up");
}

static void test_hit_rate(void **state)
{
	struct sides *s = *state;
	s->client.cached_share = 0.5;
	s->server.hit_rate = 0.47;
	finds(s, 0, NULL);
	s->server.hit_rate = 0.3;
	finds(s, COMPARISON_HIT_RATE, "50.0 % of their input as cached, the server a hit rate of 30.0 %");
}

int main(void)
{
#define TEST(test_) cmocka_unit_test_setup_teardown(test_, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_unsure),
		TEST(test_unsure_reading),
		TEST(test_equal),
		TEST(test_nothing_known),
		TEST(test_other_client),
		TEST(test_missing_replica),
		TEST(test_restart_explains_what_is_missing),
		TEST(test_tokens),
		TEST(test_template),
		TEST(test_delay_in_front),
		TEST(test_stopped),
		TEST(test_below_resolution),
		TEST(test_slower_tokens),
		TEST(test_hit_rate),
		TEST(test_given_up),
		TEST(test_tokens_given_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
