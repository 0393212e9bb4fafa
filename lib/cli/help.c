#include "cli/options_private.h"

#include "buffer.h"
#include "version.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#define WIDTH       79
#define WIDEST_LEFT 30 /* an option that is longer than this gets a line of its own */

static int print(struct buffer *out, struct ipf_error *err)
{
	size_t done = 0;
	ssize_t n;

	if (out->failed)
		ipf_error_memory(err);
	while (!err->kind && done < out->len) {
		n = write(STDOUT_FILENO, out->data + done, out->len - done);
		if (n < 0 && errno != EINTR)
			ipf_error_errno(err, errno, "standard output", "cannot write");
		else if (n > 0)
			done += (size_t)n;
	}
	buffer_release(out);
	return err->kind ? -1 : 0;
}

/* Characters, of which every one is taken to be a column wide. */
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

/* "-t, --trace FILE"; returns its columns. */
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

/* The text from column `at`, its further lines indented to `indent`. */
static void wrap(struct buffer *out, const char *text, size_t at, size_t indent)
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
		wide = option_left(&program->specs[i], &left);
		if (wide <= WIDEST_LEFT && wide > widest)
			widest = wide;
		buffer_clear(&left);
	}
	buffer_release(&left);
	return widest + 2;
}

static void help_options(const struct program *program, struct buffer *out)
{
	size_t column = help_column(program), at;

	for (size_t i = 0; i < program->count; i++) {
		at = option_left(&program->specs[i], out);
		if (at + 2 > column) {
			buffer_byte(out, '\n');
			at = 0;
		}
		pad(out, at, column);
		wrap(out, program->specs[i].help, column, column);
	}
}

static bool has_option(const struct program *program, const char *name)
{
	for (size_t i = 0; i < program->count; i++)
		if (strcmp(program->specs[i].name, name) == 0)
			return true;
	return false;
}

int options_print_help(const struct program *program, struct ipf_error *err)
{
	struct buffer out = {0};

	buffer_format(&out, "usage: %s [OPTION…]%s%s\n", program->name, program->operands ? " " : "",
	              program->operands ? program->operands : "");
	wrap(&out, program->summary, 0, 0);
	buffer_byte(&out, '\n');
	help_options(program, &out);
	if (program->details) {
		buffer_byte(&out, '\n');
		buffer_text(&out, program->details);
		if (out.data && out.data[out.len - 1] != '\n')
			buffer_byte(&out, '\n');
	}
	buffer_format(&out, "\nExit status: 0 done, 1 the system failed, 2 wrong usage, 3 input bad or cut%s\n",
	              has_option(program, "strict") ? ",\n4 done, but the run is invalid (--strict)" : "");
	if (program->manual)
		buffer_format(&out, "Manual: %s\n", program->manual);
	else
		buffer_format(&out, "Manual: man %s, and man ipf for the whole\n", program->name);
	return print(&out, err);
}

int options_print_version(const struct program *program, struct ipf_error *err)
{
	struct buffer out = {0};

	buffer_format(&out, "%s %s\n", program->name, IPF_VERSION);
	/* as they are on this machine, not as they were when this was compiled */
	buffer_format(&out, "jansson %s, zstd %s, OpenSSL %s%s%s\n", jansson_version_str(), ZSTD_versionString(),
	              OpenSSL_version(OPENSSL_VERSION_STRING), program->libraries ? ", " : "",
	              program->libraries ? program->libraries : "");
	return print(&out, err);
}

/* ---- completion -------------------------------------------------------------------------------------------------- */

/* Is the value a path, or may it be one ("NAME|FILE")? */
static bool takes_file(const struct option_spec *spec)
{
	return spec->kind == OPTION_FILE || (spec->argument && strstr(spec->argument, "FILE"));
}

/* The names as a pattern of bash's `case`: -t|--trace|-o|--output. Returns how many options. */
static size_t case_pattern(const struct program *program, bool files, struct buffer *out)
{
	size_t n = 0;

	for (size_t i = 0; i < program->count; i++) {
		const struct option_spec *spec = &program->specs[i];
		if (!option_takes_value(spec) || takes_file(spec) != files)
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

int options_print_completion(const struct program *program, struct ipf_error *err)
{
	static const char files[] = "compopt -o filenames\n\t\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
	struct buffer out = {0};
	char function[64];

	snprintf(function, sizeof function, "_%s", program->name);
	for (char *p = function; *p; p++)
		if (*p == '-')
			*p = '_';
	buffer_format(&out, "# bash completion for %s %s, printed by %s --completion\n%s()\n{\n", program->name,
	              IPF_VERSION, program->name, function);
	/* bash makes words of its own of the "=" in --name=value */
	buffer_text(&out,
	            "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
	            "\tif [[ $cur == = ]]; then\n\t\tcur=\n"
	            "\telif [[ $prev == = && COMP_CWORD -ge 2 ]]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n\tfi\n"
	            "\tCOMPREPLY=()\n\tcase $prev in\n");
	case_of(program, true, files, &out);
	case_of(program, false, ":", &out);
	buffer_text(&out, "\tesac\n\tcase $cur in\n\t-*)\n\t\tmapfile -t COMPREPLY < <(compgen -W '");
	for (size_t i = 0; i < program->count; i++)
		buffer_format(&out, "%s--%s", i ? " " : "", program->specs[i].name);
	buffer_text(&out, "' -- \"$cur\") ;;\n");
	if (program->max_operands != 0)
		buffer_format(&out, "\t*)\n\t\t%s ;;\n", files);
	buffer_format(&out, "\tesac\n}\ncomplete -F %s %s\n", function, program->name);
	return print(&out, err);
}
