/* ipf-twin: models of servers, fitted to runs. Each command has its own options, help and file in commands/. */
#include "cli/nearest.h"
#include "commands/command.h"
#include "safe_text.h"

#include <string.h>

static const struct command *const commands[] = {&command_fit, &command_predict, &command_why};
static const struct program *const programs[] = {&command_fit.program, &command_predict.program, &command_why.program,
                                                 NULL};
static const char *const words[] = {"fit", "predict", "why", NULL};

static const struct option_spec specs[] = {PROGRAM_OPTIONS};

static const struct program program = {
	.name = "ipf-twin",
	.operands = "COMMAND …",
	.summary = "model a server: fit the model to a run, predict other runs, explain latencies",
	.details = "  ipf-twin fit ramp.results.zst -o server.json\n"
			   "  ipf-twin predict server.json -t t.zst x.sched | ipf-collect | ipf-report\n"
			   "  ipf-twin why server.json run.results.zst | ipf-report --why - run.results.zst\n",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 1,
	.max_operands = -1,
	.choices = words,
	.commands = programs,
};

static int without_command(int argc, char **argv)
{
	struct operands operands;
	struct ipf_error err = {0};
	struct nearest near = {0};
	int status;
	if (!program_start(&program, argc, argv, NULL, &operands, &status))
		return status;
	const char *word = operands.items[0];
	for (size_t i = 0; words[i]; i++)
		nearest_try(&near, word, strlen(word), words[i]);
	ipf_error_set(&err, IPF_USAGE, "unknown command \"%s\"%s%s%s", shown(word).text, near.name ? " (did you mean " : "",
	              near.name ? near.name : "; --help lists the commands", near.name ? "?)" : "");
	return program_misuse(&program, &err);
}

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (strcmp(argv[1], words[i]) == 0)
			return commands[i]->run(argc - 1, argv + 1);
	return without_command(argc, argv);
}
