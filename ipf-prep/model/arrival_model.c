#include "model/arrival_model.h"

#include "absent.h"
#include "clock.h"
#include "stream/fields.h"

#include <math.h>
#include <string.h>

#define DAY_S       86400.0
#define COUNT_MOST  1e9
#define SPAN_MOST   2e9 /* seconds */
#define EXACT_COUNT 4096
#define COPIES_MOST 64.0 /* the users'; more are multiplied */
#define NEAR_S      30.0 /* how far other users are behind or ahead */

static double width_s(const struct arrival_model *m, int level)
{
	return m->tick_s > 0 ? ldexp(m->tick_s, ARRIVAL_WHOLE - level) : ldexp(DAY_S, ARRIVAL_WIDEST - level);
}

/* Takes the narrowest dividing cells. */
static int last_level(const struct arrival_model *m)
{
	return m->tick_s > 0 ? ARRIVAL_WHOLE : ARRIVAL_LEVELS - 1;
}

/* ---- the file ---- */

json_t *arrival_model_json(const struct arrival_model *m)
{
	size_t splits = (size_t)(last_level(m) - m->level);
	json_t *map = json_pack("{s:I, s:o}", "starts", (json_int_t)m->starts, "span_s", model_number(m->span_s));
	if (m->tick_s > 0)
		json_object_set_new(map, "tick_s", model_number(m->tick_s));
	json_object_set_new(map, "window_s", json_real(width_s(m, m->level)));
	json_object_set_new(map, "counts", model_numbers(m->counts, (size_t)m->windows));
	json_object_set_new(map, "correlations", model_numbers(m->splits + m->level, splits));
	if (m->gap_cv > 0)
		json_object_set_new(map, "gap_cv", model_number(m->gap_cv));
	return map;
}

int arrival_model_read(struct arrival_model *m, const json_t *map, struct ipf_error *err)
{
	struct model_place at = {map, "arrivals", 1, 1e15};
	double starts, width = 0, sum = 0;
	size_t windows, splits;
	*m = (struct arrival_model){.level = 0};
	if (!json_is_object(map))
		return model_expected(map, "arrivals", "", "an object", err);
	if (model_need(&at, "starts", &starts, err) < 0)
		return -1;
	at.least = 0;
	at.most = SPAN_MOST;
	if (model_need(&at, "span_s", &m->span_s, err) < 0 || model_optional(&at, "tick_s", &m->tick_s, err) < 0 ||
	    model_need(&at, "window_s", &width, err) < 0)
		return -1;
	while (m->level <= last_level(m) && fabs(width_s(m, m->level) / width - 1) > 1e-6)
		m->level++;
	if (m->level > last_level(m))
		return model_expected(json_object_get(map, "window_s"), "arrivals", "window_s",
		                      "tick_s, or a day, multiplied or divided by a power of two", err);
	at.most = COUNT_MOST;
	if (model_list(&at, "counts", m->counts, ARRIVAL_WINDOWS, &windows, err) < 0)
		return -1;
	at.least = -1;
	at.most = 1;
	if (model_list(&at, "correlations", m->splits + m->level, (size_t)(last_level(m) - m->level), &splits, err) < 0)
		return -1;
	at.least = 0;
	if (model_optional(&at, "gap_cv", &m->gap_cv, err) < 0)
		return -1;
	for (size_t i = 0; i < windows; i++)
		sum += m->counts[i];
	if (!(sum >= 1) || m->span_s < width * ((double)windows - 1))
		return ipf_error_set(err, IPF_INPUT, "arrivals.counts: expected at least one arrival, in windows within %g s",
		                     m->span_s);
	m->starts = (int64_t)starts;
	m->windows = (int)windows;
	return 0;
}

double arrival_model_rate(const struct arrival_model *m)
{
	return m->span_s > 0 ? (double)m->starts / m->span_s : 1;
}

/* ---- drawing ---- */

