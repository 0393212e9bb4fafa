#include "metrics.h"

#include <string.h>

/* Each ends with 0, but for a first bound of 0. */
static const double tables[BOUNDS_COUNT][48] = {
	[BOUNDS_VLLM_TTFT] = {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5,  .75,
                          1,    2.5,  5,   7.5, 10,  20,  40,  80, 160, 640, 2560},
	[BOUNDS_VLLM_TOKEN] = {.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80},
	[BOUNDS_VLLM_REQUEST] = {.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680},
	[BOUNDS_SGLANG_TTFT] = {.1, .2, .4, .6, .8, 1, 2, 4, 6, 8, 10, 20, 40, 60, 80, 100, 200, 400},
	[BOUNDS_SGLANG_TOKEN] = {.002, .004, .006, .008, .01, .015, .02, .025, .03, .035, .04, .06,
                             .08,  .1,   .2,   .4,   .6,  .8,   1,   2,    4,   6,    8},
	[BOUNDS_SGLANG_REQUEST] = {.1, .2, .4, .6, .8,  1,   2,   4,   6,    8,    10,
                               20, 40, 60, 80, 100, 200, 400, 600, 1200, 1800, 2400},
	[BOUNDS_SGLANG_QUEUE] = {0,   .1,  .2,  .5,  1,    2,    3,    4,    5,    10,   15,   20,
                             30,  40,  50,  60,  70,   80,   90,   100,  200,  300,  400,  500,
                             600, 700, 800, 900, 1000, 1200, 1400, 1600, 1800, 2000, 2500, 3000},
	[BOUNDS_TRITON_FIRST] = {.1, .5, 2, 5},
	[BOUNDS_JETSTREAM_TTFT] = {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10},
	[BOUNDS_JETSTREAM_TOKEN] = {.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5},
	[BOUNDS_JETSTREAM_REQUEST] = {1, 2.5, 5, 10, 15, 20, 30, 40, 50, 60},
	[BOUNDS_JETSTREAM_QUEUE] = {.01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 20, 50, 100},
	[BOUNDS_VLLM_ITERATION] = {1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384},
	[BOUNDS_VLLM_N] = {1, 2, 5, 10, 20},
	[BOUNDS_JETSTREAM_INPUT] = {16, 32, 64, 128, 256, 512, 1024, 2048, 4096},
	[BOUNDS_JETSTREAM_OUTPUT] = {1,    2,    5,     10,    20,    50,     100,    200,    500,     1000,
                                 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000},
};

/* How many of `set` are below `value`. */
static int below(const struct bounds *set, double value)
{
	int low = 0, high = set->count;
	while (low < high) {
		int middle = (low + high) / 2;
		if (set->at[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void include(struct bounds *set, double value)
{
	int place = below(set, value);
	if ((place < set->count && set->at[place] <= value) || set->count == METRICS_MOST_BOUNDS)
		return;
	memmove(&set->at[place + 1], &set->at[place], (size_t)(set->count - place) * sizeof *set->at);
	set->at[place] = value;
	set->count++;
}

/* vLLM's lengths are 1, 2, 5, 10, … up to the context; TGI's durations grow by half, and its lengths are hundredths of
 * the context. */
static void compute_sets(struct metrics *m, double context)
{
	static const double steps[] = {1, 2, 5};
	double power = 1, duration = .0001;
	for (int i = 0; steps[i % 3] * power <= context; i++) {
		include(&m->sets[BOUNDS_VLLM_LENGTH], steps[i % 3] * power);
		if (i % 3 == 2)
			power *= 10;
	}
	for (int i = 0; i < 35; i++)
		include(&m->sets[BOUNDS_TGI_DURATION], duration *= 1.5);
	for (int i = 1; i <= 100; i++)
		include(&m->sets[BOUNDS_TGI_LENGTH], context / 100 * i);
}

void metrics_init(struct metrics *m, int64_t max_model_len)
{
	memset(m, 0, sizeof *m);
	for (int set = 0; set < BOUNDS_COUNT; set++)
		for (int i = 0; i < 48 && (tables[set][i] > 0 || (i == 0 && tables[set][1] > 0)); i++)
			include(&m->sets[set], tables[set][i]);
	compute_sets(m, (double)max_model_len);
	for (int set = 0; set < BOUNDS_COUNT; set++)
		for (int i = 0; i < m->sets[set].count; i++)
			include(set < BOUNDS_TOKENS ? &m->seconds : &m->tokens, m->sets[set].at[i]);
}

void metrics_add(struct metrics *m, struct metric *metric, double value)
{
	const struct bounds *all = metric < &m->prompt ? &m->seconds : &m->tokens;
	metric->counts[below(all, value)]++;
	metric->count++;
	metric->sum += value;
}

void metrics_write_histogram(struct buffer *out, const struct metrics *m, const struct metric *metric,
                             enum metrics_bounds bounds, const char *name, const char *labels)
{
	const struct bounds *set = &m->sets[bounds], *all = bounds < BOUNDS_TOKENS ? &m->seconds : &m->tokens;
	/* Triton's only histogram counts milliseconds. */
	double unit = bounds == BOUNDS_TRITON_FIRST ? 1000 : 1;
	const char *comma = *labels ? "," : "", *open = *labels ? "{" : "", *close = *labels ? "}" : "";
	int64_t sum = 0;
	int at = 0;
	for (int i = 0; i < set->count; i++) {
		while (at < all->count && all->at[at] <= set->at[i])
			sum += metric->counts[at++];
		buffer_format(out, "%s_bucket{%s%sle=\"%.10g\"} %lld\n", name, labels, comma, set->at[i] * unit,
		              (long long)sum);
	}
	buffer_format(out, "%s_bucket{%s%sle=\"+Inf\"} %lld\n", name, labels, comma, (long long)metric->count);
	buffer_format(out, "%s_count%s%s%s %lld\n%s_sum%s%s%s %.17g\n", name, open, labels, close, (long long)metric->count,
	              name, open, labels, close, metric->sum * unit);
}
