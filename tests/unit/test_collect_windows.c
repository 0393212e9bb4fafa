/* A request's additions to the windows of the run: each member against cases computed by hand. Times are in tenths of a
 * second, windows are of one second. */
#include "unit.h"

#include "absent.h"
#include "measure/row_windows.h"

#define TENTH INT64_C(100000000)

static int64_t tenths(double n)
{
	return (int64_t)(n * (double)TENTH);
}

/* A request: its row, and its sources. */
struct request {
	struct result row;
	struct record record;
	struct response response;
	struct measure measure;
	struct response_event events[8];
	int64_t event_tokens[8];
	struct itl_sample samples[8];
};

static void request_init(struct request *r, int64_t stage)
{
	memset(r, 0, sizeof *r);
	result_init(&r->row);
	record_init(&r->record);
	r->row.stage = stage;
	r->row.ok = true;
	r->response.events = r->events;
	r->measure.event_tokens = r->event_tokens;
	r->measure.samples = r->samples;
}

static void event(struct request *r, double t, int64_t tokens)
{
	size_t i = r->response.events_count++;
	r->events[i].t_ns = tenths(t);
	r->event_tokens[i] = tokens;
	r->row.events = (int64_t)i + 1;
	if (tokens)
		r->row.output_tokens = (i ? r->row.output_tokens : 0) + tokens;
	if (i)
		r->samples[r->measure.samples_count++] = (struct itl_sample){
			.value_ns = tenths(t) - r->events[i - 1].t_ns, .count = 1, .t_ns = tenths(t)};
}

static void fails(struct request *r, const char *kind)
{
	r->row.ok = false;
	r->row.error_kind = slice_of(kind);
}

static void add(struct series *s, const struct request *r, int64_t offset_ns)
{
	const struct observation o = {&r->record, &r->response, &r->measure, &r->row, offset_ns};
	struct ipf_error err = {0};
	assert_int_equal(row_windows_add(s, &o, &err), 0);
}

/* All lines, of which the expected ones leave out their common part. */
static void assert_series(struct series *s, const char *expected)
{
	struct buffer line = {0}, all = {0};
	while (series_take(s, &line)) {
		buffer_slice(&all, buffer_all(&line));
		buffer_byte(&all, '\n');
	}
	assert_string_equal(all.data ? all.data : "", expected);
	buffer_release(&line);
	buffer_release(&all);
	series_free(s);
}

#define W(number, stage)                                                                                               \
	"{\"window\":" #number ",\"t_ns\":" #number "000000000,\"length_ns\":1000000000,\"stage\":" #stage
#define W0(stage) "{\"window\":0,\"t_ns\":0,\"length_ns\":1000000000,\"stage\":" #stage
#define H(name, count, min, max, sum, buckets)                                                                         \
	",\"" name "\":{\"count\":" #count ",\"min\":" min ",\"max\":" max ",\"sum\":" sum ",\"buckets\":[" buckets "]}"

/* Due at 0.9 s, ready then, waits 0.15 s for a slot and 0.05 s for a connection, starts at 1.1 s; events of 1, 2 and 4
 * tokens at 1.5, 1.9 and 3.2 s; ends at 3.3 s. In flight for 0.9 s of the second 1, all of 2, and 0.3 s of 3. */
static void life(void **state)
{
	struct series *s = series_new(10 * TENTH, 0);
	struct request r;
	(void)state;
	request_init(&r, 2);
	r.row.due_ns = r.row.ready_ns = tenths(9);
	r.row.slot_wait_ns = tenths(1.5);
	r.row.pool_wait_ns = tenths(0.5);
	r.row.start_ns = tenths(11);
	r.row.lag_ns = tenths(2);
	r.row.end_ns = tenths(33);
	r.row.input_tokens = 100;
	r.row.ttft_ns = tenths(4);
	r.row.e2e_ns = tenths(21);
	event(&r, 15, 1);
	event(&r, 19, 2);
	event(&r, 32, 4);
	add(s, &r, 0);
	assert_series(
		s,
		W0(2) ",\"scheduled\":1,\"slot_wait_ns\":100000000}\n" W(
			1,
			2) ",\"started\":1,\"in_flight_ns\":900000000,"
			   "\"slot_wait_ns\":50000000,\"pool_wait_ns\":50000000,\"input_tokens\":100,\"output_tokens\":3,\"events\":2" H(
				   "ttft_ns", 1, "400000000", "400000000", "400000000",
				   "[1503,1]") H("itl_ns", 1, "400000000", "400000000", "400000000", "[1503,1]")
				   H("lag_ns", 1, "200000000", "200000000", "200000000", "[1439,1]") "}\n" W(
					   2, 2) ",\"in_flight_ns\":1000000000}\n" W(3, 2) ",\"ok\":1,\"in_flight_ns\":300000000,"
																	   "\"output_tokens\":4,\"events\":1" H(
																		   "itl_ns", 1, "1300000000", "1300000000",
																		   "1300000000", "[1613,1]")
																		   H("e2e_ns", 1, "2100000000", "2100000000",
	                                                                         "2100000000", "[1661,1]") "}\n");
}

