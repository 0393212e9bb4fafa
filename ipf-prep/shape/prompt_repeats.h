/* Counts prompts equal to an earlier one of the trace: a server with a prefix cache answers them faster than prompts of
 * users.
 *
 *     struct prompt_repeats repeats = {0};
 *     prompt_repeats_add(&repeats, key);              // for each prompt; the key is a hash of its text
 *     repeats.repeated, repeats.most
 *     prompt_repeats_release(&repeats);
 */
#ifndef PREP_PROMPT_REPEATS_H
#define PREP_PROMPT_REPEATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prompt_repeats {
	int64_t prompts;  /* added */
	int64_t repeated; /* repetitions of an earlier one */
	int64_t most;     /* how often the most frequent prompt occurs */
	bool partly;      /* there are more different prompts than are remembered: the figures are lower bounds */
	struct prompt_count *slots;
	size_t count, cap;
};

/* Without memory it remembers no further prompt. */
void prompt_repeats_add(struct prompt_repeats *r, uint64_t key);
void prompt_repeats_release(struct prompt_repeats *r);

#endif
