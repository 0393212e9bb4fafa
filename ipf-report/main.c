/* ipf-report: what a person or another tool sees of a run. */
#include "cli/interrupt.h"
#include "cli/options.h"
#include "report_output.h"
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct report_options {
	struct common_options common;
	const char *format, *percentiles, *window, *by;
	struct string_list slo;
	bool errors_as_inf, strict, definitions;
};

static const struct option_spec specs[] = {
	OPTION(OPTION_TEXT, 'f', "format", "NAME", struct report_options, format, "text, json or csv (default: text)"),
	OPTION(OPTION_LIST, 0, "slo", "LIST", struct report_options, slo,
           "objectives, for the goodput: ttft=500ms,tpot=50ms of each request, p99:e2e=10s of a percentile"),
	OPTION(OPTION_TEXT, 0, "percentiles", "LIST", struct report_options, percentiles,
           "which percentiles to give, such as 50,90,99.9"),
	OPTION(
		OPTION_TEXT, 0, "window", "NAME", struct report_options, window,
		"what rates are taken over: stage, its measured part, or drain, until its last request has ended (default: stage)"),
	OPTION(OPTION_TEXT, 0, "by", "NAME", struct report_options, by,
           "stage; model or target: figures for each as well (default: stage)"),
	OPTION(OPTION_FLAG, 0, "errors-as-inf", NULL, struct report_options, errors_as_inf,
           "put failed requests at infinity in the latency percentiles"),
	OPTION(OPTION_FLAG, 0, "strict", NULL, struct report_options, strict,
           "exit with status 4 when the verdict is INVALID"),
	OPTION(OPTION_FLAG, 0, "definitions", NULL, struct report_options, definitions,
           "print what each figure means, and when the verdict doubts"),
	COMMON_OPTIONS(struct report_options, common),
};

static const struct program program = {
	.name = "ipf-report",
	.operands = "[RESULTS…]",
	.summary = "show what a run measured, and whether it can be trusted",
	.details = "  ipf-report chat.results.zst\n"
			   "  ipf-report -f json chat.results.zst | jq .total.latency.ttft_ms.from_due.p99\n"
			   "  ipf-report --slo ttft=500ms,p99:tpot=50ms --strict chat.results.zst\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.max_operands = -1,
};

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV };

/* What the options come to. */
struct plan {
	enum format format;
	struct block_options blocks;
	struct slo slo;
};

static int choose(const char *option, const char *value, const char *const *names, int *chosen, struct ipf_error *err)
{
	char list[64] = "";
	for (*chosen = 0; names[*chosen]; (*chosen)++) {
		if (!value || strcmp(value, names[*chosen]) == 0)
			return 0;
		snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
		         *chosen == 0         ? ""
		         : names[*chosen + 1] ? ", "
		                              : " or ",
		         names[*chosen]);
	}
	return ipf_error_set(err, IPF_USAGE, "--%s: expected %s, got \"%s\"", option, list, value);
}

static int make_plan(struct plan *plan, const struct report_options *options, struct ipf_error *err)
{
	static const char *const formats[] = {"text", "json", "csv", NULL}, *const windows[] = {"stage", "drain", NULL},
							 *const groups[] = {"stage", "model", "target", NULL};
	int format, window, group;
	*plan = (struct plan){.blocks.errors_as_inf = options->errors_as_inf};
	if (choose("format", options->format, formats, &format, err) < 0 ||
	    choose("window", options->window, windows, &window, err) < 0 ||
	    choose("by", options->by, groups, &group, err) < 0)
		return -1;
	plan->format = (enum format)format;
	plan->blocks.drain = window == 1;
	if (group > 0)
		plan->blocks.by[group - 1] = true;
	percentiles_default(&plan->blocks.percentiles);
	if (options->percentiles && percentiles_parse(&plan->blocks.percentiles, options->percentiles, err) < 0)
		return -1;
	for (size_t i = 0; i < options->slo.count; i++)
		if (slo_parse(&plan->slo, options->slo.items[i], err) < 0)
			return -1;
	return 0;
}

