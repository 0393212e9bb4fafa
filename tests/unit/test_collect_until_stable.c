/* --until-stable: cases by hand, and how often it is right about seeded clients of a server that is stable or drifts.
 */
#include "live/until_stable.h"

#include "absent.h"
#include "clock.h"
#include "stats/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct until_stable_rule rule_of(const char *text)
{
	struct until_stable_rule rule;
	struct ipf_error err = {0};
	assert_int_equal(until_stable_parse(text, &rule, &err), 0);
	return rule;
}

static void options(void **state)
{
	static const char *const wrong[] = {"",
	                                    "0%",
	                                    "60%",
	                                    "x",
	                                    "5%,",
	                                    "windows=3",
	                                    "5%,windows=1",
	                                    "5%,windows=17",
	                                    "5%,windows=2.5",
	                                    "5%,window=99ms",
	                                    "5%,window=2h",
	                                    "5%,window=10",
	                                    "5%,every=1s"};
	struct until_stable_rule rule = rule_of("5%");
	(void)state;
	assert_true(fabs(rule.tolerance - 0.05) < 1e-12);
	assert_int_equal(rule.windows, 3);
	assert_int_equal(rule.window_ns, 10 * NS_PER_S);
	rule = rule_of("window=500ms,0.1,windows=5");
	assert_true(fabs(rule.tolerance - 0.1) < 1e-12);
	assert_int_equal(rule.windows, 5);
	assert_int_equal(rule.window_ns, 500 * NS_PER_MS);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error err = {0};
		assert_int_equal(until_stable_parse(wrong[i], &rule, &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		assert_non_null(strstr(err.text, "expected "));
	}
}

/* ---- rows ---- */

static const struct schedule no_stages;

static bool put(struct until_stable *u, int64_t stage, int64_t end_ns, int64_t e2e_ns)
{
	struct result row;
	result_init(&row);
	row.stage = stage;
	row.ok = e2e_ns >= 0;
	row.end_ns = end_ns;
	row.start_ns = end_ns - (e2e_ns < 0 ? 0 : e2e_ns);
	row.e2e_ns = e2e_ns < 0 ? IPF_ABSENT : e2e_ns;
	return until_stable_row(u, &row);
}

/* Requests of 100 ms ending every 100 ms, the first at t0 + 100 ms, until it is stable; returns when, or IPF_ABSENT.
 */
static int64_t steady_rows(struct until_stable *u, int64_t stage, int64_t from_ns, int64_t until_ns)
{
	for (int64_t t = from_ns + 100 * NS_PER_MS; t <= until_ns; t += 100 * NS_PER_MS)
		if (put(u, stage, t, 100 * NS_PER_MS))
			return t;
	return IPF_ABSENT;
}

/* Windows of 1 s from 5 s on, in which ten requests end: each at its beginning, but the first at 5.1 s, so the first
 * window has nine. The windows of 6, 7 and 8 s agree: that is known at 9 s + 0.1 s, the first line late enough.
 */
static void three_equal_windows_are_stable(void **state)
{
	struct until_stable_rule rule = rule_of("5%,window=1s");
	struct until_stable *u = until_stable_new(&rule, &no_stages);
	const struct stable_finding *f = until_stable_finding(u);
	(void)state;
	assert_int_equal(steady_rows(u, 0, 5 * NS_PER_S, 20 * NS_PER_S), 9100 * NS_PER_MS);
	assert_true(f->stable);
	assert_int_equal(f->from_ns, 6 * NS_PER_S);
	assert_int_equal(f->to_ns, 9 * NS_PER_S);
	assert_int_equal(f->at_ns, 9100 * NS_PER_MS);
	assert_int_equal(f->judged, 3);
	for (int i = 0; i < 3; i++) {
		assert_true(fabs(f->throughput[i] - 10) < 1e-9);
		assert_true(fabs(f->latency_ns[i] - 1e8) < 1e-3);
	}
	assert_true(f->throughput_drift < 1e-9 && f->latency_drift < 1e-9);
	assert_true(put(u, 0, 50 * NS_PER_S, 9 * NS_PER_S)); /* it remains so */
	assert_int_equal(f->at_ns, 9100 * NS_PER_MS);
	until_stable_free(u);
}

/* One of the three windows has a request less: 10/9 is more than 1.1, less than 1.12. */
static void one_request_less(void **state)
{
	(void)state;
	for (int wide = 0; wide < 2; wide++) {
		struct until_stable_rule rule = rule_of(wide ? "12%,window=1s" : "11%,window=1s");
		struct until_stable *u = until_stable_new(&rule, &no_stages);
		bool stable = put(u, 0, 0, 0);
		for (int i = 1; i <= 40; i++)
			if (i != 15)
				stable = put(u, 0, i * 100 * NS_PER_MS, 100 * NS_PER_MS);
		assert_false(stable);
		const struct stable_finding *f = until_stable_finding(u);
		/* the windows of 0, 1 and 2 s have 10 (and the one at 0), 9 and 10 */
		if (!wide)
			assert_string_equal(f->why_not, "throughput of the last 3 windows differs by 11.1 %");
		until_stable_free(u);
	}
}

static void the_reason_says_why_it_is_not_stable(void **state)
{
	struct until_stable_rule rule = rule_of("5%,window=1s");
	struct until_stable *u = until_stable_new(&rule, &no_stages);
	const struct stable_finding *f = until_stable_finding(u);
	(void)state;
	assert_string_equal(f->why_not, "no measured request ended");
	put(u, 0, 100 * NS_PER_MS, 100 * NS_PER_MS);
	assert_string_equal(f->why_not, "only 0 of 3 windows so far");
	for (int i = 1; i < 42; i++) /* ten in each window, but their latency doubles */
		put(u, 0, i * 100 * NS_PER_MS + 50 * NS_PER_MS, (100 + 5 * i) * NS_PER_MS);
	assert_non_null(strstr(f->why_not, "latency of the last 3 windows differs by "));
	assert_false(until_stable_time(u, 60 * NS_PER_S)); /* nothing ends any more: time passes by the client's lines */
	assert_string_equal(f->why_not, "no request succeeded in one of the last 3 windows");
	json_t *json = until_stable_json(u);
	assert_string_equal(json_string_value(json_object_get(json, "reason")), f->why_not);
	json_decref(json);
	until_stable_free(u);
}

/* Warm-up stages do not count, a later stage begins anew, and failures count as nothing. */
static void stages(void **state)
{
	struct schedule_stage list[] = {{.measured = false}, {.measured = true}, {.measured = true}};
	const struct schedule schedule = {.stages = list, .count = 3};
	struct until_stable_rule rule = rule_of("5%,window=1s");
	struct until_stable *u = until_stable_new(&rule, &schedule);
	(void)state;
	assert_int_equal(steady_rows(u, 0, 0, 10 * NS_PER_S), IPF_ABSENT);
	assert_int_equal(steady_rows(u, 1, 10 * NS_PER_S, 13 * NS_PER_S), IPF_ABSENT);
	assert_int_equal(steady_rows(u, 2, 13 * NS_PER_S, 30 * NS_PER_S), 17100 * NS_PER_MS);
	assert_int_equal(until_stable_finding(u)->stage, 2);
	until_stable_free(u);
	u = until_stable_new(&rule, &schedule);
	for (int64_t t = 0; t < 10 * NS_PER_S; t += 100 * NS_PER_MS)
		assert_false(put(u, 1, t, -1));
	assert_string_equal(until_stable_finding(u)->why_not, "no request succeeded in one of the last 3 windows");
	until_stable_free(u);
}

/* Times of any size, in any order: bounded work, no answer. */
static void hostile_times(void **state)
{
	struct until_stable_rule rule = rule_of("50%,window=100ms");
	struct until_stable *u = until_stable_new(&rule, &no_stages);
	static const int64_t times[] = {0, INT64_MAX, INT64_MIN + 1, INT64_C(1000000000000000000), -5, 7, IPF_ABSENT, 3};
	struct rng rng;
	(void)state;
	rng_init(&rng, 4, "times", 0);
	for (size_t i = 0; i < 8; i++)
		for (size_t k = 0; k < 8; k++) {
			struct result row;
			result_init(&row);
			row.stage = (int64_t)(i % 3) - 1;
			row.ok = true;
			row.start_ns = times[i];
			row.end_ns = times[k];
			row.e2e_ns = times[(i + k) % 8];
			until_stable_row(u, &row);
			until_stable_time(u, times[k]);
		}
	until_stable_free(u);
	u = until_stable_new(&rule, &no_stages);
	for (int i = 0; i < 100000; i++)
		put(u, 0, (int64_t)rng_below(&rng, (uint64_t)1000000 * NS_PER_S), (int64_t)rng_below(&rng, 10));
	until_stable_free(u);
}

/* ---- clients of a server ---- */

struct server {
	int users;
	double latency_s, noise; /* mean, and the standard deviation as a share of it (a gamma distribution) */
	double drift;            /* latency grows by this share in each window of 10 s */
	double warmup_s;         /* latency falls from three times to its mean over this time */
};

/* A closed loop, until it is stable or for `windows` of 10 s. Returns when it was stable in windows, or 0. */
static double run(const struct server *server, uint64_t seed, int windows, struct stable_finding *finding)
{
	struct until_stable_rule rule = rule_of("5%");
	struct until_stable *u = until_stable_new(&rule, &no_stages);
	struct rng rng;
	double ends[64], begins[64], t = 0;
	bool stable = false;
	rng_init(&rng, seed, "server", (uint64_t)server->users);
	for (int i = 0; i < server->users; i++) {
		begins[i] = 0;
		ends[i] = server->latency_s * rng_uniform(&rng);
	}
	while (!stable && t < 10 * windows) {
		int next = 0;
		for (int i = 1; i < server->users; i++)
			next = ends[i] < ends[next] ? i : next;
		t = ends[next];
		stable = put(u, 0, (int64_t)(t * 1e9), (int64_t)((t - begins[next]) * 1e9));
		double mean = server->latency_s * pow(1 + server->drift, t / 10), shape = 1 / (server->noise * server->noise);
		if (t < server->warmup_s)
			mean *= 3 - 2 * t / server->warmup_s;
		begins[next] = t;
		ends[next] = t + mean * (server->noise > 0 ? rng_gamma(&rng, fmax(shape, 1)) / fmax(shape, 1) : 1);
	}
	*finding = *until_stable_finding(u);
	until_stable_free(u);
	return stable ? t / 10 : 0;
}

/* A server that is stable is called that, after as many windows as its noise needs. */
static void noise_is_stable(void **state)
{
	static const struct {
		struct server server;
		double most; /* windows: mean over the seeds */
	} cases[] = {{{.users = 32, .latency_s = 1, .noise = 0.05}, 8},
	             {{.users = 32, .latency_s = 0.5, .noise = 0.2}, 10},
	             {{.users = 64, .latency_s = 1, .noise = 0.3}, 12}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		double sum = 0, worst = 0;
		for (uint64_t seed = 1; seed <= 100; seed++) {
			struct stable_finding f;
			double at = run(&cases[i].server, seed, 60, &f);
			assert_true(at > 0);
			sum += at / 100;
			worst = fmax(worst, at);
		}
		print_message("# noise %.0f %% of a latency of %g s, %d users: stable after %.1f windows, %.1f at most\n",
		              100 * cases[i].server.noise, cases[i].server.latency_s, cases[i].server.users, sum, worst);
		assert_true(sum < cases[i].most);
	}
}

/* A server whose throughput drifts by 2 % in each window, up or down, is never called stable, whatever the noise. */
static void drift_is_not_stable(void **state)
{
	(void)state;
	for (int up = 0; up < 2; up++)
		for (int noise = 0; noise < 5; noise++) {
			int stable = 0;
			for (uint64_t seed = 1; seed <= 100; seed++) {
				const struct server server = {.users = 32,
				                              .latency_s = up ? 2 : 0.5,
				                              .noise = (double[]){0, 0.02, 0.05, 0.2, 0.5}[noise],
				                              .drift = up ? -1 + 1 / 1.02 : 1 / 0.98 - 1};
				struct stable_finding f;
				stable += run(&server, seed, 40, &f) > 0;
			}
			print_message("# drift of 2 %% %s, noise %d: %d of 100 called stable\n", up ? "up" : "down", noise, stable);
			assert_int_equal(stable, 0);
		}
}

static void warmup_is_not_stable(void **state)
{
	const struct server server = {.users = 32, .latency_s = 0.5, .noise = 0.1, .warmup_s = 60};
	double sum = 0;
	(void)state;
	for (uint64_t seed = 1; seed <= 50; seed++) {
		struct stable_finding f;
		double at = run(&server, seed, 60, &f);
		assert_true(at > 0);
		assert_true(f.from_ns >= 50 * NS_PER_S);
		sum += at / 50;
	}
	print_message("# six windows of warm-up: stable after %.1f\n", sum);
	assert_true(sum < 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),
		cmocka_unit_test(three_equal_windows_are_stable),
		cmocka_unit_test(one_request_less),
		cmocka_unit_test(the_reason_says_why_it_is_not_stable),
		cmocka_unit_test(stages),
		cmocka_unit_test(hostile_times),
		cmocka_unit_test(noise_is_stable),
		cmocka_unit_test(drift_is_not_stable),
		cmocka_unit_test(warmup_is_not_stable),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
