#include "imports/distributions.h"

#include "imports/import.h"

#include <math.h>
#include <stdlib.h>

/* Reads the key with its quotes: "p99.9"; with `digits` "p999", of which the third is behind the point. NAN: it is
 * none.
 */
static double percentile_of(struct slice key, bool digits)
{
	char *after;
	if (key.len < 4 || key.len > 10 || key.data[1] != 'p')
		return NAN;
	double p = strtod(key.data + 2, &after);
	if (*after != '"' || after == key.data + 2)
		return NAN;
	return digits && key.len == 6 ? p / 10 : p;
}

static void read_percentiles(struct stated_summary *s, const struct jdoc *doc, jdoc_id map, double unit, bool digits)
{
	double value;
	for (struct jdoc_each e = jdoc_each(doc, map); jdoc_step(&e);)
		if (e.key != JDOC_NONE && jdoc_to_double(doc, e.value, &value))
			stated_percentile(s, percentile_of(jdoc_raw(doc, e.key), digits), value * unit);
}

void distribution_read(struct stated_summary *s, const struct jdoc *doc, jdoc_id map, double unit)
{
	static const struct {
		const char *name;
		size_t offset;
	} moments[] = {{"mean", offsetof(struct stated_summary, mean)},   {"avg", offsetof(struct stated_summary, mean)},
	               {"std_dev", offsetof(struct stated_summary, std)}, {"std", offsetof(struct stated_summary, std)},
	               {"min", offsetof(struct stated_summary, min)},     {"max", offsetof(struct stated_summary, max)}};
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++) {
		double value = distribution_number(doc, map, moments[i].name);
		if (isnan(value))
			continue;
		*(double *)((char *)s + moments[i].offset) = value * unit;
		s->has = true;
	}
	stated_percentile(s, 50, distribution_number(doc, map, "median") * unit);
	read_percentiles(s, doc, map, unit, false);
	read_percentiles(s, doc, jdoc_get(doc, map, "percentiles"), unit, true);
	double count = distribution_number(doc, map, "count");
	if (!isnan(count))
		s->n = import_count(count);
}

double distribution_number(const struct jdoc *doc, jdoc_id map, const char *key)
{
	double value;
	return jdoc_to_double(doc, jdoc_get(doc, map, key), &value) ? value : NAN;
}