void arrival_draw_init(struct arrival_draw *d, const struct arrival_model *m, double scale, uint64_t seed,
                       uint64_t index)
{
	*d = (struct arrival_draw){.model = m, .scale = scale, .window = -1};
	rng_init(&d->rng, seed, "like arrivals", index);
	double all = 0, pairs = 0;
	for (int i = 0; i < m->windows; i++) {
		all += m->counts[i];
		pairs += m->counts[i] * (m->counts[i] - 1);
	}
	d->others[m->level] = all > 0 ? pairs / all : 0;
	for (int level = m->level; level < last_level(m); level++)
		d->others[level + 1] = d->others[level] * (1 + m->splits[level]) / 2;
}

static int64_t binomial(struct rng *rng, int64_t n, double p)
{
	if (n <= EXACT_COUNT) {
		int64_t count = 0;
		for (int64_t i = 0; i < n; i++)
			count += rng_uniform(rng) < p;
		return count;
	}
	double drawn = round((double)n * p + sqrt((double)n * p * (1 - p)) * rng_normal(rng));
	return drawn < 0 ? 0 : drawn > (double)n ? n : (int64_t)drawn;
}

/* How many of n are in the first half, if halves differ less than by chance: the square of their difference is `share`
 * of the random one. Pairs are divided, or both of them go anywhere, which adds 2 to it; a remaining one adds 1. */
static int64_t split_evenly(struct rng *rng, int64_t n, double share)
{
	const double missing = share * (double)n - (double)(n % 2);
	int64_t pairs = missing > 0 ? (int64_t)(missing / 2 + rng_uniform(rng)) : 0;
	if (pairs > n / 2)
		pairs = n / 2;
	return binomial(rng, 2 * pairs, 0.5) + (n / 2 - pairs) + (n % 2 ? (int64_t)rng_below(rng, 2) : 0);
}

/* How many of n are in the first half. `others`: an arrival's mean number of others in its window. Where two of them
 * avoid each other, it is so by the same share of chance whatever n is: arrivals avoid those nearby, and not all of a
 * window. */
static int64_t split(struct rng *rng, int64_t n, double correlation, double others)
{
	if (n < 2 || correlation == 0)
		return binomial(rng, n, 0.5);
	if (correlation < 0)
		return split_evenly(rng, n, fmax(1 + correlation * others, 0));
	if (correlation > 0.999)
		return rng_below(rng, 2) ? n : 0;
	double shape = (1 / correlation - 1) / 2, a = rng_gamma(rng, shape), b = rng_gamma(rng, shape);
	if (!(a + b > 0)) /* both too small for a number */
		return rng_below(rng, 2) ? n : 0;
	return binomial(rng, n, a / (a + b));
}

/* How long a window is, in whole ones: the last one ends with the span. */
static double window_part(const struct arrival_model *m, int window)
{
	double left = m->span_s / width_s(m, m->level) - window;
	return window < m->windows - 1 || left <= 0 ? 1 : left;
}

/* The arrivals of the window at hand. More users are like those of windows nearby, fewer are a random part: then counts
 * have the dispersion of the data at any rate. */
static int64_t count_of(struct arrival_draw *d, int windows)
{
	const struct arrival_model *m = d->model;
	const double times = d->scale > COPIES_MOST ? COPIES_MOST : d->scale;
	const int near = (int)fmin(ceil(NEAR_S / width_s(m, m->level)), windows / 8.0);
	double sum = 0;
	for (int copy = 0; copy < times; copy++) {
		int at = d->window + (copy ? (int)rng_below(&d->rng, 2 * (uint64_t)near + 1) - near : 0);
		at = at < 0 ? at + windows : at >= windows ? at - windows : at;
		int64_t count = at < m->windows ? (int64_t)(m->counts[at] + rng_uniform(&d->rng)) : 0;
		sum += (double)(times - copy < 1 ? binomial(&d->rng, count, times - copy) : count);
	}
	return (int64_t)(sum * (d->scale / times) + rng_uniform(&d->rng));
}