/* A failure's tokens are apart, it has no latency but its lag; a disconnection on purpose is no failure. */
static void outcomes(void **state)
{
	struct series *s = series_new(10 * TENTH, 0);
	struct request r;
	(void)state;
	request_init(&r, 0);
	fails(&r, "\"http-status\"");
	r.row.start_ns = tenths(1);
	r.row.end_ns = tenths(9);
	r.row.ttft_ns = r.row.e2e_ns = tenths(2);
	event(&r, 3, 5);
	event(&r, 4, 6);
	add(s, &r, 0);
	fails(&r, "\"timeout\"");
	add(s, &r, 0);
	add(s, &r, 0);
	fails(&r, "\"hung-up\"");
	add(s, &r, 0);
	assert_series(s, W0(0) ",\"started\":4,\"failed\":{\"http-status\":1,\"timeout\":2},\"hung_up\":1,"
	                       "\"in_flight_ns\":3200000000,\"failed_output_tokens\":44,\"events\":8}\n");
}

/* A whole answer has one event and no first token; without content, tokens count at the end; a request that never
 * started has an end only; one of which nothing is known counts at 0. */
static void exceptions(void **state)
{
	struct series *s = series_new(10 * TENTH, 0);
	struct request r;
	(void)state;
	request_init(&r, 0);
	r.row.start_ns = tenths(1);
	r.row.end_ns = tenths(22);
	r.row.e2e_ns = tenths(14);
	r.row.input_tokens = 7;
	event(&r, 15, 30);
	add(s, &r, 0);
	request_init(&r, 0);
	fails(&r, "\"cut\"");
	r.row.start_ns = r.row.end_ns = tenths(22);
	r.row.input_tokens = 8;
	r.row.output_tokens = 9;
	add(s, &r, 0);
	request_init(&r, 0);
	fails(&r, "\"cancelled\"");
	r.row.due_ns = tenths(5);
	r.row.end_ns = tenths(15);
	add(s, &r, 0);
	request_init(&r, 0);
	fails(&r, "\"cancelled\"");
	r.row.input_tokens = 3;
	add(s, &r, 0);
	assert_series(
		s,
		W0(0) ",\"scheduled\":1,\"started\":1,\"failed\":{\"cancelled\":1},\"in_flight_ns\":900000000,"
			  "\"input_tokens\":3}\n" W(
				  1,
				  0) ",\"failed\":{\"cancelled\":1},\"in_flight_ns\":1000000000,"
					 "\"input_tokens\":7,\"output_tokens\":30,\"events\":1" H(
						 "e2e_ns", 1, "1400000000", "1400000000", "1400000000",
						 "[1619,1]") "}\n" W(2,
	                                         0) ",\"started\":1,\"ok\":1,\"failed\":{\"cut\":1},\"in_flight_ns\":200000000,\"input_tokens\":8,"
												"\"failed_output_tokens\":9}\n");
}

/* Before the start of the run, and a client beginning 2.5 s after the first one. */
static void negative_and_moved(void **state)
{
	struct series *s = series_new(10 * TENTH, 0);
	struct request r;
	(void)state;
	request_init(&r, 0);
	r.row.start_ns = tenths(-15);
	r.row.end_ns = tenths(-10);
	add(s, &r, 0);
	r.row.end_ns = tenths(-9.5);
	add(s, &r, tenths(25));
	assert_series(
		s, W(-2, 0) ",\"started\":1,\"in_flight_ns\":500000000}\n" W(
			   -1, 0) ",\"ok\":1}\n"
					  "{\"window\":1,\"t_ns\":1000000000,\"length_ns\":1000000000,\"stage\":0,\"started\":1,\"ok\":1,"
					  "\"in_flight_ns\":550000000}\n");
}

/* Nonsensical times neither overflow nor make windows without number. */
static void windows_far_away_are_kept(void **state)
{
	const int64_t most = (INT64_C(1) << 61) - 1;
	struct series *s = series_new(TENTH, 0);
	struct request r;
	(void)state;
	request_init(&r, 0);
	r.row.start_ns = -most;
	r.row.end_ns = r.row.due_ns = most;
	add(s, &r, most);
	assert_int_equal(series_count(s), ROW_WINDOWS_MOST + 1);
	struct window *sum = series_total(s, 0);
	assert_int_equal(sum->in_flight_ns, ROW_WINDOWS_MOST * TENTH);
	window_free(sum);
	series_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),
		cmocka_unit_test(outcomes),
		cmocka_unit_test(exceptions),
		cmocka_unit_test(negative_and_moved),
		cmocka_unit_test(windows_far_away_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
