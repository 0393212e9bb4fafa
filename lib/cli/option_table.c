#include "cli/option_table.h"

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
