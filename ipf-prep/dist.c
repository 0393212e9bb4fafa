#include "dist.h"

#include "units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DRAWS_MAX 10000
#define COUNT_MAX INT64_C(1000000000)

static int wrong(const char *text, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "expected 128, uniform:64-256, normal:MEAN,STD[,min=N][,max=N], lognormal:MEAN,STD[,…] or dataset, "
	                     "got \"%s\"", text);
}

static int take_count(const char *text, int64_t *count, struct ipf_error *err)
{
	struct ipf_error why = {0};
	if (parse_count(text, count, &why) < 0)
		return ipf_error_set(err, IPF_USAGE, "%s", why.text);
	if (*count < 1 || *count > COUNT_MAX)
		return ipf_error_set(err, IPF_USAGE, "expected a count from 1 to %lld, got \"%s\"", (long long)COUNT_MAX, text);
	return 0;
}

static int parse_uniform(struct dist *dist, char *rest, struct ipf_error *err)
{
	char *dash = strchr(rest, '-');
	if (!dash)
		return -1;
	*dash = '\0';
	if (take_count(rest, &dist->min, err) < 0 || take_count(dash + 1, &dist->max, err) < 0)
		return -1;
	if (dist->min > dist->max)
		return ipf_error_set(err, IPF_USAGE, "uniform: %s is more than %s", rest, dash + 1);
	return 0;
}

/* MEAN,STD[,min=N][,max=N] */
static int parse_moments(struct dist *dist, char *rest, struct ipf_error *err)
{
	int at = 0;
	for (char *item = strsep(&rest, ","); item; item = strsep(&rest, ","), at++) {
		int status;
		if (at == 0)
			status = parse_number(item, &dist->mean, err);
		else if (at == 1)
			status = parse_number(item, &dist->std, err);
		else if (strncmp(item, "min=", 4) == 0)
			status = take_count(item + 4, &dist->min, err);
		else if (strncmp(item, "max=", 4) == 0)
			status = take_count(item + 4, &dist->max, err);
		else
			return -1;
		if (status < 0)
			return -1;
	}
	if (at < 2)
		return -1;
	if (dist->mean <= 0 || dist->std < 0 || dist->mean > (double)COUNT_MAX || dist->std > (double)COUNT_MAX)
		return ipf_error_set(err, IPF_USAGE, "the mean has to be above 0 and the deviation 0 or more, got %g and %g", dist->mean, dist->std);
	if (dist->min > dist->max)
		return ipf_error_set(err, IPF_USAGE, "min=%lld is more than max=%lld", (long long)dist->min, (long long)dist->max);
	return 0;
}

int dist_parse(struct dist *dist, const char *text, struct ipf_error *err)
{
	char copy[256];
	*dist = (struct dist){.kind = DIST_DATASET, .min = 1, .max = COUNT_MAX};
	if (strcmp(text, "dataset") == 0)
		return 0;
	if (strlen(text) >= sizeof copy)
		return wrong(text, err);
	strcpy(copy, text);
	char *colon = strchr(copy, ':');
	if (!colon) {
		dist->kind = DIST_CONSTANT;
		struct ipf_error why = {0};
		if (parse_count(text, &dist->min, &why) < 0)
			return wrong(text, err);
		if (take_count(text, &dist->min, err) < 0)
			return -1;
		dist->max = dist->min;
		return 0;
	}
	*colon = '\0';
	int status = -1;
	if (strcmp(copy, "uniform") == 0) {
		dist->kind = DIST_UNIFORM;
		status = parse_uniform(dist, colon + 1, err);
	} else if (strcmp(copy, "normal") == 0 || strcmp(copy, "lognormal") == 0) {
		dist->kind = *copy == 'n' ? DIST_NORMAL : DIST_LOGNORMAL;
		status = parse_moments(dist, colon + 1, err);
	}
	if (status < 0)
		return wrong(text, err);
	if (dist->kind == DIST_LOGNORMAL) {
		double ratio = dist->std / dist->mean, variance = exact_log(1 + ratio * ratio);
		dist->mu = exact_log(dist->mean) - variance / 2;
		dist->sigma = sqrt(variance);
	}
	return 0;
}

int64_t dist_draw(const struct dist *dist, struct rng *rng)
{
	double x = 0;
	switch (dist->kind) {
	case DIST_DATASET:
	case DIST_CONSTANT:
		return dist->min;
	case DIST_UNIFORM:
		return dist->min + (int64_t)rng_below(rng, (uint64_t)(dist->max - dist->min) + 1);
	case DIST_NORMAL:
	case DIST_LOGNORMAL:
		for (int i = 0; i < DRAWS_MAX; i++) {
			double z = rng_normal(rng);
			x = dist->kind == DIST_NORMAL ? dist->mean + dist->std * z : exact_exp(dist->mu + dist->sigma * z);
			double whole = floor(x + 0.5);
			if (whole >= (double)dist->min && whole <= (double)dist->max)
				return (int64_t)whole;
		}
	}
	/* Bounds so far out that chance does not get there: the nearer one. */
	return x < (double)dist->min ? dist->min : dist->max;
}
