/* Do the arrivals of kinds whose rate changes follow it? Laid along the area under the rate, computed here anew, they
 * have to be those of their process= at a rate of 1. */
#include "sched_arrivals.h"

#include <stdio.h>
#include <unistd.h>

#define PI 3.14159265358979323846

/* The area under the rate up to t seconds, for the specs below. */
static double ramp_area(double t)
{
	return 2 * t + (30 - 2) * t * t / (2 * 600); /* from 2 to 30 in 600 s */
}

static double fall_area(double t)
{
	return 40 * t - 40 * t * t / (2 * 500); /* from 40 to 0 in 500 s */
}

static double steps_area(double t)
{
	static const double rates[] = {5, 0, 20, 10};
	double area = 0;

	for (int i = 0; i < 4; i++)
		area += rates[i] * fmin(200, fmax(0, t - 200 * i));
	return area;
}

static double sine_area(double t)
{
	return 10 * t - 10 * 60 / (2 * PI) * sin(2 * PI * t / 60); /* from 0 to 20, every 60 s */
}

static double spike_area(double t)
{
	double periods = floor(t / 30), rest = t - 30 * periods; /* base 4, peak 40, every 30 s, for 5 s */

	return periods * (25 * 4 + 5 * 40) + fmin(rest, 25) * 4 + fmax(0, rest - 25) * 40;
}

static const struct {
	const char *spec;
	double length;
	double (*area)(double t);
} shapes[] = {
	{"ramp:from=2,to=30,for=10m", 600, ramp_area},
	{"ramp:from=40,to=0,for=500s", 500, fall_area},
	{"steps:rates=5,0,20,10,each=200s", 800, steps_area},
	{"sine:low=0,high=20,every=1m,for=990s", 990, sine_area},
	{"spike:base=4,peak=40,every=30s,width=5s,for=1000s", 1000, spike_area},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Chi-square: do the counts in windows of `window` seconds have the variance of Poisson's, around the area each window
 * has? Its mean is the number of windows, its variance 2 a window and 1/mean more for each (a Poisson count's fourth
 * moment). */
static double windows_off(const struct times *t, double window, double length, double (*area)(double t))
{
	double chi = 0, expected = 0, variance = 0;
	size_t at = 0;

	for (double from = 0; from + window <= length * (1 + 1e-12); from += window) {
		double mean = area(from + window) - area(from), count = 0;
		for (; at < t->count && t->s[at] < from + window; at++)
			count++;
		if (mean < 1e-3) {
			assert_true(count <= 2);
			continue;
		}
		chi += (count - mean) * (count - mean) / mean;
		expected++;
		variance += 2 + 1 / mean;
	}
	return (chi - expected) / sqrt(variance);
}

/* The gaps along the area are exponential, the rate is followed, and so it looks at every scale. */
static void check_poisson_along(const char *spec, double length, double (*area)(double t), uint64_t seed)
{
	static const double scales[] = {0.05, 0.2, 1, 5, 20, 60};
	struct times t = arrivals(spec, seed, 0, 0);
	double total = area(length), deviation = ((double)t.count - total) / sqrt(total), *gaps, distance, one = 1;

	if (fabs(deviation) > 4)
		fail_msg("%s, seed %llu: %zu arrivals of %.0f", spec, (unsigned long long)seed, t.count, total);
	for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
		deviation = windows_off(&t, scales[i], length, area);
		if (fabs(deviation) > 5)
			fail_msg("%s, seed %llu: counts in %g s: chi-square %.1f deviations off", spec, (unsigned long long)seed,
			         scales[i], deviation);
	}
	for (size_t k = 0; k < t.count; k++)
		t.s[k] = area(t.s[k]);
	gaps = gaps_of(&t);
	distance = ks(gaps, t.count - 1, exponential_cdf, &one);
	if (distance > KS_BOUND)
		fail_msg("%s, seed %llu: gaps along the area: %.2f", spec, (unsigned long long)seed, distance);
	distance = ks(t.s, t.count, uniform_cdf, &total);
	if (distance > KS_BOUND)
		fail_msg("%s, seed %llu: the rate is not followed: %.2f", spec, (unsigned long long)seed, distance);
	free(gaps);
	times_free(&t);
}

