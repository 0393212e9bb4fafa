/* Another tool's view of a run: which requests count, when, and their statistics. */
#include "unit.h"

#include "absent.h"
#include "exports/row_values.h"

#include <math.h>

enum { ROWS = 6 };

struct fixture {
	struct schedule_stage stages[3];
	struct row rows[ROWS];
	struct run_part parts[2];
	struct run_data run;
	struct report report;
};

struct request {
	int32_t stage, part;
	int64_t start_ns, ttft_ns, e2e_ns, tokens;
};

static void add(struct fixture *f, struct request r)
{
	struct ipf_error err = {0};
	struct result result;
	int64_t at = f->run.row_count++;
	f->rows[at] = (struct row){.columns = &f->run.columns,
	                           .at = at,
	                           .stage = r.stage,
	                           .part = r.part,
	                           .start_ns = r.start_ns,
	                           .end_ns = r.start_ns + r.e2e_ns,
	                           .error = -1,
	                           .ok = true};
	result_init(&result);
	result.ttft_ns = r.ttft_ns;
	result.e2e_ns = result.stream_ns = r.e2e_ns;
	result.input_tokens = 10;
	result.output_tokens = r.tokens;
	assert_int_equal(row_columns_add(&f->run.columns, at, &result, &err), 0);
}

/* A warm-up, a stage of which a request failed and one was ended on purpose, and a stage without requests. */
static void fill(struct fixture *f)
{
	*f = (struct fixture){.stages = {{.name = "a", .kind = "constant", .rate = 1, .slots = IPF_ABSENT},
	                                 {.name = "b", .kind = "poisson", .rate = 2, .slots = 3, .measured = true},
	                                 {.name = "c", .kind = "closed", .rate = NAN, .closed = true, .measured = true}},
	                      .parts = {{.t0_ns = 5000000000}, {.t0_ns = 5000000000}}};
	f->run = (struct run_data){
		.rows = f->rows, .parts = f->parts, .part_count = 1, .schedule = {.stages = f->stages, .count = 3}};
	add(f, (struct request){0, 0, 0, 1, 100, 1});
	add(f, (struct request){1, 0, 1000, 10, 110, 11});
	add(f, (struct request){1, 0, 1050, 20, 40, 1});
	add(f, (struct request){1, 0, 1060, IPF_ABSENT, 900, 0});
	add(f, (struct request){1, 0, 1070, 5, 50, 5});
	add(f, (struct request){1, 1, 1090, 30, 90, 4});
	f->rows[3].ok = f->rows[4].ok = false;
	f->rows[3].error = 0;
	f->rows[4].error = VERDICT_HUNG_UP;
	f->report = (struct report){.run = &f->run};
}

static void one_load_for_each_stage_with_requests(void **state)
{
	(void)state;
	struct fixture f;
	struct load load;
	fill(&f);
	assert_int_equal(load_first(&f.report), 1);
	assert_int_equal(load_next(&f.report, 1), LOAD_END);
	load_init(&load, &f.report, 1);
	assert_int_equal(load.sent, 4);
	assert_int_equal(load.ok, 3);
	assert_int_equal(load.failed, 1);
	assert_int_equal(load.output_tokens, 16);
	assert_int_equal(llround(load.duration_s * 1e9), 960);
	assert_true(load.begin_unix_ns == 5000001000);
	assert_float_equal(load_rate(&load), 2, 0);
	assert_int_equal(load_slots(&load), 3);
	assert_int_equal(load_peak(&load, METRIC_E2E), 2);
	assert_int_equal(load_peak_second(&load, METRIC_E2E), 3);
	/* without requests there is still a load, so a document is not empty */
	f.run.row_count = 1;
	assert_int_equal(load_first(&f.report), LOAD_ALL);
	assert_int_equal(load_next(&f.report, LOAD_ALL), LOAD_END);
	load_init(&load, &f.report, LOAD_ALL);
	assert_int_equal(load.sent, 0);
	assert_true(isnan(load.duration_s));
	assert_true(isnan(load_rate(&load)) && load_slots(&load) == IPF_ABSENT && load_peak(&load, METRIC_E2E) == 0);
	row_columns_release(&f.run.columns);
}

static void repeats_add_up_and_shards_do_not(void **state)
{
	(void)state;
	struct fixture f;
	struct load load;
	fill(&f);
	f.run.part_count = 2;
	load_init(&load, &f.report, LOAD_ALL);
	assert_int_equal(llround(load.duration_s * 1e9), 960 + 90);
	f.run.shards = true;
	f.parts[1].shift_ns = 2000;
	load_init(&load, &f.report, LOAD_ALL);
	assert_int_equal(llround(load.duration_s * 1e9), 2180);
	f.report.reproducible = true;
	load_init(&load, &f.report, LOAD_ALL);
	assert_true(load.begin_unix_ns == IPF_ABSENT);
	row_columns_release(&f.run.columns);
}

static void values_and_their_statistics(void **state)
{
	(void)state;
	struct fixture f;
	struct load load;
	struct row_values v;
	fill(&f);
	load_init(&load, &f.report, 1);
	row_values_of(&v, &load, LOAD_OK, row_tpot, 1);
	assert_int_equal(v.n, 2); /* not that of one token */
	assert_float_equal(v.mean, 15, 1e-12);
	assert_float_equal(v.std, 5, 1e-12);
	assert_float_equal(v.sample_std, sqrt(50), 1e-12);
	assert_float_equal(row_values_percentile(&v, 75), 17.5, 1e-12);
	row_values_release(&v);
	row_values_of(&v, &load, LOAD_SENT, row_e2e, 1);
	assert_int_equal(v.n, 4);
	assert_float_equal(v.sum, 110 + 40 + 900 + 90, 0);
	row_values_release(&v);
	row_values_of(&v, &load, LOAD_FAILED, row_ttft, 1);
	assert_int_equal(v.n, 0);
	assert_true(isnan(v.mean) && isnan(v.std) && isnan(row_values_percentile(&v, 50)));
	row_values_release(&v);
	row_columns_release(&f.run.columns);
}

static void dates(void **state)
{
	(void)state;
	assert_string_equal(load_date(INT64_C(1795156140123456789)).text, "20261120-062900");
	assert_string_equal(load_date(IPF_ABSENT).text, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_load_for_each_stage_with_requests),
		cmocka_unit_test(repeats_add_up_and_shards_do_not),
		cmocka_unit_test(values_and_their_statistics),
		cmocka_unit_test(dates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
