/* Energy from samples of a power curve that is known, and every reason for which it is not valid. */
#include "unit.h"

#include "clock.h"
#include "series/energy.h"

#include <math.h>

typedef double power_curve(double t_s);

static double constant(double t_s)
{
	(void)t_s;
	return 412.5;
}
static double sine(double t_s)
{
	return 400 + 300 * sin(2 * M_PI * t_s / 7);
}
static double step(double t_s)
{
	return t_s < 11.25 ? 90 : 690;
}

/* The integral of each from 0. */
static double constant_energy(double t_s)
{
	return 412.5 * t_s;
}
static double sine_energy(double t_s)
{
	return 400 * t_s + 300 * 7 / (2 * M_PI) * (1 - cos(2 * M_PI * t_s / 7));
}
static double step_energy(double t_s)
{
	return t_s < 11.25 ? 90 * t_s : 90 * 11.25 + 690 * (t_s - 11.25);
}

static const struct known {
	const char *name;
	power_curve *power, *energy;
} curves[] = {{"constant", constant, constant_energy}, {"sine", sine, sine_energy}, {"step", step, step_energy}};

static int64_t at(double t_s)
{
	return (int64_t)(t_s * 1e9);
}

/* Samples each `every_s` from -2 s to 42 s, a little irregular. */
static struct energy_series *sampled(const struct known *k, double every_s, bool power, bool counter)
{
	struct energy_series *s = energy_series_new();
	uint64_t seed = 7;
	assert_non_null(s);
	for (double t = -2; t <= 42; t += every_s * (0.9 + 0.2 * (double)(test_random(&seed) % 1000) / 1000))
		assert_int_equal(
			energy_series_add(s, at(t), power ? k->power(t) : NAN, counter ? 5000 + k->energy(t) - k->energy(-2) : NAN),
			0);
	return s;
}

static bool within(double value, double expected, double share)
{
	if (fabs(value - expected) <= share * fabs(expected))
		return true;
	print_error("got %.6g, expected %.6g\n", value, expected);
	return false;
}

/* By the counter always within 1 %; by power alone within 1 % unless a step lies between two samples that are far
 * apart, then within half of the step's possible error. */
static void check_curve(const struct known *k, double every_s, bool power, bool counter)
{
	struct energy_series *s = sampled(k, every_s, power, counter);
	double expected = k->energy(30.3) - k->energy(4.7);
	double most = fmax(0.01, k->power == step ? 300 * every_s * 1.1 / expected : 0);
	struct energy e;
	print_message("# %s each %.2f s\n", k->name, every_s);
	energy_between(s, at(4.7), at(30.3), &e);
	assert_int_equal(e.reasons, 0);
	assert_int_equal(e.by_counter, counter);
	if (power)
		assert_true(within(e.integral_j, expected, most));
	if (counter)
		assert_true(within(e.counter_j, expected, 0.01));
	assert_true(e.energy_j == (counter ? e.counter_j : e.integral_j));
	assert_true(e.coverage > 0.999999);
	assert_true(e.largest_gap_ns <= at(every_s * 1.1) + 1);
	energy_series_free(s);
}

static void test_known_curves(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
		for (int ways = 1; ways <= 3; ways++)
			for (double every_s = 0.1; every_s <= 1; every_s *= 1.7)
				check_curve(&curves[i], every_s, ways & 1, ways & 2);
}

/* Any two spans meeting have the energy of both together. */
static void test_spans_add(void **state)
{
	struct energy_series *s = sampled(&curves[1], 0.25, true, true);
	struct energy whole, first, second;
	uint64_t seed = test_seed("spans");
	(void)state;
	for (int i = 0; i < 200; i++) {
		double a = (double)(test_random(&seed) % 20000) / 1000,
			   b = a + 0.001 + (double)(test_random(&seed) % 9000) / 1000,
			   c = b + 0.001 + (double)(test_random(&seed) % 9000) / 1000;
		energy_between(s, at(a), at(c), &whole);
		energy_between(s, at(a), at(b), &first);
		energy_between(s, at(b), at(c), &second);
		assert_true(within(first.energy_j + second.energy_j, whole.energy_j, 1e-9));
		assert_true(within(first.integral_j + second.integral_j, whole.integral_j, 1e-9));
	}
	energy_series_free(s);
}

