/* The data of plots, of requests made by hand: arrivals and their gaps, TTFT by prompt length, lanes, densities. */
#include "unit.h"

#include "absent.h"
#include "plots/density.h"
#include "plots/plot_kind.h"

#include <math.h>

enum { ROWS_MOST = 100 };

struct small_run {
	struct row rows[ROWS_MOST];
	int64_t ttft_ns[ROWS_MOST], input_tokens[ROWS_MOST];
	struct run_part part;
	struct schedule_stage stage;
	struct figures figures;
	struct run_data run;
	struct run_figures all;
	struct plot_input input;
};

/* A run of one measured stage without requests. */
static void begin(struct small_run *r)
{
	*r = (struct small_run){.stage = {.name = "a", .measured = true}};
	r->figures = (struct figures){.name = "a", .measured = true};
	r->run = (struct run_data){.rows = r->rows, .parts = &r->part, .part_count = 1, .schedule = {.count = 1}};
	r->run.schedule.stages = &r->stage;
	r->run.columns.list[METRIC_TTFT].wide = r->ttft_ns;
	r->run.columns.list[ROW_INPUT_TOKENS].wide = r->input_tokens;
	r->all = (struct run_figures){.stages = &r->figures, .count = 1};
	r->input = (struct plot_input){.run = &r->run, .figures = &r->all};
}

static struct row *add(struct small_run *r, double due_s)
{
	int64_t at = r->run.row_count++;
	struct row *row = &r->rows[at];
	*row = (struct row){.columns = &r->run.columns,
	                    .at = at,
	                    .n = at,
	                    .ok = true,
	                    .due_ns = (int64_t)(due_s * 1e9),
	                    .start_ns = (int64_t)(due_s * 1e9)};
	row->end_ns = row->start_ns + INT64_C(1000000000);
	r->ttft_ns[at] = r->input_tokens[at] = IPF_ABSENT;
	r->figures.ok++;
	return row;
}

static void is_data(struct plot *p, const char *expected)
{
	assert_false(plot_failed(p));
	buffer_byte(&p->data, 0);
	assert_string_equal(p->data.data, expected);
	plot_release(p);
}

static void is_absent(struct plot *p, int made, const char *why)
{
	assert_int_equal(made, 0);
	assert_string_equal(p->absent, why);
	plot_release(p);
}

static void test_arrivals(void **state)
{
	struct small_run r;
	struct plot p = {.name = "a", .width = 640, .height = 400};
	(void)state;
	begin(&r);
	is_absent(&p, make_arrivals_plot(NULL, &r.input, &p), "fewer than two requests have a due time");
	/* 160 s in at most 160 steps: of 1 s */
	add(&r, 1.5);
	add(&r, 0);
	add(&r, 1);
	add(&r, 3);
	add(&r, 160)->due_ns -= 1;
	p = (struct plot){.name = "a", .width = 640, .height = 400};
	assert_int_equal(make_arrivals_plot(NULL, &r.input, &p), 1);
	const char *head = "# t_s\tarrivals\tarrivals_per_s\n0\t1\t1\n1\t2\t2\n2\t0\t0\n3\t1\t1\n4\t0\t0\n";
	assert_memory_equal(p.data.data, head, strlen(head));
	const char *tail = "158\t0\t0\n159\t1\t1\n";
	assert_memory_equal(p.data.data + p.data.len - strlen(tail), tail, strlen(tail));
	plot_release(&p);
	r.run.part_count = 2;
	p = (struct plot){.name = "a"};
	is_absent(&p, make_arrivals_plot(NULL, &r.input, &p), "repeats of a run have no time in common");
}

static void test_gaps(void **state)
{
	struct small_run r;
	struct plot p = {.name = "a", .width = 640, .height = 400};
	(void)state;
	begin(&r);
	add(&r, 2);
	add(&r, 0);
	is_absent(&p, make_gaps_plot(NULL, &r.input, &p), "no measured stage has three due times");
	add(&r, 6);
	add(&r, 1);
	p = (struct plot){.name = "a", .width = 640, .height = 400};
	assert_int_equal(make_gaps_plot(NULL, &r.input, &p), 1);
	/* gaps 1, 1, 4 s; mean 2 s */
	is_data(&p, "# gap_per_mean_gap\tshare\tgap_ms\n0.5\t0.333333\t1000\n0.5\t0.666667\t1000\n2\t1\t4000\n");
}

