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
	return option_takes_value(spec) || option_value(spec, 0);
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

/* ":FILE:_files", ":SHELL:(bash zsh)"; a value nothing is known of has a message and no completions. */
static void value(struct buffer *out, const struct option_spec *spec)
{
	buffer_text(out, option_takes_value(spec) ? ":" : "::");
	quoted(out, slice_of(spec->argument), ":");
	buffer_byte(out, ':');
	const char *word;
	if (option_value(spec, 0)) {
		const bool files = option_takes_file(spec);
		buffer_text(out, files ? "{compadd -" : "(");
		for (size_t i = 0; (word = option_value(spec, i)); i++)
			buffer_format(out, "%s%s", i || files ? " " : "", word);
		buffer_text(out, files ? "; _files}" : ")");
	} else {
		buffer_text(out, option_takes_file(spec) ? "_files" : " ");
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
	quoted(out, option_summary(spec), "[]");
	buffer_byte(out, ']');
	if (has_value(spec))
		value(out, spec);
	buffer_byte(out, '\'');
}

/* The name of the function that completes a program or a command: _ipf-report-compare. */
static void function_name(const struct program *program, char name[64])
{
	snprintf(name, 64, "_%s", program->name);
	for (char *p = name; *p; p++)
		if (*p == ' ')
			*p = '-';
}

/* Leaves the words behind a command to the command's function. */
static void commands_case(const struct program *program, struct buffer *out)
{
	buffer_text(out, "\tif (( CURRENT > 2 )); then\n\t\tcase $words[2] in\n");
	for (size_t i = 0; program->commands[i]; i++) {
		char function[64];
		function_name(program->commands[i], function);
		buffer_format(out, "\t\t%s)\n\t\t\tshift words\n\t\t\t(( CURRENT-- ))\n\t\t\t%s\n\t\t\treturn ;;\n",
		              command_word(program->commands[i]), function);
	}
	buffer_text(out, "\t\tesac\n\tfi\n");
}

/* The function that offers files, and commands in the first place. */
static void command_operands(const struct program *program, const char *function, struct buffer *out)
{
	buffer_format(out, "%s-operands()\n{\n\tlocal -a commands=(", function);
	for (size_t i = 0; program->commands[i]; i++) {
		buffer_format(out, "\n\t\t'%s:", command_word(program->commands[i]));
		quoted(out, slice_of(program->commands[i]->summary), ":");
		buffer_byte(out, '\'');
	}
	buffer_text(out, ")\n\t(( CURRENT > 2 )) || _describe command commands\n\t_files\n}\n");
}

/* The function that offers words, and behind each its keys. */
static void keys_operands(const struct program *program, const char *function, struct buffer *out)
{
	const char *offer;

	buffer_format(out, "%s-operands()\n{\n\tlocal -a keys\n\tcase $PREFIX in\n", function);
	for (size_t i = 0; (offer = program->offers(i)); i++) {
		if (!program->offers_keys(i, 0))
			continue;
		buffer_format(out, "\t%s*) keys=(", offer);
		option_keys(program, i, "'", out);
		buffer_text(out, ") ;;\n");
	}
	buffer_text(out, "\t*)\n\t\tcompadd -S '' - ");
	option_words(program->offers, out);
	buffer_text(out, "\n\t\treturn ;;\n\tesac\n\tcompset -P '*[:,]'\n\tcompadd -S '' - $keys\n}\n");
}

static void operands(const struct program *program, const char *function, struct buffer *out)
{
	if (program->choices) {
		buffer_text(out, " \\\n\t\t'1:FORMAT:(");
		for (size_t i = 0; program->choices[i]; i++)
			buffer_format(out, "%s%s", i ? " " : "", program->choices[i]);
		buffer_text(out, ")'");
	}
	if (program->offers && !program->offers_keys) {
		buffer_text(out, " \\\n\t\t'1:SOURCE:(");
		option_words(program->offers, out);
		buffer_text(out, ")'");
	}
	if (program->offers_keys)
		buffer_format(out, " \\\n\t\t'*:STAGE:%s-operands'", function);
	else if (program->commands)
		buffer_format(out, " \\\n\t\t'*:COMMAND or FILE:%s-operands'", function);
	else if (program->max_operands != 0)
		buffer_text(out, " \\\n\t\t'*:FILE:_files'");
}

static void function_of(const struct program *program, const char *function, struct buffer *out)
{
	buffer_format(out, "%s()\n{\n", function);
	if (program->commands)
		commands_case(program, out);
	buffer_text(out, "\t_arguments -s -S :");
	for (size_t i = 0; i < program->count; i++)
		if (option_is_shown(&program->specs[i]))
			argument(out, &program->specs[i]);
	operands(program, function, out);
	buffer_text(out, "\n}\n");
}

void completion_zsh(const struct program *program, struct buffer *out)
{
	char function[64], command[64];

	function_name(program, function);
	buffer_format(out, "#compdef %s\n# zsh completion for %s %s, printed by %s --completion zsh\n", program->name,
	              program->name, IPF_VERSION, program->name);
	for (size_t i = 0; program->commands && program->commands[i]; i++) {
		function_name(program->commands[i], command);
		function_of(program->commands[i], command, out);
	}
	if (program->commands)
		command_operands(program, function, out);
	if (program->offers_keys)
		keys_operands(program, function, out);
	function_of(program, function, out);
	/* found by its name in fpath, it runs; sourced, it registers itself */
	buffer_format(out, "if [[ ${funcstack[1]} == %s ]]; then\n\t%s \"$@\"\nelse\n\tcompdef %s %s\nfi\n", function,
	              function, function, program->name);
}
