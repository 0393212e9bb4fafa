/* The true offset between two clients' clocks is always within the reported bounds. */
#include "unit.h"

#include "absent.h"
#include "http_date.h"
#include "loopback.h"
#include "series/clock_offsets.h"

#include <time.h>

#define S  INT64_C(1000000000)
#define MS INT64_C(1000000)

static json_t *header_of(int64_t t0_ns, const char *host, const char *url, json_t *system)
{
	json_t *header = json_pack("{s:I, s:s, s:{s:s}}", "t0_unix_ns", (json_int_t)t0_ns, "target", url, "host", "name",
	                           host);
	if (system)
		json_object_set_new(header, "system_clock", system);
	return header;
}

static json_t *system_clock(bool synchronised, int64_t max_error_ns)
{
	return json_pack("{s:b, s:I}", "synchronised", synchronised, "max_error_ns", (json_int_t)max_error_ns);
}

static void date(struct clock_offsets *c, int client, int64_t date_s, int64_t seen_ns, int64_t start_ns)
{
	char text[200];
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	snprintf(text, sizeof text, "{\"dates\":[[0,%lld,%lld,%lld]]}", (long long)date_s, (long long)seen_ns,
	         (long long)start_ns);
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	assert_int_equal(clock_offsets_read(c, client, &doc, JDOC_ROOT, &err), 0);
	jdoc_release(&doc);
}

/* Two clients of a server whose Date may be old: the server looks at its clock only once a `period`. True time counts
 * from 1e9 s; client k's clock is `offset` later, and runs `drift` parts in a million too fast. */
struct world {
	uint64_t seed;
	int64_t offset_ns[2];
	double drift;
	int64_t length_ns, gap_ns, latency_ns, period_ns;
};

static int64_t clock_of(const struct world *w, int client, int64_t true_ns)
{
	return true_ns + w->offset_ns[client] +
	       (client ? (int64_t)(w->drift * (double)(true_ns - 1000000000 * S) / 1e6) : 0);
}

static void requests(struct world *w, struct clock_offsets *c, int client, int64_t t0_ns)
{
	int64_t now = 1000000000 * S + (int64_t)(test_random(&w->seed) % (uint64_t)(S));
	for (int64_t end = now + w->length_ns; now < end;) {
		now += (int64_t)(test_random(&w->seed) % (uint64_t)(2 * w->gap_ns)) + 1;
		int64_t there = now + (int64_t)(test_random(&w->seed) % (uint64_t)w->latency_ns) + 1;
		int64_t seen = there + (int64_t)(test_random(&w->seed) % (uint64_t)w->latency_ns) + 1;
		int64_t looked = there / w->period_ns * w->period_ns;
		date(c, client, looked / S, clock_of(w, client, seen) - t0_ns, clock_of(w, client, now) - t0_ns);
	}
}

static void test_true_offset_is_within(void **state)
{
	(void)state;
	uint64_t seed = test_seed("true_offset_is_within");
	for (int run = 0; run < 300; run++) {
		struct world w = {.seed = test_random(&seed),
		                  .length_ns = S * (int64_t)(5 + test_random(&seed) % 200),
		                  .gap_ns = MS * (int64_t)(10 + test_random(&seed) % 500),
		                  .latency_ns = MS * (int64_t)(1 + test_random(&seed) % 100),
		                  .period_ns = run % 3 ? 1 : 1010 * MS};
		w.offset_ns[0] = MS * (int64_t)(test_random(&seed) % 4000) - 2 * S;
		w.offset_ns[1] = MS * (int64_t)(test_random(&seed) % 4000) - 2 * S;
		w.drift = run % 2 ? 0 : (double)(test_random(&seed) % 100);
		int64_t t0[2];
		json_t *headers[2];
		struct clock_offsets *c = clock_offsets_new();
		for (int i = 0; i < 2; i++) {
			t0[i] = clock_of(&w, i, 1000000000 * S);
			headers[i] = header_of(t0[i], i ? "b" : "a", "http://server:8000/v1", system_clock(false, 0));
			assert_int_equal(clock_offsets_client(c, headers[i]), i);
			requests(&w, c, i, t0[i]);
		}
		struct clock_offset o = clock_offsets_between(c, 0, 1);
		int64_t truth = w.offset_ns[1] - w.offset_ns[0];
		int64_t at_end = truth + (int64_t)(w.drift * (double)w.length_ns / 1e6);
		if (o.low_ns != IPF_ABSENT && (o.low_ns > at_end || o.high_ns < truth))
			fail_msg("run %d: [%lld, %lld] does not contain %lld", run, (long long)o.low_ns, (long long)o.high_ns,
			         (long long)truth);
		/* many requests narrow it to about two latencies and the time between two requests */
		if (w.length_ns > 100 * S && w.gap_ns < 100 * MS && w.drift < 1) {
			assert_true(o.by_date && !o.contradiction);
			assert_true(o.high_ns - o.low_ns < 4 * w.latency_ns + 4 * w.gap_ns);
		}
		struct clock_offset back = clock_offsets_between(c, 1, 0);
		assert_int_equal(back.low_ns == IPF_ABSENT, o.low_ns == IPF_ABSENT);
		if (back.low_ns != IPF_ABSENT)
			assert_true(back.low_ns <= -truth && -at_end <= back.high_ns);
		clock_offsets_free(c);
		json_decref(headers[0]);
		json_decref(headers[1]);
	}
}

