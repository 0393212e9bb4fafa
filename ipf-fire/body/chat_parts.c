#include "body/chat_parts.h"

#include <string.h>

struct chat_parts_each chat_parts_each(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id content = jdoc_get(doc, message, "content");
	bool text = jdoc_type_of(doc, content) == JDOC_TEXT;
	return (struct chat_parts_each){
		.doc = doc, .only = text ? content : JDOC_NONE, .each = jdoc_each(doc, text ? JDOC_NONE : content)};
}

bool chat_parts_next(struct chat_parts_each *e, struct chat_part *part)
{
	if (e->only != JDOC_NONE) {
		*part = (struct chat_part){.text = e->only, .url = JDOC_NONE, .whole = e->only};
		e->only = JDOC_NONE;
		return true;
	}
	if (!jdoc_step(&e->each))
		return false;
	jdoc_id text = jdoc_get(e->doc, e->each.value, "text"), url = jdoc_get(e->doc, e->each.value, "image_url");
	if (jdoc_type_of(e->doc, url) == JDOC_MAP)
		url = jdoc_get(e->doc, url, "url");
	*part = (struct chat_part){.text = jdoc_type_of(e->doc, text) == JDOC_TEXT ? text : JDOC_NONE,
	                           .url = jdoc_type_of(e->doc, url) == JDOC_TEXT ? url : JDOC_NONE,
	                           .whole = e->each.value};
	return true;
}

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message)
{
	struct chat_parts_each each = chat_parts_each(doc, message);
	struct chat_part part;
	while (chat_parts_next(&each, &part))
		if (part.url != JDOC_NONE)
			return true;
	return false;
}

bool chat_parts_data_url(const struct jdoc *doc, jdoc_id url, struct slice *media_type, struct slice *data)
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

jdoc_id chat_parts_tool_member(const struct jdoc *doc, jdoc_id tool, const char *member)
{
	jdoc_id function = jdoc_get(doc, tool, "function");
	return jdoc_get(doc, jdoc_type_of(doc, function) == JDOC_MAP ? function : tool, member);
}
