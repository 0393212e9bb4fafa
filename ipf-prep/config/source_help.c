#include "config/source_help.h"

#include "cli/help.h"
#include "cli/text_output.h"
#include "config/prep_config.h"
#include "sources/layout.h"
#include "sources/layout_rows.h"

#include <string.h>

/* The options refused by prep_config.c for a source without any of these traits. */
static const struct {
	const char *option;
	unsigned traits;
} of_traits[] = {
	{"from", HAS_TIMES},
	{"to", HAS_TIMES},
	{"sub-agents", HAS_AGENTS},
	{"turns", HAS_TURNS},
	{"wait", HAS_TURNS | HAS_SESSIONS},
	{"hit-rate", DEALS_PREFIXES},
	{"groups", DEALS_PREFIXES},
	{"content", MAKES_TEXT},
	{"salt", MAKES_TEXT},
	{"scale", HAS_TIMES | HAS_SESSIONS},
	{"dequantise", HAS_TIMES},
	{"field", HAS_FIELDS},
	{"records", HAS_PACKETS},
	{"keylog", HAS_PACKETS},
	{"api", HAS_PACKETS},
	{"port", HAS_PACKETS},
	{"session-header", HAS_PACKETS},
	{"keep-header", HAS_PACKETS},
};
enum { OF_TRAITS = sizeof of_traits / sizeof *of_traits };

static const char *const units[] = {
	[UNIT_JSON] = "JSON records: elements of an array, lines of JSON Lines, or one object",
	[UNIT_OTLP] = "JSON records (an array, JSON Lines, or one object), or OTLP in protocol buffers",
	[UNIT_LINE] = "lines of text",
	[UNIT_CSV] = "CSV with a heading",
	[UNIT_TABLE] = "JSON records (an array, JSON Lines, or one object), or CSV with a heading",
	[UNIT_FILE] = "whole files",
	[UNIT_PACKET] = "packets",
	[UNIT_NONE] = "none: the requests are made",
};

bool source_help_is_asked(int argc, char **argv)
{
	struct ipf_error ignored = {0};
	bool asked = false;

	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++)
		asked |= strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
	return asked && source_find(argv[1], &ignored) != NULL;
}

static void put_row(const char *label, const char *places, void *data)
{
	struct buffer *out = data;

	buffer_format(out, "  %-20s ", label);
	help_wrap(out, places, 23, 23);
}

static void describe(const struct source_format *f, struct buffer *out)
{
	const char *names[OF_TRAITS + 4];
	size_t count = 0;

	buffer_format(out, "usage: ipf-prep %s [OPTION…]%s\n", f->name, f->unit == UNIT_NONE ? "" : " [FILE…]");
	help_wrap(out, f->about, 0, 0);
	buffer_text(out, "\nFiles:   ");
	help_wrap(out, units[f->unit], 9, 9);
	if (f->filled) {
		buffer_text(out, "Prompts: ");
		help_wrap(out, f->filled, 9, 9);
	}
	if (f->recognises || (f->layout && f->layout->recognised_count))
		buffer_text(out, "The source auto detects this format.\n");
	if (f->layout) {
		buffer_text(out, "\nWhere the fields are:\n");
		layout_each_row(f->layout, put_row, out);
	}
	for (size_t i = 0; i < OF_TRAITS; i++)
		if (f->traits & of_traits[i].traits && !(f->unit == UNIT_NONE && strcmp(of_traits[i].option, "scale") == 0))
			names[count++] = of_traits[i].option;
	if (f->kind == SOURCE_TRACE)
		names[count++] = "failed";
	if (strcmp(f->name, "sharegpt") == 0)
		names[count++] = "preset";
	if (strcmp(f->name, "synthetic") == 0)
		names[count++] = "like";
	names[count] = NULL;
	if (count) {
		buffer_format(out, "\nOptions of some sources only%s:\n",
		              f->traits_of && f->unit != UNIT_NONE ? "; some depend on the fields of the data" : "");
		help_format_options(&prep_program, names, out);
	}
	buffer_text(out, "\nAll options: ipf-prep --help; formats: man ipf-prep-formats\n");
}

int source_help(const struct source_format *format)
{
	struct ipf_error err = {0};
	struct buffer text = {0};

	describe(format, &text);
	if (text.failed)
		ipf_error_memory(&err);
	else
		text_output_write(NULL, &text, &err);
	buffer_release(&text);
	return ipf_error_report(&err, stderr, prep_program.name);
}
