/* The distinct values of a column, numbered in order of appearance. A value is its bytes in the plain encoding, and so
 * is the dictionary: one value after the other.
 *
 *     struct value_dictionary d = {0};
 *     if (value_dictionary_index(&d, bytes, &index)) …   // false: out of memory, and d.plain.failed
 *     value_dictionary_clear(&d);
 *     value_dictionary_release(&d);
 */
#ifndef IPF_VALUE_DICTIONARY_H
#define IPF_VALUE_DICTIONARY_H

#include "buffer.h"

#include <stdint.h>

struct value_dictionary {
	struct buffer plain;
	uint32_t count;
	struct value_slot *slots; /* hash_index.h */
	size_t room;
};

bool value_dictionary_index(struct value_dictionary *d, struct slice value, uint32_t *index);
void value_dictionary_clear(struct value_dictionary *d);
void value_dictionary_release(struct value_dictionary *d);

#endif
