/* ipf-report: shows what a run measured, and whether it can be trusted. */
#include "absent.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/units.h"
#include "compare/compare_format.h"
#include "delivery/delivery.h"
#include "definitions/tool_view.h"
#include "formats/certificate.h"
#include "formats/definitions.h"
#include "formats/report_format.h"
#include "formats/text_layout.h"
#include "figures/stated_figures.h"
#include "html/html_plots.h"
#include "imports/import.h"
#include "output/report_output.h"
#include "plots/plot_files.h"
#include "results/make_groups.h"
#include "results/merge_parts.h"
#include "results/run_info.h"
#include "results/run_meta.h"
#include "results/steady_windows.h"
#include "memory.h"
#include "safe_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_options {
	struct common_options common;
	int format; /* index into report_formats */
	struct grouping_choice by;
	struct price price;
	struct figure_options figures;
	struct slo slo;
	int64_t accuracy_ns; /* IPF_ABSENT: no limit */
	const char *stage;
	const char *trace;  /* NULL: not given */
	int64_t cache_size; /* tokens; 0: not given */
	bool strict, definitions, certificate, ascii, curve;
	const char *plots; /* the folder; NULL */
	int plot_format;   /* enum plot_format; -1: the default */
	int from;          /* index into importer_names; IMPORT_AUTOMATIC */
	json_t *meta;      /* object; NULL: none */
	struct said said;
	bool compare;
	double min_effect;
	struct string_list fail_if;
	struct delivery_options delivery;
};

static const char *const window_names[] = {
	[WINDOW_STAGE] = "stage", [WINDOW_DRAIN] = "drain", [WINDOW_STEADY] = "steady", NULL};
static int parse_percentiles(const char *value, void *variable, struct ipf_error *err)
{
	return percentiles_parse(variable, value, err);
}

static int parse_by(const char *value, void *variable, struct ipf_error *err)
{
	return grouping_choice_parse(variable, value, err);
}

static int parse_price(const char *value, void *variable, struct ipf_error *err)
{
	return price_parse(variable, value, err);
}

static int parse_slo(const char *value, void *variable, struct ipf_error *err)
{
	return slo_parse(variable, value, err);
}

static int parse_as(const char *value, void *variable, struct ipf_error *err)
{
	return said_choose(variable, value, err);
}

static int parse_meta(const char *value, void *variable, struct ipf_error *err)
{
	return run_meta_add(variable, value, err);
}

