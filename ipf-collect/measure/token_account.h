/* How many output tokens a response has, out of all known of them: the server's usage (of the answer, of each event, of
 * reasoning, of input and output together), ids, our tokenizer, content events, bytes of content, and the number asked
 * for.
 *
 *     struct token_account a = token_account_make(&response, &(struct token_evidence){…});
 *     a.output, a.source …        // the count that holds, and where it is from
 *     a.hidden …                  // of these, tokens that were generated before the first event and not sent
 *     a.doubt …                   // what contradicts what
 *
 * Usage counts unless something else shows it cannot be right:
 *
 *   - Usage of each event only is summed: each content event has one, and the last one is less than their number, or
 *     one falls.
 *   - Reasoning counts besides the output if it is more than the output, or if input and output together say so.
 *   - A content event has at least one token. Usage that is less than the content events is a contradiction; the count
 *     is then that of the tokenizer, of ids, or, if a token would have more than TOKEN_BYTES bytes, of events.
 *   - A token has at least one byte, but for those without text (special tokens, the syntax of tool calls). Usage that
 *     is more than these and was not asked for is a contradiction.
 *
 * Unsent tokens of reasoning were generated before the first event. They belong to the output, but not to the time
 * between the first event and the last one.
 */
#ifndef COLLECT_TOKEN_ACCOUNT_H
#define COLLECT_TOKEN_ACCOUNT_H

#include "api/response.h"
#include "stream/result.h"

/* Longer tokens are rare: runs of blanks. */
#define TOKEN_BYTES 16

enum token_source { TOKENS_UNKNOWN, TOKENS_USAGE, TOKENS_TOKENIZER, TOKENS_IDS, TOKENS_EVENTS, TOKENS_NONE };
extern const char *const token_source_names[]; /* "", "usage", "tokenizer", "ids", "events", "none" */

/* Values missing from the response itself. Counts are IPF_ABSENT if they are not known. */
struct token_evidence {
	int64_t tokenizer; /* tokens of the content by our tokenizer */
	int64_t ids;       /* listed ids, of all content events; 0: not of all */
	int64_t asked;     /* output tokens asked for */
	bool one_piece;    /* all content may have come at once: its event says nothing of tokens */
};

struct token_account {
	int64_t output; /* IPF_ABSENT */
	enum token_source source;
	int64_t hidden; /* 0: none */
	enum result_doubt doubt;
	bool each; /* the usage of each event is its own, and does not cover the answer so far */
};

struct token_account token_account_make(const struct response *r, const struct token_evidence *evidence);

#endif
