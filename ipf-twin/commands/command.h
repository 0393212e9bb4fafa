/* The commands of ipf-twin. A command has a table of options, operands, --help and completion of its own, like a
 * program. */
#ifndef TWIN_COMMAND_H
#define TWIN_COMMAND_H

#include "cli/options.h"

struct command {
	struct program program; /* its name is "ipf-twin NAME" */
	/* Does the work; argv[0] is the name of the command. Returns the exit status. */
	int (*run)(int argc, char **argv);
};

extern const struct command command_fit, command_predict, command_why;

#endif