static int parse_effect(const char *value, void *variable, struct ipf_error *err)
{
	double *effect = variable;
	if (parse_share(value, effect, err) < 0)
		return -1;
	return *effect > 0 && *effect < 1 ? 0 : ipf_error_set(err, IPF_USAGE, "expected more than 0 and less than 100%%");
}

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	OPTION_CHOICE_OF('f', "format", "FORMAT", struct report_options, format, report_format_names,
                     "output format (default: text); formats:" REPORT_FORMAT_CHOICES),
	OPTION_PARSED_BY(
		0, "by", "GROUP", struct report_options, by, parse_by,
		"show figures also for each model, target, replica, session, tag, tag=NAME, time=10s (window of time) or "
		"input-tokens=8 "
		"(bins of equal counts)"),
	OPTION_PARSED_BY(0, "percentiles", "LIST", struct report_options, figures.percentiles, parse_percentiles,
                     "percentiles to show, such as 50,90,99.9"),
	OPTION_PARSED_BY(0, "meta", "KEY=VALUE", struct report_options, meta, parse_meta,
                     "note about the run, such as commit=5f3a9c1; repeatable"),
	OPTION(OPTION_FLAG, 0, "ascii", NULL, struct report_options, ascii,
           "text: draw shapes and the time line with ASCII characters"),
	OPTION(OPTION_FLAG, 0, "curve", NULL, struct report_options, curve,
           "with -f csv: the latency-throughput curve, a row for each measured stage"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "plots", "FOLDER", struct report_options, plots,
                     "also draw plots, with their data and scripts, to FOLDER (requires gnuplot)"),
	OPTION_CHOICE_OF(0, "plot-format", "svg|png|pdf", struct report_options, plot_format, plot_format_names,
                     "format of the plots (default: svg)"),
	OPTION_PARSED_BY(0, "as", "TOOLS", struct report_options, said, parse_as,
                     "also show what other tools would have said of the run: " TOOL_NAMES ", or all"),
	OPTION(OPTION_FLAG, 0, "certificate", NULL, struct report_options, certificate,
           "print the evidence for the error of the client, as text or with -f json"),
	OPTION(OPTION_FLAG, 0, "definitions", NULL, struct report_options, definitions,
           "print the definition of each figure and the limits of the verdict"),
	OPTION_HEADING("Input"),
	OPTION_CHOICE_OF(0, "from", "TOOL", struct report_options, from, importer_names,
                     "the tool that wrote RESULTS (default: recognised by the content); tools:" IMPORTER_CHOICES),
	OPTION_HEADING("Comparison"),
	OPTION(OPTION_FLAG, 0, "compare", NULL, struct report_options, compare,
           "compare the results before -- (the base) with those after it: BASE… -- NEW…"),
	OPTION_PARSED_BY(0, "min-effect", "SHARE", struct report_options, min_effect, parse_effect,
                     "with --compare: the least change that counts as a difference (default: 2%)"),
	OPTION(OPTION_LIST, 0, "fail-if", "CONDITION", struct report_options, fail_if,
           "with --compare: exit with status 4 if a figure changed beyond a limit, as in 'ttft.p99 > +5%'; repeatable"),
	OPTION_HEADING("Delivery"),
	OPTION_UNSHAPING(
		OPTION_TEXT, 0, "upload", "URL", struct report_options, delivery.upload.url,
		"also upload the report, and the plots of --plots, to s3://BUCKET/PATH or gs://BUCKET/PATH (a path "
		"that ends in a slash is a folder)"),
	OPTION_UNSHAPING(OPTION_LIST, 0, "upload-file", "FILE", struct report_options, delivery.upload.files,
                     "with --upload: also upload FILE, such as the results, beside the report; repeatable"),
	OPTION_UNSHAPING(OPTION_LIST, 0, "push", "URL", struct report_options, delivery.push.targets,
                     "also send the figures to a Prometheus Pushgateway, as -f prometheus writes them; repeatable"),
	OPTION_UNSHAPING(OPTION_TEXT, 0, "push-key-env", "NAME", struct report_options, delivery.push.key.env,
                     "environment variable with the key for --push: a token, or user:password"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "push-key-file", "FILE", struct report_options, delivery.push.key.file,
                     "file with the key for --push, instead of a variable"),
	OPTION_HEADING("Evaluation"),
	OPTION(OPTION_TEXT, 0, "stage", "NAME", struct report_options, stage,
           "measure this stage only, also if it is a warm-up"),
	OPTION_PARSED_BY(0, "slo", "LIST", struct report_options, slo, parse_slo,
                     "objectives: ttft=500ms,tpot=50ms for each request (goodput), p99:e2e=10s for a percentile"),
	OPTION_CHOICE_OF(
		0, "window", "stage|drain|steady", struct report_options, figures.window, window_names,
		"time over which rates are computed: the measured part of the stage, until its last request has ended, or its "
		"steady part (default: stage)"),
	OPTION(OPTION_FLAG, 0, "errors-as-inf", NULL, struct report_options, figures.errors_as_inf,
           "count failed requests as infinite in latency percentiles"),
	OPTION(OPTION_FLAG, 0, "early-stopping", NULL, struct report_options, figures.early_stopping,
           "also show MLPerf's early-stopping estimates of percentiles"),
	OPTION_PARSED_BY(
		0, "price", "PRICE", struct report_options, price, parse_price,
		"cost per token and request, at 2.5/h for the endpoint or 2.5/gpu/h; \"EUR 2.5/h\" names a currency"),
	OPTION(OPTION_DURATION, 0, "accuracy", "TIME", struct report_options, accuracy_ns,
           "call figures DOUBTFUL that the client may have changed by more than TIME"),
	OPTION(
		OPTION_FILE, 0, "trace", "TRACE", struct report_options, trace,
		"hold the run against its trace: how faithful a replay was, and what a prefix cache could have found, beside "
		"what the server says"),
	OPTION(OPTION_COUNT, 0, "cache-size", "TOKENS", struct report_options, cache_size,
           "with --trace: also what a cache of TOKENS could have found"),
	OPTION(OPTION_FLAG, 0, "strict", NULL, struct report_options, strict,
           "exit with status 4 if the verdict is INVALID, or an objective on a percentile or --accuracy is missed"),
	COMMON_OPTIONS(struct report_options, common),
};

