/* Models of recorded traffic, in parts: fits of known processes, and draws from them. */
#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "model/arrival_model.h"
#include "model/dispersion.h"
#include "model/length_model.h"
#include "model/reuse_model.h"

#include <math.h>
#include <string.h>

/* Quantiles: of 0 … 1000, rank r has 1000 r, and the other way round. */
static void quantiles_are_those_of_the_samples(void **state)
{
	struct samples s = {0};
	struct quantile_table t = {.count = 0};
	(void)state;
	for (int i = 1000; i >= 0; i--)
		samples_add(&s, i);
	quantile_table_of(&t, &s);
	assert_int_equal(t.count, 1001);
	for (int i = 0; i <= 1000; i++) {
		assert_true(fabs(quantile_table_at(&t, i / 1000.0) - i) < 1e-6);
		assert_true(fabs(quantile_table_rank(&t, i) - i / 1000.0) < 1e-6);
	}
	assert_true(quantile_table_rank(&t, -5) == 0);
	assert_true(quantile_table_rank(&t, 2000) == 1);
	samples_release(&s);
}

static void equal_values_have_the_rank_in_their_middle(void **state)
{
	struct quantile_table t = {.count = 1};
	(void)state;
	for (int i = 0; i < QUANTILE_KNOTS; i++)
		t.at[i] = 7;
	assert_true(fabs(quantile_table_rank(&t, 7) - 0.5) < 1e-9);
}

static void every_stratum_of_a_block_occurs_once(void **state)
{
	struct strata s;
	bool seen[200] = {false};
	(void)state;
	strata_init(&s, 3, "test", 0, 200);
	for (int i = 0; i < 200; i++) {
		int at = (int)(200 * strata_draw(&s));
		assert_false(seen[at]);
		seen[at] = true;
	}
}

static void rank_correlation_is_that_of_spearman(void **state)
{
	struct pairs p = {0};
	(void)state;
	/* 5 pairs with one tie: x 1 2 2 4 5, y 2 1 4 3 5; mean ranks give 0.66689 (by SciPy). */
	const double x[] = {1, 2, 2, 4, 5}, y[] = {2, 1, 4, 3, 5};
	for (int i = 0; i < 5; i++)
		pairs_add(&p, x[i], y[i]);
	assert_true(fabs(pairs_rank_correlation(&p) - 0.66688592885535) < 1e-9);
	pairs_release(&p);
	for (int i = 0; i < 5; i++)
		pairs_add(&p, 1, y[i]);
	assert_true(isnan(pairs_rank_correlation(&p)));
	pairs_release(&p);
}

static void a_sample_of_pairs_has_a_bound(void **state)
{
	struct pairs p = {0};
	double sum = 0;
	(void)state;
	for (int i = 0; i < 200000; i++)
		pairs_add(&p, i, 0);
	assert_int_equal(p.count, PAIRS_MOST);
	assert_int_equal(p.seen, 200000);
	for (size_t i = 0; i < p.count; i++)
		sum += p.items[i][0];
	assert_true(fabs(sum / PAIRS_MOST - 100000) < 2000);
	pairs_release(&p);
}

/* Four arrivals a second, always, and ten at once each ten seconds, which are known ahead. */
static void dispersion_counts_windows(void **state)
{
	struct dispersion d = {0};
	(void)state;
	for (int64_t s = 0; s <= 4000; s++) {
		if (s % 10 == 0)
			for (int i = 0; i < 10; i++)
				dispersion_expect(&d, s * NS_PER_S + 1);
		for (int i = 0; i < 4; i++)
			dispersion_add(&d, s * NS_PER_S + i * 250000000);
	}
	assert_int_equal(d.scales[0].windows, 4000);
	assert_int_equal(d.scales[9].windows, 4);
	/* 14 in one of ten windows, else 4: mean 5, variance 9. */
	assert_true(fabs(dispersion_index(&d, 0) - 9.0 / 5) < 1e-9);
	assert_true(fabs(dispersion_index(&d, 3)) < 1e-9); /* 50 in each of 10 s */
	dispersion_release(&d);
}

static void fit(struct arrival_model *m, const int64_t *at_ns, int count)
{
	struct arrival_fit f = {.count = 0};
	struct ipf_error err = {0};
	for (int i = 0; i < count; i++)
		assert_int_equal(arrival_fit_add(&f, at_ns[i], &err), 0);
	arrival_fit_end(&f, m);
}

enum { ARRIVALS = 20000 };

/* The index of dispersion of the draws, for windows of so many seconds. */
static double drawn_dispersion(const struct arrival_model *m, double scale, int which)
{
	struct arrival_draw draw;
	struct dispersion d = {0};
	int64_t last = 0;
	arrival_draw_init(&draw, m, scale, 5, 0);
	for (int i = 0; i < ARRIVALS * scale; i++) {
		int64_t at_ns = arrival_draw_next(&draw);
		assert_true(at_ns >= last);
		dispersion_add(&d, last = at_ns);
	}
	double index = dispersion_index(&d, which);
	dispersion_release(&d);
	return index;
}

