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

bool option_is_path(const struct option_spec *spec)
{
	return spec->kind == OPTION_FILE || spec->kind == OPTION_OUTPUT;
}

bool option_takes_file(const struct option_spec *spec)
{
	return option_is_path(spec) ||
	       (spec->argument && (strstr(spec->argument, "FILE") || strstr(spec->argument, "RECORDS")));
}

const char *option_value(const struct option_spec *spec, size_t i)
{
	return spec->offers ? spec->offers(i) : spec->choices ? spec->choices[i] : NULL;
}

void option_words(completion_list *list, struct buffer *out)
{
	const char *word;
	for (size_t i = 0; (word = list(i)); i++)
		buffer_format(out, "%s%s", i ? " " : "", word);
}

void option_keys(const struct program *program, size_t offer, const char *quote, struct buffer *out)
{
	const char *key;
	for (size_t i = 0; (key = program->offers_keys(offer, i)); i++)
		buffer_format(out, "%s%s%s%s", i ? " " : "", quote, key, quote);
}

struct slice option_summary(const struct option_spec *spec)
{
	size_t len = strlen(spec->help);

	for (const char *p = spec->help; *p; p++)
		if ((*p == ';' || *p == '.') && (p[1] == ' ' || !p[1])) {
			len = (size_t)(p - spec->help);
			break;
		}
	return (struct slice){spec->help, len};
}

bool option_is_shown(const struct option_spec *spec)
{
	return spec->kind != OPTION_HEADING;
}

const char *command_word(const struct program *command)
{
	const char *blank = strrchr(command->name, ' ');
	return blank ? blank + 1 : command->name;
}
