/* Ways to misbehave. README.md describes each; modes.c holds the table of their names and keys.
 *
 * A request gets its modes from its own words (a header `X-Sim: cut;after=5, ping`, or a member "sim" of its body),
 * else by chance from the server's --fail options. Several may be on at once; each keeps its own keys.
 */
#ifndef SIM_MODES_H
#define SIM_MODES_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"
#include "json_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum mode_kind {
	MODE_STATUS,
	MODE_NEVER,
	MODE_RESET,
	MODE_CUT,
	MODE_STALL,
	MODE_SLOW_HEADERS,
	MODE_HTML200,
	MODE_NOTHING,
	MODE_WHOLE,
	MODE_GARBAGE,
	MODE_ERROR_INBAND,
	MODE_MALFORMED,
	MODE_BAD_UTF8,
	MODE_EMPTY,
	MODE_SHORT,
	MODE_ONE_TOKEN,
	MODE_ENDLESS,
	MODE_ROLE_LATE,
	MODE_ROLE_NEVER,
	MODE_ROLE_EACH,
	MODE_NULLS,
	MODE_MULTI,
	MODE_COALESCE,
	MODE_SPLIT,
	MODE_SPLIT_UTF8,
	MODE_ESCAPES,
	MODE_JSON,
	MODE_CRLF,
	MODE_CR,
	MODE_NO_SPACE,
	MODE_FIELDS,
	MODE_MULTI_LINE,
	MODE_PING,
	MODE_BOM,
	MODE_PAD,
	MODE_NO_USAGE,
	MODE_NO_DETAILS,
	MODE_USAGE_NULL,
	MODE_USAGE_EACH,
	MODE_USAGE_IN_LAST,
	MODE_USAGE_OFF,
	MODE_NO_DONE,
	MODE_UNTERMINATED,
	MODE_FINISH_IN_LAST,
	MODE_LATE_END,
	MODE_REASONING,
	MODE_TOOLS,
	MODE_CLOSE,
	MODE_IDLE_CLOSE,
	MODE_KEEP_ALIVE,
	MODE_LENGTH_SHORT,
	MODE_HTTP10,
	MODE_INTERIM,
	MODE_INDEX,
	MODE_COUNT
};

enum error_form { FORM_OPENAI, FORM_VLLM, FORM_EVENT };
enum call_order { ORDER_GIVEN, ORDER_REVERSED, ORDER_RANDOM };

/* One mode with its keys; those it does not take keep their zero. */
struct mode {
	enum mode_kind kind;
	int64_t after, tokens, events, bytes, pieces, code, max, calls, missing, extra; /* counts */
	int64_t pause_ns, delay_ns, retry_ns;
	bool finish, terminator, done, alone, mixed;
	bool after_given;
	enum error_form form;
	enum json_text text;
	enum call_order order;
	const char *field; /* a constant */
	double share;      /* the requests', for --fail */
};

#define MODES_MOST 8

struct modes {
	struct mode list[MODES_MOST + 1]; /* one is left to the server, for old clients */
	int count;
};

const struct mode *modes_find(const struct modes *modes, enum mode_kind kind); /* NULL: not on */
const char *mode_name(enum mode_kind kind);
void modes_names(const struct modes *modes, struct buffer *out); /* "cut+ping"; nothing for none */

/* One mode as in --fail: NAME[:key=value,key=value…]. */
int mode_parse_option(const char *text, struct mode *mode, struct ipf_error *err);
/* Appends those of a header: NAME[;key=value…][, NAME…]. */
int modes_parse_header(struct modes *modes, struct slice value, struct ipf_error *err);
/* Appends those of the body's member: a text as in the header, a map {"mode": NAME, key: value…}, or a list of these.
 */
int modes_parse_json(struct modes *modes, const struct jdoc *doc, jdoc_id node, struct ipf_error *err);

void modes_print(FILE *to); /* the table, a line a mode */

#endif
