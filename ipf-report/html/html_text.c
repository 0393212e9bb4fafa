#include "html/html_text.h"

#include "output/markup.h"
#include "safe_text.h"

#include <ctype.h>
#include <string.h>

void html_slice(struct buffer *out, struct slice text)
{
	struct buffer safe = {0};
	safe_text_append(&safe, text);
	markup_escape(out, buffer_all(&safe), "'`");
	out->failed |= safe.failed;
	buffer_release(&safe);
}

void html_text(struct buffer *out, const char *text)
{
	html_slice(out, slice_of(text));
}

void html_lines(struct buffer *out, struct slice text)
{
	while (text.len > 0) {
		const char *end = memchr(text.data, '\n', text.len);
		size_t len = end ? (size_t)(end - text.data) : text.len;
		html_slice(out, (struct slice){text.data, len});
		if (!end)
			return;
		buffer_byte(out, '\n');
		text = (struct slice){end + 1, text.len - len - 1};
	}
}

void html_prose(struct buffer *out, const char *text)
{
	const char *open, *close;
	while (text && (open = strchr(text, '`')) && (close = strchr(open + 1, '`'))) {
		html_slice(out, (struct slice){text, (size_t)(open - text)});
		buffer_text(out, "<code>");
		html_slice(out, (struct slice){open + 1, (size_t)(close - open - 1)});
		buffer_text(out, "</code>");
		text = close + 1;
	}
	html_text(out, text);
}

const char *html_tone(enum tone tone)
{
	static const char *const classes[] = {
		[TONE_PLAIN] = "", [TONE_FAINT] = "soft", [TONE_GOOD] = "ok", [TONE_WARN] = "doubtful", [TONE_BAD] = "invalid"};
	return classes[tone];
}

void html_id(struct buffer *out, const char *name)
{
	for (; *name; name++)
		buffer_byte(out, isalnum((unsigned char)*name) ? *name : '-');
}
