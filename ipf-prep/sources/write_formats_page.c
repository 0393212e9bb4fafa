/* Writes ipf-prep-formats(5) at build time: copies a page of mdoc from standard input, and puts what the descriptions
 * of formats say in the place of lines such as
 *
 *     .\" formats dataset       the formats of a group, as items of a list
 *     .\" fields                the fields of a request, as items of a list
 */
#include "sources/layout.h"
#include "sources/layout_rows.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *const group_names[] = {"dataset", "trace", "agents", "log"};

/* ---- text ---- */

/* Characters of a line of mdoc, which may not begin with a dot or an apostrophe. */
static void put_char(char c, bool first)
{
	if (first && (c == '.' || c == '\''))
		fputs("\\&", stdout);
	if (c == '\\')
		fputs("\\e", stdout);
	else
		putchar(c);
}

/* A word as the argument of a macro. */
static void put_word(const char *word, size_t len)
{
	bool quoted = memchr(word, ' ', len) != NULL || len == 0;
	if (quoted)
		putchar('"');
	for (size_t i = 0; i < len; i++)
		if (word[i] == '"')
			fputs("\\(dq", stdout);
		else
			put_char(word[i], i == 0);
	if (quoted)
		putchar('"');
}

/* Sentences, each on lines of its own; what is between backquotes is literal. */
static void put_text(const char *text)
{
	bool begins = true;
	for (const char *at = text; *at; at++) {
		if (*at == '`') {
			const char *end = strchr(at + 1, '`');
			fputs(begins ? ".Ql " : "\n.Ql ", stdout);
			put_word(at + 1, (size_t)(end - at - 1));
			for (at = end; at[1] && strchr(",.;:", at[1]); at++)
				printf(" %c", at[1]);
			at += at[1] == ' ';
			putchar('\n');
			begins = true;
		} else if (strchr(".;:", *at) && at[1] == ' ') {
			printf("%c\n", *at++);
			begins = true;
		} else {
			put_char(*at, begins);
			begins = false;
		}
	}
	if (!begins)
		putchar('\n');
}

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
	return ferror(stdin) || fflush(stdout) != 0;
}
