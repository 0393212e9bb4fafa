/* Values of options of ipf-prep, and the files they name: distributions (also histograms), shares, prefixes,
 * objectives, template tokens. Each is refused with a reason, or its draws are in its range. */
#include "fuzz_input.h"

#include "absent.h"
#include "config/chat_template.h"
#include "config/slo_rules.h"
#include "draft/distribution.h"
#include "draft/prefix_groups.h"
#include "model/traffic_draw.h"

static void draw(const struct distribution *dist, enum distribution_unit unit)
{
	struct rng rng;
	if (dist->kind == DISTRIBUTION_DATASET)
		return;
	int64_t least = dist->min, most = dist->max;
	if (dist->kind == DISTRIBUTION_HISTOGRAM) {
		least = INT64_MAX, most = INT64_MIN;
		for (size_t i = 0; i < dist->bucket_count; i++) {
			least = dist->buckets[i].low < least ? dist->buckets[i].low : least;
			most = dist->buckets[i].high > most ? dist->buckets[i].high : most;
		}
	}
	must(least <= most && least >= (unit == DISTRIBUTION_COUNT ? 1 : 0));
	rng_init(&rng, 7, "fuzz", 0);
	for (int i = 0; i < 8; i++) {
		int64_t value = distribution_draw(dist, &rng);
		must(value >= least && value <= most);
	}
}

static void read_distributions(const char *text, enum distribution_unit unit)
{
	struct distribution dist = {0};
	struct ipf_error err = {0};
	if (distribution_parse(&dist, text, unit, &err) < 0)
		must_explain(&err);
	else
		draw(&dist, unit);
	distribution_release(&dist);
	dist = (struct distribution){0};
	ipf_error_clear(&err);
	if (distribution_histogram(&dist, "fuzz", text, unit, &err) < 0)
		must_explain(&err);
	else
		draw(&dist, unit);
	distribution_release(&dist);
}

static void pick(const struct share_list *list)
{
	static const double draws[] = {0, 0.25, 0.5, 0.999999, 1 - 0x1p-53};
	for (size_t i = 0; i < sizeof draws / sizeof *draws; i++)
		must(share_list_pick(list, draws[i]) < list->count);
}

static void read_shares(const char *text)
{
	struct share_list list = {0};
	struct prefix_groups prefixes = {0};
	struct traffic_mix mix = {0};
	struct ipf_error err = {0};
	if (share_list_parse(&list, text, "NAME=SHARE,…", &err) < 0)
		must_explain(&err);
	else if (list.count)
		pick(&list);
	share_list_release(&list);
	ipf_error_clear(&err);
	if (prefix_groups_parse(&prefixes, text, &err) < 0) {
		must_explain(&err);
	} else {
		pick(&prefixes.shares);
		for (size_t i = 0; i < prefixes.shares.count; i++)
			must(prefixes.groups[i].tokens >= 0 &&
			     prefixes.groups[i].first + prefixes.groups[i].count <= prefixes.count);
	}
	prefix_groups_release(&prefixes);
	ipf_error_clear(&err);
	if (traffic_mix_parse(&mix, text, &err) < 0)
		must_explain(&err);
	traffic_mix_release(&mix);
}

static void read_rules(const char *text, struct slice tags)
{
	struct slo_rules rules = {0};
	struct ipf_error err = {0};
	struct jdoc scratch = {0}, doc = {0};
	if (slo_rules_add(&rules, text, &err) < 0)
		must_explain(&err);
	else if (jdoc_parse(&doc, tags.data, tags.len, &err) == 0) {
		struct slice got = slo_rules_apply(&rules, slice_of("a"), tags, &scratch);
		must(!got.data || jdoc_parse(&doc, got.data, got.len, &err) == 0);
	}
	slo_rules_release(&rules);
	jdoc_release(&scratch);
	jdoc_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data, size};
	struct chat_template template = {.message = IPF_ABSENT};
	struct ipf_error err = {0};
	char *text = take_text(&rest);
	read_distributions(text, DISTRIBUTION_COUNT);
	read_distributions(text, DISTRIBUTION_TIME);
	read_shares(text);
	read_rules(text, rest.len ? rest : slice_of("{}"));
	if (chat_template_parse(text, &template, &err) < 0)
		must_explain(&err);
	else
		must(template.url || (chat_template_tokens(&template, 3, false) >= 0));
	free(text);
	return 0;
}