static struct clock_offset between(json_t *a, json_t *b, json_t *end_of_b, int dates)
{
	struct clock_offsets *c = clock_offsets_new();
	assert_int_equal(clock_offsets_client(c, a), 0);
	assert_int_equal(clock_offsets_client(c, b), 1);
	for (int i = 0; i < dates; i++) {
		/* a sees the change 100 to 120 ms after its second began, b 300 to 310 ms */
		date(c, 0, i, i * S + 120 * MS, (i + 1) * S + 100 * MS);
		date(c, 1, i, i * S + 310 * MS, (i + 1) * S + 300 * MS);
	}
	clock_offsets_end(c, 1, end_of_b);
	struct clock_offset o = clock_offsets_between(c, 0, 1);
	json_t *json = clock_offsets_json(c);
	int client;
	struct clock_offset worst = clock_offsets_worst(json, &client);
	assert_int_equal(worst.low_ns, o.low_ns);
	assert_int_equal(worst.high_ns, o.high_ns);
	assert_int_equal(worst.contradiction, o.contradiction);
	assert_int_equal(client, 1);
	json_decref(json);
	clock_offsets_free(c);
	json_decref(a);
	json_decref(b);
	json_decref(end_of_b);
	return o;
}

#define URL "http://s/v1"

static void test_evidence(void **state)
{
	(void)state;
	struct clock_offset o = between(header_of(0, "a", URL, NULL), header_of(0, "b", URL, NULL), NULL, 5);
	assert_int_equal(o.low_ns, 180 * MS);
	assert_int_equal(o.high_ns, 210 * MS);
	assert_true(o.by_date && !o.by_ntp && !o.contradiction);
	/* t0 is on each one's own clock */
	o = between(header_of(7 * S, "a", URL, NULL), header_of(8 * S, "b", URL, NULL), NULL, 5);
	assert_int_equal(o.low_ns, 1180 * MS);
	/* another server, and one of the machine itself */
	o = between(header_of(0, "a", URL, NULL), header_of(0, "b", "http://t/v1", NULL), NULL, 5);
	assert_int_equal(o.low_ns, IPF_ABSENT);
	o = between(header_of(0, "a", "http://127.0.0.1:80/", NULL), header_of(0, "b", "http://127.0.0.1:80/", NULL), NULL,
	            5);
	assert_int_equal(o.low_ns, IPF_ABSENT);
	o = between(header_of(0, "a", "http://127.0.0.1:80/", NULL), header_of(0, "a", "http://127.0.0.1:80/", NULL), NULL,
	            5);
	assert_int_equal(o.low_ns, 180 * MS);
	/* NTP alone, both, and a state lost at the end */
	o = between(header_of(0, "a", URL, system_clock(true, 3 * MS)), header_of(0, "b", URL, system_clock(true, 4 * MS)),
	            NULL, 0);
	assert_int_equal(o.low_ns, -7 * MS);
	assert_int_equal(o.high_ns, 7 * MS);
	assert_true(o.by_ntp && !o.by_date);
	o = between(header_of(0, "a", URL, system_clock(true, 100 * MS)),
	            header_of(0, "b", URL, system_clock(true, 95 * MS)), NULL, 5);
	assert_int_equal(o.low_ns, 180 * MS);
	assert_int_equal(o.high_ns, 195 * MS);
	o = between(header_of(0, "a", URL, system_clock(true, 3 * MS)), header_of(0, "b", URL, system_clock(true, 4 * MS)),
	            json_pack("{s:o}", "system_clock", system_clock(false, 0)), 0);
	assert_int_equal(o.low_ns, IPF_ABSENT);
	/* they exclude each other */
	o = between(header_of(0, "a", URL, system_clock(true, 3 * MS)), header_of(0, "b", URL, system_clock(true, 4 * MS)),
	            NULL, 5);
	assert_true(o.contradiction);
	assert_int_equal(o.low_ns, -7 * MS);
	assert_int_equal(o.high_ns, 210 * MS);
}

