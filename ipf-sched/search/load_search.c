#include "search/load_search.h"

#include "stats/exact_math.h"

#include <math.h>
#include <stdlib.h>

/* The prior: how steep the curve may be, in logarithms of the load, and how often a stage may come out wrong whatever
 * its load. */
static const struct {
	double width, odds;
} spreads[] = {{0.005, 0.35}, {0.02, 0.3}, {0.05, 0.2}, {0.12, 0.15}};
static const struct {
	double share, odds;
} slips[] = {{0.005, 0.9}, {0.05, 0.1}};
enum { SPREADS = sizeof spreads / sizeof *spreads, SLIPS = sizeof slips / sizeof *slips };

#define BEYOND 0.1 /* the prior the answer is below the lowest load, and also that it is above the highest */
enum { CELLS_LEAST = 100, CELLS_MOST = 4000 };

/* The posterior of the answer: cells of equal width on the logarithmic scale. The first cell is everything below the
 * range, the last one everything above. */
struct grid {
	double *weight;
	size_t cells;     /* the range's; weight has two more */
	double low, step; /* logarithms */
};

static double logistic(double x)
{
	return x > 40 ? 1 : x < -40 ? 0 : 1 / (1 + exact_exp(-x));
}

double search_probability(double z)
{
	/* With the factor 1.702 the logistic curve is the normal distribution to within 0.01. */
	return logistic(1.702 * z);
}

/* How well an answer in this cell explains all trials, summed over steepness and share of slips. `at` has the
 * logarithms of their loads. */
static double likelihood(const struct grid *g, size_t cell, const struct load_search_trial *trials, const double *at,
                         size_t count)
{
	double middle = g->low + ((double)cell - 0.5) * g->step, sum = 0;

	for (int i = 0; i < SPREADS; i++) {
		double product[SLIPS];
		for (int k = 0; k < SLIPS; k++)
			product[k] = slips[k].odds * spreads[i].odds;
		for (size_t t = 0; t < count; t++) {
			double met = cell == 0 ? 0 : cell > g->cells ? 1 : logistic((middle - at[t]) / spreads[i].width);
			for (int k = 0; k < SLIPS; k++) {
				double slipped = slips[k].share + (1 - 2 * slips[k].share) * met;
				product[k] *= trials[t].met * slipped + (1 - trials[t].met) * (1 - slipped);
			}
		}
		for (int k = 0; k < SLIPS; k++)
			sum += product[k];
	}
	return sum;
}

/* Sets the weights of all cells; their sum is 1. */
static void weigh(struct grid *g, const struct load_search_trial *trials, const double *at, size_t count)
{
	double sum = 0;

	for (size_t cell = 0; cell < g->cells + 2; cell++) {
		double odds = cell == 0 || cell > g->cells ? BEYOND : (1 - 2 * BEYOND) / (double)g->cells;
		sum += g->weight[cell] = odds * likelihood(g, cell, trials, at, count);
	}
	for (size_t cell = 0; cell < g->cells + 2; cell++)
		g->weight[cell] /= sum;
}

/* The logarithm of the load below which the answer is with this probability. */
static double quantile(const struct grid *g, double probability)
{
	double sum = g->weight[0];

	if (probability <= sum)
		return -INFINITY;
	for (size_t cell = 1; cell <= g->cells; sum += g->weight[cell++])
		if (probability <= sum + g->weight[cell])
			return g->low + ((double)(cell - 1) + (probability - sum) / g->weight[cell]) * g->step;
	return INFINITY;
}

static double load_of(const struct load_search *search, double log)
{
	return log == -INFINITY ? search->low : log == INFINITY ? search->high : exact_exp(log);
}

static void conclude(const struct load_search *search, const struct grid *g, size_t count, struct load_search_answer *a)
{
	/* Each side gets a third of the remaining probability instead of a half: looking after every stage favours stopping
	 * when chance was favourable. */
	double rest = (1 - search->confidence) / 3, middle = quantile(g, 0.5), low = quantile(g, rest),
		   high = quantile(g, 1 - rest);

	a->where = middle == -INFINITY ? SEARCH_BELOW : middle == INFINITY ? SEARCH_ABOVE : SEARCH_WITHIN;
	a->answer = load_of(search, middle);
	a->least = load_of(search, low);
	a->most = load_of(search, high);
	/* Near the answer, the outcome of a stage at the median is random. A stage at either end of the required precision
	 * shows whether it is reached. */
	a->next = a->answer;
	if (a->where == SEARCH_WITHIN && quantile(g, 0.75) - quantile(g, 0.25) < 2 * search->precision)
		a->next = count % 2 ? a->answer * (1 + search->precision) : a->answer / (1 + search->precision);
	if (search->whole) {
		bool near = a->next != a->answer;
		a->next = !near       ? floor(a->answer + 0.5)
		          : count % 2 ? fmax(floor(a->answer) + 1, floor(a->next))
		                      : fmin(floor(a->answer), ceil(a->next));
		a->answer = floor(a->answer);
		a->least = floor(a->least);
		a->most = floor(a->most);
	}
	a->next = fmin(search->high, fmax(search->low, a->next));
	a->sure = a->where == SEARCH_BELOW   ? g->weight[0]
	          : a->where == SEARCH_ABOVE ? g->weight[g->cells + 1]
	                                     : search->confidence;
	a->known = a->where == SEARCH_WITHIN
	               ? low > -INFINITY && high < INFINITY && a->most <= a->answer * (1 + search->precision) &&
	                     a->least >= a->answer * (1 - search->precision)
	               : a->sure >= search->confidence;
}

int load_search_next(const struct load_search *search, const struct load_search_trial *trials, size_t count,
                     struct load_search_answer *answer, struct ipf_error *err)
{
	/* A whole answer k means that k meets the goals and k + 1 does not: the middle of the curve is between them. */
	double range = exact_log((search->high + search->whole) / search->low),
		   cells = ceil(range / (search->precision / 6));
	struct grid g = {.low = exact_log(search->low)};
	double *at = calloc(count ? count : 1, sizeof *at);

	g.cells = cells < CELLS_LEAST ? CELLS_LEAST : cells > CELLS_MOST ? CELLS_MOST : (size_t)cells;
	g.step = range / (double)g.cells;
	g.weight = calloc(g.cells + 2, sizeof *g.weight);
	if (at && g.weight) {
		for (size_t i = 0; i < count; i++)
			at[i] = exact_log(trials[i].load);
		weigh(&g, trials, at, count);
		conclude(search, &g, count, answer);
	} else {
		ipf_error_memory(err);
	}
	free(g.weight);
	free(at);
	return err->kind == IPF_OK ? 0 : -1;
}
