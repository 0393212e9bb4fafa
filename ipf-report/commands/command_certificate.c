/* `ipf-report certificate [RESULTS…]` */
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "formats/report_format.h"

#include <string.h>

static const struct option_spec specs[] = {
	OPTION_HEADING("Output"),
	OPTION_CHOICE_OF('f', "format", "text|json", struct report_options, certificate_format, certificate_format_names,
                     "output format (default: by the output's name, else text)"),
	ROW_PERCENTILES,
	ROW_META,
	OUTPUT_OPTION(struct report_options, common),
	OPTION_HEADING("Delivery"),
	ROW_UPLOAD,
	ROW_UPLOAD_FILE,
	OPTION_HEADING("Evaluation"),
	ROW_STAGE,
	ROW_ERRORS_AS_INF,
	ROW_ACCURACY,
	ROW_STRICT,
	ROW_FROM,
	OPTION_HEADING("Common options"),
	COMMAND_OPTIONS(struct report_options, common),
};

static int run(struct report_options *options, const struct operands *operands)
{
	struct ipf_error err = {0};
	options->certificate = true;
	if (format_of_name(&options->certificate_format, certificate_format_names, options, &err) < 0)
		return command_end(&err, command_certificate.program.name);
	for (int i = 0; report_format_names[i]; i++)
		if (strcmp(report_format_names[i], certificate_format_names[options->certificate_format]) == 0)
			options->format = i;
	return show_run(options, operands, command_certificate.program.name);
}

const struct command command_certificate = {
	.program = {.name = REPORT_PROGRAM " certificate",
                .operands = "[RESULTS…]",
                .summary = "print the evidence for the error of the client",
                .details = "  ipf-report certificate chat.results.zst\n"
                           "  ipf-report certificate -f json chat.results.zst -o certificate.json\n",
                .manual = "man ipf-report-export; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .max_operands = -1,
                .variables = REPORT_PROGRAM},
	.run = run,
};
