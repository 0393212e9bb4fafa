#include "requests/chat_parts.h"

#include <string.h>

struct chat_parts_each chat_parts_each(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id content = jdoc_get(doc, message, "content");
	bool text = jdoc_type_of(doc, content) == JDOC_TEXT;
	return (struct chat_parts_each){
		.doc = doc, .only = text ? content : JDOC_NONE, .each = jdoc_each(doc, text ? JDOC_NONE : content)};
}

static jdoc_id text_member(const struct jdoc *doc, jdoc_id map, const char *member)
{
	jdoc_id node = jdoc_get(doc, map, member);
	return jdoc_type_of(doc, node) == JDOC_TEXT ? node : JDOC_NONE;
}

static struct chat_part part_of(const struct jdoc *doc, jdoc_id node)
{
	static const struct {
		const char *member;
		enum chat_part_kind kind;
	} urls[] = {{"image_url", CHAT_PART_IMAGE}, {"audio_url", CHAT_PART_AUDIO}, {"video_url", CHAT_PART_VIDEO}};
	struct chat_part part = {CHAT_PART_OTHER, text_member(doc, node, "text"), JDOC_NONE, JDOC_NONE, JDOC_NONE, node};
	if (part.text != JDOC_NONE)
		part.kind = CHAT_PART_TEXT;
	for (size_t i = 0; i < sizeof urls / sizeof *urls && part.url == JDOC_NONE; i++) {
		jdoc_id url = jdoc_get(doc, node, urls[i].member);
		part.url = jdoc_type_of(doc, url) == JDOC_MAP ? text_member(doc, url, "url")
		                                              : text_member(doc, node, urls[i].member);
		if (part.url != JDOC_NONE)
			part.kind = urls[i].kind;
	}
	jdoc_id audio = jdoc_get(doc, node, "input_audio");
	part.data = text_member(doc, audio, "data");
	part.format = text_member(doc, audio, "format");
	if (part.data != JDOC_NONE)
		part.kind = CHAT_PART_AUDIO;
	return part;
}

bool chat_parts_next(struct chat_parts_each *e, struct chat_part *part)
{
	if (e->only != JDOC_NONE) {
		*part = (struct chat_part){CHAT_PART_TEXT, e->only, JDOC_NONE, JDOC_NONE, JDOC_NONE, e->only};
		e->only = JDOC_NONE;
		return true;
	}
	if (!jdoc_step(&e->each))
		return false;
	*part = part_of(e->doc, e->each.value);
	return true;
}

jdoc_id chat_parts_calls(const struct jdoc *doc, jdoc_id message)
{
	jdoc_id calls = jdoc_get(doc, message, "tool_calls");
	return jdoc_type_of(doc, calls) == JDOC_LIST && jdoc_count(doc, calls) > 0 ? calls : JDOC_NONE;
}

bool chat_parts_is_result(const struct jdoc *doc, jdoc_id message)
{
	return jdoc_text_is(doc, jdoc_get(doc, message, "role"), "tool") &&
	       text_member(doc, message, "tool_call_id") != JDOC_NONE;
}

jdoc_id chat_parts_result_name(const struct jdoc *doc, jdoc_id list, jdoc_id result)
{
	jdoc_id name = text_member(doc, result, "name");
	if (name != JDOC_NONE)
		return name;
	struct slice id = jdoc_raw(doc, jdoc_get(doc, result, "tool_call_id"));
	for (struct jdoc_each e = jdoc_each(doc, list); jdoc_step(&e) && e.value != result;)
		for (struct jdoc_each c = jdoc_each(doc, chat_parts_calls(doc, e.value)); jdoc_step(&c);)
			if (slice_equal(jdoc_raw(doc, jdoc_get(doc, c.value, "id")), id))
				name = chat_parts_tool_member(doc, c.value, "name");
	return name;
}

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message)
{
	struct chat_parts_each each = chat_parts_each(doc, message);
	struct chat_part part;
	while (chat_parts_next(&each, &part))
		if (part.kind == CHAT_PART_IMAGE)
			return true;
	return false;
}

bool chat_parts_has_media(const struct jdoc *doc, jdoc_id message)
{
	struct chat_parts_each each = chat_parts_each(doc, message);
	struct chat_part part;
	while (chat_parts_next(&each, &part))
		if (part.kind == CHAT_PART_IMAGE || part.kind == CHAT_PART_AUDIO || part.kind == CHAT_PART_VIDEO)
			return true;
	return false;
}

/* The text between the quotes. */
static struct slice inside(const struct jdoc *doc, jdoc_id text)
{
	struct slice raw = jdoc_raw(doc, text);
	return (struct slice){raw.data + 1, raw.len - 2};
}

static bool split_data_url(struct slice url, struct slice *media_type, struct slice *data)
{
	static const char scheme[] = "data:", mark[] = ";base64,";
	if (url.len < sizeof scheme - 1 || memcmp(url.data, scheme, sizeof scheme - 1) != 0)
		return false;
	const char *begin = url.data + sizeof scheme - 1, *end = url.data + url.len;
	const char *found = memmem(begin, (size_t)(end - begin), mark, sizeof mark - 1);
	if (!found)
		return false;
	const char *rest = found + sizeof mark - 1;
	*media_type = (struct slice){begin, (size_t)(found - begin)};
	*data = (struct slice){rest, (size_t)(end - rest)};
	return true;
}

bool chat_parts_data(const struct jdoc *doc, const struct chat_part *part, struct slice *media_type, struct slice *data)
{
	if (part->url != JDOC_NONE)
		return split_data_url(inside(doc, part->url), media_type, data);
	if (part->data == JDOC_NONE)
		return false;
	*data = inside(doc, part->data);
	*media_type = part->format == JDOC_NONE ? slice_of("wav") : inside(doc, part->format);
	return true;
}

jdoc_id chat_parts_tool_member(const struct jdoc *doc, jdoc_id tool, const char *member)
{
	jdoc_id function = jdoc_get(doc, tool, "function");
	return jdoc_get(doc, jdoc_type_of(doc, function) == JDOC_MAP ? function : tool, member);
}
