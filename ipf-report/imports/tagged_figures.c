#include "imports/tagged_figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double tagged_unit_ms(const struct jdoc *doc, jdoc_id unit)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = {{"ms", 1}, {"s", 1e3}, {"sec", 1e3}, {"seconds", 1e3}, {"us", 1e-3}, {"ns", 1e-6}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (jdoc_text_is(doc, unit, units[i].name))
			return units[i].ms;
	return 1;
}

static void put_statistic(struct stated_summary *s, const struct jdoc *doc, const struct jdoc_each *e, double unit)
{
	static const struct {
		const char *name;
		size_t offset;
	} moments[] = {{"avg", offsetof(struct stated_summary, mean)},
	               {"std", offsetof(struct stated_summary, std)},
	               {"min", offsetof(struct stated_summary, min)},
	               {"max", offsetof(struct stated_summary, max)}};
	struct slice key = jdoc_raw(doc, e->key); /* with its quotes */
	double value;
	if (!jdoc_to_double(doc, e->value, &value))
		return;
	for (size_t i = 0; i < sizeof moments / sizeof *moments; i++)
		if (jdoc_text_is(doc, e->key, moments[i].name)) {
			*(double *)((char *)s + moments[i].offset) = value * unit;
			s->has = true;
		}
	if (jdoc_text_is(doc, e->key, "count"))
		s->n = import_count(value);
	if (key.len > 3 && key.len < 12 && key.data[1] == 'p') {
		char *after;
		double p = strtod(key.data + 2, &after);
		if (*after == '"')
			stated_percentile(s, p, value * unit);
	}
}

static void put(void *to, enum tagged_kind kind, const struct jdoc *doc)
{
	jdoc_id unit_node = jdoc_get(doc, JDOC_ROOT, "unit");
	double unit = tagged_unit_ms(doc, unit_node), value = NAN;
	if (kind == TAG_SUMMARY) {
		for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);)
			put_statistic(to, doc, &e, unit);
		return;
	}
	if (!jdoc_to_double(doc, jdoc_get(doc, JDOC_ROOT, "avg"), &value))
		return;
	if (kind == TAG_COUNT)
		*(int64_t *)to = import_count(value);
	else
		*(double *)to = unit == 1 && !jdoc_text_is(doc, unit_node, "ms") ? value : value * unit / 1e3;
}

int tagged_figure(struct stated_stage *stage, const struct tagged_metric *known, struct slice key, struct import *in,
                  struct ipf_error *err)
{
	struct buffer raw = {0};
	struct jdoc doc = {0};
	while (known->tag && !slice_is(key, known->tag))
		known++;
	if (!known->tag)
		return 0;
	int bad = json_pull_value(&in->json, &raw, err);
	if (bad == 0 && jdoc_parse(&doc, raw.data, raw.len, err) < 0) {
		ipf_error_place(err, in->name, in->json.line);
		bad = -1;
	}
	if (bad == 0 && jdoc_type_of(&doc, JDOC_ROOT) != JDOC_MAP)
		bad = json_pull_wrong(&in->json, err, "expected an object with \"unit\" and \"avg\"");
	if (bad == 0)
		put((char *)stage + known->offset, known->kind, &doc);
	jdoc_release(&doc);
	buffer_release(&raw);
	return bad ? -1 : 1;
}
