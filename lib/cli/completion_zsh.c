#include "cli/completion.h"

#include "version.h"

#include <stdio.h>
#include <string.h>

/* Appends the text for a place within single quotes, with a backslash before each of `special` and before itself. */
static void quoted(struct buffer *out, struct slice text, const char *special)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.data[i];
		if (c == '\'') {
			buffer_text(out, "'\\''");
			continue;
		}
		if (c == '\\' || strchr(special, c))
			buffer_byte(out, '\\');
		buffer_byte(out, c);
	}
}

static bool repeats(const struct option_spec *spec)
{
	return spec->kind == OPTION_LIST || spec->kind == OPTION_COUNTER;
}

static bool has_value(const struct option_spec *spec)
{
	return option_takes_value(spec) || spec->choices;
}

/* Which options cannot follow: itself, or everything after one that only prints. */
static void exclusions(struct buffer *out, const struct option_spec *spec)
{
	if (spec->kind == OPTION_HELP || spec->kind == OPTION_VERSION || spec->kind == OPTION_COMPLETION)
		buffer_text(out, "'(- *)'");
	else if (repeats(spec))
		buffer_text(out, "'*'");
	else if (spec->letter)
		buffer_format(out, "'(-%c --%s)'", spec->letter, spec->name);
}

/* ":FILE:_files", ":SHELL:(bash zsh)"; a value that nothing is known of has a message and no completions. */
static void value(struct buffer *out, const struct option_spec *spec)
{
	buffer_text(out, option_takes_value(spec) ? ":" : "::");
	quoted(out, slice_of(spec->argument), ":");
	buffer_byte(out, ':');
	if (spec->choices) {
		for (size_t i = 0; spec->choices[i]; i++)
			buffer_format(out, "%s%s", i ? " " : "(", spec->choices[i]);
		buffer_byte(out, ')');
	} else {
		buffer_text(out, completes_files(spec) ? "_files" : " ");
	}
}

/* An argument of _arguments: '(-t --trace)'{-t+,--trace=}'[the request trace]:FILE:_files' */
static void argument(struct buffer *out, const struct option_spec *spec)
{
	buffer_text(out, " \\\n\t\t");
	exclusions(out, spec);
	if (spec->letter)
		buffer_format(out, "{-%c%s,--%s%s}'[", spec->letter, has_value(spec) ? "+" : "", spec->name,
		              has_value(spec) ? "=" : "");
	else
		buffer_format(out, "'--%s%s[", spec->name, has_value(spec) ? "=" : "");
	quoted(out, completion_description(spec), "[]");
	buffer_byte(out, ']');
	if (has_value(spec))
		value(out, spec);
	buffer_byte(out, '\'');
}

void completion_zsh(const struct program *program, struct buffer *out)
{
	char function[64];

	snprintf(function, sizeof function, "_%s", program->name);
	buffer_format(out, "#compdef %s\n# zsh completion for %s %s, printed by %s --completion zsh\n", program->name,
	              program->name, IPF_VERSION, program->name);
	buffer_format(out, "%s()\n{\n\t_arguments -s -S :", function);
	for (size_t i = 0; i < program->count; i++)
		if (program->specs[i].kind != OPTION_HEADING)
			argument(out, &program->specs[i]);
	if (program->max_operands != 0)
		buffer_text(out, " \\\n\t\t'*:FILE:_files'");
	/* found by its name in fpath, it runs; sourced, it registers itself */
	buffer_format(out, "\n}\nif [[ ${funcstack[1]} == %s ]]; then\n\t%s \"$@\"\nelse\n\tcompdef %s %s\nfi\n", function,
	              function, function, program->name);
}