static void test_poisson_along_a_rate(void **state)
{
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (int round = 0; round < 5; round++, seed++)
		for (size_t i = 0; i < SHAPES; i++)
			check_poisson_along(shapes[i].spec, shapes[i].length, shapes[i].area, seed);
}

/* The lines of the file below; the last one's rate goes on to 700 s. */
static const struct {
	double at, rate;
} lines[] = {{0, 5}, {60.5, 40}, {200, 0}, {260, 12}, {400, 30}, {600, 3}};
enum { LINES = sizeof lines / sizeof *lines };

static double lines_area(double t, bool linear)
{
	double area = 0;

	for (int i = 0; i < LINES && lines[i].at < t; i++) {
		double end = i + 1 < LINES ? lines[i + 1].at : 700, length = fmin(t, end) - lines[i].at;
		double slope = linear && i + 1 < LINES ? (lines[i + 1].rate - lines[i].rate) / (end - lines[i].at) : 0;
		area += lines[i].rate * length + slope * length * length / 2;
	}
	return area;
}

static double file_steps_area(double t)
{
	return lines_area(t, false);
}

static double file_linear_area(double t)
{
	return lines_area(t, true);
}

static void test_poisson_along_a_file(void **state)
{
	uint64_t seed = test_seed(__func__);
	char path[] = "/tmp/ipf-test-rates-XXXXXX", steps[100], linear[100];
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	(void)state;
	assert_non_null(f);
	for (int i = 0; i < LINES; i++)
		fprintf(f, "%g,%g\n", lines[i].at, lines[i].rate);
	assert_int_equal(fclose(f), 0);
	snprintf(steps, sizeof steps, "rates:file=%s,for=700s", path);
	snprintf(linear, sizeof linear, "rates:file=%s,linear,for=700s", path);
	for (int round = 0; round < 5; round++, seed++) {
		check_poisson_along(steps, 700, file_steps_area, seed);
		check_poisson_along(linear, 700, file_linear_area, seed);
	}
	unlink(path);
}

/* With process=constant arrival k comes where the area is k. */
static void test_constant_along_a_rate(void **state)
{
	(void)state;
	for (size_t i = 0; i < SHAPES; i++) {
		char spec[100];
		struct times t;
		snprintf(spec, sizeof spec, "%s,process=constant", shapes[i].spec);
		t = arrivals(spec, 1, 0, 0);
		assert_int_equal(t.count, ceil(shapes[i].area(shapes[i].length) - 1e-6));
		for (size_t k = 0; k < t.count; k++)
			if (fabs(shapes[i].area(t.s[k]) - (double)k) > 1e-6)
				fail_msg("%s: arrival %zu at %.9f s, where the area is %.9f", spec, k, t.s[k], shapes[i].area(t.s[k]));
		times_free(&t);
	}
}

/* Along a sine arrival k comes where the area is k, to the nanosecond, however long the period and however thick they
 * come. The exception is the error of a double in the area, which is much time where the rate is next to nothing. */
static void test_a_sine_is_exact(void **state)
{
	enum { COUNT = 200000 };
	static const struct {
		const char *spec;
		double low, high, every_ns;
	} cases[] = {
		{"low=5M,high=15M,every=100ms", 5e6, 15e6, 1e8}, {"low=0,high=20M,every=100ms", 0, 20e6, 1e8},
		{"low=0,high=100M,every=1ms", 0, 1e8, 1e6},      {"low=1M,high=500M,every=1ms", 1e6, 5e8, 1e6},
		{"low=1,high=1M,every=300ms", 1, 1e6, 3e8},      {"low=0,high=20k,every=1m", 0, 20e3, 6e10},
		{"low=10k,high=10k,every=1s", 10e3, 10e3, 1e9},  {"low=1,high=3,every=24h", 1, 3, 86400e9},
		{"low=0,high=20,every=1m", 0, 20, 6e10},         {"low=0.01,high=50,every=7s", 0.01, 50, 7e9},
		{"low=0,high=5,every=24h", 0, 5, 86400e9},       {"low=0,high=1,every=365d", 0, 1, 365 * 86400e9},
	};
	const long double turn = 8 * atanl(1);

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		long double mean = ((long double)cases[i].low + cases[i].high) / 2e9L,
					e = (cases[i].high - cases[i].low) / 2e9L / mean;
		char spec[100];
		struct times t;
		snprintf(spec, sizeof spec, "sine:%s,process=constant", cases[i].spec);
		t = arrivals(spec, 1, 0, COUNT);
		for (size_t k = 1; k < t.count; k++) {
			long double y = t.ns[k] / (long double)cases[i].every_ns, part = y - floorl(y);
			long double area = mean * cases[i].every_ns * (y - e * sinl(turn * part) / turn),
						rate = mean * (1 - e * cosl(turn * part));
			long double allowed = 0.52L + 0x1p-51L * (k + mean * cases[i].every_ns) / rate;
			assert_true(t.ns[k] >= t.ns[k - 1]);
			if (fabsl(area - k) > allowed * rate)
				fail_msg("%s: arrival %zu at %lld ns, %.3Lf ns from where the area is", spec, k, (long long)t.ns[k],
				         (area - k) / rate);
		}
		assert_int_equal(t.ns[0], 0);
		times_free(&t);
	}
}

