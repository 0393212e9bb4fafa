/* The commands of ipf-report, a file each. A command has a table of options, operands, --help, completion and a manual
 * page of its own, like a program; without one, the program shows a report.
 *
 *     const struct command *command = command_find(argv[1]);      // NULL: not the name of a command
 *     if (program_start(&command->program, …)) status = command->run(&options, &operands);
 *
 * A new command is a file command_NAME.c that defines `const struct command command_NAME`, an entry in the two lists of
 * command.c, and a page ipf-report-NAME.1.
 */
#ifndef REPORT_COMMAND_H
#define REPORT_COMMAND_H

#include "cli/options.h"
#include "commands/report_options.h"

struct command {
	struct program program; /* its name is "ipf-report NAME" */
	/* Does the work; returns the exit status. Options and operands are parsed. */
	int (*run)(struct report_options *options, const struct operands *operands);
};

extern const struct command command_report; /* without the name of a command */
extern const struct command command_compare, command_gateway, command_export, command_plot, command_certificate,
	command_definitions;
extern const struct program *const command_programs[]; /* all commands together; NULL ends them */

/* The command of this name; NULL: there is none. `word` may be NULL. */
const struct command *command_find(const char *word);
/* The results, of a command whose first operand is something else. */
struct operands operands_after_first(const struct operands *operands);
/* Whether an operand other than a file was probably meant as the name of a command: IPF_USAGE, and -1. */
int command_check_operands(const struct operands *operands, struct ipf_error *err);

#endif