static const struct program program = {
	.name = "ipf-report",
	.operands = "[RESULTS… [-- RESULTS…]]",
	.summary = "show what a run measured, and whether it can be trusted",
	.details = "  ipf-report chat.results.zst\n"
			   "  ipf-report -f json chat.results.zst | jq .total.latency.ttft_ms.from_due.p99\n"
			   "  ipf-report --slo ttft=500ms,p99:tpot=50ms --strict chat.results.zst\n"
			   "  ipf-report --compare old.results.zst -- new.results.zst\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.max_operands = -1,
	.libraries = delivery_libraries,
};

/* At the end of a pipeline, a signal ends the programs before this one in good order: what they measured is still
 * reported. */
static void leave_signals_to_others(const struct operands *operands)
{
	bool standard = operands->count == 0;
	for (int i = 0; i < operands->count; i++)
		standard |= strcmp(operands->items[i], "-") == 0;
	if (standard && input_is_live(STDIN_FILENO))
		interrupt_watch(2);
}

/* Reads all results. A stream that is cut or has an error is kept up to there, and the next one is read; `bad` is the
 * first such error. -1: nothing can be reported. */
static int read_all(struct run_data *run, const struct report_options *options, const struct operands *operands,
                    struct ipf_error *bad, struct ipf_error *err)
{
	struct progress progress;
	progress_init(&progress, options->common.progress, options->common.quiet || !options->common.progress);
	int status = 0;
	leave_signals_to_others(operands);
	for (int i = 0; i < (operands->count ? operands->count : 1) && status == 0; i++) {
		struct ipf_error now = {0};
		int parts = run->part_count;
		int got = import_read(run, operands->count ? operands->items[i] : NULL, options->from, &progress, &now);
		if (options->common.verbose && run->part_count > parts) {
			progress_end(&progress);
			const struct run_part *part = &run->parts[parts];
			fprintf(stderr, "%s: %s: %lld request%s\n", program.name, shown(part->name).text, (long long)part->rows,
			        part->rows == 1 ? "" : "s");
		}
		bool usable = run->part_count > parts && run->parts[parts].incomplete[0];
		const struct run_part *duplicate = (got == 0 || usable) && !options->common.quiet
		                                       ? run_data_find_duplicate(run, parts)
		                                       : NULL;
		if (duplicate) {
			progress_end(&progress);
			fprintf(stderr, "%s: %s: has requests of the same records as %s; they count twice\n", program.name,
			        shown(run->parts[parts].name).text, shown(duplicate->name).text);
		}
		if (got == 0)
			continue;
		if (!usable) {
			*err = now;
			status = -1;
		} else if (bad->kind == IPF_OK) {
			*bad = now;
		}
	}
	progress_end(&progress);
	return status;
}

