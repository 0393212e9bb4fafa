#include "compare/compare_md.h"

#include "absent.h"
#include "compare/compare_words.h"
#include "formats/text_layout.h"
#include "safe_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A text as it is, whatever Markdown would make of it: what is not plain is a character reference. */
static void put_text(struct buffer *out, const char *text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, slice_of(text));
	out->failed |= safe.failed;
	for (size_t i = 0; i < safe.len; i++) {
		const unsigned char c = (unsigned char)safe.data[i];
		if (c >= 0x80 || isalnum(c) || strchr(" .,:;()%+-=", c))
			buffer_byte(out, (char)c);
		else
			buffer_format(out, "&#%d;", c);
	}
	buffer_release(&safe);
}

static void put_cell(struct buffer *out, const char *text)
{
	buffer_byte(out, ' ');
	put_text(out, text);
	buffer_text(out, " |");
}

static bool differs(const struct figure_difference *f)
{
	return f->d.finding == FINDING_LOWER || f->d.finding == FINDING_HIGHER;
}

static void put_row(struct buffer *out, const struct figure_difference *f)
{
	char text[64], unit[80];
	snprintf(unit, sizeof unit, "%s%s%s", f->figure->label, *f->figure->unit ? ", " : "", f->figure->unit);
	buffer_byte(out, '|');
	put_cell(out, unit);
	put_cell(out, compare_value(f->figure, f->d.base, text));
	put_cell(out, compare_value(f->figure, f->d.value, text));
	put_cell(out, compare_change(&f->d, text));
	put_cell(out, compare_interval(&f->d, text));
	put_cell(out, compare_p(&f->d, text));
	buffer_format(out, differs(f) ? " **%s**" : " %s", finding_name(f->figure, f->d.finding));
	if (f->d.finding == FINDING_FEW_RUNS && f->d.runs_needed != IPF_ABSENT)
		buffer_format(out, " (%s needed)", show_count(f->d.runs_needed, text));
	buffer_text(out, " |\n");
}

/* What differs comes first. */
static void put_figures(struct buffer *out, const struct comparison *c)
{
	if (c->count == 0)
		return;
	buffer_text(out, "\n| figure | base | new | change | 95 % interval | p | new is |\n"
	                 "| --- | ---: | ---: | ---: | --- | ---: | --- |\n");
	for (size_t k = 0; k < c->count; k++)
		if (differs(&c->figures[k]))
			put_row(out, &c->figures[k]);
	for (size_t k = 0; k < c->count; k++)
		if (!differs(&c->figures[k]))
			put_row(out, &c->figures[k]);
}

static void put_settings(struct buffer *out, const struct comparison *c)
{
	json_t *entry;
	size_t i;
	if (json_array_size(c->settings) == 0)
		return;
	buffer_text(out, "\n| setting that differs | base | new |\n| --- | --- | --- |\n");
	json_array_foreach(c->settings, i, entry)
	{
		static const char *const keys[] = {"name", "base", "new"};
		buffer_byte(out, '|');
		for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
			const char *text = json_string_value(json_object_get(entry, keys[k]));
			put_cell(out, text ? shown(text).text : "-");
		}
		buffer_byte(out, '\n');
	}
}

void compare_md(const struct comparison *c, struct buffer *out)
{
	char text[COMPARE_WORDS];
	buffer_text(out, "## Comparison: ");
	put_text(out, compare_outcome(c, text));
	buffer_text(out, "\n\n");
	for (int s = 0; s < SIDES; s++) {
		buffer_text(out, s == SIDE_BASE ? "- base: " : "- new: ");
		put_text(out, compare_side(c, (enum compared_side)s, text));
		buffer_byte(out, '\n');
	}
	buffer_text(out, "- load: ");
	put_text(out, compare_pairing(c, text));
	buffer_text(out, "\n- noise: ");
	put_text(out, compare_noise(c, text));
	buffer_byte(out, '\n');
	for (size_t k = 0; k < c->condition_count; k++) {
		buffer_text(out, c->conditions[k].failed ? "- **failed**: " : "- passed: ");
		put_text(out, c->conditions[k].text);
		buffer_text(out, ": ");
		put_text(out, c->conditions[k].detail);
		buffer_byte(out, '\n');
	}
	put_settings(out, c);
	put_figures(out, c);
}