static void arrivals_of_known_processes(void **state)
{
	static int64_t at_ns[ARRIVALS];
	struct arrival_model m;
	struct rng rng;
	double t = 0;
	(void)state;
	rng_init(&rng, 1, "test", 0);
	for (int i = 0; i < ARRIVALS; i++)
		at_ns[i] = (int64_t)((t += rng_exponential(&rng) / 4) * NS_PER_S);
	fit(&m, at_ns, ARRIVALS);
	assert_int_equal(m.starts, ARRIVALS);
	assert_true(fabs(arrival_model_rate(&m) / 4 - 1) < 0.03);
	assert_true(fabs(drawn_dispersion(&m, 1, 0) - 1) < 0.1); /* Poisson */
	assert_true(fabs(drawn_dispersion(&m, 3, 0) - 1) < 0.1);
	for (int i = 0; i < ARRIVALS; i++)
		at_ns[i] = i * INT64_C(250000000);
	fit(&m, at_ns, ARRIVALS); /* evenly */
	assert_true(drawn_dispersion(&m, 1, 0) < 0.3);
	for (int i = 0; i < ARRIVALS; i++)
		at_ns[i] = i / 8 * INT64_C(2000000000) + i % 8 * 1000; /* eight within microseconds */
	fit(&m, at_ns, ARRIVALS);
	assert_true(fabs(drawn_dispersion(&m, 1, 0) - 4) < 1); /* 0 or 8 in a second */
	assert_true(m.tick_s == 0);
	for (int i = 0; i < ARRIVALS; i++)
		at_ns[i] = i / 8 * INT64_C(2000000000);
	fit(&m, at_ns, ARRIVALS); /* eight at each tick of two seconds */
	assert_true(m.tick_s == 2);
	assert_true(fabs(drawn_dispersion(&m, 1, 0) - 4) < 0.1);
}

static void arrivals_have_to_be_in_order(void **state)
{
	struct arrival_fit f = {.count = 0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(arrival_fit_add(&f, 5, &err), 0);
	assert_int_equal(arrival_fit_add(&f, 4, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
}

/* Answers are a tenth of prompts, and prompts double from turn to turn. */
static void lengths_depend_on_each_other_and_on_the_turn(void **state)
{
	static struct length_fit f;
	static struct length_model m;
	static struct length_draw d;
	static const struct quantile_table turns = {.count = 0};
	struct ipf_error err = {0};
	int64_t input, output, last = 0;
	int close = 0;
	(void)state;
	for (int64_t i = 0; i < 2000; i++)
		for (int64_t turn = 0; turn < 4; turn++) {
			int64_t tokens = (100 + i % 100) << turn;
			length_fit_add(&f, turn, tokens, tokens / 10);
		}
	assert_int_equal(length_fit_end(&f, &turns, &m, &err), 0);
	length_draw_init(&d, &m, &turns, 1, 0);
	for (int i = 0; i < 1000; i++)
		for (int64_t turn = 0; turn < 2; turn++) {
			length_draw_next(&d, turn, &input, &output);
			assert_true(input >= 100 << turn && input < 200 << turn);
			assert_true(fabs((double)output - (double)input / 10) < 2 + (double)input / 100);
			close += turn == 1 && fabs((double)input / (double)last - 2) < 0.3;
			last = input;
		}
	assert_true(close > 700); /* a session keeps about its rank */
	length_fit_release(&f);
}

/* Half of the prompts find all but the last of ten blocks in the prompt 4 to 7 prompts before. */
static void prefixes_come_from_prompts_of_that_age(void **state)
{
	static struct reuse_model m;
	static struct reuse_draw d;
	struct ipf_error err = {0};
	struct reuse_fit f = {0};
	uint64_t ids[10], before[100][10];
	int found = 0, right = 0;
	(void)state;
	for (int64_t i = 0; i < 1000; i++) {
		bool hit = i % 2;
		struct prompt_use use = {.tokens = 160, .hit_tokens = hit ? 144 : 0, .age = hit ? 4 + i / 2 % 4 : 0};
		reuse_fit_note(&f, &use);
	}
	assert_int_equal(reuse_fit_end(&f, 16, &m, &err), 0);
	assert_int_equal(reuse_draw_init(&d, &m, 1, 9, 0), 0);
	for (int i = 0; i < 100; i++) {
		reuse_draw_session(&d);
		assert_int_equal(reuse_draw_blocks(&d, 160), 10);
		assert_int_equal(reuse_draw_prompt(&d, 0, 160, ids), 0);
		memcpy(before[i], ids, sizeof ids);
		for (int k = i - 1; k >= 0; k--)
			if (before[k][8] == ids[8]) { /* the last prompt that has it */
				found++;
				right += i - k >= 2 && i - k <= 9;
				break;
			}
	}
	assert_true(found > 35 && found < 60);
	assert_true(right >= found * 8 / 10);
	reuse_draw_release(&d);
	reuse_fit_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_are_those_of_the_samples),
		cmocka_unit_test(equal_values_have_the_rank_in_their_middle),
		cmocka_unit_test(every_stratum_of_a_block_occurs_once),
		cmocka_unit_test(rank_correlation_is_that_of_spearman),
		cmocka_unit_test(a_sample_of_pairs_has_a_bound),
		cmocka_unit_test(dispersion_counts_windows),
		cmocka_unit_test(arrivals_of_known_processes),
		cmocka_unit_test(arrivals_have_to_be_in_order),
		cmocka_unit_test(lengths_depend_on_each_other_and_on_the_turn),
		cmocka_unit_test(prefixes_come_from_prompts_of_that_age),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