static bool wants_colour(const struct report_options *options)
{
	const char *forbidden = getenv("NO_COLOR"), *terminal = getenv("TERM");
	return !options->common.output && isatty(STDOUT_FILENO) && !(forbidden && *forbidden) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

static void say_absent(const struct plot_kind *kind, const char *why, void *to)
{
	fprintf(to, "%s: no plot %s: %s\n", program.name, kind->name, why);
}

static struct plot_input plot_input_of(const struct report *report)
{
	return (struct plot_input){report->run, report->figures, report->servers, &report->analyses->saturation,
	                           report->options};
}

/* Without gnuplot there are data and scripts, which can be drawn elsewhere. */
static int write_plots(const struct report *report, const struct report_options *options, struct ipf_error *err)
{
	const struct plot_input input = plot_input_of(report);
	struct plot_files done = {.absent = options->common.verbose ? say_absent : NULL, .to = stderr};
	if (!options->plots)
		return 0;
	if (plot_files_write(&input, options->plots,
	                     options->plot_format < 0 ? PLOT_SVG : (enum plot_format)options->plot_format, &done, err) < 0)
		return -1;
	if (done.gnuplot_missing)
		fprintf(stderr,
		        "%s: gnuplot is not installed: the plots in %s are not drawn; their data and scripts are there\n",
		        program.name, shown(options->plots).text);
	else if (done.written == 0 && !options->common.quiet)
		fprintf(stderr, "%s: no plots: the run has no data for any (-v says why)\n", program.name);
	return 0;
}

/* The plots within a page, which has none without gnuplot. */
static int draw_plots(const struct report *report, struct html_plots *plots, struct ipf_error *err)
{
	const struct plot_input input = plot_input_of(report);
	int bad = html_plots_draw(plots, &input, err);
	if (bad == 0 && plots->gnuplot_missing)
		fprintf(stderr, "%s: gnuplot is not installed: the report has no plots\n", program.name);
	return bad;
}

/* A format of another tool shows the run as that tool would have seen it. */
static int render_format(const struct report_format *format, const struct report *report, struct buffer *out,
                         struct ipf_error *err)
{
	struct tool_view view;
	struct report seen = *report;
	if (!format->tool) {
		format->render(report, out);
		return 0;
	}
	if (tool_view_build(&view, report->run, format->tool, err) < 0)
		return -1;
	seen.run = &view.run;
	format->render(&seen, out);
	tool_view_release(&view);
	return 0;
}

static int write_report(const struct report_format *format, struct report *report, struct ipf_error *err)
{
	struct buffer out = {0};
	struct html_plots plots = {0};
	int bad = format->plots ? draw_plots(report, &plots, err) : 0;
	report->plots = &plots;
	if (bad == 0)
		bad = render_format(format, report, &out, err);
	if (bad == 0 && report->run->lines)
		bad = row_lines_check(report->run->lines, err);
	if (bad == 0)
		bad = memory_ran_out() ? ipf_error_memory(err) : report_output_put(report->output, &out, err);
	html_plots_release(&plots);
	buffer_release(&out);
	return bad;
}

/* --strict: IPF_INVALID if the run or one of its percentiles is not what it should be. */
static void judge_strictly(const struct report *report, struct ipf_error *err)
{
	const struct slo *slo = report->run->slo;
	char value[40];
	if (report->finding->status == VERDICT_INVALID)
		ipf_error_set(err, IPF_INVALID, "the verdict is INVALID (--strict)");
	for (int i = 0; i < slo->count; i++) {
		const struct attainment *got = &report->figures->total.objectives[i];
		if (isnan(slo->list[i].percentile) || got->met)
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

static int build_analyses(struct analyses *analyses, struct said *said, const struct report *report,
                          const struct price *price, struct ipf_error *err)
{
	const struct analysis_input input = {.run = report->run,
	                                     .figures = report->figures,
	                                     .servers = report->servers,
	                                     .finding = report->finding,
	                                     .options = report->options,
	                                     .price = price};
	if (said->any && said_build(said, report->run, report->figures, err) < 0)
		return -1;
	return analyses_build(analyses, &input, err);
}

static int build_trace(struct trace_findings *trace, const struct run_data *run, const struct report_options *options,
                       struct ipf_error *err)
{
	const struct cache_options wanted = {.size_tokens = options->cache_size,
	                                     .percentiles = &options->figures.percentiles};
	return trace_findings_build(trace, options->trace, run, &wanted, err);
}

/* Formats that show requests have nothing to show of a run of which another tool only tells figures. */
static int check_requests(const struct run_data *run, const struct report_options *options, struct ipf_error *err)
{
	const struct report_format *format = report_formats[options->format];
	const char *name = report_format_names[options->format];
	const char *definition = run_data_definition(run, 0);
	if (strcmp(definition, "ipf") != 0 && (options->said.any || format->times))
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "%s%s applies the definitions of other tools itself: the results already have those of %s",
		                    options->said.any ? "" : "-f ", options->said.any ? "--as" : name, definition);
	if (!run->stated)
		return 0;
	if (options->said.any)
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "--as requires results of ipf-collect: this file has the figures of another tool");
	if (format->times || (format->requests && !run->stated->requests))
		return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0,
		                    "-f %s requires requests%s, which the file does not have", name,
		                    run->stated->requests ? " with the times of their starts" : "");
	return 0;
}

