#include "commands/build_report.h"

#include "absent.h"
#include "commands/read_why.h"
#include "figures/model_error.h"
#include "figures/stated_figures.h"
#include "formats/report_format.h"
#include "json_report/json_report.h"
#include "document/shown_numbers.h"
#include "json_report/json_path.h"
#include "json_report/run_info.h"
#include "sections/objectives_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Formats showing requests have nothing to show of a run of which another tool only tells figures. */
static int check_requests(const struct run_data *run, const struct report_options *options, struct ipf_error *err)
{
	const struct report_format *format = report_formats[options->format];
	const char *name = report_format_names[options->format];
	const char *definition = run_data_definition(run, 0);
	if (strcmp(definition, "ipf") != 0 && (options->said.any || format->times))
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "%s%s applies the definitions of other tools itself: the results already have those of %s",
		                    options->said.any ? "" : report_format_option(options), options->said.any ? "--as" : name,
		                    definition);
	if (run->parts[0].predicted && options->certificate)
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "was predicted by a twin: a certificate holds a client's measurements");
	if (!run->stated)
		return 0;
	if (options->said.any)
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "--as requires results of ipf-collect: this file has the figures of another tool");
	if (format->times || (format->requests && !run->stated->requests))
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "%s%s requires requests%s, which the file does not have", report_format_option(options),
		                    name, run->stated->requests ? " with the times of their starts" : "");
	return 0;
}

/* The needed members of the JSON report: a report for people has those of its sections. */
static unsigned wanted_members(const struct report_options *options, const struct report_view *view)
{
	const bool people = report_formats[options->format]->sections && !options->certificate;
	if (options->only_plots)
		return REPORT_SATURATION;
	return !people || options->delivery.push.targets.count > 0
	           ? REPORT_ALL
	           : sections_members(view) | (options->plots ? REPORT_SATURATION : 0);
}

static struct figure_options wanted_figures(const struct run_data *run, const struct report_options *options,
                                            bool brief)
{
	struct figure_options wanted = options->figures;
	if (run->stated && !wanted.percentiles.chosen)
		stated_percentiles(&wanted.percentiles, run->stated);
	if (options->by.by != GROUPINGS)
		wanted.by[options->by.by] = true;
	for (enum grouping by = BY_MODEL; by <= BY_TARGET; by++)
		wanted.by[by] |= !brief && report_formats[options->format]->all_groups && run->groups[by].count > 1;
	wanted.by[BY_INPUTS] |= report_formats[options->format]->all_groups && run->groups[BY_INPUTS].count > 0;
	return wanted;
}

static int apply_stated(struct run_figures *figures, const struct run_data *run, const struct percentiles *list,
                        struct ipf_error *err)
{
	stated_figures_apply(figures, run->stated, list);
	return stated_figures_judge(figures, run, err);
}

/* Were there resets of the cache in the run? Their probes are in the servers' counters, and not in the trace. */
static bool has_probes(const struct run_data *run)
{
	json_t *entry;
	size_t k;
	for (int i = 0; i < run->part_count; i++)
		json_array_foreach(json_object_get(run->parts[i].trailer, "from"), k,
		                   entry) if (json_object_get(entry, "cache_reset")) return true;
	return false;
}

/* The verdict, with all noted for it, and the streams' entries about the run. */
static int describe_run(struct report *report, json_t *meta, struct ipf_error *err)
{
	if (report->servers->count > 0 && !has_probes(report->run))
		verdict_cache_counters(report->run->verdict, report->servers->hit_rate);
	report->verdict = verdict_json(report->run->verdict);
	report->finding = verdict_judge(report->run->verdict);
	report->run_info = run_info_json(report->run, report->reproducible);
	if (!report->verdict || !report->finding || !report->run_info)
		return ipf_error_memory(err);
	if (meta)
		json_object_set(report->run_info, "meta", meta);
	return 0;
}

static int build_trace(struct trace_findings *trace, const struct run_data *run, const struct report_options *options,
                       struct ipf_error *err)
{
	const struct cache_options wanted = {.size_tokens = options->cache_size,
	                                     .block_tokens = options->cache_block,
	                                     .percentiles = &options->figures.percentiles};
	return trace_findings_build(trace, options->trace, run, &wanted, err);
}

static int build_analyses(struct analyses *analyses, struct said *said, const struct report *report,
                          const struct price *price, struct ipf_error *err)
{
	const struct analysis_input input = {
		.run = report->run,
		.figures = report->figures,
		.servers = report->servers,
		.finding = report->finding,
		.options = report->options,
		.price = price,
		.wanted = (report->members & REPORT_SATURATION || has_load_objectives(report->run, report->figures)
	                   ? ANALYSIS_SATURATION
	                   : 0) |
	              (report->members & REPORT_SESSIONS ? ANALYSIS_SESSIONS : 0) |
	              (report->members & REPORT_AUTOSCALING ? ANALYSIS_AUTOSCALING : 0) |
	              (report->members & REPORT_REPEATS ? ANALYSIS_REPEATS : 0) |
	              (report->members & REPORT_ANSWERS ? ANALYSIS_ANSWERS : 0)};
	if (said->any && said_build(said, report->run, report->figures, err) < 0)
		return -1;
	return analyses_build(analyses, &input, err);
}

