#include "imports/tagged_figures.h"

#include "imports/distributions.h"

#include <math.h>

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

static void put(void *to, enum tagged_kind kind, const struct jdoc *doc)
{
	jdoc_id unit_node = jdoc_get(doc, JDOC_ROOT, "unit");
	double unit = tagged_unit_ms(doc, unit_node), value = NAN;
	if (kind == TAG_SUMMARY) {
		distribution_read(to, doc, JDOC_ROOT, unit);
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
	int bad = import_value(in, &raw, &doc, err);
	if (bad == 0 && jdoc_type_of(&doc, JDOC_ROOT) != JDOC_MAP)
		bad = json_pull_wrong(&in->json, err, "expected an object with \"unit\" and \"avg\"");
	if (bad == 0)
		put((char *)stage + known->offset, known->kind, &doc);
	jdoc_release(&doc);
	buffer_release(&raw);
	return bad ? -1 : 1;
}
