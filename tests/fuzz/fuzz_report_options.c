/* Texts of options of ipf-report: conditions, groupings, prices, percentiles, objectives, addresses of stores. Each is
 * refused with a reason or is a value in its range. */
#include "fuzz_input.h"

#include "analysis/cost.h"
#include "compare/fail_if.h"
#include "figures/metric_summary.h"
#include "results/event_times.h"
#include "figures/make_groups.h"
#include "results/slo.h"
#include "upload/upload_target.h"

#include <math.h>

static void read_condition(const char *text)
{
	struct fail_if condition = {0};
	struct ipf_error err = {0};
	if (fail_if_parse(&condition, text, &err) < 0)
		must_explain(&err);
	else
		must(condition.figure && isfinite(condition.limit));
}

static void read_numbers(const char *text)
{
	struct percentiles list = {0};
	struct price price = {0};
	struct ipf_error err = {0};
	if (percentiles_parse(&list, text, &err) < 0)
		must_explain(&err);
	else
		must(list.count >= 1 && list.count <= PERCENTILES_MOST);
	for (int i = 0; i < list.count && !err.kind; i++)
		must(list.p[i] >= 0 && list.p[i] <= 100 && (i == 0 || list.p[i] > list.p[i - 1]));
	ipf_error_clear(&err);
	if (price_parse(&price, text, &err) < 0)
		must_explain(&err);
}

static void read_names(const char *text)
{
	struct grouping_choice by = {0};
	struct upload_target target = {0};
	struct event_times times = {0};
	struct buffer key = {0};
	struct slo slo = {0};
	struct ipf_error err = {0};
	if (grouping_choice_parse(&by, text, &err) < 0)
		must_explain(&err);
	ipf_error_clear(&err);
	if (upload_target_parse(text, &target, &err) < 0) {
		must_explain(&err);
	} else {
		upload_target_key(&target, "report.html", &key);
		must(target.bucket[0] && key.len >= strlen("report.html"));
	}
	upload_target_release(&target);
	buffer_release(&key);
	ipf_error_clear(&err);
	if (slo_parse(&slo, text, &err) < 0)
		must_explain(&err);
	must(slo.count >= 0 && slo.count <= OBJECTIVES_MOST);
	(void)event_times_parse(&times, slice_of(text));
	event_times_release(&times);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = {(const char *)data, size};
	char *text = take_text(&rest);
	read_condition(text);
	read_numbers(text);
	read_names(text);
	free(text);
	return 0;
}
