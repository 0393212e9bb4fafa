/* The length of the last prompt of each agent in a session, to see which prompts are shorter: their context was
 * compacted, or they went back to an earlier state.
 *
 *     struct context_lengths lengths = {.own = IPF_ABSENT};
 *     shorter += context_lengths_add(&lengths, tags, input_tokens, &j);
 *     context_lengths_end(&lengths);                          // the session ends
 *     context_lengths_release(&lengths);
 */
#ifndef PREP_CONTEXT_LENGTHS_H
#define PREP_CONTEXT_LENGTHS_H

#include "json/jdoc.h"
#include "sources/name_numbers.h"

struct context_lengths {
	int64_t own;                /* requests without the tag "agent"; IPF_ABSENT: there was none */
	struct name_numbers agents; /* the values of that tag */
	int64_t *tokens;            /* each one's */
	size_t cap;
	bool failed; /* out of memory; stays set */
};

/* Is the prompt shorter than the one before it of the same agent? `j` is scratch space. */
bool context_lengths_add(struct context_lengths *c, struct slice tags, int64_t input_tokens, struct jdoc *j);
void context_lengths_end(struct context_lengths *c);
void context_lengths_release(struct context_lengths *c);

#endif
