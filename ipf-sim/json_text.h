/* Answers that are JSON, or nearly: a token at a time, TOKEN_BYTES bytes each, so many as were asked for.
 *
 *     json_text_at(JSON_TEXT_FENCED, start, 0, 9)      // "```j", then "son\n", "{\"q\"", ": \"a", …, "ok\"}", "\n```"
 */
#ifndef SIM_JSON_TEXT_H
#define SIM_JSON_TEXT_H

#include "token_text.h"

enum json_text {
	JSON_TEXT_OBJECT, /* {"q": "a…"}; of one token {}, of two {"q": 1} */
	JSON_TEXT_LIST,   /* ["q", "a…"]; of one token [], of two ["q", 1] */
	JSON_TEXT_FENCED, /* the object in a Markdown fence; with fewer than four tokens the object alone */
	JSON_TEXT_CUT,    /* the object without its last token */
};
extern const char *const json_text_names[]; /* NULL at the end */

/* Token `i` of `count`; `start` as in token_text_at. */
struct token_bytes json_text_at(enum json_text form, uint64_t start, int64_t i, int64_t count);

#endif
