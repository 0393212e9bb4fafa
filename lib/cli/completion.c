#include "cli/completion.h"

#include <string.h>

const char *const completion_shells[] = {"bash", "zsh", "fish", NULL};

bool completes_files(const struct option_spec *spec)
{
	return spec->kind == OPTION_FILE || (spec->argument && strstr(spec->argument, "FILE"));
}

const char *completion_value(const struct option_spec *spec, size_t i)
{
	return spec->offers ? spec->offers(i) : spec->choices ? spec->choices[i] : NULL;
}

void completion_words(completion_list *list, struct buffer *out)
{
	const char *word;
	for (size_t i = 0; (word = list(i)); i++)
		buffer_format(out, "%s%s", i ? " " : "", word);
}

struct slice completion_description(const struct option_spec *spec)
{
	size_t len = strlen(spec->help);

	for (const char *p = spec->help; *p; p++)
		if ((*p == ';' || *p == '.') && (p[1] == ' ' || !p[1])) {
			len = (size_t)(p - spec->help);
			break;
		}
	return (struct slice){spec->help, len};
}

void completion_format(const struct program *program, enum completion_shell shell, struct buffer *out)
{
	switch (shell) {
	case COMPLETION_BASH:
		completion_bash(program, out);
		break;
	case COMPLETION_ZSH:
		completion_zsh(program, out);
		break;
	case COMPLETION_FISH:
		completion_fish(program, out);
		break;
	}
}
