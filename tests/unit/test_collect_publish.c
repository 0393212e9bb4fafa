#include "publish/accept_header.h"
#include "publish/listen_address.h"
#include "metrics/live_histogram.h"
#include "metrics/metrics_text.h"
#include "publish/remote_write.h"
#include "unit.h"

#include <math.h>
#include <netinet/in.h>
#include <snappy-c.h>

/* ---- histograms ---- */

/* The native bucket and the classic one of a value, from their definitions. */
static void check_value(int64_t value_ns)
{
	static struct live_histogram h;
	struct native_span spans[NATIVE_SPANS];
	size_t bound = 0;
	memset(&h, 0, sizeof h);
	live_histogram_add(&h, value_ns, 3);
	while (bound < LIVE_BOUNDS && live_bounds_ns[bound] < value_ns)
		bound++;
	for (size_t i = 0; i <= LIVE_BOUNDS; i++)
		if (h.classic[i] != (i == bound ? 3 : 0))
			fail_msg("%lld ns: classic bucket %zu has %lld", (long long)value_ns, i, (long long)h.classic[i]);
	if (value_ns == 0) {
		assert_int_equal(h.zero, 3);
		assert_int_equal(live_histogram_spans(&h, spans), 0);
		return;
	}
	assert_int_equal(live_histogram_spans(&h, spans), 1);
	assert_int_equal(spans[0].length, 1);
	assert_int_equal(live_histogram_native(&h, spans[0].offset), 3);
	double seconds = (double)value_ns / 1e9, high = exp2(spans[0].offset / 32.0),
		   low = exp2((spans[0].offset - 1) / 32.0);
	if (!(seconds > low * (1 - 1e-15) && seconds <= high * (1 + 1e-15)))
		fail_msg("%lld ns: bucket %d is (%.17g, %.17g]", (long long)value_ns, spans[0].offset, low, high);
}

static void test_values_are_in_their_buckets(void **state)
{
	uint64_t seed = test_seed("values");
	const int64_t edges[] = {0,          1,          2,         999999999,     1000000000,
	                         1000000001, 2000000000, 500000000, INT64_MAX - 1, INT64_MAX};
	(void)state;
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++)
		check_value(edges[i]);
	for (size_t i = 0; i < LIVE_BOUNDS; i++)
		for (int64_t d = -1; d <= 1; d++)
			check_value(live_bounds_ns[i] + d);
	for (int i = 0; i < 20000; i++)
		check_value((int64_t)(test_random(&seed) >> (1 + test_random(&seed) % 63)));
}

static void test_powers_of_two_end_their_buckets(void **state)
{
	static struct live_histogram h;
	(void)state;
	live_histogram_add(&h, 1000000000, 1); /* 1 s is 2^0 */
	live_histogram_add(&h, 1000000001, 1);
	live_histogram_add(&h, 4000000000, 1);
	live_histogram_add(&h, 250000000, 1);
	assert_int_equal(live_histogram_native(&h, 0), 1);
	assert_int_equal(live_histogram_native(&h, 1), 1);
	assert_int_equal(live_histogram_native(&h, 64), 1);
	assert_int_equal(live_histogram_native(&h, -64), 1);
	assert_int_equal(live_histogram_native(&h, 5000), 0);
	assert_int_equal(h.count, 4);
	assert_int_equal(h.sum_ns, 6250000001);
}

/* Spans cover every bucket once, in order, and leave out gaps of more than two. */
static void test_spans_cover_the_buckets(void **state)
{
	static struct live_histogram h, copy;
	static struct native_span spans[NATIVE_SPANS];
	uint64_t seed = test_seed("spans");
	(void)state;
	for (int round = 0; round < 200; round++) {
		memset(&h, 0, sizeof h);
		for (uint64_t i = test_random(&seed) % 400; i; i--)
			live_histogram_add(&h, (int64_t)(test_random(&seed) >> (20 + test_random(&seed) % 40)),
			                   1 + (int64_t)(i % 3));
		memset(&copy, 0x55, sizeof copy);
		live_histogram_copy(&copy, &h);
		size_t count = live_histogram_spans(&copy, spans);
		int64_t sum = h.zero;
		int index = 0;
		for (size_t i = 0; i < count; i++) {
			assert_true(i == 0 || spans[i].offset > 2);
			index += spans[i].offset;
			assert_true(live_histogram_native(&h, index) > 0);
			for (uint32_t k = 0; k < spans[i].length; k++)
				sum += live_histogram_native(&h, index++);
			assert_true(live_histogram_native(&h, index - 1) > 0);
		}
		assert_int_equal(sum, h.count);
	}
}

/* ---- formats ---- */

