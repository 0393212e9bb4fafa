/* Do the arrivals of kinds with one rate have the distribution they claim? */
#include "sched_arrivals.h"

#include "kinds/gaps.h"

/* The regularised lower incomplete gamma function, by its series and its continued fraction. */
static double gamma_p(double a, double x)
{
	double front, sum, term, b, c, d, h;

	if (x <= 0)
		return 0;
	front = exp(a * log(x) - x - lgamma(a));
	if (x < a + 1) {
		for (sum = term = 1 / a, b = a + 1; term > sum * 1e-15; b++)
			sum += term *= x / b;
		return sum * front;
	}
	b = x + 1 - a;
	c = 1e300;
	h = d = 1 / b;
	for (int i = 1; i < 10000; i++) {
		double an = -i * (i - a), delta;
		b += 2;
		d = 1 / (an * d + b);
		c = b + an / c;
		delta = d * c;
		h *= delta;
		if (fabs(delta - 1) < 1e-15)
			break;
	}
	return 1 - front * h;
}

static double gamma_cdf(double x, const double *shape_and_scale)
{
	return gamma_p(shape_and_scale[0], x / shape_and_scale[1]);
}

static void test_poisson_is_poisson(void **state)
{
	static const double scales[] = {0.05, 0.2, 1, 5, 20, 60};
	static const double length = 7200, rate = 20;
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (int round = 0; round < 6; round++, seed++) {
		struct times t = arrivals("poisson:rate=20,for=2h", seed, 0, 0);
		double *gaps = gaps_of(&t), distance, deviation;
		size_t windows;

		deviation = ((double)t.count - rate * length) / sqrt(rate * length);
		if (fabs(deviation) > 4)
			fail_msg("seed %llu: %zu arrivals, %.1f deviations off", (unsigned long long)seed, t.count, deviation);
		distance = ks(gaps, t.count - 1, exponential_cdf, &rate);
		if (distance > KS_BOUND)
			fail_msg("seed %llu: gaps are not exponential: %.2f", (unsigned long long)seed, distance);
		distance = ks(t.s, t.count, uniform_cdf, &length);
		if (distance > KS_BOUND)
			fail_msg("seed %llu: times are not uniform: %.2f", (unsigned long long)seed, distance);
		for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
			double d = dispersion(&t, length, scales[i], &windows);
			if (fabs(d - 1) > 4 * sqrt(2 / (double)(windows - 1)))
				fail_msg("seed %llu: dispersion of counts in %g s is %.3f", (unsigned long long)seed, scales[i], d);
		}
		free(gaps);
		times_free(&t);
	}
}

/* Stretched to fill the stage, every stage would have the same count, or its last arrival at its end. */
static void test_poisson_is_not_stretched(void **state)
{
	enum { STAGES = 1000 };
	uint64_t seed = test_seed(__func__);
	double sum = 0, squares = 0, rest[STAGES], rate = 5, mean, variance, distance;

	(void)state;
	for (uint64_t i = 0; i < STAGES; i++) {
		struct times t = arrivals("poisson:rate=5,for=20s", seed, i, 0);
		sum += (double)t.count;
		squares += (double)t.count * (double)t.count;
		rest[i] = 20 - t.s[t.count - 1];
		times_free(&t);
	}
	mean = sum / STAGES;
	variance = (squares - sum * sum / STAGES) / (STAGES - 1);
	assert_true(fabs(mean - 100) < 4 * sqrt(100.0 / STAGES));
	assert_true(fabs(variance / 100 - 1) < 4 * sqrt(2.0 / STAGES));
	distance = ks(rest, STAGES, exponential_cdf, &rate);
	if (distance > KS_BOUND)
		fail_msg("what is left after the last arrival is not exponential: %.2f", distance);
}

static void test_stages_are_independent(void **state)
{
	enum { COUNT = 20000 };
	uint64_t seed = test_seed(__func__);
	struct times a = arrivals("poisson:rate=10,for=1s", seed, 0, COUNT),
				 b = arrivals("poisson:rate=10,for=1s", seed, 1, COUNT);
	struct times again = arrivals("poisson:rate=10,for=1s", seed, 0, COUNT),
				 other = arrivals("poisson:rate=10,for=1s", seed + 1, 0, COUNT);
	double *x = gaps_of(&a), *y = gaps_of(&b), product = 0, half = 0;

	(void)state;
	for (size_t i = 0; i < COUNT - 1; i++)
		product += (x[i] - 0.1) * (y[i] - 0.1) / 0.01;
	assert_true(fabs(product) < 4 * sqrt(COUNT));
	/* Neighbouring gaps of one stage. */
	for (size_t i = 0; i < COUNT - 2; i++)
		half += (x[i] - 0.1) * (x[i + 1] - 0.1) / 0.01;
	assert_true(fabs(half) < 4 * sqrt(COUNT));
	assert_memory_equal(a.ns, again.ns, COUNT * sizeof *a.ns);
	assert_memory_not_equal(a.ns, b.ns, COUNT * sizeof *a.ns);
	assert_memory_not_equal(a.ns, other.ns, COUNT * sizeof *a.ns);
	free(x);
	free(y);
	times_free(&a);
	times_free(&b);
	times_free(&again);
	times_free(&other);
}

