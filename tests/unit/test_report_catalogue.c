/* The catalogue of figures against the definitions, the JSON report of a run with every figure, and a golden report:
 * each has the others' figures. */
#include "unit.h"

#include "catalogue/catalogue.h"
#include "catalogue/definition_list.h"
#include "figures/error_bars.h"
#include "json_report/json_path.h"
#include "json_report/json_report.h"
#include "sections/distribution_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *load(const char *path)
{
	const char *tests = getenv("TESTS");
	char full[512];
	snprintf(full, sizeof full, "%s/%s", tests ? tests : "tests", path);
	json_t *json = json_load_file(full, 0, NULL);
	if (!json)
		fail_msg("%s cannot be read", full);
	return json;
}

static void figures_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < catalogue_count; i++)
		assert_ptr_equal(catalogue_find(catalogue[i].path), &catalogue[i]); /* proves that none is there twice */
	assert_string_equal(catalogue_find("latency/ttft_ms/from_due/p99")->definition, "ttft");
	assert_string_equal(catalogue_find("latency/itl_mean_ms")->family, "ipf_itl_mean_seconds");
	assert_string_equal(catalogue_find("rate/offered")->unit, "requests/s");
	assert_null(catalogue_find("latency/ttft"));
	assert_null(catalogue_find("rate"));
}

static void figures_are_defined(void **state)
{
	(void)state;
	for (size_t i = 0; i < catalogue_count; i++) {
		const struct catalogue_figure *figure = &catalogue[i];
		if (figure->definition && !definition_find(figure->definition))
			fail_msg("%s: there is no definition of %s", figure->path, figure->definition);
		assert_non_null(figure->unit);
		assert_int_equal(!figure->family, !figure->help);
	}
	for (size_t i = 0; i < definition_count; i++)
		assert_true(definitions[i].text[0] && !strstr(definitions[i].text, "  "));
}

static void is_labelled(const char *member, const char *label, const char *remark)
{
	struct latency_name name = latency_name(member);
	assert_string_equal(name.label, label);
	assert_string_equal(name.remark ? name.remark : "none", remark);
}

static void every_latency_has_a_label(void **state)
{
	(void)state;
	for (size_t i = 0; i < catalogue_count; i++) {
		const char *path = catalogue[i].path;
		if (strncmp(path, "latency/", 8) == 0 && strcmp(latency_name(path + 8).label, path + 8) == 0)
			fail_msg("%s has no label", path);
	}
	is_labelled("ttft_ms", "TTFT", "none");
	is_labelled("tpot_corrected_ms", "TPOT", "corrected");
	is_labelled("client_lag_ms", "lag", "of the client");
	is_labelled("server_prefill_queue_ms", "prefill queue", "none");
	is_labelled("itl_ms", "ITL", "none");
}

static void sorting_keeps_the_order(void **state)
{
	(void)state;
	const struct catalogue_figure *list[CATALOGUE_MOST];
	size_t count = catalogue_sorted(list, "rate/ tokens/source tokens/");
	assert_true(count > 8);
	assert_string_equal(list[0]->path, "rate/offered");
	assert_string_equal(list[5]->path, "tokens/source"); /* and tokens/sources, which begins with it, too */
	assert_string_equal(list[7]->path, "tokens/input");
	assert_string_equal(list[count - 1]->path, "tokens/output_audio");
	assert_int_equal(catalogue_sorted(list, "rate/ *"), catalogue_count);
	assert_string_equal(list[5]->path, "name");
}

/* ---- a run with every figure ---- */

static void fill_summary(struct metric_summary *d, const struct percentiles *list)
{
	*d = (struct metric_summary){.n = 1, .mean = 1, .std = 1, .min = 1, .max = 1, .n_eff = 1, .low = 1, .high = 1};
	for (int i = 0; i < list->count; i++)
		d->at[i] = 1;
}