/* At the end of a pipeline the rest of it ends first, and in good order: that is worth reading. */
static void leave_signals_to_others(const struct operands *operands)
{
	bool standard = operands->count == 0;
	for (int i = 0; i < operands->count; i++)
		standard |= strcmp(operands->items[i], "-") == 0;
	if (standard && input_is_live(STDIN_FILENO))
		interrupt_watch(2);
}

/* Reads all of them. A stream that is cut or goes wrong is kept up to there and the next one follows; `bad` tells of
 * the first. -1: nothing can be reported. */
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
		int got = run_data_read(run, operands->count ? operands->items[i] : NULL, &progress, &now);
		if (options->common.verbose && run->part_count > parts) {
			progress_end(&progress);
			const struct part *part = &run->parts[parts];
			fprintf(stderr, "%s: %s: %lld request%s\n", program.name, part->name, (long long)part->rows,
			        part->rows == 1 ? "" : "s");
		}
		const struct part *twice = run->part_count > parts && !options->common.quiet ? run_data_twice(run, parts)
		                                                                             : NULL;
		if (twice) {
			progress_end(&progress);
			fprintf(stderr, "%s: %s: the same requests as in %s: they count twice\n", program.name,
			        run->parts[parts].name, twice->name);
		}
		if (got == 0)
			continue;
		bool usable = run->part_count > parts && run->parts[parts].incomplete[0];
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

static int render(const struct run_data *run, const struct plan *plan, const struct report_options *options,
                  struct buffer *out, struct ipf_error *err)
{
	struct blocks blocks = {0};
	struct block_options wanted = plan->blocks;
	for (enum grouping by = 0; by < GROUPINGS; by++)
		wanted.by[by] |= plan->format == FORMAT_JSON && run->groups[by].count > 1;
	struct report report = {.run = run,
	                        .blocks = &blocks,
	                        .options = &wanted,
	                        .reproducible = options->common.reproducible,
	                        .colour = wants_colour(options)};
	int status = blocks_build(&blocks, run, &wanted, err);
	if (status == 0) {
		report.verdict = verdict_json(run->verdict);
		report.finding = verdict_judge(run->verdict);
		report.about = report_about(run, options->common.reproducible);
		if (!report.verdict || !report.finding || !report.about)
			status = ipf_error_memory(err);
	}
	if (status == 0 && plan->format == FORMAT_JSON)
		report_json(&report, out);
	else if (status == 0 && plan->format == FORMAT_CSV)
		report_csv(&report, out);
	else if (status == 0)
		report_text(&report, out);
	if (status == 0 && options->strict && report.finding->status == VERDICT_INVALID)
		ipf_error_set(err, IPF_INVALID, "the run is invalid");
	json_decref(report.verdict);
	json_decref(report.about);
	blocks_release(&blocks);
	return status;
}

/* jansson's callers do not look whether every little object could be had. */
static void *allocate(size_t size)
{
	void *memory = malloc(size);
	if (!memory) {
		fputs("ipf-report: out of memory\n", stderr);
		_exit(1);
	}
	return memory;
}

static int report(const struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0}, bad = {0}, invalid = {0};
	struct buffer out = {0};
	struct plan plan;
	struct run_data run = {0};
	if (make_plan(&plan, options, &err) < 0)
		return program_misuse(&program, &err);
	if (options->definitions)
		report_definitions(&out);
	else if (run_data_init(&run, &plan.slo, &err) < 0 || read_all(&run, options, operands, &bad, &err) < 0 ||
	         run_data_settle(&run, &err) < 0 || render(&run, &plan, options, &out, &invalid) < 0)
		ipf_error_set(&err, invalid.kind, "%s", invalid.text);
	if (err.kind == IPF_OK)
		report_output_write(options->common.output, &out, &err);
	if (err.kind == IPF_OK)
		err = bad.kind != IPF_OK ? bad : invalid;
	run_data_release(&run);
	buffer_release(&out);
	return ipf_error_report(&err, stderr, program.name);
}

int main(int argc, char **argv)
{
	struct report_options options = {.common = COMMON_DEFAULTS};
	struct operands operands;
	int status;
	json_set_alloc_funcs(allocate, free);
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	return report(&options, &operands);
}
