/* The parts of messages and tools a body template names, in the shapes of the chat API: a content is a text or a list
 * of parts, {"type": "text", "text": …}, {"type": "image_url", "image_url": {"url": …}} (audio_url, video_url) and
 * {"type": "input_audio", "input_audio": {"data": …, "format": …}}; a tool is {"type": "function", "function": {"name",
 * "description", "parameters"}}.
 */
#ifndef IPF_CHAT_PARTS_H
#define IPF_CHAT_PARTS_H

#include "buffer.h"
#include "json/jdoc.h"

enum chat_part_kind { CHAT_PART_TEXT, CHAT_PART_IMAGE, CHAT_PART_AUDIO, CHAT_PART_VIDEO, CHAT_PART_OTHER };

/* A part of a content; a content that is a text is one part. */
struct chat_part {
	enum chat_part_kind kind;
	jdoc_id text;         /* a text's; else JDOC_NONE */
	jdoc_id url;          /* for a medium with a URL; else JDOC_NONE */
	jdoc_id data, format; /* audio without one: base64, and its format ("wav"); else JDOC_NONE */
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

/* The tool calls of a message, a list; JDOC_NONE: it has none. */
jdoc_id chat_parts_calls(const struct jdoc *doc, jdoc_id message);
/* Is it the result of a call it names? */
bool chat_parts_is_result(const struct jdoc *doc, jdoc_id message);
/* The name of the function a result is of: its own, or that of the call with its id, the last such call among the
 * messages before it in the list; JDOC_NONE: not known. */
jdoc_id chat_parts_result_name(const struct jdoc *doc, jdoc_id list, jdoc_id result);

bool chat_parts_has_image(const struct jdoc *doc, jdoc_id message);
/* An image, audio or video? */
bool chat_parts_has_media(const struct jdoc *doc, jdoc_id message);

/* The base64 data of a medium, as in the JSON text between its quotes, and its media type, for audio without a URL only
 * the part behind "audio/". false: it has only a URL. */
bool chat_parts_data(const struct jdoc *doc, const struct chat_part *part, struct slice *media_type,
                     struct slice *data);

/* A `member` (name, description, parameters) of a tool's function, or of the tool itself; JDOC_NONE. */
jdoc_id chat_parts_tool_member(const struct jdoc *doc, jdoc_id tool, const char *member);

#endif