/* A long run keeps its sums although most samples are dropped. */
static void test_long_run(void **state)
{
	struct energy_series *s = energy_series_new();
	struct energy e;
	(void)state;
	const int count = 20 * ENERGY_POINTS + 13;
	for (int i = 0; i < count; i++) {
		double t = i * 0.1;
		assert_int_equal(energy_series_add(s, at(t), sine(t), sine_energy(t)), 0);
	}
	double end = (count - 1) * 0.1;
	energy_between(s, 0, at(end), &e);
	assert_int_equal(e.reasons, 0);
	assert_true(within(e.counter_j, sine_energy(end), 1e-6));
	assert_true(within(e.integral_j, sine_energy(end), 1e-3));
	assert_true(e.samples <= ENERGY_POINTS);
	assert_true(e.largest_gap_ns <= at(0.1001)); /* the samples', not the remaining ones' */
	energy_between(s, at(1000), at(1600), &e);
	assert_int_equal(e.reasons, 0);
	assert_true(within(e.energy_j, sine_energy(1600) - sine_energy(1000), 0.01));
	energy_series_free(s);
}

struct sample {
	double t_s, power_w, counter_j;
};
enum { FROM = 10, TO = 30 };

/* One sample a second from 0 s to 40 s at 100 W, changed by `change`; faults from 10 s to 30 s. */
static struct energy judged(void (*change)(struct sample *sample, double t_s))
{
	struct energy_series *s = energy_series_new();
	struct energy e;
	for (int i = 0; i <= 40; i++) {
		struct sample sample = {i, 100, 1000 + 100 * i};
		change(&sample, i);
		if (!isnan(sample.t_s))
			assert_int_equal(energy_series_add(s, at(sample.t_s), sample.power_w, sample.counter_j), 0);
	}
	energy_between(s, at(FROM), at(TO), &e);
	energy_series_free(s);
	return e;
}

static void none(struct sample *s, double t_s)
{
	s->t_s = NAN;
	(void)t_s;
}
static void names_only(struct sample *s, double t_s)
{
	s->power_w = s->counter_j = NAN;
	(void)t_s;
}
static void rare(struct sample *s, double t_s)
{
	if (fmod(t_s, 5) != 0)
		s->t_s = NAN;
}
static void late(struct sample *s, double t_s)
{
	if (t_s < 14)
		s->t_s = NAN;
}
static void lost(struct sample *s, double t_s)
{
	if (t_s > 26)
		s->t_s = NAN;
}
static void hole(struct sample *s, double t_s)
{
	if (t_s > 14 && t_s < 20)
		s->t_s = NAN;
}
static void reset(struct sample *s, double t_s)
{
	if (t_s >= 15)
		s->counter_j -= 2400;
}
static void wrap(struct sample *s, double t_s)
{
	s->counter_j += 4294967296e-3 - 2500;
	if (t_s >= 15)
		s->counter_j -= 4294967296e-3;
}
static void stale(struct sample *s, double t_s)
{
	if (t_s > 12 && t_s < 25)
		s->counter_j = 1000 + 100 * 12;
}
static void frozen(struct sample *s, double t_s)
{
	s->counter_j = 1000;
	(void)t_s;
}
static void double_counter(struct sample *s, double t_s)
{
	s->counter_j = 1000 + 200 * t_s;
}
static void counter_only(struct sample *s, double t_s)
{
	s->power_w = NAN;
	(void)t_s;
}
static void nothing(struct sample *s, double t_s)
{
	(void)s;
	(void)t_s;
}
static void invalid_values(struct sample *s, double t_s)
{
	if (t_s == 15)
		s->power_w = -3, s->counter_j = INFINITY;
}

static void test_reasons(void **state)
{
	static const struct {
		void (*change)(struct sample *sample, double t_s);
		unsigned reasons;
		double energy_j; /* NAN: unknown */
	} cases[] = {
		{nothing, 0, 2000},
		{counter_only, 0, 2000},
		{invalid_values, 0, 2000},
		{wrap, 0, 2000},
		{none, 1 << ENERGY_NO_SAMPLES, NAN},
		{names_only, 1 << ENERGY_NOT_REPORTED, NAN},
		{rare, 1 << ENERGY_TOO_FEW_SAMPLES, 2000},
		{late, 1 << ENERGY_BEGAN_LATE | 1 << ENERGY_COVERAGE, 1600},
		{lost, 1 << ENERGY_VANISHED | 1 << ENERGY_COVERAGE, 1600},
		{hole, 1 << ENERGY_GAP | 1 << ENERGY_COVERAGE, 2000},
		{reset, 1 << ENERGY_COUNTER_RESET, 2000},
		{stale, 1 << ENERGY_COUNTER_STALE, 2000},
		{frozen, 1 << ENERGY_COUNTER_STALE, 2000},
		{double_counter, 1 << ENERGY_COUNTER_MISMATCH, 4000},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct energy e = judged(cases[i].change);
		print_message("# case %zu\n", i);
		assert_int_equal(e.reasons, cases[i].reasons);
		if (isnan(cases[i].energy_j))
			assert_true(isnan(e.energy_j));
		else
			assert_true(within(e.energy_j, cases[i].energy_j, 1e-9));
	}
	assert_int_equal(judged(wrap).wraps, 1);
	assert_false(judged(reset).by_counter);
	assert_int_equal(judged(hole).largest_gap_ns, at(6));
	assert_true(within(judged(hole).coverage, 0.7, 1e-9));
}

