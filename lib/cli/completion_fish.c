#include "cli/completion.h"

#include "version.h"

/* Appends the text in single quotes. */
static void quoted(struct buffer *out, struct slice text)
{
	buffer_byte(out, '\'');
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] == '\'' || text.data[i] == '\\')
			buffer_byte(out, '\\');
		buffer_byte(out, text.data[i]);
	}
	buffer_byte(out, '\'');
}

/* What may follow the option: -x a value that is no file, -r -F a file. */
static void value(struct buffer *out, const struct option_spec *spec)
{
	if (spec->choices) {
		buffer_text(out, " -x -a '");
		for (size_t i = 0; spec->choices[i]; i++)
			buffer_format(out, "%s%s", i ? " " : "", spec->choices[i]);
		buffer_byte(out, '\'');
	} else if (option_takes_value(spec)) {
		buffer_text(out, completes_files(spec) ? " -r -F" : " -x");
	}
}

void completion_fish(const struct program *program, struct buffer *out)
{
	buffer_format(out, "# fish completion for %s %s, printed by %s --completion fish\n", program->name, IPF_VERSION,
	              program->name);
	if (program->max_operands == 0)
		buffer_format(out, "complete -c %s -f\n", program->name);
	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (spec->kind == OPTION_HEADING)
			continue;
		buffer_format(out, "complete -c %s", program->name);
		if (spec->letter)
			buffer_format(out, " -s %c", spec->letter);
		buffer_format(out, " -l %s", spec->name);
		value(out, spec);
		buffer_text(out, " -d ");
		quoted(out, completion_description(spec));
		buffer_byte(out, '\n');
	}
}
