/* The transport's findings on requests made by hand: nothing of clean ones, each cause at its limit, bounded memory. */
#include "absent.h"
#include "transport/transport.h"
#include "unit.h"

enum { EVENTS = 40 };

struct scene {
	struct transport *transport;
	struct schedule schedule;
	struct record record;
	struct record_read reads[EVENTS];
	struct response_event events[EVENTS];
	struct response response;
	struct result row;
	json_t *findings;
};

static void begin(struct scene *s)
{
	memset(s, 0, sizeof *s);
	s->transport = transport_new();
	assert_non_null(s->transport);
	transport_begin(s->transport, NULL, &s->schedule);
}

static void end(struct scene *s)
{
	s->findings = transport_findings(s->transport);
	assert_non_null(s->findings);
	transport_free(s->transport);
}

static const char *kind(const struct scene *s, size_t i)
{
	return json_string_value(json_object_get(json_array_get(s->findings, i), "finding"));
}

/* A streamed response starting at `start_ns`; `at_ns` has the time of each event. */
static void add(struct scene *s, int64_t start_ns, const int64_t *at_ns, size_t count)
{
	record_init(&s->record);
	result_init(&s->row);
	s->record.start_ns = start_ns;
	s->record.streamed = true;
	s->record.reads = s->reads;
	s->record.reads_count = count;
	s->row.ok = true;
	s->row.stage = 0;
	s->row.events = (int64_t)count;
	s->row.coalesced = 0;
	for (size_t i = 0; i < count; i++) {
		s->events[i] = (struct response_event){.t_ns = start_ns + at_ns[i]};
		s->reads[i] = (struct record_read){.t_ns = start_ns + at_ns[i], .bytes = 150};
		bool shares = (i && at_ns[i] == at_ns[i - 1]) || (i + 1 < count && at_ns[i] == at_ns[i + 1]);
		s->row.coalesced += shares;
	}
	s->response.events = s->events;
	s->response.events_count = count;
	s->row.ttft_ns = at_ns[0];
	s->row.e2e_ns = at_ns[count - 1];
	s->record.end_ns = start_ns + at_ns[count - 1];
	const struct observation o = {.record = &s->record, .response = &s->response, .row = &s->row};
	transport_add(s->transport, &o);
}

static void steady_times(int64_t *at_ns, uint64_t *seed, int64_t step_ns)
{
	int64_t t = 30000000;
	for (size_t i = 0; i < EVENTS; i++, t += step_ns + (int64_t)(test_random(seed) % (uint64_t)(step_ns / 4)))
		at_ns[i] = t;
}

static void steady_responses_have_none(void **state)
{
	(void)state;
	uint64_t seed = test_seed("steady_responses_have_none");
	/* steps from 1 to 250 ms: also those of the timers looked for */
	for (int64_t step_ms = 1; step_ms <= 250; step_ms += 3) {
		struct scene s;
		int64_t at_ns[EVENTS];
		begin(&s);
		for (int64_t n = 0; n < 50; n++) {
			steady_times(at_ns, &seed, step_ms * 1000000);
			add(&s, n * 10000000, at_ns, EVENTS);
		}
		end(&s);
		if (json_array_size(s.findings))
			fail_msg("steps of %lld ms: %s", (long long)step_ms, kind(&s, 0));
		json_decref(s.findings);
	}
}

static void held_responses_count_from_five(void **state)
{
	(void)state;
	int64_t together[8], apart[8];
	for (size_t i = 0; i < 8; i++) {
		together[i] = 60000000;
		apart[i] = 60000000 + (int64_t)i * 10000000;
	}
	for (int64_t held = 4; held <= 5; held++) {
		struct scene s;
		begin(&s);
		for (int64_t n = 0; n < 50; n++)
			add(&s, n, n < held ? together : apart, 8);
		end(&s);
		assert_int_equal(json_array_size(s.findings), held == 5);
		if (held == 5) {
			json_t *finding = json_array_get(s.findings, 0);
			assert_string_equal(kind(&s, 0), "buffering");
			assert_int_equal(json_integer_value(json_object_get(finding, "affected")), 5);
			assert_int_equal(json_integer_value(json_object_get(finding, "of")), 50);
			assert_true(json_is_true(json_object_get(finding, "doubt")));
		}
		json_decref(s.findings);
	}
}

