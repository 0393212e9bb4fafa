#include "api/error_message.h"

#include "api/framing.h"
#include "utf8.h"

#include <string.h>
#include <strings.h>

#define MESSAGE_CHARACTERS 300

void error_message_plain(struct slice text, size_t limit, struct buffer *out)
{
	size_t shown = 0;
	bool gap = false;
	for (size_t i = 0, len; i < text.len; i += len) {
		unsigned char c = (unsigned char)text.data[i];
		len = utf8_character(text.data + i, text.len - i);
		len += !len; /* a byte that is not UTF-8 counts as a character */
		if (c <= ' ' || c == 0x7f) {
			gap = shown > 0;
			continue;
		}
		if (shown + gap >= limit)
			return;
		if (gap) {
			buffer_byte(out, ' ');
			shown++;
			gap = false;
		}
		buffer_append(out, text.data + i, len);
		shown++;
	}
}

/* Appends the node's message; false if it has none. */
static bool find_message(const struct jdoc *doc, jdoc_id node, struct buffer *out)
{
	static const char *const names[] = {"message",       "error",  "detail", "details", "msg",
	                                    "error_message", "reason", "title",  "type"};
	switch (jdoc_type_of(doc, node)) {
	case JDOC_TEXT: {
		struct buffer text = {0};
		size_t before = out->len;
		jdoc_text(doc, node, &text);
		error_message_plain(buffer_all(&text), MESSAGE_CHARACTERS, out);
		buffer_release(&text);
		return out->len > before;
	}
	case JDOC_MAP:
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (find_message(doc, jdoc_get(doc, node, names[i]), out))
				return true;
		return false;
	case JDOC_LIST:
		return find_message(doc, jdoc_at(doc, node, 0), out);
	default:
		return false;
	}
}

void error_message_of(const struct jdoc *doc, jdoc_id node, struct buffer *out)
{
	if (!find_message(doc, node, out))
		error_message_plain(jdoc_raw(doc, node), MESSAGE_CHARACTERS, out);
}

/* The text between <title> and </title>. */
static struct slice page_title(struct slice page)
{
	size_t from = 0;
	for (size_t i = 0; i + 8 <= page.len; i++) {
		if (!from && !strncasecmp(page.data + i, "<title>", 7))
			from = i + 7;
		else if (from && !strncasecmp(page.data + i, "</title>", 8))
			return (struct slice){page.data + from, i - from};
	}
	return page;
}

void error_message_of_body(struct jdoc *doc, struct slice body, struct buffer *out)
{
	struct ipf_error ignored = {0};
	struct slice text = framing_trim(body);
	if (!text.len)
		return;
	if (strchr("{[\"", *text.data) && jdoc_parse(doc, text.data, text.len, &ignored) == 0)
		error_message_of(doc, JDOC_ROOT, out);
	else
		error_message_plain(*text.data == '<' ? page_title(text) : text, MESSAGE_CHARACTERS, out);
}
