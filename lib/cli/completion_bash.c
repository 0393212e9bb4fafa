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
		if (!option_takes_value(spec) || spec->kind == OPTION_CHOICE || completes_files(spec) != files)
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
		if (!spec->choices)
			continue;
		buffer_text(out, "\t");
		if (spec->letter)
			buffer_format(out, "-%c|", spec->letter);
		buffer_format(out, "--%s)\n\t\tmapfile -t COMPREPLY < <(compgen -W '", spec->name);
		for (size_t k = 0; spec->choices[k]; k++)
			buffer_format(out, "%s%s", k ? " " : "", spec->choices[k]);
		buffer_text(out, "' -- \"$cur\")\n\t\treturn ;;\n");
	}
}

void completion_bash(const struct program *program, struct buffer *out)
{
	static const char files[] = "compopt -o filenames\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
	char function[64];

	snprintf(function, sizeof function, "_%s", program->name);
	for (char *p = function; *p; p++)
		if (*p == '-')
			*p = '_';
	buffer_format(out, "# bash completion for %s %s, printed by %s --completion\n%s()\n{\n", program->name, IPF_VERSION,
	              program->name, function);
	/* bash splits --name=value into three words */
	buffer_text(out, "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	                 "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	                 "\telif [[ $prev == = && COMP_CWORD -ge 2 ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	                 "\tCOMPREPLY=()\n\tcase $prev in\n");
	case_of(program, true, files, out);
	choices_cases(program, out);
	case_of(program, false, ":", out);
	buffer_text(out, "\tesac\n\tcase $cur in\n\t-*)\n\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0, n = 0; i < program->count; i++)
		if (program->specs[i].kind != OPTION_HEADING)
			buffer_format(out, "%s--%s", n++ ? " " : "", program->specs[i].name);
	buffer_text(out, "' -- \"$cur\") ;;\n");
	if (program->max_operands != 0)
		buffer_format(out, "\t*)\n\t\t%s ;;\n", files);
	buffer_format(out, "\tesac\n}\ncomplete -F %s %s\n", function, program->name);
}
