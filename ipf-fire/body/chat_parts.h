/* What a template names within a message, a part of its content, or a tool, in the shapes that the chat API gives them:
 * a content is a text or a list of parts, {"type": "text", "text": …} and {"type": "image_url", "image_url": {"url":
 * …}}; a tool is {"type": "function", "function": {"name", "description", "parameters"}}.
 */
#ifndef IPF_CHAT_PARTS_H
#define IPF_CHAT_PARTS_H

#include "buffer.h"
#include "json/jdoc.h"

/* A part of a content, or all of one that is a text. */
struct chat_parts_part {
	jdoc_id text, url; /* what it is; JDOC_NONE; neither: something else */
	jdoc_id whole;
};

/* The parts one after the other: false at the end. */
struct chat_parts_parts {
	const struct jdoc *doc;
	jdoc_id lone; /* a content that is a text */
	struct jdoc_each each;
};
struct chat_parts_parts chat_parts_parts(const struct jdoc *doc, jdoc_id message);
bool chat_parts_step(struct chat_parts_parts *parts, struct chat_parts_part *part);

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message);

/* The base64 of a data URL and its type, as they stand within the JSON text's quotes. false: the URL is none. */
bool chat_parts_data(const struct jdoc *doc, jdoc_id url, struct slice *media_type, struct slice *data);

/* A function's `member` (name, description, parameters); JDOC_NONE. The members may stand in the tool itself. */
jdoc_id chat_parts_function(const struct jdoc *doc, jdoc_id tool, const char *member);

#endif
