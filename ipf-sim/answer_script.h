/* The text of a simulated answer, token by token: generated, or written for a request with a known answer, with the
 * faults of answer_faults.h in it.
 *
 *     struct answer_script script = {.fingerprint = ask.fingerprint};
 *     answer_script_write(&script, slice_of("7KQ2MXB4TA9C"));     // "7KQ2", "MXB4", "TA9C"
 *     answer_script_release(&script);
 */
#ifndef SIM_ANSWER_SCRIPT_H
#define SIM_ANSWER_SCRIPT_H

#include "token_text.h"

#include <stdbool.h>

struct written_token {
	char json[6 * TOKEN_BYTES + 1]; /* as it stands in a JSON string */
	char bytes[TOKEN_BYTES];
	size_t len; /* bytes; only the last token may be shorter than TOKEN_BYTES */
};

/* Zero-initialise. */
struct answer_script {
	uint64_t fingerprint;         /* generated text follows from it */
	struct written_token *tokens; /* the written text; NULL: all is generated */
	int64_t count;
	int64_t altered_number; /* the token that `altered` replaces, counted from 1; 0: none */
	struct written_token altered;
	int64_t tie_number; /* the token whose first two candidates are nearly equal; 0: none */
	bool flipped;       /* from there on, the text is that of the second candidate */
};

/* Sets the written text. -1: out of memory. */
int answer_script_write(struct answer_script *s, struct slice text);
/* Replaces the token of this number, whose bytes are given, by a wrong one of the same length. */
void answer_script_alter(struct answer_script *s, int64_t number, struct slice bytes);
/* Makes it the text of another answer. -1: out of memory, and nothing has changed. */
int answer_script_copy(struct answer_script *s, const struct answer_script *other);
void answer_script_release(struct answer_script *s);

#endif
