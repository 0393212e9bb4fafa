#include "parquet/value_dictionary.h"

#include "hash_index.h"
#include "text_hash.h"

#include <stdlib.h>

struct value_slot {
	uint64_t key;
	size_t at, len; /* its bytes in `plain` */
	uint32_t index;
};

static bool is_value(const struct value_dictionary *d, const struct value_slot *slot, struct slice value)
{
	return slot->len == value.len && memcmp(d->plain.data + slot->at, value.data, value.len) == 0;
}

bool value_dictionary_index(struct value_dictionary *d, struct slice value, uint32_t *index)
{
	uint64_t key = text_hash_mixed(value);
	if (key == 0)
		key = 1;
	if (!hash_index_room(d->slots, d->room, (size_t)d->count + 1)) {
		d->plain.failed = true;
		return false;
	}
	struct value_slot *found = hash_index_find(d->slots, d->room, key);
	while (found->key && !is_value(d, found, value))
		found = hash_index_next(d->slots, d->room, found);
	if (!found->key) {
		*found = (struct value_slot){.key = key, .at = d->plain.len, .len = value.len, .index = d->count++};
		buffer_slice(&d->plain, value);
	}
	*index = found->index;
	return !d->plain.failed;
}

void value_dictionary_clear(struct value_dictionary *d)
{
	buffer_clear(&d->plain);
	d->count = 0;
	if (d->slots)
		memset(d->slots, 0, d->room * sizeof *d->slots);
}

void value_dictionary_release(struct value_dictionary *d)
{
	buffer_release(&d->plain);
	free(d->slots);
	*d = (struct value_dictionary){0};
}