static void test_prompt_lengths(void **state)
{
	struct small_run r;
	struct plot p = {.name = "a", .width = 640, .height = 400};
	(void)state;
	begin(&r);
	for (int i = 16; i >= 1; i--) {
		struct row *row = add(&r, i);
		r.input_tokens[row->at] = i;
		r.ttft_ns[row->at] = (i % 2 ? 100 + i : i) * INT64_C(1000000);
	}
	r.input_tokens[add(&r, 1)->at] = 99;    /* without a TTFT */
	r.ttft_ns[add(&r, 1)->at] = 1000000000; /* a prompt of unknown length */
	add(&r, 1)->ok = false;
	assert_int_equal(make_input_plot(NULL, &r.input, &p), 1);
	const char *head = "# input_tokens\tttft_ms\tn\n1\t101\t15\n2\t2\t14\n3\t103\t13\n";
	assert_memory_equal(p.data.data, head, strlen(head));
	/* 1 … 8 tokens: 2 4 6 8 101 103 105 107 ms; 9 … 16: 10 12 14 16 109 111 113 115 ms */
	const char *tail = "\n\n\n# input_tokens_median\tttft_median_ms\trequests\n4.5\t54.5\t8\n12.5\t62.5\t8\n";
	assert_memory_equal(p.data.data + p.data.len - strlen(tail), tail, strlen(tail));
	plot_release(&p);
	for (int i = 0; i < 16; i++)
		r.input_tokens[i] = 7;
	p = (struct plot){.name = "a"};
	is_absent(&p, make_input_plot(NULL, &r.input, &p), "all prompts have the same length");
}

static void test_lanes(void **state)
{
	struct small_run r;
	struct plot p = {.name = "a", .width = 640, .height = 400};
	(void)state;
	begin(&r);
	is_absent(&p, make_lane_plot(NULL, &r.input, &p), "no request started");
	add(&r, 2)->ok = false;
	struct row *row = add(&r, 1);
	row->start_ns += INT64_C(500000000);
	r.ttft_ns[row->at] = INT64_C(250000000);
	add(&r, 3)->start_ns = IPF_ABSENT;
	p = (struct plot){.name = "a", .width = 640, .height = 400};
	assert_int_equal(make_lane_plot(NULL, &r.input, &p), 1);
	is_data(&p,
	        "# lane\tdue_s\tstart_s\tfirst_token_s\tend_s\tok\tn\n1\t1\t1.5\t1.75\t2\t1\t1\n2\t2\t2\tNaN\t3\t0\t0\n");
	/* 100 requests of 1 s, dots in 1000 s, but bars in 40 s */
	for (int close = 0; close < 2; close++) {
		begin(&r);
		for (int i = 0; i < ROWS_MOST; i++)
			add(&r, close ? 0.4 * i : 10 * i);
		r.rows[50].end_ns += INT64_C(35000000000);
		p = (struct plot){.name = "a", .width = 640, .height = 400};
		assert_int_equal(make_lane_plot(NULL, &r.input, &p), 1);
		assert_true(slice_is(buffer_all(&p.title), close ? "60 of 100 requests, at equal distances"
		                                                 : "60 of 100 requests, when most were in flight"));
		const char *first = close ? "1\t0\t0\t" : "1\t210\t210\t"; /* 510 … 530 s have two: 51 - 30 */
		assert_memory_equal(strchr(p.data.data, '\n') + 1, first, strlen(first));
		plot_release(&p);
	}
}

static void test_density(void **state)
{
	const struct plot_axis x = {0, 10, false}, y = {1, 1000, true};
	struct plot p = {.name = "a", .width = 640, .height = 400};
	struct density d;
	(void)state;
	density_init(&d, &x, &y, 5);
	density_add(&d, 0, 1, 1);
	density_add(&d, 1.9, 1.2, 2); /* the same cell: 0 … 2, 1 … 1000^(1/30) = 1.2589 */
	density_add(&d, 10, 1000, 1); /* the last cell */
	density_add(&d, 11, 5000, 1); /* beyond: the last cell, too */
	density_add(&d, 5, 0, 1);     /* not on the axis: the lowest cell */
	density_add(&d, NAN, 10, 1);
	density_draw(&d, &p, "t_s", "ms", "gaps");
	density_release(&d);
	is_data(&p, "# t_s_low\tt_s_high\tms_low\tms_high\tcount\n0\t2\t1\t1.258925\t3\n4\t6\t1\t1.258925\t1\n"
	            "8\t10\t794.328235\t1000\t2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals), cmocka_unit_test(test_gaps),    cmocka_unit_test(test_prompt_lengths),
		cmocka_unit_test(test_lanes),    cmocka_unit_test(test_density),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
