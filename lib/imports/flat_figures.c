#include "imports/flat_figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The metric of a key ending in "_NAME_ms"; the beginning goes to `statistic`. */
static const struct flat_metric *metric_of(const struct flat_metric *known, const char *key, char statistic[16])
{
	size_t len = strlen(key);
	for (; known->name; known++) {
		char end[64];
		int tail = snprintf(end, sizeof end, "_%s_ms", known->name);
		if (len <= (size_t)tail || len - (size_t)tail >= 16 || strcmp(key + len - (size_t)tail, end) != 0)
			continue;
		snprintf(statistic, 16, "%.*s", (int)(len - (size_t)tail), key);
		return known;
	}
	return NULL;
}

static bool put(struct stated_summary *s, const char *statistic, double value)
{
	char *after;
	double p = statistic[0] == 'p' ? strtod(statistic + 1, &after) : 0;
	if (strcmp(statistic, "mean") == 0)
		s->mean = value;
	else if (strcmp(statistic, "std") == 0)
		s->std = value;
	else if (strcmp(statistic, "max") == 0)
		s->max = value;
	else if (strcmp(statistic, "median") == 0)
		stated_percentile(s, 50, value);
	else if (p > 0 && p < 100 && *after == '\0')
		stated_percentile(s, p, value);
	else
		return false;
	s->has = true;
	return true;
}

bool flat_figure(struct stated_stage *stage, const struct flat_metric *known, struct slice key, double value)
{
	char name[64], statistic[16];
	snprintf(name, sizeof name, "%.*s", (int)(key.len < 63 ? key.len : 63), key.data);
	const struct flat_metric *metric = metric_of(known, name, statistic);
	return metric && put((struct stated_summary *)((char *)stage + metric->offset), statistic, value);
}
