/* What a template names within a message, a part of its content, or a tool, in the shapes that the chat API gives them: a content is a text
 * or a list of parts, {"type": "text", "text": …} and {"type": "image_url", "image_url": {"url": …}}; a tool is {"type": "function",
 * "function": {"name", "description", "parameters"}}.
 */
#ifndef IPF_ELEMENT_H
#define IPF_ELEMENT_H

#include "buffer.h"
#include "jdoc.h"

/* A part of a content, or all of one that is a text. */
struct element_part {
	jdoc_id text, url; /* what it is; JDOC_NONE; neither: something else */
	jdoc_id whole;
};

/* The parts one after the other: false at the end. */
struct element_parts {
	const struct jdoc *doc;
	jdoc_id lone; /* a content that is a text */
	struct jdoc_each each;
};
struct element_parts element_parts(const struct jdoc *doc, jdoc_id message);
bool element_step(struct element_parts *parts, struct element_part *part);

bool element_has_image(const struct jdoc *doc, jdoc_id message);

/* The base64 of a data URL and its type, as they stand within the JSON text's quotes. false: the URL is none. */
bool element_data(const struct jdoc *doc, jdoc_id url, struct slice *media_type, struct slice *data);

/* A function's `member` (name, description, parameters); JDOC_NONE. The members may stand in the tool itself. */
jdoc_id element_function(const struct jdoc *doc, jdoc_id tool, const char *member);

#endif