/* The window after this one, and when it begins. After several days, the last whole ones are gone through again. */
static void next_window(struct arrival_draw *d)
{
	const struct arrival_model *m = d->model;
	double width = width_s(m, m->level), part = 1;
	int windows = m->windows, back = m->windows;
	if (d->window >= 0)
		part = window_part(m, d->window);
	bool daily = m->span_s >= DAY_S && fmod(DAY_S, width) == 0;
	if (daily) {
		int days = (int)(m->span_s / DAY_S);
		back = (int)((double)days * (DAY_S / width));
		windows = (int)(m->span_s / width);
		part = 1;
		windows = windows < back ? back : windows;
	}
	if (d->window >= 0) {
		d->begin_ns += (int64_t)(width * part * NS_PER_S);
		d->window++;
		if (d->window >= windows)
			d->window -= back;
	} else {
		d->window = 0;
	}
	part = daily ? 1 : window_part(m, d->window);
	d->nodes[0] = (struct arrival_node){
		.count = count_of(d, windows), .width_ns = width * part * NS_PER_S, .level = m->level};
	d->depth = 1;
	d->left_ns = NAN;
}

static double rng_beta(struct rng *rng, double a, double b)
{
	const double x = rng_gamma(rng, a), y = rng_gamma(rng, b);
	return x + y > 0 ? x / (x + y) : a / (a + b);
}

/* The next of the arrivals filling a window with gaps of a gamma distribution, whose sum is the window: the share of
 * each in the rest is beta. One gap lies across its ends. */
static double next_even(struct arrival_draw *d, struct arrival_node *node)
{
	const double shape = 1 / (d->model->gap_cv * d->model->gap_cv), rest = (double)(node->count - 1);
	const bool first = isnan(d->left_ns);
	const double left = first ? node->width_ns : d->left_ns,
				 gap = rest > 0 ? left * rng_beta(&d->rng, shape, shape * rest) : left;
	node->at_ns += first ? gap * rng_uniform(&d->rng) : gap;
	d->left_ns = left - gap;
	node->count--;
	return node->at_ns;
}

int64_t arrival_draw_next(struct arrival_draw *d)
{
	const struct arrival_model *m = d->model;
	for (;;) {
		while (d->depth == 0)
			next_window(d);
		if (d->begin_ns > FIELD_INT_MAX / 2)
			return IPF_ABSENT;
		struct arrival_node *node = &d->nodes[d->depth - 1];
		if (node->count == 0) {
			d->depth--;
			continue;
		}
		if (m->gap_cv > 0) {
			const int64_t even_ns = d->begin_ns + (int64_t)next_even(d, node);
			return d->last_ns = even_ns > d->last_ns ? even_ns : d->last_ns;
		}
		bool ticks = m->tick_s > 0;
		if ((node->count == 1 && !ticks) || node->width_ns < 1 || (ticks && node->level >= ARRIVAL_WHOLE)) {
			double within = node->at_ns + rng_uniform(&d->rng) * node->width_ns, tick_ns = m->tick_s * NS_PER_S;
			int64_t at_ns = d->begin_ns + (int64_t)(ticks ? floor(node->at_ns / tick_ns + 1e-9) * tick_ns : within);
			node->count--;
			d->last_ns = at_ns > d->last_ns ? at_ns : d->last_ns; /* those of one nanosecond are in any order */
			return d->last_ns;
		}
		double half = node->width_ns / 2, c = node->level < ARRIVAL_LEVELS ? m->splits[node->level] / d->scale : 0;
		double others = node->level < ARRIVAL_LEVELS ? d->others[node->level] * d->scale : 0;
		int64_t left = split(&d->rng, node->count, c < -1 ? -1 : c > 1 ? 1 : c, others);
		struct arrival_node first = {left, node->at_ns, half, node->level + 1};
		*node = (struct arrival_node){node->count - left, node->at_ns + half, half, node->level + 1};
		if (first.count)
			d->nodes[d->depth++] = first;
	}
}