/* The verdict, with all that was noted for it, and what the streams say of the run. */
static int describe_run(struct report *report, json_t *meta, struct ipf_error *err)
{
	report->verdict = verdict_json(report->run->verdict);
	report->finding = verdict_judge(report->run->verdict);
	report->run_info = run_info_json(report->run, report->reproducible);
	if (!report->verdict || !report->finding || !report->run_info)
		return ipf_error_memory(err);
	if (meta)
		json_object_set(report->run_info, "meta", meta);
	return 0;
}

static struct figure_options wanted_figures(const struct run_data *run, const struct report_options *options)
{
	struct figure_options wanted = options->figures;
	if (run->stated && !wanted.percentiles.chosen)
		stated_percentiles(&wanted.percentiles, run->stated);
	if (options->by.by != GROUPINGS)
		wanted.by[options->by.by] = true;
	for (enum grouping by = BY_MODEL; by <= BY_TARGET; by++)
		wanted.by[by] |= report_formats[options->format]->all_groups && run->groups[by].count > 1;
	return wanted;
}

static int apply_stated(struct run_figures *figures, const struct run_data *run, const struct percentiles *list,
                        struct ipf_error *err)
{
	stated_figures_apply(figures, run->stated, list);
	return stated_figures_judge(figures, run, err);
}

static const struct report_format *format_of(const struct report_options *options)
{
	const struct report_format *format = report_formats[options->format];
	if (!options->certificate)
		return format;
	return format == &format_json ? &format_certificate_json : &format_certificate_text;
}

/* Builds the figures and writes them. IPF_INVALID, with the report complete, if --strict rejects the run. */
static int render(const struct run_data *run, const struct report_options *options, struct report_output *to,
                  struct delivery *delivery, struct ipf_error *err)
{
	const struct report_format *format = format_of(options);
	struct run_figures figures = {0};
	struct server_figures servers = {0};
	struct analyses analyses = {0};
	struct run_accuracy accuracy = {0};
	struct trace_findings trace = {0};
	struct figure_options wanted = wanted_figures(run, options);
	if (check_requests(run, options, err) < 0)
		return -1;
	struct said said = options->said;
	struct report report = {.run = run,
	                        .said = &said,
	                        .figures = &figures,
	                        .servers = &servers,
	                        .analyses = &analyses,
	                        .accuracy = &accuracy,
	                        .trace = &trace,
	                        .price = &options->price,
	                        .options = &wanted,
	                        .output = to,
	                        .colour = wants_colour(options),
	                        .ascii = options->ascii,
	                        .reproducible = options->common.reproducible,
	                        .curve = options->curve,
	                        .verbose = options->common.verbose};
	int status = run_figures_build(&figures, run, &wanted, err);
	if (status == 0 && run->stated)
		status = apply_stated(&figures, run, &wanted.percentiles, err);
	if (status == 0)
		status = run_accuracy_build(&accuracy, run, &figures, &wanted, options->accuracy_ns, err);
	if (status == 0)
		status = server_figures_build(&servers, run, err);
	if (status == 0)
		status = build_trace(&trace, run, options, err);
	if (status == 0)
		status = describe_run(&report, options->meta, err);
	if (status == 0)
		status = build_analyses(&analyses, &said, &report, &options->price, err);
	if (status == 0)
		status = write_plots(&report, options, err);
	if (status == 0)
		status = write_report(format, &report, err);
	if (status == 0)
		status = delivery_prepare(delivery, &report, err);
	if (status == 0 && options->strict)
		judge_strictly(&report, err);
	json_decref(report.verdict);
	json_decref(report.run_info);
	run_figures_release(&figures);
	run_accuracy_release(&accuracy);
	server_figures_release(&servers);
	analyses_release(&analyses);
	trace_findings_release(&trace);
	return status;
}

static int check_options(const struct report_options *options, struct ipf_error *err)
{
	if (options->curve && report_formats[options->format] != &format_csv)
		return ipf_error_set(err, IPF_USAGE, "--curve requires -f csv");
	if (options->certificate && report_formats[options->format] != &format_text &&
	    report_formats[options->format] != &format_json)
		return ipf_error_set(err, IPF_USAGE, "--certificate is text, or JSON with -f json");
	if (options->by.by != GROUPINGS && !report_formats[options->format]->groups)
		return ipf_error_set(err, IPF_USAGE, "--by: -f %s has no groups; use text, json, csv, html, md or sql",
		                     report_format_names[options->format]);
	if (options->by.by != GROUPINGS && (options->curve || options->certificate))
		return ipf_error_set(err, IPF_USAGE, "--by and %s exclude each other",
		                     options->curve ? "--curve" : "--certificate");
	if (options->plot_format >= 0 && !options->plots)
		return ipf_error_set(err, IPF_USAGE, "--plot-format requires --plots");
	if (options->cache_size && !options->trace)
		return ipf_error_set(err, IPF_USAGE, "--cache-size requires --trace");
	return delivery_check(&options->delivery, err);
}

