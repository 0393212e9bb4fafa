#include "cli/option_table.h"

#include <string.h>

bool option_takes_value(const struct option_spec *spec)
{
	switch (spec->kind) {
	case OPTION_HEADING:
	case OPTION_FLAG:
	case OPTION_COUNTER:
	case OPTION_HELP:
	case OPTION_VERSION:
	case OPTION_COMPLETION:
		return false;
	default:
		return true;
	}
}

bool option_is_shown(const struct option_spec *spec)
{
	return spec->kind != OPTION_HEADING && !spec->older;
}

const char *command_word(const struct program *command)
{
	const char *blank = strrchr(command->name, ' ');
	return blank ? blank + 1 : command->name;
}