/* Twice the rate is the same draws in half the time. */
static void test_the_rate_scales_time_only(void **state)
{
	uint64_t seed = test_seed(__func__);
	struct times slow = arrivals("poisson:rate=10,n=1", seed, 0, 1000),
				 fast = arrivals("poisson:rate=20,n=1", seed, 0, 1000);

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		assert_true(llabs(slow.ns[i] - 2 * fast.ns[i]) <= 2);
	times_free(&slow);
	times_free(&fast);
}

static double weibull_cdf(double x, const double *shape_and_scale)
{
	return x > 0 ? 1 - exp(-pow(x / shape_and_scale[1], shape_and_scale[0])) : 0;
}

static double between_cdf(double x, const double *low_and_high)
{
	return fmin(1, fmax(0, (x - low_and_high[0]) / (low_and_high[1] - low_and_high[0])));
}

/* The distribution's parameters for a mean of 0.02 and this coefficient of variation, found anew. */
static void parameters(const char *kind, double cv, double args[2])
{
	if (strcmp(kind, "gamma") == 0) {
		args[0] = 1 / (cv * cv);
		args[1] = 0.02 * cv * cv;
	} else if (strcmp(kind, "uniform") == 0) {
		args[0] = 0.02 * (1 - sqrt(3) * cv);
		args[1] = 0.02 * (1 + sqrt(3) * cv);
	} else {
		double low = 0.1, high = 100;
		while (high - low > 1e-12 * high) {
			double k = (low + high) / 2;
			if (sqrt(tgamma(1 + 2 / k) / pow(tgamma(1 + 1 / k), 2) - 1) > cv)
				low = k;
			else
				high = k;
		}
		args[0] = low;
		args[1] = 0.02 / tgamma(1 + 1 / low);
	}
}

static void check_renewal(const char *kind, double cv, double (*cdf)(double, const double *), uint64_t seed)
{
	enum { COUNT = 100000 };
	double args[2], sum = 0, moments[5] = {0}, mean, got, skew, kurtosis, deviation, distance, *gaps;
	char spec[64];
	struct times t;

	snprintf(spec, sizeof spec, "%s:rate=50,cv=%g,n=1", kind, cv);
	t = arrivals(spec, seed, 0, COUNT + 1);
	gaps = gaps_of(&t);
	for (size_t i = 0; i < COUNT; i++)
		sum += gaps[i];
	mean = sum / COUNT;
	for (size_t i = 0; i < COUNT; i++)
		for (int k = 2; k <= 4; k++)
			moments[k] += pow(gaps[i] - mean, k) / COUNT;
	if (fabs(mean - 0.02) > 4 * 0.02 * cv / sqrt(COUNT))
		fail_msg("%s, seed %llu: mean gap %.6f", spec, (unsigned long long)seed, mean);
	got = sqrt(moments[2]) / mean;
	/* The deviation of a sample's CV, by the delta method. */
	skew = moments[3] / pow(moments[2], 1.5);
	kurtosis = moments[4] / pow(moments[2], 2);
	deviation = got * sqrt(((kurtosis - 1) / 4 - skew * got + got * got) / COUNT);
	if (fabs(got - cv) > 4.5 * deviation + 1e-6 * cv)
		fail_msg("%s, seed %llu: CV is %.5f, bound %.5f", spec, (unsigned long long)seed, got, 4.5 * deviation);
	/* At a larger one most gaps are below a nanosecond. */
	parameters(kind, cv, args);
	distance = cv <= 2 ? ks(gaps, COUNT, cdf, args) : 0;
	if (distance > KS_BOUND)
		fail_msg("%s, seed %llu: not the distribution that it claims: %.2f", spec, (unsigned long long)seed, distance);
	free(gaps);
	times_free(&t);
}

static void test_renewals_have_their_distribution(void **state)
{
	static const double variations[] = {0.1, 0.5, 1, 1.5, 2, 4};
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (int round = 0; round < 3; round++, seed++) {
		for (size_t i = 0; i < sizeof variations / sizeof *variations; i++) {
			check_renewal("gamma", variations[i], gamma_cdf, seed);
			check_renewal("weibull", variations[i], weibull_cdf, seed);
		}
		check_renewal("uniform", 0.1, between_cdf, seed);
		check_renewal("uniform", 0.5, between_cdf, seed);
	}
}

