#include "draft/distribution.h"

#include "array.h"
#include "cli/units.h"
#include "stats/exact_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS_MAX 10000
#define COUNT_MAX INT64_C(100000000)

#define TIME_MAX (INT64_C(366) * 86400 * 1000000000)

static int unexpected(const struct distribution *dist, const char *text, struct ipf_error *err)
{
	if (dist->unit == DISTRIBUTION_TIME)
		return ipf_error_set(
			err, IPF_USAGE,
			"expected 2s, uniform:1s-5s, normal:MEAN,STD[,min=TIME][,max=TIME], lognormal:MEAN,STD[,…], "
			"histogram:FILE or dataset, got \"%s\"",
			text);
	return ipf_error_set(err, IPF_USAGE,
	                     "expected 128, uniform:64-256, normal:MEAN,STD[,min=N][,max=N], lognormal:MEAN,STD[,…], "
	                     "histogram:FILE or dataset, got \"%s\"",
	                     text);
}

static int64_t least(const struct distribution *dist)
{
	return dist->unit == DISTRIBUTION_COUNT;
}

static int64_t most(const struct distribution *dist)
{
	return dist->unit == DISTRIBUTION_COUNT ? COUNT_MAX : TIME_MAX;
}

/* A number within the bounds of its unit. */
static int parse_bounded(const struct distribution *dist, const char *text, int64_t *number, struct ipf_error *err)
{
	struct ipf_error why = {0};
	if ((dist->unit == DISTRIBUTION_COUNT ? parse_count(text, number, &why) : parse_duration(text, number, &why)) < 0)
		return ipf_error_set(err, IPF_USAGE, "%s", why.text);
	if (*number < least(dist) || *number > most(dist))
		return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%s\"",
		                     dist->unit == DISTRIBUTION_COUNT ? "a count from 1 to 100M" : "at most a year", text);
	return 0;
}

/* LOW-HIGH */
static int parse_range(const struct distribution *dist, char *text, int64_t *low, int64_t *high, struct ipf_error *err)
{
	char *dash = strchr(text, '-');
	if (!dash)
		return -1;
	*dash = '\0';
	if (parse_bounded(dist, text, low, err) < 0 || parse_bounded(dist, dash + 1, high, err) < 0)
		return -1;
	return *low <= *high ? 0 : ipf_error_set(err, IPF_USAGE, "%s is more than %s", text, dash + 1);
}

/* A mean or a standard deviation: a number, or a time with its unit. */
static int parse_moment(const struct distribution *dist, const char *text, double *number, struct ipf_error *err)
{
	int64_t ns;
	if (dist->unit == DISTRIBUTION_COUNT)
		return parse_number(text, number, err);
	if (parse_duration(text, &ns, err) < 0)
		return -1;
	*number = (double)ns;
	return 0;
}

/* MEAN,STD[,min=N][,max=N] */
static int parse_moments(struct distribution *dist, char *rest, struct ipf_error *err)
{
	int at = 0;
	for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","), at++) {
		int status;
		if (at == 0)
			status = parse_moment(dist, item, &dist->mean, err);
		else if (at == 1)
			status = parse_moment(dist, item, &dist->std, err);
		else if (strncmp(item, "min=", 4) == 0)
			status = parse_bounded(dist, item + 4, &dist->min, err);
		else if (strncmp(item, "max=", 4) == 0)
			status = parse_bounded(dist, item + 4, &dist->max, err);
		else
			return -1;
		if (status < 0)
			return -1;
	}
	if (at < 2)
		return -1;
	if (dist->mean <= 0 || dist->std < 0 || dist->mean > (double)most(dist) || dist->std > (double)most(dist))
		return ipf_error_set(err, IPF_USAGE,
		                     "expected a mean above 0 and a standard deviation of 0 or more, got %g and %g", dist->mean,
		                     dist->std);
	if (dist->min > dist->max)
		return ipf_error_set(err, IPF_USAGE, "min= is more than max=");
	return 0;
}

int distribution_parse(struct distribution *dist, const char *text, enum distribution_unit unit, struct ipf_error *err)
{
	char copy[256];
	*dist = (struct distribution){.kind = DISTRIBUTION_DATASET, .unit = unit};
	dist->min = least(dist);
	dist->max = most(dist);
	if (strcmp(text, "dataset") == 0)
		return 0;
	if (strlen(text) >= sizeof copy)
		return unexpected(dist, text, err);
	strcpy(copy, text);
	char *colon = strchr(copy, ':');
	int status = -1;
	if (!colon) {
		struct ipf_error why = {0};
		dist->kind = DISTRIBUTION_CONSTANT;
		if ((unit == DISTRIBUTION_COUNT ? parse_count(text, &dist->min, &why)
		                                : parse_duration(text, &dist->min, &why)) == 0)
			status = parse_bounded(dist, text, &dist->min, err);
		dist->max = dist->min;
		return status < 0 ? unexpected(dist, text, err) : 0;
	}
	*colon = '\0';
	if (strcmp(copy, "uniform") == 0) {
		dist->kind = DISTRIBUTION_UNIFORM;
		status = parse_range(dist, colon + 1, &dist->min, &dist->max, err);
	} else if (strcmp(copy, "normal") == 0 || strcmp(copy, "lognormal") == 0) {
		dist->kind = *copy == 'n' ? DISTRIBUTION_NORMAL : DISTRIBUTION_LOGNORMAL;
		status = parse_moments(dist, colon + 1, err);
	}
	if (status < 0)
		return unexpected(dist, text, err);
	if (dist->kind == DISTRIBUTION_LOGNORMAL) {
		double ratio = dist->std / dist->mean, variance = exact_log(1 + ratio * ratio);
		dist->mu = exact_log(dist->mean) - variance / 2;
		dist->sigma = sqrt(variance);
	}
	return 0;
}

