/* Differences between two sides, on a simulated server: it batches, its steps have jitter, a slow drift and pauses, and
 * its latencies depend on each other through the batch and the queue. Each simulation takes a millisecond, so the
 * coverage of intervals and the truth of findings can be counted. IPF_LONG=1: over 400 pairs instead of 60.
 */
#include "unit.h"

#include "absent.h"
#include "difference/difference.h"
#include "stats/exact_math.h"
#include "difference/holm.h"
#include "stats/rng.h"

#include <math.h>

struct load {
	int requests; /* a run's */
	double rate;  /* per second */
	int batch;    /* the most requests in a step */
	bool closed;  /* a request starts when there is room in the batch */
	int runs;     /* each side's */
};

struct noise {
	double slower;  /* a factor of each step's time */
	double between; /* standard deviation of the logarithm of such a factor each run has */
};

struct request {
	double at, end, ttft, tpot;
	int output, input, left;
};

static void plan(struct request *list, const struct load *load, uint64_t seed)
{
	struct rng rng;
	double t = 0;
	rng_init(&rng, seed, "schedule", 0);
	for (int i = 0; i < load->requests; i++) {
		t += rng_exponential(&rng) / load->rate;
		list[i] = (struct request){
			.at = t, .output = 20 + (int)rng_below(&rng, 80), .input = 100 + (int)(300 * rng_exponential(&rng))};
	}
}

/* A server while it runs. */
struct server {
	const struct load *load;
	struct rng rng;
	double now, drift, factor;
	int running[64], count, next, done;
};

static double step_time(struct server *s, double prefill)
{
	double step = (0.012 + 0.0004 * s->count + prefill) * s->factor;
	step *= exact_exp(0.08 * rng_normal(&s->rng) + s->drift);
	const double keep = exact_exp(-step / 2); /* a drift lasting for two seconds */
	s->drift = keep * s->drift + 0.03 * sqrt(1 - keep * keep) * rng_normal(&s->rng);
	if (rng_uniform(&s->rng) < 0.1 * step) /* a pause, in one second of ten */
		step += 0.02 + 0.05 * rng_exponential(&s->rng);
	return step;
}

/* Takes in the arrivals, up to the batch and to 40 ms of work. */
static double admit(struct server *s, struct request *list)
{
	double prefill = 0;
	while (s->next < s->load->requests && s->count < s->load->batch && prefill < 0.04 &&
	       (s->load->closed || list[s->next].at <= s->now)) {
		struct request *q = &list[s->next];
		q->at = s->load->closed ? s->now : q->at;
		q->left = q->output;
		prefill += q->input / 40000.0;
		s->running[s->count++] = s->next++;
	}
	return prefill;
}

static void step(struct server *s, struct request *list)
{
	const int before = s->count;
	s->now += step_time(s, admit(s, list));
	int kept = 0;
	for (int i = 0; i < s->count; i++) {
		struct request *q = &list[s->running[i]];
		if (i >= before)
			q->ttft = s->now - q->at;
		if (--q->left > 0) {
			s->running[kept++] = s->running[i];
			continue;
		}
		q->end = s->now;
		q->tpot = (q->end - q->at - q->ttft) / (q->output - 1);
		s->done++;
	}
	s->count = kept;
}

static void serve(struct request *list, const struct load *load, const struct noise *noise, uint64_t seed)
{
	struct server s = {.load = load};
	rng_init(&s.rng, seed, "server", 0);
	s.factor = noise->slower * exact_exp(noise->between * rng_normal(&s.rng));
	while (s.done < load->requests) {
		if (s.count == 0 && !load->closed && list[s.next].at > s.now)
			s.now = list[s.next].at;
		step(&s, list);
	}
}

/* ---- the figures of a side ---- */

enum { TTFT_MEAN, TTFT_P50, TTFT_P90, TTFT_P99, TPOT_MEAN, TPOT_P50, RATE, FIGURES };
static const char *const names[] = {"ttft mean", "ttft p50", "ttft p90", "ttft p99", "tpot mean", "tpot p50", "rate"};
enum { BLOCKS_MOST_HERE = 512, RUNS_HERE = 16 };

