#include "cli/completion.h"

#include "version.h"

#include <stdio.h>
#include <string.h>

/* Appends the names as a pattern for bash's `case`: -t|--trace|-o|--output. Returns the number of options. */
static size_t case_pattern(const struct program *program, bool files, struct buffer *out)
{
	size_t n = 0;

	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (!option_takes_value(spec) || option_value(spec, 0) || option_takes_file(spec) != files)
			continue;
		if (n++)
			buffer_byte(out, '|');
		if (spec->letter)
			buffer_format(out, "-%c|", spec->letter);
		buffer_format(out, "--%s", spec->name);
	}
	return n;
}

static void case_of(const struct program *program, bool files, const char *action, struct buffer *out)
{
	struct buffer pattern = {0};

	if (case_pattern(program, files, &pattern) > 0) {
		buffer_text(out, "\t");
		buffer_slice(out, buffer_all(&pattern));
		buffer_format(out, ")\n\t\t%s\n\t\treturn ;;\n", action);
	}
	buffer_release(&pattern);
}

/* A case for each option whose values are choices. */
static void choices_cases(const struct program *program, struct buffer *out)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		const char *value;
		if (!option_value(spec, 0))
			continue;
		buffer_text(out, "\t");
		if (spec->letter)
			buffer_format(out, "-%c|", spec->letter);
		buffer_format(out, "--%s)\n\t\t%smapfile -t COMPREPLY < <(compgen -W '", spec->name,
		              option_takes_file(spec) ? "compopt -o filenames\n\t\t" : "");
		for (size_t k = 0; (value = option_value(spec, k)); k++)
			buffer_format(out, "%s%s", k ? " " : "", value);
		buffer_format(out, "' -- \"$cur\"%s)\n\t\treturn ;;\n",
		              option_takes_file(spec) ? "; compgen -f -- \"$cur\"" : "");
	}
}

static void function_name(const struct program *program, char name[64])
{
	snprintf(name, 64, "_%s", program->name);
	for (char *p = name; *p; p++)
		if (*p == '-' || *p == ' ')
			*p = '_';
}

static void words(const char *const *list, const char *between, struct buffer *out)
{
	for (size_t i = 0; list[i]; i++)
		buffer_format(out, "%s%s", i ? between : "", list[i]);
}

/* Leaves the words behind a command to the command's function. */
static void commands_case(const struct program *program, struct buffer *out)
{
	buffer_text(out, "\tif ((COMP_CWORD > 1)); then\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; program->commands[i]; i++) {
		char function[64];
		function_name(program->commands[i], function);
		buffer_format(out, "\t\t%s)\n\t\t\t%s\n\t\t\treturn ;;\n", command_word(program->commands[i]), function);
	}
	buffer_text(out, "\t\tesac\n\tfi\n");
}

static const char files[] = "compopt -o filenames\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";

/* A case for operands that are a word with keys: closed:users=32,for=60s. The shell may have split them at = and :, and
 * then takes candidates for the last part alone. */
static void keys_case(const struct program *program, struct buffer *out)
{
	const char *offer;

	buffer_text(
		out,
		"\t*)\n\t\tlocal word=${COMP_LINE:0:${COMP_POINT:-${#COMP_LINE}}} keys head\n\t\tword=${word##*[[:space:]]}\n"
		"\t\tcase $word in\n");
	for (size_t i = 0; (offer = program->offers(i)); i++) {
		if (!program->offers_keys(i, 0))
			continue;
		buffer_format(out, "\t\t%s*) keys='", offer);
		option_keys(program, i, "", out);
		buffer_text(out, "' ;;\n");
	}
	buffer_text(out, "\t\t*) keys='");
	option_words(program->offers, out);
	buffer_text(out, "' ;;\n\t\tesac\n\t\tcompopt -o nospace\n\t\thead=${word%\"${word##*[:,]}\"}\n"
	                 "\t\tmapfile -t COMPREPLY < <(compgen -P \"$head\" -W \"$keys\" -- \"${word##*[:,]}\")\n"
	                 "\t\tword=${word%\"$cur\"}\n\t\tCOMPREPLY=(\"${COMPREPLY[@]#\"$word\"}\") ;;\n");
}

/* A case for operands: files, behind a choice or beside the commands if the program has these. */
static void operands_case(const struct program *program, struct buffer *out)
{
	if (program->offers_keys) {
		keys_case(program, out);
	} else if (program->offers) {
		buffer_text(out, "\t*)\n\t\tif ((COMP_CWORD == 1)); then\n\t\t\tmapfile -t COMPREPLY < <(compgen -W '");
		option_words(program->offers, out);
		buffer_format(out, "' -- \"$cur\")\n\t\telse\n\t\t%s\n\t\tfi ;;\n", files);
	} else if (program->choices) {
		buffer_text(out, "\t*)\n\t\tlocal word\n\t\tfor word in \"${COMP_WORDS[@]:2:COMP_CWORD-2}\"; do\n"
		                 "\t\t\tcase $word in\n\t\t\t");
		words(program->choices, "|", out);
		buffer_format(out, ")\n\t\t%s\n\t\treturn ;;\n\t\t\tesac\n\t\tdone\n", files);
		buffer_text(out, "\t\tmapfile -t COMPREPLY < <(compgen -W '");
		words(program->choices, " ", out);
		buffer_text(out, "' -- \"$cur\") ;;\n");
	} else if (program->commands) {
		buffer_text(out, "\t*)\n\t\tcompopt -o filenames\n\t\tmapfile -t COMPREPLY < <(\n"
		                 "\t\t\t((COMP_CWORD > 1)) || compgen -W '");
		for (size_t i = 0; program->commands[i]; i++)
			buffer_format(out, "%s%s", i ? " " : "", command_word(program->commands[i]));
		buffer_text(out, "' -- \"$cur\"\n\t\t\tcompgen -f -- \"$cur\") ;;\n");
	} else if (program->max_operands != 0) {
		buffer_format(out, "\t*)\n\t\t%s ;;\n", files);
	}
}

static void function_of(const struct program *program, struct buffer *out)
{
	char function[64];

	function_name(program, function);
	/* bash splits --name=value into three words */
	buffer_format(out, "%s()\n{\n", function);
	buffer_text(out, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	                 "\tif [[ $cur == [=:] ]]; then\n\t\tcur=\n"
	                 "\telif [[ $prev == = && COMP_CWORD -ge 2 ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	                 "\tCOMPREPLY=()\n");
	if (program->commands)
		commands_case(program, out);
	buffer_text(out, "\tcase $prev in\n");
	case_of(program, true, files, out);
	choices_cases(program, out);
	case_of(program, false, ":", out);
	buffer_text(out, "\tesac\n\tcase $cur in\n\t-*)\n\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0, n = 0; i < program->count; i++)
		if (option_is_shown(&program->specs[i]))
			buffer_format(out, "%s--%s", n++ ? " " : "", program->specs[i].name);
	buffer_text(out, "' -- \"$cur\") ;;\n");
	operands_case(program, out);
	buffer_text(out, "\tesac\n}\n");
}

void completion_bash(const struct program *program, struct buffer *out)
{
	char function[64];

	function_name(program, function);
	buffer_format(out, "# bash completion for %s %s, printed by %s --completion\n", program->name, IPF_VERSION,
	              program->name);
	for (size_t i = 0; program->commands && program->commands[i]; i++)
		function_of(program->commands[i], out);
	function_of(program, out);
	buffer_format(out, "complete -F %s %s\n", function, program->name);
}
