#include "output/markup.h"

#include <string.h>

void markup_escape(struct buffer *out, struct slice text, const char *more)
{
	for (size_t i = 0; i < text.len; i++)
		switch (text.data[i]) {
		case '&':
			buffer_text(out, "&amp;");
			break;
		case '<':
			buffer_text(out, "&lt;");
			break;
		case '>':
			buffer_text(out, "&gt;");
			break;
		case '"':
			buffer_text(out, "&quot;");
			break;
		default:
			if (text.data[i] && strchr(more, text.data[i]))
				buffer_format(out, "&#%d;", text.data[i]);
			else
				buffer_byte(out, text.data[i]);
		}
}