/* Which operands are the base, and which the other side. */
static int split_operands(const struct operands *all, struct operands sides[SIDES], struct ipf_error *err)
{
	const int base = all->before_mark < 0 && all->count == SIDES ? 1 : all->before_mark;
	if (base <= 0 || base == all->count)
		return ipf_error_set(err, IPF_USAGE, "--compare: expected BASE… -- NEW…, results before and after --");
	for (int i = base; i < all->count; i++)
		if (all->items[i][0] == '-' && all->items[i][1] && access(all->items[i], F_OK) < 0)
			return ipf_error_set(err, IPF_USAGE,
			                     "--compare: %s: options come before --, since what follows are results",
			                     shown(all->items[i]).text);
	sides[SIDE_BASE] = (struct operands){.items = all->items, .count = base};
	sides[SIDE_NEW] = (struct operands){.items = all->items + base, .count = all->count - base};
	return 0;
}

static int check_comparison(const struct report_options *options, struct ipf_error *err)
{
	const struct {
		bool given;
		const char *name;
	} others[] = {{options->by.by != GROUPINGS, "--by"},
	              {options->plots, "--plots"},
	              {options->curve, "--curve"},
	              {options->figures.early_stopping, "--early-stopping"},
	              {options->figures.errors_as_inf, "--errors-as-inf"},
	              {!isnan(options->price.per_hour), "--price"},
	              {options->said.any, "--as"},
	              {options->trace, "--trace"},
	              {options->accuracy_ns != IPF_ABSENT, "--accuracy"},
	              {options->meta, "--meta"},
	              {options->delivery.push.targets.count > 0, "--push"}};
	if (!options->compare)
		return isnan(options->min_effect) && options->fail_if.count == 0
		           ? 0
		           : ipf_error_set(err, IPF_USAGE, "%s requires --compare",
		                           isnan(options->min_effect) ? "--fail-if" : "--min-effect");
	for (size_t i = 0; i < options->fail_if.count; i++) {
		struct fail_if condition;
		struct ipf_error wrong = {0};
		if (fail_if_parse(&condition, options->fail_if.items[i], &wrong) < 0)
			return ipf_error_set(err, IPF_USAGE, "--fail-if \"%s\": %s", shown(options->fail_if.items[i]).text,
			                     wrong.text);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].given)
			return ipf_error_set(err, IPF_USAGE, "%s and --compare exclude each other", others[i].name);
	if (!compare_has_format(report_format_names[options->format]))
		return ipf_error_set(err, IPF_USAGE, "--compare: -f %s shows one run only; use " COMPARE_FORMATS_TEXT,
		                     report_format_names[options->format]);
	return 0;
}

/* Reads the results of a side. */
static int read_side(struct run_data *run, const struct report_options *options, const struct operands *operands,
                     struct ipf_error *bad, struct ipf_error *err)
{
	*run = (struct run_data){.only_stage = options->stage};
	if (run_data_init(run, &options->slo, err) < 0 || read_all(run, options, operands, bad, err) < 0 ||
	    merge_parts(run, err) < 0 || steady_windows_find(run, options->figures.window == WINDOW_STEADY, err) < 0)
		return -1;
	return 0;
}

