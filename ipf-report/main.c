/* ipf-report: shows the results of a run, and whether they can be trusted. The first argument may name a command
 * (commands/command.h); a file of that name is given with its folder, as in ./compare. */
#include "commands/command.h"

int main(int argc, char **argv)
{
	const struct command *command = command_find(argc > 1 ? argv[1] : NULL);
	const int skipped = command ? 1 : 0;
	struct report_options options;
	struct operands operands;
	int status;
	if (!command)
		command = &command_report;
	report_options_init(&options);
	if (program_start(&command->program, argc - skipped, argv + skipped, &options, &operands, &status))
		status = command->run(&options, &operands);
	report_options_release(&options);
	return status;
}