static void gaps_of_two_servers_are_no_cluster(void **state)
{
	(void)state;
	struct scene s;
	int64_t fast[EVENTS], slow[EVENTS];
	begin(&s);
	for (int64_t i = 0; i < EVENTS; i++) {
		fast[i] = 10000000 + i * 2000000;
		slow[i] = 10000000 + i * 41000000;
	}
	for (int64_t n = 0; n < 100; n++)
		add(&s, n, n % 5 ? fast : slow, EVENTS);
	end(&s);
	assert_int_equal(json_array_size(s.findings), 0);
	json_decref(s.findings);
}

/* Requests on connections that never come back, far apart, also over years. */
static void connections_that_are_not_kept(void **state)
{
	(void)state;
	const int64_t apart_ns[] = {100000000, 1000000000, INT64_C(3600000000000), INT64_C(100000000000000)};
	for (size_t k = 0; k < sizeof apart_ns / sizeof *apart_ns; k++) {
		struct scene s;
		begin(&s);
		for (int64_t n = 0; n < 1000; n++) {
			const struct observation o = {.record = &s.record, .response = &s.response, .row = &s.row};
			record_init(&s.record);
			result_init(&s.row);
			s.row.ok = true;
			s.row.stage = 0;
			s.record.connection = n;
			s.record.start_ns = n * apart_ns[k];
			s.record.connect_ns = s.record.start_ns + 2000000;
			s.record.end_ns = s.record.start_ns + 50000000;
			s.row.ttft_ns = s.row.e2e_ns = 10000000;
			transport_add(s.transport, &o);
		}
		transport_client(s.transport, (struct slice){"{\"in_flight\":1}", 15});
		end(&s);
		assert_int_equal(json_array_size(s.findings), 1);
		assert_string_equal(kind(&s, 0), "reconnects");
		assert_true(json_is_true(json_object_get(json_array_get(s.findings, 0), "doubt")));
		json_decref(s.findings);
	}
}

static void times_out_of_range_are_left_out(void **state)
{
	(void)state;
	struct scene s;
	const int64_t odd[] = {INT64_MIN, INT64_MAX, IPF_ABSENT, -1, 0};
	begin(&s);
	for (size_t i = 0; i < 5; i++)
		for (size_t k = 0; k < 5; k++) {
			const struct observation o = {.record = &s.record, .response = &s.response, .row = &s.row};
			record_init(&s.record);
			result_init(&s.row);
			s.record.connection = odd[i];
			s.record.start_ns = odd[i];
			s.record.end_ns = odd[k];
			s.record.stream_resets = odd[k];
			s.record.http = k % 2 ? 2 : IPF_ABSENT;
			s.record.headers = (struct slice){"{\"x-pod-name\":\"\\u0000\"}", 22};
			transport_add(s.transport, &o);
		}
	transport_client(s.transport, (struct slice){"{\"in_flight\":\"many\"}", 20});
	transport_client(s.transport, (struct slice){"{", 1});
	end(&s);
	json_decref(s.findings);
}

static void many_replicas_are_not_kept(void **state)
{
	(void)state;
	struct scene s;
	char headers[64];
	begin(&s);
	for (int64_t n = 0; n < 10000; n++) {
		const struct observation o = {.record = &s.record, .response = &s.response, .row = &s.row};
		record_init(&s.record);
		result_init(&s.row);
		snprintf(headers, sizeof headers, "{\"x-served-by\":\"cache-%lld\"}", (long long)(n % 3 ? n : 0));
		s.record.headers = slice_of(headers);
		transport_add(s.transport, &o);
	}
	end(&s);
	assert_int_equal(json_array_size(s.findings), 0);
	json_decref(s.findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_responses_have_none),         cmocka_unit_test(held_responses_count_from_five),
		cmocka_unit_test(gaps_of_two_servers_are_no_cluster), cmocka_unit_test(connections_that_are_not_kept),
		cmocka_unit_test(times_out_of_range_are_left_out),    cmocka_unit_test(many_replicas_are_not_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
