/* `ipf-report [RESULTS…]`: the report. */
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "formats/report_format.h"

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	OPTION_CHOICE_OF(
		'f', "format", "FORMAT", struct report_options, format, report_own_names,
		"output format (default: by the output's name, such as page.html, else text; ipf-report export has those of other tools); formats:" REPORT_FORMAT_CHOICES),
	OPTION(OPTION_FLAG, 0, "full", NULL, struct report_options, full,
           "text: show all sections, not only the first screen"),
	OPTION_PARSED_BY(0, "section", "NAME,…", struct report_options, sections, option_sections,
                     "text, html, md: show these sections only, such as server,cache"),
	ROW_BY,
	ROW_PERCENTILES,
	ROW_META,
	OPTION(OPTION_FLAG, 0, "ascii", NULL, struct report_options, ascii,
           "text: draw shapes and the time line with ASCII characters"),
	ROW_CURVE,
	ROW_TABLE,
	OPTION_UNSHAPING(OPTION_OUTPUT, 0, "plots", "FOLDER", struct report_options, plots,
                     "also draw plots, with their data and scripts, to FOLDER (requires gnuplot)"),
	ROW_PLOT_FORMAT,
	ROW_AS,
	OPTION_HEADING("Input"),
	ROW_FROM,
	OPTION_HEADING("Delivery"),
	ROW_UPLOAD_OF("the report, and the plots of --plots,"),
	ROW_UPLOAD_FILE,
	ROWS_PUSH,
	OPTION_HEADING("Evaluation"),
	ROWS_EVALUATION_OF_ALL,
	COMMON_OPTIONS(struct report_options, common),
};

static int run(struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0};
	if (format_of_name(&options->format, report_own_names, options, &err) < 0 ||
	    command_check_operands(operands, &err) < 0)
		return command_end(&err, REPORT_PROGRAM);
	return show_run(options, operands, REPORT_PROGRAM);
}

const struct command command_report = {
	.program = {.name = REPORT_PROGRAM,
                .operands = "[RESULTS…|REPORT.json]",
                .summary = "show the results of a run, and whether they can be trusted",
                .details = "  ipf-report chat.results.zst\n"
                           "  ipf-report --slo ttft=500ms,p99:tpot=50ms --strict chat.results.zst\n"
                           "  ipf-report export json chat.results.zst | jq .total.latency.ttft_ms\n"
                           "  ipf-report compare old.results.zst -- new.results.zst\n",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .max_operands = -1,
                .commands = command_programs,
                .libraries = delivery_libraries},
	.run = run,
};
