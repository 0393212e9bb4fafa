/* The template of a body: a descriptor's maps laid over one another and the user's parameters in them, compiled into
 * parts, of which those without a field are text already. body_renderer.c fills it in.
 */
#ifndef IPF_BODY_TEMPLATE_H
#define IPF_BODY_TEMPLATE_H

#include "body/body_renderer.h"

/* What a template may name. */
enum field {
	MODEL,
	ADAPTER,
	MESSAGES,
	TURNS,
	SYSTEM,
	PROMPT,
	PROMPT_TEXT,
	PROMPT_TOKEN_IDS,
	TOOLS,
	ID,
	SESSION,
	INPUT_TOKENS,
	OUTPUT_TOKENS,
	RESPONSE_FORMAT,
	RESPONSE_SCHEMA,
	RESPONSE_SCHEMA_NAME,
	MESSAGE,
	ROLE,
	CONTENT,
	HAS_IMAGE, /* of a message */
	TEXT_OF_PART,
	URL,
	MEDIA_TYPE,
	DATA, /* of a part of its content */
	TOOL_NAME,
	TOOL_DESCRIPTION,
	TOOL_PARAMETERS, /* of a tool */
	FIELDS
};

/* A value of the template: what holds no field is text already. */
struct part {
	enum { RAW, FIELD, MAP, LIST, FIRST, IF, TEXT, EACH } kind;
	char *key; /* `"name":`, within a map */
	char *raw;
	enum field field;
	struct part *parts; /* TEXT: one; EACH: one, but of a content's parts two, for texts and for images, RAW without
	                       `raw` where there is none */
	size_t count;
	enum { OVER_MESSAGES, OVER_TURNS, OVER_PARTS, OVER_TOOLS } over; /* EACH; turns: without the system's messages */
	json_t *roles;                                                   /* EACH: a server's own names for them; NULL */
};

/* Compiles what `request` (a descriptor's) and the options say. `carries` notes which fields it names. What was made is
 * to be released, also after a -1. */
int body_template_compile(struct part *p, bool carries[FIELDS], json_t *request,
                          const struct body_renderer_options *options, struct ipf_error *err);
void part_release(struct part *p);

/* JSON of a text, with `after` behind it; malloc'd. NULL: not UTF-8, or out of memory. */
char *dump_text(const char *text, const char *after);

#endif