static void test_outside(void **state)
{
	struct energy_series *s = sampled(&curves[0], 1, true, true);
	struct energy e;
	(void)state;
	energy_between(s, at(100), at(120), &e);
	assert_int_equal(e.reasons, 1 << ENERGY_TOO_FEW_SAMPLES | 1 << ENERGY_VANISHED | 1 << ENERGY_COVERAGE);
	assert_true(isnan(e.energy_j));
	energy_between(s, at(-100), at(-50), &e);
	assert_int_equal(e.reasons, 1 << ENERGY_TOO_FEW_SAMPLES | 1 << ENERGY_BEGAN_LATE | 1 << ENERGY_COVERAGE);
	energy_between(s, at(5), at(5), &e);
	assert_int_equal(e.reasons, 1 << ENERGY_NO_SAMPLES);
	energy_between(NULL, at(5), at(6), &e);
	assert_int_equal(e.reasons, 1 << ENERGY_NO_SAMPLES);
	/* time does not go back */
	energy_between(s, 0, at(10), &e);
	double before = e.energy_j;
	assert_int_equal(energy_series_add(s, at(3), 99999, 99999), 0);
	energy_between(s, 0, at(10), &e);
	assert_true(e.energy_j == before);
	energy_series_free(s);
}

static void test_idle(void **state)
{
	struct energy_series *s = energy_series_new();
	enum energy_idle how;
	(void)state;
	assert_true(isnan(energy_idle_power(s, 0, &how)));
	assert_int_equal(how, ENERGY_IDLE_UNKNOWN);
	for (int i = 0; i < 100; i++)
		energy_series_add(s, at(i), i < 10 ? 80 : i % 10 == 0 ? 130 : 600, NAN);
	assert_true(within(energy_idle_power(s, at(9), &how), 80, 1e-9));
	assert_int_equal(how, ENERGY_IDLE_BEFORE);
	assert_true(within(energy_idle_power(s, at(-1), &how), 80, 1e-9));
	assert_int_equal(how, ENERGY_IDLE_LOWEST);
	energy_series_free(s);
}

static void test_written(void **state)
{
	struct energy_series *s = sampled(&curves[0], 1, true, true);
	struct energy e;
	struct buffer text = {0};
	struct jout to = {.out = &text};
	(void)state;
	energy_between(s, at(0), at(4), &e);
	jout_begin_map(&to);
	energy_write(&e, &to);
	jout_end_map(&to);
	json_t *map = json_loads(text.data, 0, NULL);
	assert_non_null(map);
	assert_true(within(json_real_value(json_object_get(map, "energy_j")), 1650, 1e-9));
	assert_true(json_is_false(json_object_get(map, "valid")));
	assert_string_equal(json_string_value(json_array_get(json_object_get(map, "reasons"), 0)), "too_few_samples");
	json_decref(map);
	buffer_clear(&text);
	to = (struct jout){.out = &text};
	energy_between(NULL, at(0), at(4), &e);
	jout_begin_map(&to);
	energy_write(&e, &to);
	jout_end_map(&to);
	assert_null(strstr(text.data, "energy_j")); /* unknown, not 0 */
	buffer_release(&text);
	energy_series_free(s);
}

static void reasons_in_words(void **state)
{
	char words[64];
	const char *name = "a_name_that_is_longer_than_any_that_we_have_and_longer_than_60_characters";
	(void)state;
	assert_string_equal(energy_reason_words("too_few_samples", words), "too few samples");
	assert_string_equal(energy_reason_words(NULL, words), "");
	assert_int_equal(strlen(energy_reason_words(name, words)), 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(reasons_in_words), cmocka_unit_test(test_known_curves),
	                                   cmocka_unit_test(test_spans_add),   cmocka_unit_test(test_long_run),
	                                   cmocka_unit_test(test_reasons),     cmocka_unit_test(test_outside),
	                                   cmocka_unit_test(test_idle),        cmocka_unit_test(test_written)};
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
