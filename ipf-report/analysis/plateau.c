#include "analysis/plateau.h"

#include "stats/rng.h"
#include "stats/samples.h"
#include "stats/student.h"

#include <math.h>
#include <stdlib.h>

/* A point as the search needs it; in the order of the users. */
struct level {
	double users, rate, seconds;
	double variance; /* the rate's */
};

static int by_users(const void *a, const void *b)
{
	const struct level *x = a, *y = b;
	if (x->users < y->users || x->users > y->users)
		return x->users < y->users ? -1 : 1;
	return (x->rate > y->rate) - (x->rate < y->rate);
}

static struct level level_of(const struct plateau_point *p, const double completed[KNEE_BATCHES])
{
	double sum = 0, squares = 0;
	for (int i = 0; i < KNEE_BATCHES; i++)
		sum += completed[i];
	for (int i = 0; i < KNEE_BATCHES; i++)
		squares += (completed[i] - sum / KNEE_BATCHES) * (completed[i] - sum / KNEE_BATCHES);
	return (struct level){.users = p->users,
	                      .rate = sum / p->seconds,
	                      .seconds = p->seconds,
	                      .variance = squares * KNEE_BATCHES / (KNEE_BATCHES - 1) / (p->seconds * p->seconds)};
}

double plateau_point_rate(const struct plateau_point *p)
{
	return level_of(p, p->completed).rate;
}

/* Points with as many users, as of repeats, become one. Returns how many are left. */
static size_t join(struct level *levels, size_t count)
{
	size_t kept = 0;
	qsort(levels, count, sizeof *levels, by_users);
	for (size_t i = 0; i < count; i++) {
		struct level *last = kept ? &levels[kept - 1] : NULL;
		if (!last || last->users < levels[i].users) {
			levels[kept++] = levels[i];
			continue;
		}
		double seconds = last->seconds + levels[i].seconds;
		last->rate = (last->rate * last->seconds + levels[i].rate * levels[i].seconds) / seconds;
		double part = last->seconds / seconds;
		last->variance = part * part * last->variance + (1 - part) * (1 - part) * levels[i].variance;
		last->seconds = seconds;
	}
	return kept;
}

/* Is a point nearly as high as the highest, or lower by chance? */
static bool is_near(const struct level *level, const struct level *most)
{
	return level->rate >= PLATEAU_NEAR * most->rate - PLATEAU_SIGMAS * sqrt(level->variance + most->variance);
}

/* Is the growth from one point to another less than half of the users', and not by chance? */
static bool is_flat(const struct level *from, const struct level *to)
{
	double ratio = to->users / from->users;
	return ratio >= PLATEAU_WIDTH &&
	       to->rate + PLATEAU_SIGMAS * sqrt(from->variance + to->variance) < from->rate * (1 + (ratio - 1) / 2);
}

static void find(struct level *levels, size_t count, struct plateau *p)
{
	double completed = 0, seconds = 0;
	size_t first = 0, end;
	count = join(levels, count);
	const struct level *most = &levels[0];
	for (size_t i = 1; i < count; i++)
		most = levels[i].rate > most->rate ? &levels[i] : most;
	while (!is_near(&levels[first], most))
		first++;
	for (end = first; end < count && is_near(&levels[end], most); end++) {
		completed += levels[end].rate * levels[end].seconds;
		seconds += levels[end].seconds;
	}
	*p = (struct plateau){.rate = completed / seconds,
	                      .users = NAN,
	                      .below = first,
	                      .on = end - first,
	                      .falls = end < count,
	                      .rate_low = NAN,
	                      .rate_high = NAN,
	                      .users_low = NAN,
	                      .users_high = NAN};
	p->flat = p->falls || is_flat(&levels[first], &levels[end - 1]);
	if (first > 0 && levels[first - 1].rate > 0) {
		const struct level *below = &levels[first - 1];
		p->users = fmin(fmax(p->rate * below->users / below->rate, below->users), levels[first].users);
	} else if (first > 0) {
		p->users = levels[first].users;
	}
}

void plateau_find(const struct plateau_point *points, size_t count, struct plateau *p)
{
	struct level levels[KNEE_POINTS_MOST];
	for (size_t i = 0; i < count; i++)
		levels[i] = level_of(&points[i], points[i].completed);
	find(levels, count, p);
}

/* By how much intervals from draws of few parts are too narrow: their spread divides by their number and not by one
 * less, and is itself known as by so many degrees of freedom. */
static double few_batches(const struct plateau *p)
{
	const double degrees = (double)p->on * (KNEE_BATCHES - 1);
	return sqrt(KNEE_BATCHES / (KNEE_BATCHES - 1.0)) * student_critical(0.05, degrees) / STUDENT_95;
}

int plateau_interval(const struct plateau_point *points, size_t count, struct plateau *p, struct ipf_error *err)
{
	struct samples rates = {0}, users = {0};
	struct level levels[KNEE_POINTS_MOST];
	struct rng rng;
	struct plateau drawn;
	rng_init(&rng, 1, "plateau", 0);
	for (int k = 0; k < KNEE_DRAWS && !rates.failed && !users.failed; k++) {
		for (size_t i = 0; i < count; i++) {
			double completed[KNEE_BATCHES];
			for (int batch = 0; batch < KNEE_BATCHES; batch++)
				completed[batch] = points[i].completed[rng_below(&rng, KNEE_BATCHES)];
			levels[i] = level_of(&points[i], completed);
		}
		find(levels, count, &drawn);
		samples_add(&rates, drawn.rate);
		samples_add(&users, drawn.users); /* not an unknown number */
	}
	const double wider = few_batches(p);
	p->rate_low = fmax(p->rate - wider * (p->rate - samples_percentile(&rates, 2.5)), 0);
	p->rate_high = p->rate + wider * (samples_percentile(&rates, 97.5) - p->rate);
	if (!isnan(p->users)) {
		p->users_low = fmax(p->users - wider * (p->users - samples_percentile(&users, 2.5)), 0);
		p->users_high = p->users + wider * (samples_percentile(&users, 97.5) - p->users);
	}
	bool failed = rates.failed || users.failed;
	samples_release(&rates);
	samples_release(&users);
	return failed ? ipf_error_memory(err) : 0;
}
