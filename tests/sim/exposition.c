#include "exposition.h"

void exposition_family(struct buffer *out, const char *name, const char *help, const char *type)
{
	buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_label_value(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buffer_byte(out, '\\');
		if (*text == '\n')
			buffer_text(out, "\\n");
		else
			buffer_byte(out, *text);
	}
}
