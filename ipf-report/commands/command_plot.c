/* `ipf-report plot FOLDER [RESULTS…]` */
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "safe_text.h"

#include <sys/stat.h>

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	ROW_PLOT_FORMAT,
	OPTION_HEADING("Evaluation"),
	ROWS_EVALUATION,
	ROW_FROM,
	OPTION_HEADING("Common options"),
	COMMAND_OPTIONS(struct report_options, common),
};

static int run(struct report_options *options, const struct operands *operands)
{
	const char *name = command_plot.program.name, *folder = operands->items[0];
	const struct operands results = operands_after_first(operands);
	struct ipf_error err = {0};
	struct stat there;
	if (stat(folder, &there) == 0 && !S_ISDIR(there.st_mode)) {
		ipf_error_set(&err, IPF_USAGE, "expected the FOLDER before the results, got the file \"%s\"",
		              shown(folder).text);
		return command_end(&err, name);
	}
	options->format = 0;
	options->plots = folder;
	options->only_plots = true;
	return show_run(options, &results, name);
}

const struct command command_plot = {
	.program = {.name = REPORT_PROGRAM " plot",
                .operands = "FOLDER [RESULTS…]",
                .summary = "draw plots into a folder, with their data and scripts (requires gnuplot)",
                .details = "  ipf-report plot plots chat.results.zst\n"
                           "  ipf-report plot --plot-format png plots chat.results.zst\n",
                .manual = "man ipf-report-export; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .min_operands = 1,
                .max_operands = -1,
                .variables = REPORT_PROGRAM},
	.run = run,
};