/* Short stages have the mean count from their first moment on, however bursty; and without an arrival at the beginning.
 */
static void test_renewals_are_stationary(void **state)
{
	enum { STAGES = 4000 };
	static const char *const specs[] = {"gamma:rate=1,cv=0.3,for=3s",      "gamma:rate=1,cv=3,for=3s",
	                                    "gamma:rate=1,cv=8,for=3s",        "weibull:rate=1,cv=0.4,for=3s",
	                                    "weibull:rate=1,cv=3,for=3s",      "uniform:rate=1,for=3s",
	                                    "uniform:rate=1,cv=0.1,for=2500ms"};
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (size_t k = 0; k < sizeof specs / sizeof *specs; k++) {
		double sum = 0, squares = 0, mean, deviation, length = strstr(specs[k], "2500ms") ? 2.5 : 3;
		for (uint64_t i = 0; i < STAGES; i++) {
			struct times t = arrivals(specs[k], seed, i, 0);
			sum += (double)t.count;
			squares += (double)t.count * (double)t.count;
			times_free(&t);
		}
		mean = sum / STAGES;
		deviation = sqrt((squares / STAGES - mean * mean) / STAGES);
		if (fabs(mean - length) > 4.5 * deviation)
			fail_msg("%s: %.3f arrivals on average, deviation %.3f", specs[k], mean, deviation);
	}
}

static void test_constant_is_exact(void **state)
{
	static const struct {
		const char *rate;
		int64_t num, den; /* the rate as a fraction */
	} cases[] = {
		{"1", 1, 1},       {"3", 3, 1},        {"7", 7, 1},           {"0.3", 3, 10},
		{"33.3", 333, 10}, {"100/m", 5, 3},    {"7/h", 7, 3600},      {"1000", 1000, 1},
		{"300/m", 5, 1},   {"0.8", 4, 5},      {"1G", 1000000000, 1}, {"999999999", 999999999, 1},
		{"1.5k", 1500, 1}, {"0.001", 1, 1000},
	};
	enum { COUNT = 300000 };

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char spec[64];
		struct times t;
		__int128 num = cases[i].num, second = (__int128)NS_PER_S * cases[i].den;
		snprintf(spec, sizeof spec, "constant:rate=%s,n=1", cases[i].rate);
		t = arrivals(spec, 1, 0, COUNT);
		for (int64_t k = 0; k < COUNT; k++) {
			int64_t exact = (int64_t)((2 * k * second + num) / (2 * num)); /* round(k·1e9/rate), halves up */
			if (t.ns[k] != exact)
				fail_msg("%s: arrival %lld at %lld, not %lld", spec, (long long)k, (long long)t.ns[k],
				         (long long)exact);
			if (second % num == 0 && k > 0 && t.ns[k] - t.ns[k - 1] != (int64_t)(second / num))
				fail_msg("%s: gap %lld is not equal", spec, (long long)k);
		}
		times_free(&t);
	}
}

static void test_constant_does_not_drift(void **state)
{
	struct times t = arrivals("constant:rate=3,for=1000000s", 1, 0, 0);

	(void)state;
	assert_int_equal(t.count, 3000000);
	assert_int_equal(t.ns[0], 0);
	assert_int_equal(t.ns[2999999], INT64_C(999999666666667));
	times_free(&t);
}

static void test_times_never_go_back(void **state)
{
	static const char *const specs[] = {"poisson:rate=1G,n=1",          "gamma:rate=1M,cv=100,n=1",
	                                    "gamma:rate=1M,cv=0.001,n=1",   "constant:rate=1G,n=1",
	                                    "poisson:rate=0.000000001,n=1", "constant:rate=0.000000001,n=1"};
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
		struct times t = arrivals(specs[i], seed, 0, 20000);
		assert_true(t.ns[0] >= 0);
		for (size_t k = 1; k < t.count; k++)
			assert_true(t.ns[k] >= t.ns[k - 1] && t.ns[k] <= ARRIVAL_LIMIT);
		times_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_poisson_is_poisson),
		cmocka_unit_test(test_poisson_is_not_stretched),
		cmocka_unit_test(test_stages_are_independent),
		cmocka_unit_test(test_the_rate_scales_time_only),
		cmocka_unit_test(test_renewals_have_their_distribution),
		cmocka_unit_test(test_renewals_are_stationary),
		cmocka_unit_test(test_constant_is_exact),
		cmocka_unit_test(test_constant_does_not_drift),
		cmocka_unit_test(test_times_never_go_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
