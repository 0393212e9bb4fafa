/* Columns of rows, and the samples of rows that are picked. */
#include "unit.h"

#include "absent.h"
#include "figures/row_samples.h"

static struct result result_with(int64_t lag_ns, int64_t ttft_ns, int64_t output_tokens)
{
	struct result r;
	result_init(&r);
	r.lag_ns = lag_ns;
	r.ttft_ns = ttft_ns;
	r.output_tokens = output_tokens;
	return r;
}

static void a_column_begins_with_its_first_value(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct row_columns columns = {0};
	for (int64_t at = 0; at < 5000; at++) {
		struct result r = result_with(at, at == 3000 ? 7 : IPF_ABSENT, IPF_ABSENT);
		assert_int_equal(row_columns_add(&columns, at, &r, &err), 0);
	}
	for (int64_t at = 0; at < 5000; at++) {
		struct row row = {.columns = &columns, .at = at};
		assert_int_equal(row_get(&row, METRIC_LAG), at);
		assert_int_equal(row_get(&row, METRIC_TTFT), at == 3000 ? 7 : IPF_ABSENT);
		assert_int_equal(row_get(&row, ROW_OUTPUT_TOKENS), IPF_ABSENT);
	}
	assert_false(column_exists(&columns.list[ROW_OUTPUT_TOKENS]));
	row_columns_release(&columns);
}

/* Some fit into four bytes, some do not; those before the first that does not stay the same. */
static void columns_become_wide(void **state)
{
	static const int64_t values[] = {0, INT32_MAX, IPF_ABSENT, INT32_MIN + 1, -7, INT32_MIN, 5, (int64_t)INT32_MAX + 1};
	struct ipf_error err = {0};
	struct row_columns columns = {0};
	(void)state;
	for (int64_t at = 0; at < 8; at++) {
		struct result r = result_with(values[at], at, IPF_ABSENT);
		assert_int_equal(row_columns_add(&columns, at, &r, &err), 0);
		assert_true((columns.list[METRIC_LAG].wide != NULL) == (at >= 5));
		for (int64_t i = 0; i <= at; i++)
			assert_int_equal(column_value(&columns.list[METRIC_LAG], i), values[i]);
	}
	assert_non_null(columns.list[METRIC_TTFT].narrow);
	assert_false(row_columns_same(&columns, METRIC_LAG, METRIC_TTFT, 8));
	assert_true(row_columns_same(&columns, METRIC_LAG, METRIC_TTFT, 1));
	row_columns_release(&columns);
}

static void ids_of_captures_have_numbers(void **state)
{
	static const struct {
		const char *id;
		int64_t number;
	} ids[] = {{"\"c0\"", 0},          {"\"c17\"", 17},         {"\"c999999999\"", 999999999},   {"\"c\"", IPF_ABSENT},
	           {"\"17\"", IPF_ABSENT}, {"\"c1x\"", IPF_ABSENT}, {"\"c1000000000\"", IPF_ABSENT}, {"\"\"", IPF_ABSENT}};
	struct ipf_error err = {0};
	struct row_columns columns = {0};
	(void)state;
	for (int64_t at = 0; at < 8; at++) {
		struct result r = result_with(at, IPF_ABSENT, IPF_ABSENT);
		r.id = slice_of(ids[at].id);
		assert_int_equal(row_columns_add(&columns, at, &r, &err), 0);
		assert_int_equal(column_value(&columns.list[ROW_CAPTURED], at), ids[at].number);
	}
	row_columns_release(&columns);
}

static void values_have_bounds(void **state)
{
	(void)state;
	struct row_columns columns = {0};
	const struct {
		struct result result;
		const char *says;
	} cases[] = {
		{result_with(ROW_TIME_MOST, -ROW_TIME_MOST, ROW_COUNT_MOST), NULL},
		{result_with(-ROW_TIME_MOST - 1, 0, 0), "lag_ns: -1000000000000000001 is out of range"},
		{result_with(0, ROW_TIME_MOST + 1, 0), "ttft_ns: 1000000000000000001 is out of range"},
		{result_with(0, 0, ROW_COUNT_MOST + 1), "output_tokens: 1000000000001 is out of range"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		assert_int_equal(row_columns_add(&columns, 0, &cases[i].result, &err), cases[i].says ? -1 : 0);
		if (cases[i].says)
			assert_string_equal(err.text, cases[i].says);
	}
	row_columns_release(&columns);
}

struct picks {
	struct row_columns columns;
	struct picked_rows rows;
	struct samples samples;
};

static void pick(struct picks *p, bool ok, bool hung_up, struct result result)
{
	struct ipf_error err = {0};
	int64_t at = (int64_t)p->rows.count;
	struct row row = {.columns = &p->columns, .at = at, .ok = ok};
	row.error = ok ? -1 : hung_up ? VERDICT_HUNG_UP : 0;
	p->rows.columns = &p->columns;
	assert_int_equal(row_columns_add(&p->columns, at, &result, &err), 0);
	picked_rows_add(&p->rows, &row);
}

static void has(struct picks *p, enum metric m, enum latency_origin origin, size_t count, double last, int64_t infinite)
{
	int64_t failures;
	assert_int_equal(row_samples_metric(&p->rows, m, origin, &p->samples, &failures), 0);
	assert_int_equal(p->samples.count, count);
	assert_int_equal(failures, infinite);
	if (count > 0)
		assert_float_equal(p->samples.values[count - 1], last, 0);
}

static void samples_of_metrics(void **state)
{
	(void)state;
	struct picks p = {0};
	pick(&p, true, false, result_with(5, 100, 3));
	pick(&p, true, false, result_with(IPF_ABSENT, 200, IPF_ABSENT));
	pick(&p, false, false, result_with(7, 300, 9));
	pick(&p, false, true, result_with(8, IPF_ABSENT, 9));
	has(&p, METRIC_TTFT, FROM_START, 2, 200, 1);
	has(&p, METRIC_TTFT, FROM_DUE, 1, 105, 1);
	has(&p, METRIC_TTFT, AS_WAITED, 2, 200, 1);
	has(&p, METRIC_LAG, FROM_START, 3, 8, 0); /* failures have it, too */
	has(&p, METRIC_TPOT, FROM_START, 0, 0, 0);
	has(&p, METRIC_E2E, FROM_START, 0, 0, 0); /* no success has one */
	assert_int_equal(row_samples_column(&p.rows, ROW_OUTPUT_TOKENS, &p.samples), 0);
	assert_int_equal(p.samples.count, 1);
	assert_int_equal(row_samples_column(&p.rows, ROW_CACHED_TOKENS, &p.samples), 0);
	assert_int_equal(p.samples.count, 0);
	samples_release(&p.samples);
	picked_rows_release(&p.rows);
	row_columns_release(&p.columns);

	struct picks failed = {0}; /* nothing but failures: those can be infinite */
	pick(&failed, false, false, result_with(7, IPF_ABSENT, IPF_ABSENT));
	has(&failed, METRIC_TTFT, FROM_START, 0, 0, 1);
	has(&failed, METRIC_TPOT, FROM_START, 0, 0, 0);
	samples_release(&failed.samples);
	picked_rows_release(&failed.rows);
	row_columns_release(&failed.columns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_column_begins_with_its_first_value),
		cmocka_unit_test(columns_become_wide),
		cmocka_unit_test(ids_of_captures_have_numbers),
		cmocka_unit_test(values_have_bounds),
		cmocka_unit_test(samples_of_metrics),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