/* ---- histograms ---- */

static int add_bucket(struct distribution *dist, size_t *cap, char *line, double *sum, struct ipf_error *err)
{
	char *rest = line, *range = strsep(&rest, " \t,");
	struct distribution_bucket bucket;
	double weight;
	while (rest && strchr(" \t,", *rest) && *rest)
		rest++;
	char *end = rest ? rest + strcspn(rest, " \t\r") : NULL;
	if (end && end[strspn(end, " \t\r")] == '\0')
		*end = '\0';
	if (!rest || parse_number(rest, &weight, err) < 0)
		return ipf_error_set(err, IPF_INPUT, "expected NUMBER WEIGHT or LOW-HIGH WEIGHT, got \"%.40s\"", line);
	if (weight < 0)
		return ipf_error_set(err, IPF_INPUT, "expected a weight of 0 or more, got %g", weight);
	if (strchr(range, '-')) {
		if (parse_range(dist, range, &bucket.low, &bucket.high, err) < 0)
			return -1;
	} else {
		if (parse_bounded(dist, range, &bucket.low, err) < 0)
			return -1;
		bucket.high = bucket.low;
	}
	if (weight == 0)
		return 0;
	if (!array_room(dist->buckets, *cap, dist->bucket_count + 1))
		return ipf_error_memory(err);
	*sum += weight;
	bucket.upto = *sum;
	dist->buckets[dist->bucket_count++] = bucket;
	return 0;
}

int distribution_histogram(struct distribution *dist, const char *file, const char *text, enum distribution_unit unit,
                           struct ipf_error *err)
{
	char *copy = strdup(text), *rest = copy;
	size_t cap = 0;
	double sum = 0;
	int status = 0;
	*dist = (struct distribution){.kind = DISTRIBUTION_HISTOGRAM, .unit = unit};
	if (!copy)
		return ipf_error_memory(err);
	int64_t number = 1;
	for (char *line = strsep(&rest, "\n"); line && status == 0; line = strsep(&rest, "\n"), number++) {
		line += strspn(line, " \t\r");
		if (!*line || *line == '#')
			continue;
		struct ipf_error why = {0};
		status = add_bucket(dist, &cap, line, &sum, &why);
		if (status < 0)
			ipf_error_at(err, why.kind == IPF_SYSTEM ? IPF_SYSTEM : IPF_INPUT, file, number, "%s", why.text);
	}
	free(copy);
	if (status == 0 && dist->bucket_count == 0)
		status = ipf_error_at(err, IPF_INPUT, file, 0, "the histogram has no weight above 0");
	return status;
}

static int64_t draw_bucket(const struct distribution *dist, struct rng *rng)
{
	double at = rng_uniform(rng) * dist->buckets[dist->bucket_count - 1].upto;
	size_t low = 0, high = dist->bucket_count - 1; /* the first bucket whose `upto` is above `at` */
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (dist->buckets[middle].upto > at)
			high = middle;
		else
			low = middle + 1;
	}
	const struct distribution_bucket *bucket = &dist->buckets[low];
	return bucket->low + (int64_t)rng_below(rng, (uint64_t)(bucket->high - bucket->low) + 1);
}

void distribution_release(struct distribution *dist)
{
	free(dist->buckets);
	*dist = (struct distribution){0};
}

int64_t distribution_draw(const struct distribution *dist, struct rng *rng)
{
	double x = 0;
	switch (dist->kind) {
	case DISTRIBUTION_DATASET:
	case DISTRIBUTION_CONSTANT:
		return dist->min;
	case DISTRIBUTION_UNIFORM:
		return dist->min + (int64_t)rng_below(rng, (uint64_t)(dist->max - dist->min) + 1);
	case DISTRIBUTION_HISTOGRAM:
		return draw_bucket(dist, rng);
	case DISTRIBUTION_NORMAL:
	case DISTRIBUTION_LOGNORMAL:
		for (int i = 0; i < DRAWS_MAX; i++) {
			double z = rng_normal(rng);
			x = dist->kind == DISTRIBUTION_NORMAL ? dist->mean + dist->std * z : exact_exp(dist->mu + dist->sigma * z);
			double whole = floor(x + 0.5);
			if (whole >= (double)dist->min && whole <= (double)dist->max)
				return (int64_t)whole;
		}
	}
	/* The bounds are too far out to be drawn: take the nearer one. */
	return x < (double)dist->min ? dist->min : dist->max;
}
