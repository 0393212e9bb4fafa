#include "body/chat_parts.h"

#include <string.h>

struct chat_parts_parts chat_parts_parts(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id content = jdoc_get(doc, message, "content");
	bool text = jdoc_type_of(doc, content) == JDOC_TEXT;
	return (struct chat_parts_parts){
		.doc = doc, .lone = text ? content : JDOC_NONE, .each = jdoc_each(doc, text ? JDOC_NONE : content)};
}

bool chat_parts_step(struct chat_parts_parts *p, struct chat_parts_part *part)
{
	if (p->lone != JDOC_NONE) {
		*part = (struct chat_parts_part){.text = p->lone, .url = JDOC_NONE, .whole = p->lone};
		p->lone = JDOC_NONE;
		return true;
	}
	if (!jdoc_step(&p->each))
		return false;
	jdoc_id text = jdoc_get(p->doc, p->each.value, "text"), url = jdoc_get(p->doc, p->each.value, "image_url");
	if (jdoc_type_of(p->doc, url) == JDOC_MAP)
		url = jdoc_get(p->doc, url, "url");
	*part = (struct chat_parts_part){.text = jdoc_type_of(p->doc, text) == JDOC_TEXT ? text : JDOC_NONE,
	                                 .url = jdoc_type_of(p->doc, url) == JDOC_TEXT ? url : JDOC_NONE,
	                                 .whole = p->each.value};
	return true;
}

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message)
{
	struct chat_parts_parts parts = chat_parts_parts(doc, message);
	struct chat_parts_part part;
	while (chat_parts_step(&parts, &part))
		if (part.url != JDOC_NONE)
			return true;
	return false;
}

bool chat_parts_data(const struct jdoc *doc, jdoc_id url, struct slice *media_type, struct slice *data)
{
	static const char scheme[] = "data:", mark[] = ";base64,";
	struct slice raw = jdoc_raw(doc, url);
	if (raw.len < sizeof scheme + 1 || memcmp(raw.data + 1, scheme, sizeof scheme - 1) != 0)
		return false;
	struct slice inside = {raw.data + sizeof scheme, raw.len - sizeof scheme - 1};
	const char *found = memmem(inside.data, inside.len, mark, sizeof mark - 1);
	if (!found)
		return false;
	*media_type = (struct slice){inside.data, (size_t)(found - inside.data)};
	*data = (struct slice){found + sizeof mark - 1, (size_t)(inside.data + inside.len - found) - (sizeof mark - 1)};
	return true;
}

jdoc_id chat_parts_function(const struct jdoc *doc, jdoc_id tool, const char *member)
{
	jdoc_id function = jdoc_get(doc, tool, "function");
	return jdoc_get(doc, jdoc_type_of(doc, function) == JDOC_MAP ? function : tool, member);
}
