#include "cli/mdoc_text.h"

#include <stdbool.h>
#include <string.h>

/* Characters of a line of mdoc, which may not begin with a dot or an apostrophe. */
static void put_char(struct buffer *out, char c, bool first)
{
	if (first && (c == '.' || c == '\''))
		buffer_text(out, "\\&");
	if (c == '\\')
		buffer_text(out, "\\e");
	else if (c == '-') /* a minus sign, which can be copied */
		buffer_text(out, "\\-");
	else
		buffer_byte(out, c);
}

/* A word as the argument of a macro. */
static void put_word(struct buffer *out, const char *word, size_t len)
{
	bool quoted = memchr(word, ' ', len) != NULL || len == 0;
	if (quoted)
		buffer_byte(out, '"');
	for (size_t i = 0; i < len; i++)
		if (word[i] == '"')
			buffer_text(out, "\\(dq");
		else
			put_char(out, word[i], i == 0);
	if (quoted)
		buffer_byte(out, '"');
}

void mdoc_put_text(struct buffer *out, const char *text)
{
	bool begins = true;
	for (const char *at = text; *at; at++) {
		if (*at == '`') {
			const char *end = strchr(at + 1, '`');
			buffer_text(out, begins ? ".Ql " : "\n.Ql ");
			put_word(out, at + 1, (size_t)(end - at - 1));
			for (at = end; at[1] && strchr(",.;:", at[1]); at++)
				buffer_format(out, " %c", at[1]);
			at += at[1] == ' ';
			buffer_byte(out, '\n');
			begins = true;
		} else if (strchr(".;:", *at) && at[1] == ' ') {
			buffer_format(out, "%c\n", *at++);
			begins = true;
		} else if (*at != ' ' || at[1] != '`') {
			put_char(out, *at, begins);
			begins = false;
		}
	}
	if (!begins)
		buffer_byte(out, '\n');
}
