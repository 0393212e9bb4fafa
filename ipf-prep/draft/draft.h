/* What a source makes of a record: a lone request, or a conversation of several that become a session.
 *
 * A source fills a draft and hands it to the sink; selection and shaping work on drafts, trace_renderer.h turns them
 * into trace lines. Texts are plain UTF-8 (not JSON), borrowed from the record or kept in the draft's own arena;
 * everything in a draft is good until it is reset. What is not known is IPF_ABSENT or an absent slice.
 *
 *     struct draft_request *r = draft_request(d);
 *     draft_message(d, ROLE_USER, draft_text(d, doc, node));
 *     r->answer = draft_text(d, doc, other);
 */
#ifndef PREP_DRAFT_H
#define PREP_DRAFT_H

#include "buffer.h"
#include "json/jdoc.h"

#include <stdbool.h>
#include <stdint.h>

enum role { ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT };

struct draft_message {
	enum role role;
	struct slice text; /* what is counted as its tokens */
	int64_t tokens;    /* of the text, once it was counted */
	bool counted;
	struct slice
		json; /* the message as it stands in the data (tool calls, typed parts): passed on in place of role and text */
};

/* A prompt that is known by the ids of its blocks: equal ids are equal text. What of it they don't cover is text of its
 * own. */
struct draft_blocks {
	const uint64_t *ids;
	size_t count;
	int64_t tokens;       /* in a whole block; or … */
	const int64_t *sizes; /* two for each block: its whole length, and how much of that is there */
	struct slice scope;   /* ids are equal only to those of the same scope; absent: one for all */
};

struct draft_request {
	size_t first, count; /* its messages (in a session: those that are new) in draft.messages */
	struct slice answer;
	int64_t input_tokens;  /* recorded; with no message this is how much text is to be made; absent: counted */
	int64_t output_tokens; /* recorded; absent: counted from the answer */
	int64_t at_ns, wait_ns;
	struct draft_blocks blocks;
	struct slice id;                     /* the data's own; plain text */
	struct slice model;                  /* plain text */
	struct slice tools, response_format; /* JSON, as the chat API takes them */
	struct slice tags;                   /* JSON */
	struct slice slo;                    /* JSON: objectives of its own */
	const uint64_t *parents;             /* places in the draft of those that must end first; NULL: the turn before */
	size_t parent_count;
	struct slice after;    /* the same as JSON, a list of ids, where they are in other drafts */
	int64_t answer_tokens; /* of the answer's text, once it was counted */
	bool answer_counted;
	bool failed; /* when it was recorded */
};

struct draft {
	int64_t number;       /* of the record over all inputs, from 1: the default of ids, the index of what is drawn */
	int64_t part;         /* 0; 1, 2, … for the further drafts of one record */
	int64_t copy;         /* 0; 1, 2, … for a record that was drawn again */
	struct slice session; /* plain text: requests of equal session belong together; absent: see `chain` */
	int64_t turn;         /* of its first request within the session */
	bool chain;           /* its requests are the turns of one conversation, each needs the ones before */
	struct draft_request *requests;
	size_t count, requests_cap;
	struct draft_message *messages;
	size_t message_count, messages_cap;
	struct draft_chunk *arena; /* the newest first */
	bool failed;               /* memory ran out on the way */
};

/* Empties the draft. */
void draft_reset(struct draft *d);
void draft_release(struct draft *d);

/* Adds a request with nothing known about it; good until the next one is added. NULL when memory runs out. */
struct draft_request *draft_request(struct draft *d);
/* Adds a message to the last request; good until the next one is added. NULL when memory runs out. */
struct draft_message *draft_message(struct draft *d, enum role role, struct slice text);
/* `len` bytes that are good until the draft is reset; NULL when memory runs out. */
char *draft_space(struct draft *d, size_t len);
/* A text node's characters: as they stand where nothing is escaped, else decoded into the arena. Absent for other
 * nodes. */
struct slice draft_text(struct draft *d, const struct jdoc *doc, jdoc_id node);
/* Two texts with something between them, in the arena. */
struct slice draft_join(struct draft *d, struct slice a, const char *between, struct slice b);
/* A copy of a text in the arena, for what is borrowed from something that goes away. */
struct slice draft_keep(struct draft *d, struct slice text);
/* The same, made as by printf (at most 511 bytes). */
struct slice draft_format(struct draft *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Space for `count` block ids, good until the draft is reset; NULL when memory runs out. */
uint64_t *draft_ids(struct draft *d, size_t count);

/* The tokens of a block that are there, at most `left`; and what its text is made of: the id with its scope. */
int64_t draft_block_tokens(const struct draft_blocks *blocks, size_t i, int64_t left);
uint64_t draft_block_id(const struct draft_blocks *blocks, size_t i);

/* A copy that owns all it needs, in one piece of memory: free() it. NULL when memory runs out. */
struct draft *draft_clone(const struct draft *d);

#endif
