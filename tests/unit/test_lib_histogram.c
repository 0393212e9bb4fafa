#include "stats/histogram.h"

#include "absent.h"
#include "stats/rng.h"
#include "stats/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_close(double got, double wanted, double most)
{
	if (!(fabs(got - wanted) <= most) && !(got <= wanted && got >= wanted))
		fail_msg("got %.17g, expected %.17g", got, wanted);
}

static struct histogram *new_histogram(void)
{
	struct histogram *h = histogram_new();

	assert_non_null(h);
	return h;
}

static int read_text(struct histogram *h, const char *text, struct ipf_error *err)
{
	struct jdoc doc = {0};
	int got;

	assert_int_equal(jdoc_parse(&doc, text, strlen(text), err), 0);
	got = histogram_read(h, &doc, JDOC_ROOT, err);
	jdoc_release(&doc);
	return got;
}

static void assert_text(const struct histogram *h, const char *text)
{
	struct buffer out = {0};

	histogram_write(h, &out);
	assert_string_equal(out.data, text);
	buffer_release(&out);
}

static void empty(void **state)
{
	struct histogram *h = new_histogram(), *other = new_histogram();
	struct ipf_error err = {0};

	(void)state;
	histogram_add(h, 5, 0);
	histogram_add(h, 5, -1);
	histogram_merge(h, other);
	assert_int_equal(histogram_count(h), 0);
	assert_true(histogram_min(h) == IPF_ABSENT);
	assert_true(histogram_max(h) == IPF_ABSENT);
	assert_true(isnan(histogram_mean(h)));
	assert_true(isnan(histogram_std(h)));
	assert_true(isnan(histogram_percentile(h, 50)));
	assert_text(h, "{\"count\":0,\"sum\":0,\"buckets\":[]}");
	assert_int_equal(read_text(h, "{\"count\":0,\"sum\":0,\"buckets\":[]}", &err), 0);
	assert_int_equal(histogram_count(h), 0);
	histogram_free(h);
	histogram_free(other);
	histogram_free(NULL);
}

static void small_values_are_exact(void **state)
{
	struct histogram *h = new_histogram();

	(void)state;
	for (int i = 0; i <= 1000; i++)
		histogram_add(h, i, 1);
	histogram_add(h, -7, 1); /* counts as 0 */
	assert_int_equal(histogram_count(h), 1002);
	assert_int_equal(histogram_min(h), 0);
	assert_int_equal(histogram_max(h), 1000);
	assert_close(histogram_mean(h), 500500.0 / 1002, 1e-12);
	assert_close(histogram_percentile(h, 0), 0, 0);
	assert_close(histogram_percentile(h, 100), 1000, 0);
	assert_close(histogram_percentile(h, 50), 499.5, 1e-9);
	histogram_free(h);
}

/* A single value is returned exactly, since minimum and maximum are exact. */
static void one_value(void **state)
{
	static const int64_t values[] = {0, 1, 511, 512, 1023, 1024, 1025, 123456789, INT64_MAX - 1, INT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		struct histogram *h = new_histogram();
		histogram_add(h, values[i], 3);
		for (double p = 0; p <= 100; p += 20)
			assert_close(histogram_percentile(h, p), (double)values[i], 0);
		assert_close(histogram_mean(h), (double)values[i], 0);
		histogram_free(h);
	}
}

/* Two values at the ends of one bucket, 999424 to 1000447: interpolated between them, not from the bucket's middle. */
static void interpolates_from_the_ends(void **state)
{
	struct histogram *h = new_histogram();

	(void)state;
	histogram_add(h, 999424, 1);
	histogram_add(h, 1000447, 1);
	assert_close(histogram_percentile(h, 25), 999679.75, 0);
	assert_close(histogram_percentile(h, 75), 1000191.25, 0);
	histogram_free(h);
}

/* Over the whole range: the median of three values is returned within 0.1 %. */
static void error_bound(void **state)
{
	uint64_t seed = 12;
	double worst = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, seed, "bound", 0);
	struct histogram *h = new_histogram();
	for (int i = 0; i < 3000; i++) {
		int shift = i % 63;
		int64_t value = (int64_t)(rng_next(&rng) >> (1 + shift));
		double got;
		if (i >= 2000) { /* the edges of buckets */
			value = INT64_C(1) << (62 - shift);
			value += (int64_t)rng_below(&rng, 3) - 1 + (value >> 9) * (int64_t)rng_below(&rng, 512);
		}
		histogram_free(h);
		h = new_histogram();
		histogram_add(h, 0, 1);
		histogram_add(h, value, 1);
		histogram_add(h, INT64_MAX, 1);
		got = histogram_percentile(h, 50);
		worst = fmax(worst, fabs(got - (double)value) / fmax((double)value, 1));
		if (!(fabs(got - (double)value) <= 0.001 * (double)value) || (value < 1024 && fabs(got - (double)value) > 0))
			fail_msg("seed %llu: %lld came back as %.17g", (unsigned long long)seed, (long long)value, got);
	}
	print_message("# error_bound: seed %llu, worst %.5f %%\n", (unsigned long long)seed, worst * 100);
	histogram_free(h);
}