/* A block is a request, while there are not too many. */
static size_t blocks_here(const struct load *load)
{
	return (size_t)(load->requests < BLOCKS_MOST_HERE ? load->requests : BLOCKS_MOST_HERE);
}

struct side {
	struct influence figures[FIGURES];
	struct samples sorted[2];
};

static void read_runs(struct side *side, struct request *const *runs, const struct load *load)
{
	const size_t begin[] = {0, blocks_here(load)};
	const struct run_blocks blocks = {.runs = load->runs, .stages = 1, .begin = begin};
	struct placed_values placed[2] = {0};
	struct ipf_error err = {0};
	static double ended[RUNS_HERE * BLOCKS_MOST_HERE], seconds[RUNS_HERE * BLOCKS_MOST_HERE];
	const int each = (int)blocks_here(load);
	memset(ended, 0, sizeof ended);
	for (int r = 0; r < load->runs; r++) {
		const double length = load->closed ? runs[r][load->requests - 1].at : (double)load->requests / load->rate;
		for (int b = 0; b < each; b++)
			seconds[r * each + b] = length / each;
		for (int i = 0; i < load->requests; i++) {
			const struct request *q = &runs[r][i];
			const int cell = r * each + (int)((int64_t)i * each / load->requests), when = (int)(q->end / length * each);
			placed_values_add(&placed[0], 1000 * q->ttft, cell, &err);
			placed_values_add(&placed[1], 1000 * q->tpot, cell, &err);
			if (when < each)
				ended[r * each + when]++;
		}
	}
	for (int m = 0; m < 2; m++) {
		for (size_t i = 0; i < placed[m].values.count; i++)
			samples_add(&side->sorted[m], placed[m].values.values[i]);
		samples_sort(&side->sorted[m]);
	}
	influence_of_mean(&side->figures[TTFT_MEAN], &blocks, &placed[0], &err);
	influence_of_percentile(&side->figures[TTFT_P50], &blocks, &placed[0], &side->sorted[0], 50, &err);
	influence_of_percentile(&side->figures[TTFT_P90], &blocks, &placed[0], &side->sorted[0], 90, &err);
	influence_of_percentile(&side->figures[TTFT_P99], &blocks, &placed[0], &side->sorted[0], 99, &err);
	influence_of_mean(&side->figures[TPOT_MEAN], &blocks, &placed[1], &err);
	influence_of_percentile(&side->figures[TPOT_P50], &blocks, &placed[1], &side->sorted[1], 50, &err);
	influence_of_ratio(&side->figures[RATE], &blocks, ended, seconds, INFLUENCE_RELATIVE, &err);
	assert_int_equal(err.kind, IPF_OK);
	placed_values_release(&placed[0]);
	placed_values_release(&placed[1]);
}

static void side_release(struct side *side)
{
	for (int f = 0; f < FIGURES; f++)
		influence_release(&side->figures[f]);
	samples_release(&side->sorted[0]);
	samples_release(&side->sorted[1]);
}

/* One comparison of two simulated sides that execute the same schedules; `seed` gives schedule and noise. */
static void compare(struct difference d[FIGURES], const struct load *load, const struct noise noises[SIDES],
                    double effect, uint64_t seed)
{
	static const int one_schedule[RUNS_HERE];
	const size_t begin[] = {0, blocks_here(load)};
	const struct run_blocks blocks = {.runs = load->runs, .stages = 1, .begin = begin};
	int partner[RUNS_HERE];
	struct side sides[SIDES] = {0};
	double p[FIGURES];
	for (int s = 0; s < SIDES; s++) {
		struct request *runs[RUNS_HERE];
		for (int r = 0; r < load->runs; r++) {
			partner[r] = r;
			runs[r] = calloc((size_t)load->requests, sizeof *runs[r]);
			assert_non_null(runs[r]);
			plan(runs[r], load, seed);
			serve(runs[r], load, &noises[s], 1000 * seed + (uint64_t)(100 * s + r));
		}
		read_runs(&sides[s], runs, load);
		for (int r = 0; r < load->runs; r++)
			free(runs[r]);
	}
	const struct comparison_design design = {
		.blocks = {blocks, blocks}, .partner = partner, .schedule = {one_schedule, one_schedule}};
	for (int f = 0; f < FIGURES; f++) {
		d[f] = difference_of(&sides[SIDE_BASE].figures[f], &sides[SIDE_NEW].figures[f], &design);
		p[f] = d[f].p;
	}
	holm_adjust(p, FIGURES);
	for (int f = 0; f < FIGURES; f++) {
		d[f].adjusted = p[f];
		difference_judge(&d[f], &(struct difference_limits){effect, 0.01, FIGURES});
	}
	side_release(&sides[SIDE_BASE]);
	side_release(&sides[SIDE_NEW]);
}

