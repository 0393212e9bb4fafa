#include "cli/help.h"

#include "version.h"

#include <jansson.h>
#include <openssl/crypto.h>
#include <string.h>
#include <zstd.h>

#define WIDTH    79
#define MAX_LEFT 30 /* the help of a longer option begins on the next line */

/* The number of characters; each counts as one column. */
static size_t columns(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += ((unsigned char)text[i] & 0xc0) != 0x80;
	return n;
}

static void pad(struct buffer *out, size_t from, size_t to)
{
	for (; from < to; from++)
		buffer_byte(out, ' ');
}

/* Appends "-t, --trace FILE"; returns its width in columns. */
static size_t option_left(const struct option_spec *spec, struct buffer *out)
{
	size_t begin = out->len;

	if (spec->letter)
		buffer_format(out, "  -%c, ", spec->letter);
	else
		buffer_text(out, "      ");
	buffer_format(out, "--%s", spec->name);
	if (spec->argument)
		buffer_format(out, " %s", spec->argument);
	return columns(out->data + begin, out->len - begin);
}

void help_wrap(struct buffer *out, const char *text, size_t at, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t len = strcspn(text, " "), wide = columns(text, len);
		if (!first && at + 1 + wide > WIDTH) {
			buffer_byte(out, '\n');
			pad(out, 0, indent);
			at = indent;
		} else if (!first) {
			buffer_byte(out, ' ');
			at++;
		}
		buffer_append(out, text, len);
		at += wide;
		text += len;
		text += strspn(text, " ");
		first = false;
	}
	buffer_byte(out, '\n');
}

static size_t help_column(const struct program *program)
{
	struct buffer left = {0};
	size_t widest = 0, wide;

	for (size_t i = 0; i < program->count; i++) {
		if (!option_is_shown(&program->specs[i]))
			continue;
		wide = option_left(&program->specs[i], &left);
		if (wide <= MAX_LEFT && wide > widest)
			widest = wide;
		buffer_clear(&left);
	}
	buffer_release(&left);
	return widest + 2;
}

static void help_option(const struct option_spec *spec, size_t column, struct buffer *out)
{
	size_t at = option_left(spec, out);

	if (at + 2 > column) {
		buffer_byte(out, '\n');
		at = 0;
	}
	pad(out, at, column);
	help_wrap(out, spec->help, column, column);
}

static void help_options(const struct program *program, struct buffer *out)
{
	size_t column = help_column(program);

	for (size_t i = 0; i < program->count; i++)
		if (program->specs[i].kind == OPTION_HEADING)
			buffer_format(out, "%s%s:\n", i ? "\n" : "", program->specs[i].help);
		else
			help_option(&program->specs[i], column, out);
}

void help_format_options(const struct program *program, const char *const *names, struct buffer *out)
{
	size_t column = help_column(program);

	for (size_t i = 0; i < program->count; i++)
		for (const char *const *name = names; *name && option_is_shown(&program->specs[i]); name++)
			if (strcmp(program->specs[i].name, *name) == 0)
				help_option(&program->specs[i], column, out);
}

static bool has_option(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->count; i++)
		if (program->specs[i].name && strcmp(program->specs[i].name, name) == 0)
			return true;
	return false;
}

/* "compare BASE… -- NEW…  compare two sides …", a line or two for each command. */
static void help_commands(const struct program *program, struct buffer *out)
{
	const struct program *command;
	size_t column = 0;
	buffer_text(out, "Commands, each with its own --help:\n");
	for (size_t i = 0; (command = program->commands[i]); i++) {
		size_t wide = strlen("    ") + strlen(command_word(command)) +
		              columns(command->operands, strlen(command->operands)) + 1;
		if (wide > column)
			column = wide;
	}
	for (size_t i = 0; (command = program->commands[i]); i++) {
		size_t begin = out->len;
		buffer_format(out, "  %s %s", command_word(command), command->operands);
		pad(out, columns(out->data + begin, out->len - begin), column);
		help_wrap(out, command->summary, column, column);
	}
	buffer_byte(out, '\n');
}

/* "FORMAT: json csv …", of the first operand. */
static void help_choices(const struct program *program, struct buffer *out)
{
	struct buffer list = {0};
	buffer_append(&list, program->operands, strcspn(program->operands, " "));
	buffer_byte(&list, ':');
	for (size_t i = 0; program->choices[i]; i++)
		buffer_format(&list, " %s", program->choices[i]);
	help_wrap(out, list.data ? list.data : "", 0, 0);
	buffer_byte(out, '\n');
	out->failed |= list.failed;
	buffer_release(&list);
}

/* The meaning of status 4, if the program has an option making it end so. */
static const char *help_refusals(const struct program *program)
{
	if (has_option(program, "strict") && !program->strict_as_input)
		return ",\n4 refused by --strict";
	return has_option(program, "fail-if") ? ",\n4 not comparable, or refused by --fail-if" : "";
}

void help_format(const struct program *program, struct buffer *out)
{
	buffer_format(out, "usage: %s [OPTION…]%s%s\n", program->name, program->operands && *program->operands ? " " : "",
	              program->operands ? program->operands : "");
	help_wrap(out, program->summary, 0, 0);
	buffer_byte(out, '\n');
	if (program->commands)
		help_commands(program, out);
	if (program->choices && !program->commands)
		help_choices(program, out);
	help_options(program, out);
	if (program->details) {
		buffer_byte(out, '\n');
		buffer_text(out, program->details);
		if (out->data && out->data[out->len - 1] != '\n')
			buffer_byte(out, '\n');
	}
	buffer_format(out, "\nExit status: 0 success, 1 system error, 2 usage error, 3 invalid or cut input%s\n",
	              help_refusals(program));
	if (program->manual)
		buffer_format(out, "Manual: %s\n", program->manual);
	else
		buffer_format(out, "Manual: man %s; overview: man ipf\n", program->name);
}

void version_format(const struct program *program, struct buffer *out)
{
	buffer_format(out, "%s %s\n", program->name, IPF_VERSION);
	/* the versions at run time, not those at compile time */
	buffer_format(out, "jansson %s, zstd %s, OpenSSL %s%s%s\n", jansson_version_str(), ZSTD_versionString(),
	              OpenSSL_version(OPENSSL_VERSION_STRING), program->libraries ? ", " : "",
	              program->libraries ? program->libraries() : "");
}
