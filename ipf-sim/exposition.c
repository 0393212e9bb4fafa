#include "exposition.h"

void exposition_family(struct buffer *out, const char *name, const char *help, const char *type)
{
	buffer_format(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_value(struct buffer *out, const char *name, const char *labels, double value)
{
	buffer_format(out, *labels ? "%s{%s} %.17g\n" : "%s%s %.17g\n", name, labels, value);
}

void exposition_plain(struct buffer *out, const struct exposition_plain *metrics, size_t count, const char *labels)
{
	for (size_t i = 0; i < count; i++) {
		exposition_family(out, metrics[i].name, metrics[i].help, metrics[i].type);
		exposition_value(out, metrics[i].name, labels, metrics[i].value);
	}
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