/* The error bars of all latencies, which belong to the figures of a full report. */
static int build_accuracy(struct built_report *b, const struct report_options *options, struct ipf_error *err)
{
	if (!(b->report.members & REPORT_ACCURACY) && options->accuracy_ns == IPF_ABSENT)
		return 0;
	return run_accuracy_build(&b->accuracy, b->report.run, &b->figures, &b->wanted, options->accuracy_ns, err);
}

/* A run of several loads has to meet its objectives at each judged one, and at one at least. */
void judge_loads_strictly(json_t *objectives, struct ipf_error *err)
{
	struct document d = {0};
	const char *line = objectives_line(&d, objectives);
	if (line && (json_at(objectives, "missed") || !json_at(objectives, "met")))
		ipf_error_set(err, IPF_INVALID, "objectives: %s (--strict)", line);
	document_release(&d);
}

static void judge_loads(const struct report *report, struct ipf_error *err)
{
	json_t *objectives = json_load_objectives(report);
	judge_loads_strictly(objectives, err);
	json_decref(objectives);
}

/* More wrong answers under load than alone, and mixed-up ones, are figures of the check. */
void judge_answers_strictly(json_t *verdict, struct ipf_error *err)
{
	json_t *check;
	size_t i;
	json_array_foreach(json_at(verdict, "checks"), i, check)
	{
		if (figure_at(check, "mixed_up") > 0)
			ipf_error_set(err, IPF_INVALID, "answers are mixed up (--strict)");
		if (figure_at(check, "wrong_p") < VERDICT_ANSWERS_P)
			ipf_error_set(err, IPF_INVALID, "more canaries are wrong under load than alone, p = %.2g (--strict)",
			              figure_at(check, "wrong_p"));
	}
}

void judge_strictly(const struct report *report, struct ipf_error *err)
{
	const struct slo *slo = report->run->slo;
	char value[40];
	if (report->finding->status == VERDICT_INVALID)
		ipf_error_set(err, IPF_INVALID, "the verdict is INVALID (--strict)");
	judge_answers_strictly(report->verdict, err);
	judge_loads(report, err);
	for (int i = 0; i < slo->count && !report->analyses->objectives.exists; i++) {
		const struct attainment *got = &report->figures->total.objectives[i];
		if (isnan(slo->list[i].percentile) || got->state == OBJECTIVE_MET)
			continue;
		if (isnan(got->value_ms))
			ipf_error_set(err, IPF_INVALID, "%s: no request to compare (--strict)", slo->list[i].text);
		else
			ipf_error_set(err, IPF_INVALID, "%s: missed: %s ms (--strict)", slo->list[i].text,
			              show_number(got->value_ms, value));
	}
	if (report->accuracy->missed > 0)
		ipf_error_set(err, IPF_INVALID, "--accuracy: missed: %s (--strict)", report->accuracy->worst);
}

int build_report(struct built_report *built, const struct run_data *run, const struct report_options *options,
                 struct report_output *to, struct ipf_error *err)
{
	struct built_report *b = built;
	*b = (struct built_report){.said = options->said};
	if (check_requests(run, options, err) < 0)
		return -1;
	b->view = wanted_view(options);
	b->wanted = wanted_figures(run, options, b->view.brief && !options->sections);
	b->style = report_style(options);
	b->report = (struct report){.run = run,
	                            .said = &b->said,
	                            .figures = &b->figures,
	                            .servers = &b->servers,
	                            .analyses = &b->analyses,
	                            .accuracy = &b->accuracy,
	                            .trace = &b->trace,
	                            .price = &options->price,
	                            .options = &b->wanted,
	                            .output = to,
	                            .view = &b->view,
	                            .style = &b->style,
	                            .members = wanted_members(options, &b->view),
	                            .by = options->by.by == GROUPINGS ? NULL : groupings[options->by.by],
	                            .reproducible = options->common.reproducible,
	                            .table = options->table < 0 ? 0 : options->table,
	                            .curve = options->curve,
	                            .verbose = options->common.verbose};
	if (run_figures_build(&b->figures, run, &b->wanted, err) < 0 ||
	    (run->stated && apply_stated(&b->figures, run, &b->wanted.percentiles, err) < 0))
		return -1;
	model_error_of_means(&b->figures, run);
	if (build_accuracy(b, options, err) < 0 || server_figures_build(&b->servers, run, err) < 0 ||
	    build_trace(&b->trace, run, options, err) < 0 ||
	    (options->why && read_why(&b->report.why, options->why, run, err) < 0) ||
	    describe_run(&b->report, options->meta, err) < 0)
		return -1;
	return build_analyses(&b->analyses, &b->said, &b->report, &options->price, err);
}

void built_report_release(struct built_report *built)
{
	json_decref(built->report.verdict);
	json_decref(built->report.run_info);
	run_figures_release(&built->figures);
	run_accuracy_release(&built->accuracy);
	server_figures_release(&built->servers);
	analyses_release(&built->analyses);
	trace_findings_release(&built->trace);
	json_decref(built->report.why);
}
