/* A record as a format reads it: a single request, or a conversation whose requests become a session.
 *
 * A format fills a draft and hands it to the sink. Selection and shaping work on drafts; shape/trace_renderer.h turns
 * them into lines of the trace. Texts are plain UTF-8, not JSON. They are borrowed from the record or kept in the
 * draft's own arena, and everything in a draft is valid until it is emptied. An unknown value is IPF_ABSENT, or the
 * absent slice.
 *
 *     struct draft_request *r = draft_request(d);
 *     draft_message(d, ROLE_USER, draft_text(d, doc, node));
 *     r->answer = draft_text(d, doc, other);
 *
 * A draft remembers a lack of memory (`failed`), so a format needs to check a pointer only if it dereferences it.
 */
#ifndef PREP_DRAFT_H
#define PREP_DRAFT_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"

#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };

struct draft_message {
	enum role role;
	struct slice text; /* its tokens are counted from this */
	int64_t tokens;    /* the text's, if `counted` */
	bool counted;
	struct slice json;  /* the message in the chat API's JSON (tool calls, typed parts); replaces role and text */
	struct slice media; /* parts of the chat API before the text, with commas between: images, audio, video */
};

/* The blocks of a prompt whose text is not known: equal ids mean equal text. Tokens beyond the blocks are text that no
 * other prompt has. */
struct draft_blocks {
	const uint64_t *ids;
	size_t count;
	int64_t tokens;       /* in a whole block, if all are of one size */
	const int64_t *sizes; /* else two numbers a block: the tokens of the whole block, and how many of them are used */
	struct slice scope;   /* ids are equal only within the same scope; absent: one scope for all requests */
};

struct draft_request {
	size_t first, count; /* its messages in draft.messages; in a session, only the new ones */
	struct slice answer;
	int64_t input_tokens;  /* recorded; without messages, the length of the synthetic prompt; absent: to be counted */
	int64_t output_tokens; /* recorded; absent: counted from the answer */
	int64_t at_ns;         /* the recorded arrival */
	int64_t wait_ns;       /* from the end of the previous turn to this one */
	int64_t hang_up_ns;    /* from the start to when the client disconnected */
	int64_t recorded_ttft_ns, recorded_e2e_ns; /* from the start to the first token, and to the end of the answer:
	                                            * recorded_times.h sets them */
	struct draft_blocks blocks;
	struct slice id;              /* from the data; plain text */
	struct slice model;           /* plain text */
	struct slice tools;           /* JSON of the chat API */
	struct slice response_format; /* JSON of the chat API */
	struct slice body;            /* JSON: other members of the body, such as sampling parameters */
	struct slice headers;         /* JSON: a map of texts, of this request alone */
	struct slice tags;            /* JSON */
	struct slice slo;             /* JSON: the request's own objectives */
	const uint64_t *parents;      /* indexes of the draft's parents among the requests; NULL: the previous turn */
	size_t parent_count;
	struct slice after;    /* the same for requests of other drafts: a JSON list of ids */
	int64_t answer_tokens; /* the answer's text's, if `answer_counted` */
	bool answer_counted;
	bool failed; /* the recorded request failed */
	bool batch;  /* its messages are the inputs of one request; one of the system is the query they are ranked for */
};

struct draft {
	int64_t number;       /* the record's over all files, from 1: gives default ids, and indexes random numbers */
	int64_t part;         /* 0; 1, 2, … for further drafts of the same record */
	int64_t copy;         /* 0; 1, 2, … if the record is drawn again */
	struct slice session; /* plain text: requests of equal session belong together; absent: see `chain` */
	int64_t turn;         /* its first request's within the session */
	bool may_be_alone;    /* the session is one of a conversation that may have no other request: then there is none */
	bool chain;           /* its requests are the turns of one conversation: each needs the previous ones */
	struct draft_request *requests;
	size_t count, requests_cap;
	struct draft_message *messages;
	size_t message_count, messages_cap;
	struct draft_chunk *arena; /* the newest chunk first */
	bool failed;               /* out of memory */
};

/* Empties the draft. */
void draft_reset(struct draft *d);
/* Empties the draft for another part of the record `number`. */
void draft_begin(struct draft *d, int64_t number, int64_t part);
void draft_release(struct draft *d);

/* Adds an empty request; valid until the next one is added. NULL when out of memory. */
struct draft_request *draft_request(struct draft *d);
/* Adds a message to the last request; valid until the next one is added. NULL when out of memory, or if there is no
 * request. */
struct draft_message *draft_message(struct draft *d, enum role role, struct slice text);

/* Each of the following makes a slice or memory valid until the draft is emptied; absent or NULL when out of memory. */

char *draft_space(struct draft *d, size_t len);
/* The characters of a JSON string: borrowed if nothing is escaped, else decoded into the arena. Absent for any other
 * node. */
struct slice draft_text(struct draft *d, const struct jdoc *doc, jdoc_id node);
/* a, between and b, joined. */
struct slice draft_join(struct draft *d, struct slice a, const char *between, struct slice b);
/* The same, but `between` only separates: if one of the two is empty, the other is returned. */
struct slice draft_append(struct draft *d, struct slice a, const char *between, struct slice b);
/* A copy, for a text borrowed from something short-lived. */
struct slice draft_keep(struct draft *d, struct slice text);
/* Copies the text in the buffer, which is released. A write failing makes the draft fail. */
struct slice draft_take_buffer(struct draft *d, struct buffer *text);
/* Formatted text, at most 511 bytes. */
struct slice draft_format(struct draft *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Space for `count` block ids or other 64-bit numbers. */
uint64_t *draft_ids(struct draft *d, size_t count);

/* How many tokens of block i are used, at most `left`. */
int64_t draft_block_tokens(const struct draft_blocks *blocks, size_t i, int64_t left);
/* The seed of block i's text: its id, combined with its scope. */
uint64_t draft_block_id(const struct draft_blocks *blocks, size_t i);

/* Refuses names with control characters and the like (safe_text.h): of the session, the models, and in tags. -1: err
 * says which. */
int draft_check_names(const struct draft *d, struct ipf_error *err);
/* Refuses impossible lengths: for formats that do not check their values, or hold them before use. */
int draft_check_lengths(const struct draft *d, struct ipf_error *err);

/* A copy owning all it needs, in a single allocation: free() it. NULL when out of memory. */
struct draft *draft_clone(const struct draft *d);

#endif
