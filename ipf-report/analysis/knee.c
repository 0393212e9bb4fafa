#include "analysis/knee.h"

#include "stats/rng.h"
#include "stats/samples.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* A point as the fit needs it; in the order of the offered rates. */
struct rate {
	double offered, completed, weight;
};

static double sum(const double values[KNEE_BATCHES])
{
	double all = 0;
	for (int i = 0; i < KNEE_BATCHES; i++)
		all += values[i];
	return all;
}

double knee_point_offered(const struct knee_point *p)
{
	return sum(p->offered) / p->seconds;
}

double knee_point_completed(const struct knee_point *p)
{
	return sum(p->completed) / p->seconds;
}

static int by_offered(const void *a, const void *b)
{
	const struct rate *x = a, *y = b;
	if (x->offered < y->offered || x->offered > y->offered)
		return x->offered < y->offered ? -1 : 1;
	return (x->completed > y->completed) - (x->completed < y->completed);
}

static double curve_at(double rate, double slope, double offered)
{
	return offered <= rate ? offered : rate + slope * (offered - rate);
}

static double loss_of(const struct rate *rates, size_t count, double rate, double slope)
{
	double loss = 0;
	for (size_t i = 0; i < count; i++) {
		double residual = rates[i].completed - curve_at(rate, slope, rates[i].offered);
		loss += rates[i].weight * residual * residual;
	}
	return loss;
}

/* The best plateau if the first `below` points are not on it: their weighted mean, as far as it lies between the
 * points. */
static double plateau(const struct rate *rates, size_t count, size_t below)
{
	double weight = 0, completed = 0;
	for (size_t i = below; i < count; i++) {
		weight += rates[i].weight;
		completed += rates[i].weight * rates[i].completed;
	}
	double rate = completed / weight;
	return fmin(fmax(rate, below ? rates[below - 1].offered : 0), rates[below].offered);
}

/* The falling line through the points beyond the first `below`, and where it meets the offered load's. False: it does
 * not fall, or meets it elsewhere. */
static bool falling_line(const struct rate *rates, size_t count, size_t below, double *rate, double *slope)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0;
	for (size_t i = below; i < count; i++) {
		w += rates[i].weight;
		x += rates[i].weight * rates[i].offered;
		y += rates[i].weight * rates[i].completed;
	}
	for (size_t i = below; i < count; i++) {
		double from_mean = rates[i].offered - x / w;
		xx += rates[i].weight * from_mean * from_mean;
		xy += rates[i].weight * from_mean * (rates[i].completed - y / w);
	}
	if (xx <= 0 || xy >= 0)
		return false;
	*slope = xy / xx;
	*rate = (y - *slope * x) / w / (1 - *slope);
	double least = below ? rates[below - 1].offered : 0;
	return *rate >= least && *rate <= rates[below].offered &&
	       -*slope * (rates[count - 1].offered - *rate) > KNEE_FALL * *rate;
}

/* Fits sorted rates; the counts and the misfit remain to be set. */
static void fit(const struct rate *rates, size_t count, struct knee *knee)
{
	double best = INFINITY;
	*knee = (struct knee){.rate = rates[count - 1].offered};
	for (size_t below = 0; below <= count; below++) {
		double rate = below < count ? plateau(rates, count, below) : rates[count - 1].offered, slope = 0;
		double loss = loss_of(rates, count, rate, 0);
		if (loss < best) {
			best = loss;
			*knee = (struct knee){.rate = rate};
		}
		if (count < below + KNEE_LINE || !falling_line(rates, count, below, &rate, &slope))
			continue;
		loss = loss_of(rates, count, rate, slope);
		if (loss < best) {
			best = loss;
			*knee = (struct knee){.rate = rate, .slope = slope};
		}
	}
}

static struct rate rate_of(double offered, double completed, double seconds)
{
	/* a drawn point may lack arrivals: it then counts as if it had one */
	return (struct rate){offered / seconds, completed / seconds, seconds * seconds / fmax(offered, 1)};
}

void knee_fit(const struct knee_point *points, size_t count, struct knee *knee)
{
	struct rate rates[KNEE_POINTS_MOST];
	double squares = 0;
	for (size_t i = 0; i < count; i++)
		rates[i] = rate_of(sum(points[i].offered), sum(points[i].completed), points[i].seconds);
	qsort(rates, count, sizeof *rates, by_offered);
	fit(rates, count, knee);
	for (size_t i = 0; i < count; i++) {
		double expected = curve_at(knee->rate, knee->slope, rates[i].offered);
		double off = expected > 0 ? rates[i].completed / expected - 1 : 0;
		knee->below += rates[i].offered <= knee->rate;
		squares += off * off;
	}
	knee->above = count - knee->below;
	knee->misfit = sqrt(squares / (double)count);
}

/* The parts of a point, drawn anew: a part's arrivals stay together with its completions. */
static struct rate draw(const struct knee_point *p, struct rng *rng)
{
	double offered = 0, completed = 0;
	for (int i = 0; i < KNEE_BATCHES; i++) {
		uint64_t batch = rng_below(rng, KNEE_BATCHES);
		offered += p->offered[batch];
		completed += p->completed[batch];
	}
	return rate_of(offered, completed, p->seconds);
}

int knee_interval(const struct knee_point *points, size_t count, double *low, double *high, struct ipf_error *err)
{
	struct samples drawn = {0};
	struct rate rates[KNEE_POINTS_MOST];
	struct rng rng;
	struct knee knee;
	rng_init(&rng, 1, "knee", 0);
	for (int k = 0; k < KNEE_DRAWS && !drawn.failed; k++) {
		for (size_t i = 0; i < count; i++)
			rates[i] = draw(&points[i], &rng);
		qsort(rates, count, sizeof *rates, by_offered);
		fit(rates, count, &knee);
		samples_add(&drawn, knee.rate);
	}
	*low = samples_percentile(&drawn, 2.5);
	*high = samples_percentile(&drawn, 97.5);
	bool failed = drawn.failed;
	samples_release(&drawn);
	return failed ? ipf_error_memory(err) : 0;
}