/* The results of many comparisons. */
struct tally {
	int repetitions, judged[FIGURES], covered[FIGURES], significant[FIGURES], found, undecided[FIGURES];
	double needed[FIGURES];
};

static bool is_found(const struct difference *d)
{
	return d->finding == FINDING_LOWER || d->finding == FINDING_HIGHER;
}

static struct tally repeat(const struct load *load, const struct noise noises[SIDES], double effect, int repetitions,
                           uint64_t seed)
{
	struct tally t = {.repetitions = repetitions};
	for (int k = 0; k < repetitions; k++) {
		struct difference d[FIGURES];
		bool found = false;
		compare(d, load, noises, effect, seed + (uint64_t)k);
		for (int f = 0; f < FIGURES; f++) {
			t.judged[f] += !isnan(d[f].p);
			t.covered[f] += d[f].low <= 0 && d[f].high >= 0;
			t.significant[f] += d[f].adjusted < 0.05;
			t.undecided[f] += d[f].finding == FINDING_FEW_RUNS;
			t.needed[f] += isnan(d[f].p) ? 0 : (double)d[f].runs_needed;
			found |= is_found(&d[f]);
		}
		t.found += found;
	}
	return t;
}

static const struct noise alike[SIDES] = {{1, 0}, {1, 0}};

/* The intervals of two equal servers contain 0 in about 95 of 100 cases. With open-loop arrivals, both sides complete
 * all arrivals, and the interval of their rates is wider than it has to be. */
static void covers(const char *what, const struct load *load, const struct noise noises[SIDES], bool rate_too)
{
	const int repetitions = few_or_many(60, 400);
	const struct tally t = repeat(load, noises, 0.02, repetitions, 1);
	/* the binomial spread of that many cases around 95 % */
	const double spread = 3 * sqrt(0.95 * 0.05 / repetitions);
	for (int f = 0; f < FIGURES; f++) {
		const double share = (double)t.covered[f] / t.judged[f];
		printf("# %s: %s: %.1f %% of %d\n", what, names[f], 100 * share, t.judged[f]);
		assert_true(t.judged[f] > repetitions / 2);
		assert_true(share > 0.94 - spread && (share < 0.96 + spread || (f == RATE && !rate_too)));
	}
	printf("# %s: a difference is found in %d of %d\n", what, t.found, repetitions);
	assert_true(t.found <= 5 + repetitions / 20);
}

static void covers_open_loop(void **state)
{
	(void)state;
	covers("open loop", &(struct load){2000, 12, 32, false, 1}, alike, false);
}

static void covers_closed_loop(void **state)
{
	(void)state;
	covers("closed loop", &(struct load){1500, 12, 32, true, 1}, alike, true);
}

/* Runs that differ as a whole, by 3 %: no block of them shows it. */
static void covers_runs(void **state)
{
	(void)state;
	covers("three runs", &(struct load){600, 12, 32, true, 3}, (const struct noise[]){{1, 0.03}, {1, 0.03}}, true);
}

static void finds_five_percent(void **state)
{
	(void)state;
	const struct load load = {2000, 12, 32, true, 1};
	const int repetitions = few_or_many(20, 200);
	const struct tally t = repeat(&load, (const struct noise[]){{1, 0}, {1.05, 0}}, 0.02, repetitions, 1);
	printf("# 5 %% slower: found in %d of %d\n", t.found, repetitions);
	assert_true(t.found >= repetitions * 18 / 20);
}

