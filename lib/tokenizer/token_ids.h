/* A growing list of token ids. Zero is an empty list.
 *
 *     struct token_ids ids = {0};
 *     token_ids_push(&ids, 42);
 *     token_ids_release(&ids);
 */
#ifndef IPF_TOKEN_IDS_H
#define IPF_TOKEN_IDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct token_ids {
	uint32_t *ids;
	size_t count, cap;
};

/* Makes room for `more` ids. False: out of memory; the list stays as it was. */
bool token_ids_grow(struct token_ids *ids, size_t more);
/* Appends one id. False: out of memory. */
static inline bool token_ids_push(struct token_ids *ids, uint32_t id)
{
	if (ids->count == ids->cap && !token_ids_grow(ids, 1))
		return false;
	ids->ids[ids->count++] = id;
	return true;
}
/* Frees the list and leaves it empty. */
void token_ids_release(struct token_ids *ids);

#endif
