/* Writes ipf-prep-formats(5) at build time: copies a page of mdoc from standard input, and puts what the descriptions
 * of formats say in the place of lines such as
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

/* Sentences of a table. Without memory, the page lacks them and the tool fails. */
static bool failed;
static void put_text(const char *text)
{
	struct buffer out = {0};
	mdoc_put_text(&out, text);
	if (out.len)
		fputs(out.data, stdout);
	failed |= out.failed;
	buffer_release(&out);
}

static const char *const group_names[] = {"dataset", "trace", "agents", "log"};

/* ---- a format ---- */

static void put_row(const char *label, const char *places, void *data)
{
	(void)data;
	printf(".It %s\n", label);
	put_text(places);
}

static void put_layout(const struct layout *l)
{
	printf(".It Cm %s\n", l->name);
	putchar(toupper((unsigned char)*l->about));
	printf("%s.\n", l->about + 1);
	if (l->page)
		put_text(l->page);
	if (l->guessed)
		return;
	printf(".Bl -tag -width \"%s\" -compact\n", l->turns.list_count ? "turn: output_tokens" : "output_tokens");
	layout_each_row(l, put_row, NULL);
	puts(".El");
	if (l->source)
		printf("Origin: %s.\n", l->source);
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
		printf(".It Cm %s\n%c", field_name_of(f), toupper((unsigned char)*meaning));
		put_text(meaning + 1);
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
			fputs(line, stdout);
		}
	}
	return failed || ferror(stdin) || fflush(stdout) != 0;
}
