/* The template of a body: a descriptor's maps laid over one another and the user's parameters in them, compiled into parts, of which those
 * without a field are text already. render.c fills it in.
 */
#ifndef IPF_TEMPLATE_H
#define IPF_TEMPLATE_H

#include "render.h"

/* What a template may name. */
enum field {
	MODEL, ADAPTER, MESSAGES, TURNS, SYSTEM, PROMPT, PROMPT_TEXT, PROMPT_TOKEN_IDS, TOOLS, ID, SESSION, INPUT_TOKENS, OUTPUT_TOKENS,
	ROLE, CONTENT, FIELDS
};

/* A value of the template: what holds no field is text already. */
struct part {
	enum { RAW, FIELD, MAP, LIST, FIRST, IF, TEXT, EACH } kind;
	char *key;          /* `"name":`, within a map */
	char *raw;
	enum field field;
	struct part *parts; /* TEXT, EACH: one */
	size_t count;
	bool turns;         /* EACH: without the system's messages */
	json_t *roles;      /* EACH: a server's own names for them; NULL */
};

/* Compiles what `request` (a descriptor's) and the options say. `carries` notes which fields it names. What was made is to be released, also
 * after a -1. */
int template_compile(struct part *p, bool carries[FIELDS], json_t *request, const struct render_options *options, struct ipf_error *err);
void part_release(struct part *p);

/* JSON of a text, with `after` behind it; malloc'd. NULL: not UTF-8, or out of memory. */
char *dump_text(const char *text, const char *after);

#endif
