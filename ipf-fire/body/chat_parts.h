/* The parts of messages and tools that a body template names, in the shapes of the chat API: a content is a text or a
 * list of parts, {"type": "text", "text": …} and {"type": "image_url", "image_url": {"url": …}}; a tool is
 * {"type": "function", "function": {"name", "description", "parameters"}}.
 */
#ifndef IPF_CHAT_PARTS_H
#define IPF_CHAT_PARTS_H

#include "buffer.h"
#include "json/jdoc.h"

/* A part of a content; a content that is a text is one part. */
struct chat_part {
	jdoc_id text, url; /* of a text, of an image; both are JDOC_NONE if it is something else */
	jdoc_id whole;
};

/* The parts of a message one after the other; chat_parts_next returns false at the end. */
struct chat_parts_each {
	const struct jdoc *doc;
	jdoc_id only; /* the content, if it is a text */
	struct jdoc_each each;
};
struct chat_parts_each chat_parts_each(const struct jdoc *doc, jdoc_id message);
bool chat_parts_next(struct chat_parts_each *each, struct chat_part *part);

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message);

/* The media type and the base64 data of a data URL, as in the JSON text between its quotes. false: not a data URL. */
bool chat_parts_data_url(const struct jdoc *doc, jdoc_id url, struct slice *media_type, struct slice *data);

/* A `member` (name, description, parameters) of a tool's function, or of the tool itself; JDOC_NONE. */
jdoc_id chat_parts_tool_member(const struct jdoc *doc, jdoc_id tool, const char *member);

#endif