static void test_other_processes_keep_their_variation(void **state)
{
	static const struct {
		const char *process;
		double cv;
	} cases[] = {{"gamma,cv=2", 2},
	             {"gamma,cv=0.5", 0.5},
	             {"weibull,cv=1.5", 1.5},
	             {"uniform", 0.57735},
	             {"uniform,cv=0.2", 0.2}};
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (size_t i = 0; i < SHAPES; i++) {
		for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
			char spec[100];
			double sum = 0, squares = 0, cv, *gaps;
			struct times t;
			size_t n;
			snprintf(spec, sizeof spec, "%s,process=%s", shapes[i].spec, cases[k].process);
			t = arrivals(spec, seed, 0, 0);
			for (size_t at = 0; at < t.count; at++)
				t.s[at] = shapes[i].area(t.s[at]);
			gaps = gaps_of(&t);
			n = t.count - 1;
			for (size_t at = 0; at < n; at++) {
				sum += gaps[at];
				squares += gaps[at] * gaps[at];
			}
			cv = sqrt(squares * (double)n / (sum * sum) - 1);
			if (fabs(sum / (double)n - 1) > 4.5 * cases[k].cv / sqrt((double)n) || fabs(cv / cases[k].cv - 1) > 0.15)
				fail_msg("%s, seed %llu: mean %.3f, CV %.3f", spec, (unsigned long long)seed, sum / (double)n, cv);
			free(gaps);
			times_free(&t);
		}
	}
}

/* Rate 20 when on (mean 3 s), 2 when off (mean 5 s): mean and variance of the counts in 10 s, from the covariance of
 * the states, which falls with exp(-(1/3 + 1/5) t). */
static void test_onoff_has_mean_and_variance(void **state)
{
	enum { STAGES = 4000 };
	uint64_t seed = test_seed(__func__);
	double c = 1.0 / 3 + 1.0 / 5, share = 3.0 / 8, length = 10, sum = 0, squares = 0, mean, variance;
	double expected_mean = length * (2 + 18 * share);
	double expected = expected_mean +
	                  2 * 18 * 18 * share * (1 - share) * (length / c - (1 - exp(-c * length)) / (c * c));

	(void)state;
	for (uint64_t i = 0; i < STAGES; i++) {
		struct times t = arrivals("onoff:peak=20,base=2,on=3s,off=5s,for=10s", seed, i, 0);
		sum += (double)t.count;
		squares += (double)t.count * (double)t.count;
		times_free(&t);
	}
	mean = sum / STAGES;
	variance = squares / STAGES - mean * mean;
	if (fabs(mean - expected_mean) > 4.5 * sqrt(expected / STAGES))
		fail_msg("mean %.2f, not %.2f", mean, expected_mean);
	if (fabs(variance / expected - 1) > 4.5 * sqrt(2.0 / STAGES))
		fail_msg("variance %.1f, not %.1f", variance, expected);
}

