/* `ipf-report compare BASE… -- NEW…` */
#include "commands/command.h"
#include "commands/compare_runs.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "compare/compare_format.h"

static const struct option_spec specs[] = {
	OPTION_HEADING("Comparison"),
	ROW_MIN_EFFECT,
	ROW_FAIL_IF,
	ROW_UNDECIDED,
	ROW_AS_IS,
	OPTION_HEADING("Output"),
	OPTION_CHOICE_OF('f', "format", "FORMAT", struct report_options, compare_format, compare_format_names,
                     "output format: " COMPARE_FORMATS_TEXT " (default: by the output's name, else text)"),
	OUTPUT_OPTION(struct report_options, common),
	OPTION_HEADING("Evaluation"),
	ROW_STAGE,
	ROW_SLO,
	ROW_WINDOW,
	ROW_FROM,
	OPTION_HEADING("Common options"),
	COMMAND_OPTIONS(struct report_options, common),
};

static int run(struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0};
	if (format_of_name(&options->compare_format, compare_format_names, options, &err) < 0)
		return command_end(&err, command_compare.program.name);
	const struct compare_wanted wanted = {.format = compare_format_names[options->compare_format],
	                                      .command = command_compare.program.name};
	if (compare_conditions_check(options, &err) < 0)
		return command_end(&err, wanted.command);
	return compare_runs(options, operands, &wanted);
}

const struct command command_compare = {
	.program = {.name = REPORT_PROGRAM " compare",
                .operands = "BASE… -- NEW…",
                .summary = "compare two sides, and say which differences are real",
                .details = "  ipf-report compare old.results.zst -- new.results.zst\n"
                           "  ipf-report compare --fail-if 'ttft.p99 > +5%' base-*.zst -- new-*.zst\n",
                .manual = "man ipf-report-compare; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .max_operands = -1,
                .variables = REPORT_PROGRAM},
	.run = run,
};