/* --compare. IPF_INVALID in `invalid`, with the comparison complete, if it is no comparison of valid runs. */
static int compare(const struct report_options *options, const struct operands *operands, struct report_output *to,
                   struct ipf_error *bad, struct ipf_error *invalid, struct ipf_error *err)
{
	struct operands sides[SIDES];
	struct run_data runs[SIDES] = {0};
	struct comparison comparison = {0};
	struct buffer out = {0};
	const struct comparison_options wanted = {.effect = isnan(options->min_effect) ? 0.02 : options->min_effect,
	                                          .share_effect = 0.01,
	                                          .figures = &options->figures,
	                                          .fail_if = &options->fail_if};
	const struct compare_style style = {.colour = wants_colour(options)};
	int status = split_operands(operands, sides, err);
	for (int s = 0; s < SIDES && status == 0; s++)
		status = read_side(&runs[s], options, &sides[s], bad, err);
	if (status == 0)
		status = comparison_build(&comparison, (const struct run_data *[]){&runs[SIDE_BASE], &runs[SIDE_NEW]}, &wanted,
		                          err);
	if (status == 0) {
		compare_render(&comparison, report_format_names[options->format], &style, &out);
		status = memory_ran_out() || out.failed ? ipf_error_memory(err) : report_output_put(to, &out, err);
	}
	if (status == 0 && comparison.outcome == OUTCOME_INVALID)
		ipf_error_set(invalid, IPF_INVALID, "not compared: the verdict of a side is INVALID");
	for (size_t i = 0; status == 0 && i < comparison.condition_count; i++)
		if (comparison.conditions[i].failed)
			ipf_error_set(invalid, IPF_INVALID, "--fail-if %s: %s", shown(comparison.conditions[i].text).text,
			              comparison.conditions[i].detail);
	comparison_release(&comparison);
	for (int s = 0; s < SIDES; s++)
		run_data_release(&runs[s]);
	buffer_release(&out);
	return status;
}

static int print_definitions(struct report_output *to, struct ipf_error *err)
{
	struct buffer out = {0};
	definitions_format(&out);
	int bad = report_output_put(to, &out, err);
	buffer_release(&out);
	return bad;
}

static bool needs_lines(const struct report_options *options)
{
	const struct report_format *format = report_formats[options->format];
	return format->lines || format->tool || options->said.any;
}

static int report(const struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0}, bad = {0}, invalid = {0}, undelivered = {0};
	struct report_output to = {.path = options->common.output, .keep = options->delivery.upload.url};
	struct run_data run = {
		.only_stage = options->stage, .tag = options->by.tag, .columns = {.with_req = options->trace != NULL}};
	struct delivery delivery = {.options = &options->delivery};
	if (options->definitions)
		print_definitions(&to, &err);
	else if (check_options(options, &err) < 0 || check_comparison(options, &err) < 0)
		;
	else if (options->compare)
		compare(options, operands, &to, &bad, &invalid, &err);
	else if (run_data_init(&run, &options->slo, &err) < 0 ||
	         (needs_lines(options) && run_data_keep_lines(&run, &err) < 0) ||
	         read_all(&run, options, operands, &bad, &err) < 0 || merge_parts(&run, &err) < 0 ||
	         make_groups(&run, &options->by, &err) < 0 ||
	         steady_windows_find(&run, options->figures.window == WINDOW_STEADY, &err) < 0 ||
	         render(&run, options, &to, &delivery, &invalid) < 0)
		err = err.kind != IPF_OK ? err : invalid;
	if (err.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&err);
	report_output_close(&to, &err);
	if ((err.kind == IPF_OK || err.kind == IPF_CLOSED) && delivery_send(&delivery, &to, &undelivered) < 0)
		err = undelivered;
	delivery_release(&delivery);
	if (to.kept > 0)
		close(to.kept);
	if (err.kind == IPF_OK)
		err = bad.kind != IPF_OK ? bad : invalid;
	run_data_release(&run);
	return ipf_error_report(&err, stderr, program.name);
}

int main(int argc, char **argv)
{
	struct report_options options = {.common = COMMON_DEFAULTS,
	                                 .plot_format = -1,
	                                 .from = IMPORT_AUTOMATIC,
	                                 .by = {.by = GROUPINGS},
	                                 .accuracy_ns = IPF_ABSENT,
	                                 .min_effect = NAN,
	                                 .price = {.per_hour = NAN}};
	struct operands operands;
	int status;
	percentiles_default(&options.figures.percentiles);
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	options.delivery.upload.output = options.common.output;
	options.delivery.upload.plots = options.plots;
	options.delivery.upload.program = program.name;
	options.delivery.upload.verbose = options.common.verbose;
	options.delivery.upload.progress = options.common.progress && !options.common.quiet;
	status = report(&options, &operands);
	json_decref(options.meta);
	return status;
}