static void test_bad_dates(void **state)
{
	(void)state;
	static const char *const bad[] = {"{\"dates\":[[1,2,3]]}", "{\"dates\":[7]}", "{\"dates\":[[1,2,3,\"x\"]]}",
	                                  "{\"dates\":[[0,9000000000000000000,1,1]]}"};
	struct clock_offsets *c = clock_offsets_new();
	json_t *header = header_of(0, "a", URL, NULL);
	clock_offsets_client(c, header);
	assert_null(clock_offsets_json(c));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		struct jdoc doc = {0};
		assert_int_equal(jdoc_parse(&doc, bad[i], strlen(bad[i]), &err), 0);
		assert_int_equal(clock_offsets_read(c, 0, &doc, JDOC_ROOT, &err), -1);
		assert_string_equal(err.text, "dates: expected lists of four integers");
		jdoc_release(&doc);
	}
	clock_offsets_free(c);
	json_decref(header);
}

static void test_http_date(void **state)
{
	(void)state;
	static const char *const bad[] = {"",
	                                  "Sun, 06 Nov 1994 08:49:37",
	                                  "Sun, 06 Nov 1994 08:49:37 CET",
	                                  "Sun, 06 Foo 1994 08:49:37 GMT",
	                                  "Sun, 00 Nov 1994 08:49:37 GMT",
	                                  "Sun, 06 Nov 1994 24:49:37 GMT",
	                                  "Sun, 06 Nov 1994 08-49:37 GMT",
	                                  "Sun, 0x Nov 1994 08:49:37 GMT",
	                                  "Sunday, 06-Nov-94 08:49:37 GMT"};
	assert_int_equal(http_date_parse(slice_of("Sun, 06 Nov 1994 08:49:37 GMT")), 784111777);
	assert_int_equal(http_date_parse(slice_of("Thu, 01 Jan 1970 00:00:00 GMT")), 0);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(http_date_parse(slice_of(bad[i])), IPF_ABSENT);
	for (time_t t = 0; t < 5000000000; t += 86400 * 13 + 3607) {
		char text[40];
		struct tm parts;
		gmtime_r(&t, &parts);
		strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
		assert_int_equal(http_date_parse(slice_of(text)), t);
	}
}

static void test_loopback_urls(void **state)
{
	(void)state;
	static const char *const local[] = {"http://127.0.0.1:8000/v1", "http://localhost", "https://[::1]:80/?x",
	                                    "localhost:80", "http://user:word@127.0.0.1/"};
	static const char *const other[] = {"http://10.0.0.1:8000/v1", "http://127.0.0.1@evil.example/",
	                                    "http://h/127.0.0.1", "http://[2001:db8::1]:80", ""};
	for (size_t i = 0; i < sizeof local / sizeof *local; i++)
		assert_true(url_is_loopback(local[i]));
	for (size_t i = 0; i < sizeof other / sizeof *other; i++)
		assert_false(url_is_loopback(other[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_true_offset_is_within),
		cmocka_unit_test(test_evidence),
		cmocka_unit_test(test_bad_dates),
		cmocka_unit_test(test_http_date),
		cmocka_unit_test(test_loopback_urls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
