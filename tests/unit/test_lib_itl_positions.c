/* Inter-token latencies by position: which bin a sample is in, the merge of several parts, and lines that are
 * refused. */
#include "unit.h"

#include "series/itl_positions.h"
#include "stats/rng.h"

static int64_t count_at(const struct itl_positions *all, size_t stage, int bin)
{
	const struct histogram *h = itl_positions_get(all, stage, bin);
	return h ? histogram_count(h) : 0;
}

static void bins_double(void **state)
{
	(void)state;
	struct itl_positions *all = itl_positions_new();
	for (int64_t position = 1; position <= 9; position++)
		assert_int_equal(itl_positions_add(all, 0, position, 100 + position, 1), 0);
	assert_int_equal(itl_positions_add(all, 3, 3, 7, 6), 0);                        /* 3; 4 to 7; 8 */
	assert_int_equal(itl_positions_add(all, 3, INT64_C(1) << 40, 9, INT64_MAX), 0); /* beyond all bins */
	assert_int_equal(itl_positions_add(all, 3, 1, 9, 0), 0);
	const int64_t first[] = {1, 2, 4, 2, 0}, last[] = {0, 1, 4, 1, 0};
	assert_int_equal(itl_positions_stages(all), 4);
	for (int bin = 0; bin < 5; bin++) {
		assert_int_equal(count_at(all, 0, bin), first[bin]);
		assert_int_equal(count_at(all, 1, bin), 0);
		assert_int_equal(count_at(all, 3, bin), last[bin]);
		assert_int_equal(count_at(all, 4, bin), 0);
	}
	assert_int_equal(count_at(all, 3, ITL_POSITION_BINS - 1), INT64_MAX);
	assert_int_equal(histogram_min(itl_positions_get(all, 0, 2)), 104);
	assert_int_equal(histogram_max(itl_positions_get(all, 0, 2)), 107);
	assert_int_equal(itl_position_first(0), 1);
	assert_int_equal(itl_position_first(5), 32);
	itl_positions_free(all);
	itl_positions_free(NULL);
}

static int read_line(struct itl_positions *all, int64_t stage, struct slice line, struct ipf_error *err)
{
	struct jdoc doc = {0};
	assert_int_equal(jdoc_parse(&doc, line.data, line.len, err), 0);
	int status = itl_positions_read(all, stage, &doc, err);
	jdoc_release(&doc);
	return status;
}

static void write_all(const struct itl_positions *all, struct buffer *lines)
{
	for (size_t stage = 0; stage < itl_positions_stages(all); stage++)
		for (int bin = 0; bin < ITL_POSITION_BINS; bin++)
			if (itl_positions_get(all, stage, bin))
				itl_positions_write(all, stage, bin, lines);
	buffer_byte(lines, 0);
}

/* Random answers, counted together and in two parts whose lines are read back, give the same bytes. */
static void parts_are_merged_exactly(void **state)
{
	(void)state;
	struct itl_positions *parts[] = {itl_positions_new(), itl_positions_new()}, *all = itl_positions_new(),
						 *merged = itl_positions_new();
	struct buffer line = {0}, expected = {0}, got = {0};
	struct ipf_error err = {0};
	struct rng rng;
	rng_init(&rng, 1, "positions", 0);
	for (int i = 0; i < 2000; i++) {
		int64_t stage = (int64_t)rng_below(&rng, 3), position = 1 + (int64_t)rng_below(&rng, 5000),
				value = (int64_t)rng_below(&rng, 1000000000), count = 1 + (int64_t)rng_below(&rng, 100);
		assert_int_equal(itl_positions_add(all, stage, position, value, count), 0);
		assert_int_equal(itl_positions_add(parts[i % 2], stage, position, value, count), 0);
	}
	for (int part = 0; part < 2; part++)
		for (size_t stage = 0; stage < 3; stage++)
			for (int bin = 0; bin < ITL_POSITION_BINS; bin++) {
				if (!itl_positions_get(parts[part], stage, bin))
					continue;
				buffer_clear(&line);
				itl_positions_write(parts[part], stage, bin, &line);
				assert_int_equal(read_line(merged, (int64_t)stage, buffer_all(&line), &err), 0);
			}
	write_all(all, &expected);
	write_all(merged, &got);
	assert_string_equal(got.data, expected.data);
	buffer_release(&line);
	buffer_release(&expected);
	buffer_release(&got);
	for (int part = 0; part < 2; part++)
		itl_positions_free(parts[part]);
	itl_positions_free(all);
	itl_positions_free(merged);
}

static void lines_are_as_documented(void **state)
{
	(void)state;
	struct itl_positions *all = itl_positions_new();
	struct buffer line = {0};
	assert_int_equal(itl_positions_add(all, 2, 5, 40, 3), 0);
	itl_positions_write(all, 2, 2, &line);
	buffer_byte(&line, 0);
	assert_string_equal(line.data,
	                    "{\"histogram\":\"itl_by_position_ns\",\"stage\":2,\"position\":4,\"count\":3,\"min\":40,"
	                    "\"max\":40,\"sum\":120,\"buckets\":[[40,3]]}");
	buffer_release(&line);
	itl_positions_free(all);
}

static void bad_lines_are_refused(void **state)
{
	(void)state;
	static const char *const bad[][2] = {
		{"{}", "position: expected a power of two up to 2^31, got nothing"},
		{"{\"position\":0}", "position: expected a power of two up to 2^31, got 0"},
		{"{\"position\":-4}", "position: expected a power of two up to 2^31, got -4"},
		{"{\"position\":6}", "position: expected a power of two up to 2^31, got 6"},
		{"{\"position\":4294967296}", "position: expected a power of two up to 2^31, got 4294967296"},
		{"{\"position\":\"4\"}", "position: expected a power of two up to 2^31, got \"4\""},
		{"{\"position\":4}", "sum: missing"},
		{"{\"position\":4,\"count\":2,\"min\":40,\"max\":40,\"sum\":40,\"buckets\":[[40,1]]}",
	     "count: expected 1, the sum of the buckets, got 2"},
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct itl_positions *all = itl_positions_new();
		struct ipf_error err = {0};
		assert_int_equal(read_line(all, 0, slice_of(bad[i][0]), &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, bad[i][1]));
		assert_null(itl_positions_get(all, 0, 2));
		itl_positions_free(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bins_double),
		cmocka_unit_test(parts_are_merged_exactly),
		cmocka_unit_test(lines_are_as_documented),
		cmocka_unit_test(bad_lines_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
