#include "tokenizer/token_ids.h"

#include <stdlib.h>

bool token_ids_grow(struct token_ids *ids, size_t more)
{
	size_t cap = ids->cap ? ids->cap : 64;
	if (ids->cap - ids->count >= more)
		return true;
	if (more > SIZE_MAX / 2 / sizeof *ids->ids - ids->count)
		return false;
	while (cap - ids->count < more)
		cap += cap / 2;
	uint32_t *grown = realloc(ids->ids, cap * sizeof *grown);
	if (!grown)
		return false;
	ids->ids = grown;
	ids->cap = cap;
	return true;
}

void token_ids_release(struct token_ids *ids)
{
	free(ids->ids);
	*ids = (struct token_ids){0};
}
