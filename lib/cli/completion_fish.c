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

/* The kind of the option's argument: -x a value that is no file, -r -F a file. */
static void value(struct buffer *out, const struct option_spec *spec)
{
	const char *word;
	if (option_value(spec, 0)) {
		buffer_text(out, option_takes_file(spec) ? " -r -F -a '" : " -x -a '");
		for (size_t i = 0; (word = option_value(spec, i)); i++)
			buffer_format(out, "%s%s", i ? " " : "", word);
		buffer_byte(out, '\'');
	} else if (option_takes_value(spec)) {
		buffer_text(out, option_takes_file(spec) ? " -r -F" : " -x");
	}
}

static void words(const char *const *list, struct buffer *out)
{
	for (size_t i = 0; list[i]; i++)
		buffer_format(out, "%s%s", i ? " " : "", list[i]);
}

/* Lines "complete -c NAME -n CONDITION …" for the options; `condition` may be empty. */
static void options(const struct program *program, const char *name, const char *condition, struct buffer *out)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (!option_is_shown(spec))
			continue;
		buffer_format(out, "complete -c %s%s", name, condition);
		if (spec->letter)
			buffer_format(out, " -s %c", spec->letter);
		buffer_format(out, " -l %s", spec->name);
		value(out, spec);
		buffer_text(out, " -d ");
		quoted(out, option_summary(spec));
		buffer_byte(out, '\n');
	}
}

/* A command: its word as the first operand, its options and the choices of its own first operand. */
static void command(const struct program *command, const char *name, struct buffer *out)
{
	struct buffer condition = {0};
	const char *word = command_word(command);
	buffer_format(out, "complete -c %s -n 'test (count (commandline -opc)) -eq 1' -a %s -d ", name, word);
	quoted(out, slice_of(command->summary));
	buffer_format(out, "\n");
	buffer_format(&condition, " -n '__fish_seen_subcommand_from %s'", word);
	options(command, name, condition.data ? condition.data : "", out);
	if (command->choices) {
		buffer_format(out, "complete -c %s -n '__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from ",
		              name, word);
		words(command->choices, out);
		buffer_text(out, "' -x -a '");
		words(command->choices, out);
		buffer_text(out, "'\n");
	} else if (command->max_operands == 0) {
		buffer_format(out, "complete -c %s%s -f\n", name, condition.data ? condition.data : "");
	}
	out->failed |= condition.failed;
	buffer_release(&condition);
}

/* Operands that are words, and behind each its keys. */
static void keys_operands(const struct program *program, struct buffer *out)
{
	const char *offer;

	buffer_format(out, "function __%s_operands\n\tset -l word (commandline -ct)\n\tset -l keys\n\tswitch $word\n",
	              program->name);
	for (size_t i = 0; (offer = program->offers(i)); i++) {
		if (!program->offers_keys(i, 0))
			continue;
		buffer_format(out, "\tcase '%s*'\n\t\tset keys ", offer);
		option_keys(program, i, "", out);
		buffer_byte(out, '\n');
	}
	buffer_text(out, "\tcase '*'\n\t\tset keys ");
	option_words(program->offers, out);
	buffer_format(out,
	              "\n\tend\n\tprintf '%%s\\n' (string replace -r '[^:,]*$' '' -- $word)$keys\nend\n"
	              "complete -c %s -x -a '(__%s_operands)'\n",
	              program->name, program->name);
}

void completion_fish(const struct program *program, struct buffer *out)
{
	struct buffer condition = {0};
	buffer_format(out, "# fish completion for %s %s, printed by %s --completion fish\n", program->name, IPF_VERSION,
	              program->name);
	if (program->max_operands == 0)
		buffer_format(out, "complete -c %s -f\n", program->name);
	if (program->offers_keys) {
		keys_operands(program, out);
	} else if (program->offers) {
		buffer_format(out, "complete -c %s -n 'test (count (commandline -opc)) -eq 1' -x -a '", program->name);
		option_words(program->offers, out);
		buffer_text(out, "'\n");
	}
	if (program->commands) {
		buffer_text(&condition, " -n 'not __fish_seen_subcommand_from");
		for (size_t i = 0; program->commands[i]; i++)
			buffer_format(&condition, " %s", command_word(program->commands[i]));
		buffer_text(&condition, "'");
	}
	options(program, program->name, condition.data ? condition.data : "", out);
	for (size_t i = 0; program->commands && program->commands[i]; i++)
		command(program->commands[i], program->name, out);
	out->failed |= condition.failed;
	buffer_release(&condition);
}