/* An effect too small for one run: as many runs as it says needed find it, and half as many do not. Half a percent in
 * the long test, one in the short one. */
static void tells_how_many_runs(void **state)
{
	(void)state;
	const double effect = few_or_many(10, 5) / 1000.0;
	const struct noise noises[SIDES] = {{1, 0}, {1 + effect, 0}};
	struct load load = {1500, 12, 32, true, 1};
	const int repetitions = few_or_many(25, 200);
	const struct tally one = repeat(&load, noises, effect, repetitions, 1);
	printf("# slower by %g %%: undecided in %d of %d; %.1f runs needed\n", 100 * effect, one.undecided[TPOT_MEAN],
	       one.judged[TPOT_MEAN], one.needed[TPOT_MEAN] / one.judged[TPOT_MEAN]);
	assert_true(one.judged[TPOT_MEAN] > repetitions / 2);
	assert_true(one.undecided[TPOT_MEAN] >= one.judged[TPOT_MEAN] * 17 / 20);
	const int needed = (int)lround(one.needed[TPOT_MEAN] / one.judged[TPOT_MEAN]);
	load.requests *= needed; /* as much time of one server as all of these runs together */
	const struct tally all = repeat(&load, noises, effect, repetitions, 1000);
	load.requests /= 2;
	const struct tally half = repeat(&load, noises, effect, repetitions, 2000);
	load.requests *= 4;
	const struct tally twice = repeat(&load, noises, effect, repetitions, 3000);
	printf("# %d runs: significant in %d, half in %d, twice in %d of %d\n", needed, all.significant[TPOT_MEAN],
	       half.significant[TPOT_MEAN], twice.significant[TPOT_MEAN], repetitions);
	assert_true(half.significant[TPOT_MEAN] < repetitions * 8 / 10);
	assert_true(twice.significant[TPOT_MEAN] >= repetitions * 8 / 10);
}

/* ---- single cases ---- */

static struct difference of_values(const double *base, const double *value, size_t count, size_t blocks, double p)
{
	const size_t bounds[] = {0, blocks};
	const struct run_blocks own = {.runs = 1, .stages = 1, .begin = bounds};
	const int partner[] = {0}, schedule[] = {0};
	const struct comparison_design design = {
		.blocks = {own, own}, .partner = partner, .schedule = {schedule, schedule}};
	const double *values[SIDES] = {base, value};
	struct placed_values placed[SIDES] = {0};
	struct samples sorted[SIDES] = {0};
	struct influence i[SIDES] = {0};
	struct ipf_error err = {0};
	for (int s = 0; s < SIDES; s++) {
		for (size_t k = 0; k < count; k++) {
			placed_values_add(&placed[s], values[s][k], blocks ? (int32_t)(k * blocks / count) : -1, &err);
			samples_add(&sorted[s], values[s][k]);
		}
		samples_sort(&sorted[s]);
		if (isnan(p))
			influence_of_mean(&i[s], &own, &placed[s], &err);
		else
			influence_of_percentile(&i[s], &own, &placed[s], &sorted[s], p, &err);
	}
	struct difference d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &design);
	d.adjusted = d.p;
	difference_judge(&d, &(struct difference_limits){0.02, 0.01, 1});
	for (int s = 0; s < SIDES; s++) {
		influence_release(&i[s]);
		placed_values_release(&placed[s]);
		samples_release(&sorted[s]);
	}
	return d;
}

static void equal_values_do_not_differ(void **state)
{
	(void)state;
	double values[400];
	struct rng rng;
	rng_init(&rng, 1, "values", 0);
	for (size_t i = 0; i < 400; i++)
		values[i] = 100 + rng_normal(&rng);
	const struct difference d = of_values(values, values, 400, 20, 50);
	assert_true(d.change == 0 && d.p == 1 && d.finding == FINDING_SAME);
	assert_true(fabs(d.low) < 1e-6 && fabs(d.high) < 1e-6);
}

