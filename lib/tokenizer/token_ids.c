#include "tokenizer/token_ids.h"

#include "array.h"

#include <stdlib.h>

bool token_ids_grow(struct token_ids *ids, size_t more)
{
	return more <= SIZE_MAX - ids->count && array_room(ids->ids, ids->cap, ids->count + more);
}

void token_ids_release(struct token_ids *ids)
{
	free(ids->ids);
	*ids = (struct token_ids){0};
}