static int64_t draw_gap(struct rng *rng)
{
	return (int64_t)(rng_gamma(rng, 2) * 2e7) + (rng_below(rng, 50) == 0 ? INT64_C(500000000) : 0);
}

/* Merging equals adding all values to one histogram, byte for byte; so does writing and reading back. */
static void merging(void **state)
{
	uint64_t seed = 13;
	struct histogram *all = new_histogram(), *joined = new_histogram(), *reread = new_histogram(), *parts[4];
	struct buffer one = {0}, two = {0};
	struct rng rng;

	(void)state;
	print_message("# merging: seed %llu\n", (unsigned long long)seed);
	rng_init(&rng, seed, "merge", 0);
	for (int i = 0; i < 4; i++)
		parts[i] = new_histogram();
	for (int i = 0; i < 10000; i++) {
		int64_t value = draw_gap(&rng), count = 1 + (int64_t)rng_below(&rng, 3);
		histogram_add(all, value, count);
		histogram_add(parts[rng_below(&rng, 3)], value, count); /* the fourth stays empty */
	}
	for (int i = 0; i < 4; i++) {
		struct ipf_error err = {0};
		struct buffer text = {0};
		histogram_merge(joined, parts[i]);
		histogram_write(parts[i], &text);
		assert_int_equal(read_text(reread, text.data, &err), 0);
		buffer_release(&text);
		histogram_free(parts[i]);
	}
	histogram_write(all, &one);
	histogram_write(joined, &two);
	assert_string_equal(one.data, two.data);
	buffer_clear(&two);
	histogram_write(reread, &two);
	assert_string_equal(one.data, two.data);
	buffer_release(&one);
	buffer_release(&two);
	histogram_free(all);
	histogram_free(joined);
	histogram_free(reread);
}

/* A bucket's middle is no estimate of values the extremes exclude. */
static void equal_values_have_no_deviation(void **state)
{
	struct histogram *h = new_histogram();

	(void)state;
	histogram_add(h, 10000000, 3);
	assert_close(histogram_std(h), 0, 0);
	histogram_free(h);
}

/* Agrees with the exact statistics within 0.1 %. */
static void agrees_with_samples(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		struct histogram *h = new_histogram();
		struct samples s = {0};
		struct rng rng;
		size_t count;

		rng_init(&rng, seed, "agree", 0);
		count = 1 + rng_below(&rng, 3000);
		print_message("# agrees_with_samples: seed %llu, %zu values\n", (unsigned long long)seed, count);
		for (size_t i = 0; i < count; i++) {
			int64_t value = draw_gap(&rng);
			histogram_add(h, value, 1);
			samples_add(&s, (double)value);
		}
		for (double p = 0; p <= 100; p += 0.25) {
			double exact = samples_percentile(&s, p);
			assert_close(histogram_percentile(h, p), exact, exact * 0.001);
		}
		assert_close(histogram_percentile(h, 0), samples_percentile(&s, 0), 0);
		assert_close(histogram_percentile(h, 100), samples_percentile(&s, 100), 0);
		assert_close(histogram_mean(h), samples_mean(&s), samples_mean(&s) * 1e-12);
		assert_close(histogram_std(h), samples_std(&s), samples_mean(&s) * 0.001);
		samples_release(&s);
		histogram_free(h);
	}
}

static void great_numbers(void **state)
{
	struct histogram *h = new_histogram(), *again = new_histogram();
	struct ipf_error err = {0};

	(void)state;
	histogram_add(h, INT64_MAX, 2);
	histogram_add(h, 0, 1);
	assert_text(
		h,
		"{\"count\":3,\"min\":0,\"max\":9223372036854775807,\"sum\":18446744073709551614,\"buckets\":[[0,1],[28159,2]]}");
	assert_int_equal(read_text(again,
	                           "{\"count\":3,\"min\":0,\"max\":9223372036854775807,\"sum\":18446744073709551614,"
	                           "\"buckets\":[[0,1],[28159,2]]}",
	                           &err),
	                 0);
	assert_close(histogram_mean(again), 18446744073709551614.0 / 3, 4096);
	histogram_add(h, 5, INT64_MAX); /* the count saturates */
	assert_true(histogram_count(h) == INT64_MAX);
	assert_close(histogram_percentile(h, 50), 5, 0);
	histogram_free(h);
	histogram_free(again);
}