/* Values in clusters, as of a server working in steps. Nine of ten are the same on both sides but for a shift of most
 * of a step: within one standard error, the median of one side reaches the next cluster and that of the other does not,
 * so they differ more than within two. */
static void p_values_and_intervals_agree(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 100; seed++) {
		double values[SIDES][200], drift = 0;
		struct rng rng;
		rng_init(&rng, seed, "clusters", 0);
		for (size_t i = 0; i < 200; i++) {
			drift = 0.3 * drift + 1.5 * rng_normal(&rng);
			for (int s = 0; s < SIDES; s++) {
				const double level = rng_below(&rng, 10) ? drift : 2.3 * rng_normal(&rng);
				values[s][i] = 200 + 20 * floor(level / 2) + 14 * s + 0.1 * rng_normal(&rng);
			}
		}
		const struct difference d = of_values(values[SIDE_BASE], values[SIDE_NEW], 200, 200, 50);
		if ((d.p < 0.05) == (d.low <= 0 && d.high >= 0))
			fail_msg("seed %llu: p %g, change %g in [%g, %g]", (unsigned long long)seed, d.p, d.change, d.low, d.high);
	}
}

static void values_without_blocks_have_no_interval(void **state)
{
	(void)state;
	const double a[] = {1, 2, 3}, b[] = {2, 4, 6};
	const struct difference d = of_values(a, b, 3, 0, NAN);
	assert_true(fabs(d.change - 1) < 1e-12 && isnan(d.p) && isnan(d.low) && d.finding == FINDING_NONE);
}

/* Constant latencies that differ: there is no noise, and no doubt. */
static void constants(void **state)
{
	(void)state;
	double a[100], b[100];
	for (size_t i = 0; i < 100; i++) {
		a[i] = 10;
		b[i] = 11;
	}
	const struct difference d = of_values(a, b, 100, 100, NAN);
	assert_true(d.finding == FINDING_HIGHER && fabs(d.change - 0.1) < 1e-9 && d.p < 1e-6);
	const struct difference p99 = of_values(a, b, 100, 100, 90);
	assert_true(p99.finding == FINDING_HIGHER && fabs(p99.change - 0.1) < 1e-9);
}

/* Forty values say nothing of how large the 99th percentile could be. */
static void forty_values_give_no_p99(void **state)
{
	(void)state;
	double a[40], b[40];
	struct rng rng;
	rng_init(&rng, 1, "tail", 0);
	for (size_t i = 0; i < 40; i++) {
		a[i] = 1 + rng_exponential(&rng);
		b[i] = 1 + rng_exponential(&rng);
	}
	const struct difference d = of_values(a, b, 40, 40, 99);
	assert_true(d.finding == FINDING_NONE && d.missing == NOISE_FEW && isnan(d.high));
}

static void p_values_are_adjusted(void **state)
{
	(void)state;
	double p[] = {0.01, NAN, 0.04, 0.03, 0.005};
	holm_adjust(p, 5);
	assert_float_equal(p[0], 0.03, 1e-12);
	assert_true(isnan(p[1]));
	assert_float_equal(p[2], 0.06, 1e-12); /* never below that of a smaller one */
	assert_float_equal(p[3], 0.06, 1e-12);
	assert_float_equal(p[4], 0.02, 1e-12);
	double large[] = {0.9, 0.8};
	holm_adjust(large, 2);
	assert_true(large[0] == 1 && large[1] == 1);
	holm_adjust(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(p_values_are_adjusted),
		cmocka_unit_test(covers_open_loop),
		cmocka_unit_test(covers_closed_loop),
		cmocka_unit_test(covers_runs),
		cmocka_unit_test(finds_five_percent),
		cmocka_unit_test(tells_how_many_runs),
		cmocka_unit_test(equal_values_do_not_differ),
		cmocka_unit_test(p_values_and_intervals_agree),
		cmocka_unit_test(values_without_blocks_have_no_interval),
		cmocka_unit_test(constants),
		cmocka_unit_test(forty_values_give_no_p99),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