/* The effect of process= on the gaps leaves the states alone: without base=, arrivals come only while they are on. */
static void test_onoff_states_are_their_own(void **state)
{
	uint64_t seed = test_seed(__func__);
	struct times dense = arrivals("onoff:peak=10000,on=1s,off=1s,for=60s,process=constant", seed, 0, 0);
	struct times sparse = arrivals("onoff:peak=20,on=1s,off=1s,for=60s", seed, 0, 0);
	size_t at = 0;

	(void)state;
	assert_true(sparse.count > 100);
	for (size_t i = 0; i < sparse.count; i++) {
		while (at + 1 < dense.count && dense.s[at + 1] <= sparse.s[i])
			at++;
		/* an arrival of the dense ones is near, on either side */
		assert_true(sparse.s[i] - dense.s[at] < 0.00011 ||
		            (at + 1 < dense.count && dense.s[at + 1] - sparse.s[i] < 0.00011));
	}
	times_free(&dense);
	times_free(&sparse);
}

/* How long it is on and off: arrivals come every millisecond while it is on, so a longer gap is a time in which it was
 * off. */
static void test_onoff_times_are_exponential(void **state)
{
	static const double on_rate = 0.5, off_rate = 1; /* ends a second */
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (int round = 0; round < 5; round++, seed++) {
		struct times t = arrivals("onoff:peak=1000,on=2s,off=1s,for=1h,process=constant", seed, 0, 0);
		double *offs = malloc(t.count * sizeof *offs), *ons = malloc(t.count * sizeof *ons), since = NAN, distance;
		size_t off_count = 0, on_count = 0;
		assert_true(offs && ons);
		for (size_t i = 1; i < t.count; i++) {
			double gap = t.s[i] - t.s[i - 1];
			if (gap < 0.003)
				continue;
			offs[off_count++] = gap - 0.001;
			if (!isnan(since))
				ons[on_count++] = t.s[i - 1] - since;
			since = t.s[i];
		}
		distance = fmax(ks(offs, off_count, exponential_cdf, &off_rate), ks(ons, on_count, exponential_cdf, &on_rate));
		if (off_count < 900 || distance > KS_BOUND)
			fail_msg("seed %llu: %zu times, which are not exponential: %.2f", (unsigned long long)seed, off_count,
			         distance);
		free(offs);
		free(ons);
		times_free(&t);
	}
}

static void test_planned_rates(void **state)
{
	static const struct {
		const char *spec;
		double rate;
	} cases[] = {
		{"ramp:from=2,to=30,for=10m", 16},
		{"steps:rates=5,0,20,10,each=200s", 8.75},
		{"sine:low=0,high=20,every=1m,for=1m", 10},
		{"sine:low=0,high=20,every=1m,for=990s", 10},
		{"sine:low=4,high=20,every=1m,for=15s", 12 - 8 / (2 * PI * 0.25)},
		{"spike:base=4,peak=40,every=30s,width=5s,for=60s", 10},
		{"spike:base=4,peak=40,every=30s,width=5s,for=25s", 4},
		{"spike:base=4,peak=40,every=30s,width=5s,for=28s", (25 * 4 + 3 * 40) / 28.0},
		{"spike:base=0,peak=40,every=30s,width=5s", 40 / 6.0},
		{"onoff:peak=20,base=2,on=3s,off=5s,for=10s", 8.75},
		{"onoff:peak=20,on=3s,off=5s,for=10s", 7.5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		struct stages stages;
		char *spec = (char *)(uintptr_t)cases[i].spec;
		assert_int_equal(stages_parse(&stages, &spec, 1, NULL, &err), 0);
		if (fabs(stages.list[0].kind->rate(&stages.list[0]) - cases[i].rate) > 1e-9)
			fail_msg("%s plans %.12g, not %.12g", spec, stages.list[0].kind->rate(&stages.list[0]), cases[i].rate);
		stages_release(&stages);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poisson_along_a_rate),
		cmocka_unit_test(test_poisson_along_a_file),
		cmocka_unit_test(test_constant_along_a_rate),
		cmocka_unit_test(test_a_sine_is_exact),
		cmocka_unit_test(test_other_processes_keep_their_variation),
		cmocka_unit_test(test_onoff_has_mean_and_variance),
		cmocka_unit_test(test_onoff_states_are_their_own),
		cmocka_unit_test(test_onoff_times_are_exponential),
		cmocka_unit_test(test_planned_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