static void refuses_what_makes_no_sense(void **state)
{
	static const char *const bad[] = {
		"[]",
		"7",
		"{}",
		"{\"count\":1}",
		"{\"count\":0,\"sum\":0}",
		"{\"count\":0,\"buckets\":[]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":{}}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[5,1]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,1,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,\"1\"]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,1.5]]}",
		"{\"count\":0,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,0]]}",
		"{\"count\":-1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,-1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[28160,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[2000000000,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[-1,1]]}",
		"{\"count\":2,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,1],[5,1]]}",
		"{\"count\":2,\"min\":5,\"max\":6,\"sum\":5,\"buckets\":[[6,1],[5,1]]}",
		"{\"count\":2,\"min\":5,\"max\":5,\"sum\":5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":4,\"max\":5,\"sum\":5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":5,\"max\":6,\"sum\":5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"max\":5,\"sum\":5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":\"5\",\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":-5,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":5,\"max\":5,\"sum\":5.0,\"buckets\":[[5,1]]}",
		"{\"count\":1,\"min\":\"5\",\"max\":5,\"sum\":5,\"buckets\":[[5,1]]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct histogram *h = new_histogram();
		struct ipf_error err = {0};
		histogram_add(h, 3, 1);
		if (read_text(h, bad[i], &err) != -1 || err.kind != IPF_INPUT || !err.text[0])
			fail_msg("%s was accepted (%s)", bad[i], err.text);
		assert_int_equal(histogram_count(h), 1); /* unchanged */
		histogram_free(h);
	}
}

/* 64 buckets an octave: within 0.8 %, and little memory for values that are close together. */
static void coarse(void **state)
{
	struct histogram *h = histogram_new_coarse(), *again = histogram_new_coarse(), *one;
	struct ipf_error err = {0};
	struct rng rng;

	(void)state;
	rng_init(&rng, 14, "coarse", 0);
	for (int i = 0; i < 3000; i++) {
		int64_t value = (int64_t)(rng_next(&rng) >> (1 + i % 63));
		one = histogram_new_coarse();
		histogram_add(one, 0, 1);
		histogram_add(one, value, 1);
		histogram_add(one, INT64_MAX, 1);
		assert_close(histogram_percentile(one, 50), (double)value, 0.008 * (double)value);
		assert_true(histogram_memory(one) < 32000);
		histogram_free(one);
	}
	histogram_add(h, 63, 1);
	histogram_add(h, 64, 2);
	histogram_add(h, 129, 1); /* 128 and 129 share a bucket */
	assert_true(histogram_memory(h) < 2000);
	assert_text(h, "{\"count\":4,\"min\":63,\"max\":129,\"sum\":320,\"buckets\":[[63,1],[64,2],[128,1]]}");
	assert_int_equal(read_text(again, "{\"count\":1,\"min\":1,\"max\":1,\"sum\":1,\"buckets\":[[1,1]]}", &err), 0);
	histogram_merge(again, h);
	assert_text(again, "{\"count\":5,\"min\":1,\"max\":129,\"sum\":321,\"buckets\":[[1,1],[63,1],[64,2],[128,1]]}");
	assert_int_equal(read_text(h, "{\"count\":1,\"min\":9,\"max\":9,\"sum\":9,\"buckets\":[[3712,1]]}", &err), -1);
	histogram_free(h);
	histogram_free(again);
}

static void buckets_in_order(void **state)
{
	struct histogram *h = histogram_new_coarse();
	struct histogram_bucket bucket = {0};
	int next = 0;
	(void)state;
	assert_false(histogram_next(h, &next, &bucket));
	histogram_add(h, 5, 2);
	histogram_add(h, 130, 3); /* buckets of 2 from 128 on */
	histogram_add(h, 131, 1);
	histogram_add(h, 7, 1);
	const struct histogram_bucket expected[] = {{5, 5, 2}, {7, 7, 1}, {130, 131, 4}};
	for (int i = 0; i < 3; i++) {
		assert_true(histogram_next(h, &next, &bucket));
		assert_memory_equal(&bucket, &expected[i], sizeof bucket);
	}
	assert_false(histogram_next(h, &next, &bucket));
	assert_false(histogram_next(h, &next, &bucket));
	/* the last bucket ends at the greatest number, the one before it where that begins */
	const int64_t last = INT64_MAX - (INT64_C(1) << 56) + 1;
	histogram_add(h, last - 1, 1);
	histogram_add(h, last, 1);
	assert_true(histogram_next(h, &next, &bucket));
	assert_int_equal(bucket.high, last - 1);
	assert_true(histogram_next(h, &next, &bucket));
	assert_int_equal(bucket.low, last);
	assert_int_equal(bucket.high, INT64_MAX);
	histogram_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_in_order),
		cmocka_unit_test(empty),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(one_value),
		cmocka_unit_test(interpolates_from_the_ends),
		cmocka_unit_test(error_bound),
		cmocka_unit_test(merging),
		cmocka_unit_test(equal_values_have_no_deviation),
		cmocka_unit_test(agrees_with_samples),
		cmocka_unit_test(great_numbers),
		cmocka_unit_test(coarse),
		cmocka_unit_test(refuses_what_makes_no_sense),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
