/* Writes ipf-prep-formats(5) at build time: copies a page of mdoc from standard input, and inserts the descriptions of
 * formats at lines such as
 *
 *     .\" formats dataset       the formats of a group, as items of a list
 *     .\" fields                the fields of a request, as items of a list
 */
#include "cli/mdoc_text.h"
#include "sources/layout.h"
#include "sources/layout_rows.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct buffer page;

static const char *const group_names[] = {"dataset", "trace", "agents", "log"};

/* ---- a format ---- */

static void put_row(const char *label, const char *places, void *data)
{
	(void)data;
	buffer_format(&page, ".It %s\n", label);
	mdoc_put_text(&page, places);
}

static void put_layout(const struct layout *l)
{
	buffer_format(&page, ".It Cm %s\n", l->name);
	buffer_byte(&page, (char)toupper((unsigned char)*l->about));
	buffer_format(&page, "%s.\n", l->about + 1);
	if (l->page)
		mdoc_put_text(&page, l->page);
	if (l->guessed)
		return;
	buffer_format(&page, ".Bl -tag -width \"%s\" -compact\n",
	              l->turns.list_count ? "turn: output_tokens" : "output_tokens");
	layout_each_row(l, put_row, NULL);
	buffer_text(&page, ".El\n");
	if (l->source)
		buffer_format(&page, "Origin: %s.\n", l->source);
}

/* ---- the page ---- */

static void put_group(const char *name)
{
	const struct source_format *format;
	for (size_t i = 0; (format = source_at(i)); i++)
		if (format->layout && strcmp(group_names[format->layout->group], name) == 0)
			put_layout(format->layout);
}

static void put_meanings(void)
{
	for (enum field f = 0; f < FIELDS; f++) {
		const char *meaning = field_meaning(f);
		buffer_format(&page, ".It Cm %s\n%c", field_name_of(f), toupper((unsigned char)*meaning));
		mdoc_put_text(&page, meaning + 1);
	}
}

int main(void)
{
	static const char formats[] = ".\\\" formats ";
	char line[4096];
	while (fgets(line, sizeof line, stdin)) {
		if (strcmp(line, ".\\\" fields\n") == 0) {
			put_meanings();
		} else if (strncmp(line, formats, sizeof formats - 1) == 0) {
			line[strcspn(line, "\n")] = '\0';
			put_group(line + sizeof formats - 1);
		} else {
			buffer_text(&page, line);
		}
	}
	return page.failed || ferror(stdin) || fwrite(page.data, 1, page.len, stdout) != page.len || fflush(stdout) != 0;
}