static void test_text_escapes(void **state)
{
	struct buffer out = {0};
	const struct metric_family family = {"ipf_x", "a \\ b\n\"c\"", "ratio", METRIC_COUNTER};
	const struct metric_label labels[] = {{"a", "q\"u\\o\nte"}, {"b", ""}};
	(void)state;
	for (int openmetrics = 0; openmetrics < 2; openmetrics++) {
		struct metrics_text text = metrics_text(&out, openmetrics);
		text.sink.begin(&text.sink, &family);
		text.sink.point(&text.sink, labels, 2, 0.25);
		text.sink.point(&text.sink, NULL, 0, 1e6);
		text.sink.end(&text.sink);
		metrics_text_end(&text);
	}
	assert_string_equal(out.data, "# HELP ipf_x_total a \\\\ b\\n\"c\"\n# TYPE ipf_x_total counter\n"
	                              "ipf_x_total{a=\"q\\\"u\\\\o\\nte\",b=\"\"} 0.25\nipf_x_total 1000000\n"
	                              "# HELP ipf_x a \\\\ b\\n\\\"c\\\"\n# TYPE ipf_x counter\n# UNIT ipf_x ratio\n"
	                              "ipf_x_total{a=\"q\\\"u\\\\o\\nte\",b=\"\"} 0.25\nipf_x_total 1000000\n# EOF\n");
	buffer_release(&out);
}

static void test_bounds_are_canonical(void **state)
{
	const struct {
		double value;
		const char *text;
	} cases[] = {{0.0001, "0.0001"}, {0.00015, "0.00015"}, {1, "1.0"}, {1000, "1000.0"}, {INFINITY, "+Inf"}};
	struct buffer out = {0};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		buffer_clear(&out);
		metrics_text_bound(&out, cases[i].value);
		assert_string_equal(out.data, cases[i].text);
	}
	buffer_release(&out);
}

static void test_snappy_round_trip(void **state)
{
	static char bytes[100000], back[sizeof bytes];
	struct buffer body = {0};
	size_t len = sizeof back;
	(void)state;
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)(i % 251);
	remote_write_compress((struct slice){bytes, sizeof bytes}, &body);
	assert_true(body.len > 0 && body.len < sizeof bytes / 10);
	assert_int_equal(snappy_uncompress(body.data, body.len, back, &len), SNAPPY_OK);
	assert_int_equal(len, sizeof bytes);
	assert_memory_equal(bytes, back, len);
	buffer_release(&body);
}

static void test_accept(void **state)
{
	const struct {
		const char *accept;
		enum metrics_format format;
	} cases[] = {
		{NULL, METRICS_TEXT},
		{"", METRICS_TEXT},
		{"*/*", METRICS_TEXT},
		{"text/html,application/xhtml+xml;q=0.9,*/*;q=0.8", METRICS_TEXT},
		/* Prometheus 2.42, without and with native histograms */
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/"
	     "plain;version=0.0.4;q=0.5,*/*;q=0.1",
	     METRICS_OPENMETRICS},
		{"application/"
	     "vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/"
	     "openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
	     METRICS_PROTOBUF},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", METRICS_TEXT},
		{"application/vnd.google.protobuf", METRICS_TEXT},
		{"application/openmetrics-text; version=2.0.0", METRICS_TEXT},
		{"application/openmetrics-text; version=\"1.0.0\" ; q=0.3 , text/plain;q=0.2", METRICS_OPENMETRICS},
		{"APPLICATION/OpenMetrics-Text", METRICS_OPENMETRICS},
		{"application/openmetrics-text;q=0", METRICS_TEXT},
		{"application/openmetrics-text;q=0.5,text/plain;q=0.501", METRICS_TEXT},
		{"text/plain;q=1,application/openmetrics-text;q=1.0", METRICS_OPENMETRICS},
		{"application/openmetrics-text;q=2,text/plain;q=0.1", METRICS_TEXT},
		{";;;,,,=\"\\", METRICS_TEXT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (accept_format(cases[i].accept) != cases[i].format)
			fail_msg("%s: got %d", cases[i].accept, accept_format(cases[i].accept));
}

/* ---- addresses and targets ---- */

static void listens(const char *text, const char *expected, bool loopback)
{
	struct listen_address address;
	struct ipf_error err = {0};
	char got[64];
	if (listen_address_parse(text, &address, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	listen_address_write((struct sockaddr *)&address.address, got);
	assert_string_equal(got, expected);
	assert_int_equal(address.loopback, loopback);
}

static void test_listen_addresses(void **state)
{
	const char *wrong[] = {"",      ":",     "9464",   "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",     "127.0.0.1:65536",
	                       "::1:1", "[::1]", "[::1:1", "::1]:1",    "[]:1",       "127.0.0.1:000001"};
	(void)state;
	listens("127.0.0.1:9464", "127.0.0.1:9464", true);
	listens(":0", "127.0.0.1:0", true);
	listens("localhost:1", "127.0.0.1:1", true);
	listens("[::1]:65535", "[::1]:65535", true);
	listens("0.0.0.0:80", "0.0.0.0:80", false);
	listens("[::]:80", "[::]:80", false);
	listens("10.1.2.3:80", "10.1.2.3:80", false);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct listen_address address;
		struct ipf_error err = {0};
		assert_int_equal(listen_address_parse(wrong[i], &address, &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_are_in_their_buckets),
		cmocka_unit_test(test_powers_of_two_end_their_buckets),
		cmocka_unit_test(test_spans_cover_the_buckets),
		cmocka_unit_test(test_text_escapes),
		cmocka_unit_test(test_bounds_are_canonical),
		cmocka_unit_test(test_snappy_round_trip),
		cmocka_unit_test(test_accept),
		cmocka_unit_test(test_listen_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
