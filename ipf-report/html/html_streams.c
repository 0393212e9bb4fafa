#include "html/html_streams.h"

#include "html/html_text.h"

#include <stdio.h>
#include <string.h>

enum { DEPTH_MOST = 16 };

static void find(struct html_streams *s, json_t *header, int depth)
{
	json_t *entry;
	size_t i;
	if (!json_is_object(header) || depth > DEPTH_MOST)
		return;
	json_array_foreach(json_object_get(header, "from"), i, entry) find(s, entry, depth + 1);
	for (int k = 0; k < s->count; k++)
		if (json_equal(s->list[k], header))
			return;
	if (s->count < HTML_STREAMS_MOST)
		s->list[s->count++] = header;
}

void html_streams_find(struct html_streams *s, json_t *headers)
{
	json_t *header;
	size_t i;
	s->count = 0;
	json_array_foreach(headers, i, header) find(s, header, 0);
}

/* The program of a header, "ipf-fire" of "ipf-fire 0.1.0". */
static const char *program_of(json_t *header, char name[40])
{
	const char *tool = json_string_value(json_object_get(header, "tool"));
	if (!tool)
		return NULL;
	snprintf(name, 40, "%.*s", (int)(strcspn(tool, " ") < 39 ? strcspn(tool, " ") : 39), tool);
	return name;
}

static void put_command(struct buffer *out, json_t *header, const char *program)
{
	json_t *argument;
	size_t i;
	buffer_text(out, "<code>");
	html_text(out, program);
	json_array_foreach(json_object_get(header, "argv"), i, argument)
	{
		buffer_byte(out, ' ');
		html_shell_word(out, json_is_string(argument) ? json_string_value(argument) : "");
	}
	buffer_text(out, "</code>");
}

void html_commands(struct buffer *out, const struct html_streams *s)
{
	char program[40];
	buffer_text(out, "<pre class=\"commands\">");
	for (int i = 0; i < s->count; i++)
		if (program_of(s->list[i], program))
			put_command(out, s->list[i], program);
	buffer_text(out, "</pre>\n");
}
