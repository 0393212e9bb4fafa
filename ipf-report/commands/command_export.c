/* `ipf-report export FORMAT [RESULTS…]` */
#include "cli/nearest.h"
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "formats/report_format.h"
#include "safe_text.h"

#include <string.h>
#include <unistd.h>

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	ROW_BY,
	ROW_PERCENTILES,
	ROW_META,
	ROW_CURVE,
	ROW_TABLE,
	ROW_AS,
	OUTPUT_OPTION(struct report_options, common),
	OPTION_HEADING("Input"),
	ROW_FROM,
	OPTION_HEADING("Delivery"),
	ROW_UPLOAD,
	ROW_UPLOAD_FILE,
	ROWS_PUSH,
	OPTION_HEADING("Evaluation"),
	ROWS_EVALUATION_OF_ALL,
	OPTION_HEADING("Common options"),
	COMMAND_OPTIONS(struct report_options, common),
};

static int find_format(const char *name, int *format, struct ipf_error *err)
{
	struct nearest near = {0};
	for (int i = 0; report_export_names[i]; i++)
		nearest_try(&near, name, strlen(name), report_export_names[i]);
	for (int i = 0; report_format_names[i]; i++) {
		if (strcmp(report_format_names[i], name) != 0)
			continue;
		*format = i;
		if (near.name && near.edits == 0)
			return 0;
		return ipf_error_set(err, IPF_USAGE, "%s is a format for people: %s -f %s", name, REPORT_PROGRAM, name);
	}
	if (near.name)
		return ipf_error_set(err, IPF_USAGE, "unknown FORMAT \"%s\" (did you mean %s?)", shown(name).text, near.name);
	if (access(name, F_OK) == 0)
		return ipf_error_set(err, IPF_USAGE, "the FORMAT comes before the results: %s export FORMAT %s", REPORT_PROGRAM,
		                     shown(name).text);
	return ipf_error_set(err, IPF_USAGE, "unknown FORMAT \"%s\"; --help lists the formats", shown(name).text);
}

static int run(struct report_options *options, const struct operands *operands)
{
	const char *name = command_export.program.name;
	const struct operands results = operands_after_first(operands);
	struct ipf_error err = {0};
	if (find_format(operands->items[0], &options->format, &err) < 0)
		return command_end(&err, name);
	options->exported = true;
	return show_run(options, &results, name);
}

const struct command command_export = {
	.program = {.name = REPORT_PROGRAM " export",
                .operands = "FORMAT [RESULTS…]",
                .summary = "write the figures or the requests for other programs",
                .details = "  ipf-report export csv chat.results.zst -o chat.csv\n"
                           "  ipf-report export vllm chat.results.zst -o vllm.json\n",
                .manual = "man ipf-report-export; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .min_operands = 1,
                .max_operands = -1,
                .choices = report_export_names,
                .variables = REPORT_PROGRAM},
	.run = run,
};