static void fill_figures(struct figures *f, const struct percentiles *list)
{
	*f = (struct figures){.name = "total", .kind = "constant", .no_throughput = "why", .reads_known = true};
	f->stalls_known = true;
	f->window_s = f->offered = f->achieved = f->completed = f->cached_share = f->goodput = f->good_share = 1;
	f->inputs_per_s = f->input_per_s = f->output_per_s = f->total_per_s = f->in_flight_mean = f->in_flight_max =
		f->little = 1;
	f->spec_drafts = f->spec_draft_tokens = f->spec_accepted_tokens = 1;
	f->token_reads = (struct token_reads_figures){60, 60, 90, {30, 30}, 1, 1};
	f->images = f->audio_clips = f->video_clips = f->audio_ns = f->media_bytes = 1;
	f->output_audio_ns = f->played = f->played_on = 1;
	f->images_per_s = f->audio_s_per_s = f->output_audio_s_per_s = 1;
	f->empty = f->image_tokens = f->audio_tokens = f->output_audio_tokens = 1;
	f->completed_own = f->completed_counted = f->begin_in_flight = f->end_in_flight = f->tokens_spread = 1;
	f->fairness = (struct fairness){1, 1, 2};
	f->together = (struct started_together){1, 1, 1};
	f->refusals = (struct refusal_figures){.refused = 1, .refusals = 1, .retried = 1, .in_all_ns = 1, .asked = 1};
	f->history = (struct history_figures){
		.turns = 1, .compared = 1, .compared_tokens = 1, .generated_tokens = 1, .read_generated = 1};
	f->outputs[OUTPUT_VALID] = f->outputs[OUTPUT_NOT_JSON] = 1;
	f->hung_up = f->stale = f->events = f->coalesced = f->stalls = f->stalled = f->after_end = f->went_on = 1;
	f->deadlines = f->deadlines_met = f->judged = f->good = f->left_out = f->unmeasured = 1;
	f->unseen = f->errors[0] = f->not_streamed[1] = f->by_source[0] = f->by_source[1] = 1;
	f->residuals[0] = (struct token_difference){.name = "a_minus_b", .n = 1};
	for (enum metric m = 0; m < METRIC_COUNT; m++) {
		fill_summary(&f->start[m], list);
		fill_summary(&f->due[m], list);
	}
	struct metric_summary *others[] = {&f->itl,         &f->input,        &f->output, &f->reasoning,
	                                   &f->asked_input, &f->asked_output, &f->inputs, &f->tool_calls};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		fill_summary(others[i], list);
	for (int i = 0; i < WAITED; i++)
		fill_summary(&f->with_failures[i], list);
}

static void a_block_has_every_figure(void **state)
{
	(void)state;
	struct figure_options options = {0};
	struct slo slo = {.count = 1, .list[0] = {.text = "ttft=1s"}};
	struct run_data run = {.slo = &slo};
	char *finishes[] = {"stop"};
	int64_t by_finish[] = {1};
	struct run_figures figures = {0};
	struct run_accuracy accuracy = {0};
	percentiles_default(&options.percentiles);
	run.finishes.list = finishes;
	run.finishes.count = 1;
	fill_figures(&figures.total, &options.percentiles);
	figures.total.by_finish = by_finish;
	for (int i = 0; i < ERROR_BARS; i++) {
		fill_summary(&accuracy.total.bars[i].low, &options.percentiles);
		fill_summary(&accuracy.total.bars[i].high, &options.percentiles);
	}
	const struct report report = {.run = &run, .figures = &figures, .options = &options, .accuracy = &accuracy};
	json_t *block = json_block(&report, &figures.total);
	for (size_t i = 0; i < catalogue_count; i++)
		if (!json_at(block, catalogue[i].path) && strcmp(catalogue[i].path, "itl_by_position_ms") != 0)
			fail_msg("the JSON report has no %s", catalogue[i].path);
	json_decref(block);
}

/* ---- reports and the schema ---- */

static bool is_grouping(const char *key)
{
	return strncmp(key, "by_", 3) == 0 || strcmp(key, "groups_left_out") == 0;
}

static void leaves_are_figures(json_t *object, const char *path)
{
	const char *key;
	json_t *value;
	char at[128];
	json_object_foreach(object, key, value)
	{
		snprintf(at, sizeof at, "%s%s%s", path, *path ? "/" : "", key);
		if (is_grouping(key) || catalogue_find(at))
			continue;
		if (!json_is_object(value))
			fail_msg("%s is in a report, but not in the catalogue", at);
		leaves_are_figures(value, at);
	}
}

static void a_golden_report_has_no_other(void **state)
{
	(void)state;
	json_t *json = load("data/report/mixed.json"), *stage;
	size_t i;
	json_array_foreach(json_object_get(json, "stages"), i, stage) leaves_are_figures(stage, "");
	assert_true(json_object_size(json_object_get(json, "total")) > 5);
	leaves_are_figures(json_object_get(json, "total"), "");
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures_are_found),         cmocka_unit_test(figures_are_defined),
		cmocka_unit_test(every_latency_has_a_label), cmocka_unit_test(sorting_keeps_the_order),
		cmocka_unit_test(a_block_has_every_figure),  cmocka_unit_test(a_golden_report_has_no_other),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
