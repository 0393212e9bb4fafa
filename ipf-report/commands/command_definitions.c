/* `ipf-report definitions` */
#include "commands/command.h"
#include "commands/option_rows.h"
#include "commands/show_run.h"
#include "memory.h"
#include "cli/report_output.h"
#include "sections/sections.h"

static const struct option_spec specs[] = {
	OUTPUT_OPTION(struct report_options, common),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};

static int run(struct report_options *options, const struct operands *operands)
{
	struct report_output to = {.path = options->common.output};
	struct buffer out = {0};
	struct document d = {0};
	struct ipf_error err = {0};
	(void)operands;
	definitions_document(&d);
	document_text(&d, &(struct text_style){0}, &out);
	document_release(&d);
	report_output_put(&to, &out, &err);
	buffer_release(&out);
	if (err.kind == IPF_OK && memory_ran_out())
		ipf_error_memory(&err);
	report_output_close(&to, &err);
	return command_end(&err, command_definitions.program.name);
}

const struct command command_definitions = {
	.program = {.name = REPORT_PROGRAM " definitions",
                .operands = "",
                .summary = "print the definition of each figure and the limits of the verdict",
                .manual = "man ipf-report-definitions; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .variables = REPORT_PROGRAM},
	.run = run,
};
