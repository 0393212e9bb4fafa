/* The template of a request body: the maps of an API descriptor merged, with the user's parameters in them, compiled
 * into parts. A part without fields is JSON text already. body_renderer.c fills the fields in.
 */
#ifndef IPF_BODY_TEMPLATE_H
#define IPF_BODY_TEMPLATE_H

#include "body/body_renderer.h"
#include "requests/call_ids.h"
#include "requests/chat_parts.h"

/* The names in a template (ipf-api(5)). */
enum template_field {
	FIELD_MODEL,
	FIELD_ADAPTER,
	FIELD_MESSAGES,
	FIELD_TURNS,
	FIELD_SYSTEM,
	FIELD_PROMPT,
	FIELD_PROMPT_TEXT,
	FIELD_PROMPT_TOKEN_IDS,
	FIELD_TOKEN_IDS_WANTED, /* true: the answer is to list its own */
	FIELD_INPUTS,
	FIELD_INPUT_TEXTS,
	FIELD_QUERY,
	FIELD_PREVIOUS, /* the id of the answer the request continues */
	FIELD_TOOLS,
	FIELD_ID,
	FIELD_SESSION,
	FIELD_AGENT,
	FIELD_PARENT_AGENT,
	FIELD_INPUT_TOKENS,
	FIELD_OUTPUT_TOKENS,
	FIELD_ANSWER_TOKEN_IDS, /* the recorded answer */
	FIELD_RESPONSE_FORMAT,
	FIELD_RESPONSE_SCHEMA,
	FIELD_RESPONSE_SCHEMA_NAME,
	FIELD_MESSAGE,
	FIELD_ROLE,
	FIELD_CONTENT,
	FIELD_HAS_IMAGE,
	FIELD_HAS_MEDIA,
	FIELD_HAS_CALLS, /* these six are of a message */
	FIELD_CALL_ID,
	FIELD_CALL_NAME, /* these two are of a tool call, or of its result */
	FIELD_CALL_ARGUMENTS,
	FIELD_CALL_ARGUMENTS_TEXT,
	FIELD_TEXT_OF_PART,
	FIELD_URL,
	FIELD_MEDIA_TYPE,
	FIELD_DATA, /* these four are of a part of a content */
	FIELD_TOOL_NAME,
	FIELD_TOOL_DESCRIPTION,
	FIELD_TOOL_PARAMETERS, /* these three are of a tool */
	FIELD_INPUT,           /* one of the inputs */
	FIELD_AUDIO,           /* the first recording of the messages, as a file of a form */
	FIELD_COUNT
};

enum template_part_kind {
	PART_RAW,   /* JSON text */
	PART_FIELD, /* the value of a field */
	PART_MAP,
	PART_LIST,
	PART_FIRST, /* the first of its parts present */
	PART_IF,    /* two parts: a condition, and the guarded part */
	PART_TEXT,  /* one part, whose JSON is written as a text */
	PART_EACH,  /* a list with an element for each element of another */
};

enum template_part_over {
	OVER_MESSAGES,
	OVER_TURNS,   /* messages without those of the system */
	OVER_PARTS,   /* each part of a message's content */
	OVER_RESULTS, /* tool messages following each other */
	OVER_TOOLS,
	OVER_INPUTS,
};

/* The templates of OVER_MESSAGES and OVER_TURNS: of a message, of each of its calls as an element after it, of a
 * result, of results following each other; those of a message's parts (OVER_PARTS) follow chat_parts.h, and the
 * calls. */
enum { EACH_MESSAGE, EACH_CALL, EACH_RESULT, EACH_RESULTS, EACH_COUNT };
enum { PART_CALL = CHAT_PART_OTHER, PARTS_COUNT };

/* A value of the template. */
struct template_part {
	enum template_part_kind kind;
	char *key; /* `"name":`, if it is in a map */
	char *raw; /* PART_RAW */
	enum template_field field;
	/* PART_EACH has one, for the elements; those of messages and of parts have the ones above. One absent from the
	 * descriptor is PART_RAW without `raw`. */
	struct template_part *parts;
	size_t count;
	enum template_part_over over; /* PART_EACH */
	json_t *roles;                /* PART_EACH: a server's own names of roles; NULL */
	enum call_ids_rule call_ids;  /* PART_EACH: which ids of calls the server accepts */
};

/* The template of a whole body. */
struct body_template {
	struct template_part body;
	bool carries[FIELD_COUNT]; /* the fields it names; those of messages too, if it names all of them */
	bool form;                 /* the body is a form (api/form.h) */
	int64_t outputs_limit;     /* at most so many results are asked for; IPF_ABSENT: one for each input */
};

/* Compiles a descriptor's `request` with the options. Release `t->body` also after -1. */
int body_template_compile(struct body_template *t, json_t *request, const struct body_renderer_options *options,
                          struct ipf_error *err);
void template_part_release(struct template_part *p);
/* Does the descriptor give it? */
static inline bool template_part_given(const struct template_part *p)
{
	return p->kind != PART_RAW || p->raw;
}

/* The JSON of a text, followed by `after`; free it. NULL: not UTF-8, or out of memory. */
char *quote_text(const char *text, const char *after);

#endif
