#include "commands/command.h"

#include "cli/nearest.h"
#include "safe_text.h"

#include <string.h>
#include <unistd.h>

static const struct command *const commands[] = {&command_compare, &command_gateway,     &command_export,
                                                 &command_plot,    &command_certificate, &command_definitions};
const struct program *const command_programs[] = {&command_compare.program,
                                                  &command_gateway.program,
                                                  &command_export.program,
                                                  &command_plot.program,
                                                  &command_certificate.program,
                                                  &command_definitions.program,
                                                  NULL};

const struct command *command_find(const char *word)
{
	for (size_t i = 0; word && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(command_word(&commands[i]->program), word) == 0)
			return commands[i];
	return NULL;
}

struct operands operands_after_first(const struct operands *operands)
{
	return (struct operands){.items = operands->items + 1, .count = operands->count - 1, .before_mark = -1};
}

int command_check_operands(const struct operands *operands, struct ipf_error *err)
{
	const char *first = operands->count ? operands->items[0] : "-";
	struct nearest near = {0};
	/* names of commands have no such characters, those of files mostly do */
	if (strpbrk(first, "./-_") || access(first, F_OK) == 0)
		return 0;
	if (command_find(first))
		return ipf_error_set(err, IPF_USAGE, "the command comes before the options: %s %s …", REPORT_PROGRAM, first);
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		nearest_try(&near, first, strlen(first), command_word(&commands[i]->program));
	if (!near.name)
		return 0;
	return ipf_error_set(err, IPF_USAGE, "\"%s\": no such file or command (did you mean %s?)", shown(first).text,
	                     near.name);
}
