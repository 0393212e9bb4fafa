#include "imports/tagged_figures.h"

#include "imports/distributions.h"

#include <math.h>

struct known_metric {
	const char *tag;
	size_t offset; /* in struct stated_stage: of a struct stated_summary, a double, or an int64_t */
	enum tagged_kind { TAG_SUMMARY, TAG_VALUE, TAG_COUNT } kind;
};
#define SUMMARY(tag_, member_)                                                                                         \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_SUMMARY                                                      \
	}
#define VALUE(tag_, member_)                                                                                           \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_VALUE                                                        \
	}
#define COUNT(tag_, member_)                                                                                           \
	{                                                                                                                  \
		tag_, offsetof(struct stated_stage, member_), TAG_COUNT                                                        \
	}

static const struct known_metric known_metrics[] = {SUMMARY("request_latency", start[METRIC_E2E]),
                                                    SUMMARY("time_to_first_token", start[METRIC_TTFT]),
                                                    SUMMARY("time_to_second_token", start[METRIC_TTST]),
                                                    SUMMARY("time_to_first_output_token", start[METRIC_TTFA]),
                                                    SUMMARY("inter_token_latency", start[METRIC_TPOT]),
                                                    SUMMARY("inter_chunk_latency", itl),
                                                    SUMMARY("input_sequence_length", input),
                                                    SUMMARY("output_sequence_length", output),
                                                    SUMMARY("effective_latency", due_e2e),
                                                    SUMMARY("credit_to_start_latency", start[METRIC_LAG]),
                                                    VALUE("effective_concurrency", in_flight_mean),
                                                    VALUE("request_throughput", completed),
                                                    VALUE("input_token_throughput", input_per_s),
                                                    VALUE("output_token_throughput", output_per_s),
                                                    VALUE("total_token_throughput", total_per_s),
                                                    VALUE("benchmark_duration", window_s),
                                                    VALUE("total_isl", input_total),
                                                    VALUE("total_osl", output_total),
                                                    COUNT("request_count", ok),
                                                    COUNT("error_request_count", failed)};

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

/* 1: the member is a known metric, and was read; 0: it is not, and its value is still to be read. */
static int read_metric(struct stated_stage *figures, struct slice key, struct import *in, struct ipf_error *err)
{
	struct buffer raw = {0};
	struct jdoc doc = {0};
	size_t i = 0, count = sizeof known_metrics / sizeof *known_metrics;
	while (i < count && !slice_is(key, known_metrics[i].tag))
		i++;
	if (i == count)
		return 0;
	int bad = import_value(in, &raw, &doc, err);
	if (bad == 0 && jdoc_type_of(&doc, JDOC_ROOT) != JDOC_MAP)
		bad = json_pull_wrong(&in->json, err, "expected an object with \"unit\" and \"avg\"");
	if (bad == 0)
		put((char *)figures + known_metrics[i].offset, known_metrics[i].kind, &doc);
	jdoc_release(&doc);
	buffer_release(&raw);
	return bad ? -1 : 1;
}

int tagged_figures_read(struct stated_stage *figures, struct import *in, tagged_other other, struct ipf_error *err)
{
	struct slice key;
	stated_stage_init(figures);
	int got = json_pull_enter(&in->json, JDOC_MAP, err);
	while (got >= 0 && (got = json_pull_member(&in->json, &key, err)) == 1) {
		got = read_metric(figures, key, in, err);
		if (got == 0)
			got = other ? other(in, key, err) : json_pull_skip(&in->json, err);
	}
	return got;
}

int tagged_figures_put(const struct stated_stage *figures, struct import *in, struct ipf_error *err)
{
	int stage = import_stage(in, &(struct import_stage){0}, err);
	struct stated_stage *to = stage < 0 ? NULL : import_figures(in, stage, err);
	if (!to)
		return -1;
	*to = *figures;
	import_lasted(in, figures->window_s);
	return 0;
}
