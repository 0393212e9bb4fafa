#include "sections/distribution_table.h"

#include "stream/metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first object with a percentile, at any depth. */
static json_t *find_distribution(json_t *like)
{
	const char *key;
	json_t *value, *found = NULL;
	json_object_foreach(like, key, value)
	{
		if (!isnan(percentile_named(key)) && !json_is_object(value))
			return like;
	}
	json_object_foreach(like, key, value)
	{
		if (!found && json_is_object(value))
			found = find_distribution(value);
	}
	return found;
}

static bool is_chosen(const struct telling *t)
{
	return json_at(t->report, "options/percentiles") != NULL;
}

static bool is_common(const char *name)
{
	return strcmp(name, "p50") == 0 || strcmp(name, "p90") == 0 || strcmp(name, "p99") == 0;
}

struct doc_table *distribution_table(const struct telling *t, struct doc_table_spec spec, json_t *like)
{
	struct doc_column columns[DISTRIBUTION_COLUMNS] = {
		{.name = "n", .path = "n", .kind = CELL_COUNT, .keep = KEEP_ROOM},
		{.name = "mean", .path = "mean"},
		{.name = "std", .path = "std", .keep = KEEP_ROOM},
		{.name = "min", .path = "min"}};
	int count = 4;
	const char *key;
	json_t *value;
	json_object_foreach(find_distribution(like), key, value)
	{
		if (isnan(percentile_named(key)) || count >= DISTRIBUTION_COLUMNS - 3)
			continue;
		columns[count++] = (struct doc_column){.name = key,
		                                       .path = key,
		                                       .kind = CELL_PERCENTILE,
		                                       .keep = is_chosen(t) || is_common(key) ? KEEP : KEEP_ROOM};
	}
	columns[count++] = (struct doc_column){.name = "max", .path = "max"};
	columns[count++] = (struct doc_column){"mean, 95 % interval", "from", NULL, "ci95/0", CELL_NUMBER, KEEP_ROOM};
	columns[count++] = (struct doc_column){"mean, 95 % interval", "to", NULL, "ci95/1", CELL_NUMBER, KEEP_ROOM};
	spec.columns = columns;
	spec.count = count;
	return doc_table(t->d, &spec);
}

int few_percentiles(const struct telling *t, json_t *like, const char *names[FEW_PERCENTILES])
{
	const char *key;
	json_t *value;
	int count = 0;
	json_object_foreach(find_distribution(like), key, value)
	{
		if (isnan(percentile_named(key)) || !(is_chosen(t) || is_common(key)))
			continue;
		if (count == FEW_PERCENTILES)
			memmove(names, names + 1, (size_t)--count * sizeof *names);
		names[count++] = key;
	}
	return count;
}

struct latency_name latency_name(const char *member)
{
	struct latency_name name = {.label = member};
	size_t len = strlen(member);
	bool ms = len > 3 && strcmp(member + len - 3, "_ms") == 0;
	snprintf(name.definition, sizeof name.definition, "%.*s", (int)(len - (ms ? 3 : 0)), member);
	if (strcmp(name.definition, "itl") == 0)
		name.label = "ITL";
	for (enum metric m = 0; m < METRIC_COUNT; m++)
		if (strcmp(metrics[m].name, name.definition) == 0) {
			name.label = metrics[m].label;
			name.remark = metrics[m].remark;
		}
	return name;
}
