/* The commands of plots in a saved report: whatever passes has, outside of strings, nothing by which gnuplot runs a
 * program or touches a file, and no string where a plot would take it for its data. */
#include "plots/plot_check.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Words that gnuplot obeys, and the beginnings it takes for them. */
static bool is_dangerous(const char *word, size_t len)
{
	static const char *const words[] = {
		"system", "load",   "call",   "eval",  "evaluate", "shell",    "output", "terminal", "term",    "print",
		"table",  "save",   "fit",    "stats", "cd",       "exec",     "pipe",   "datafile", "do",      "while",
		"if",     "import", "update", "test",  "file",     "loadpath", "macros", "title",    "enhanced"};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == len && memcmp(words[i], word, len) == 0)
			return true;
	return false;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* Behind the string beginning at `at`. */
static const char *skip_string(const char *at, const char *end)
{
	for (at++; at < end && !(*at == '\'' && !(at + 1 < end && at[1] == '\'')); at += *at == '\'' ? 2 : 1)
		must((unsigned char)*at >= ' ');
	must(at < end);
	return at + 1;
}

static void check_outside(const char *at, const char *end)
{
	const char *start = at;
	bool plot = false, used = false, begin = true;
	int parens = 0;
	while (at < end) {
		if (*at == '\'') {
			must(!begin && (!plot || used || (parens == 0 && end - at > 2)));
			at = skip_string(at, end);
		} else if (isalpha((unsigned char)*at) || *at == '_') {
			const char *word = at;
			while (at < end && (isalnum((unsigned char)*at) || *at == '_'))
				at++;
			must(!is_dangerous(word, (size_t)(at - word)));
			plot = begin ? at - word == 4 && memcmp(word, "plot", 4) == 0 : plot;
			used |= at - word == 5 && memcmp(word, "using", 5) == 0;
			begin = false;
		} else {
			must(*at && !strchr("`\"@;|!#\r\t%&^~{}", *at) && (unsigned char)*at < 0x7f);
			parens += *at == '(' ? 1 : *at == ')' ? -1 : 0;
			must(parens >= 0);
			if (*at == ',' && parens == 0)
				used = false;
			if (*at == '\n' && !(at > start && at[-1] == '\\')) {
				must(parens == 0);
				plot = used = false;
				begin = true;
			}
			at++;
		}
	}
	must(parens == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ipf_error err = {0};
	const char *text = size ? (const char *)data : "";
	if (plot_commands_check((struct slice){text, size}, &err) == 0) {
		must(size == 0 || *text == '\n' || *text == ' ' || isalpha((unsigned char)*text));
		check_outside(text, text + size);
	} else {
		must(err.kind == IPF_INPUT);
	}
	return 0;
}
