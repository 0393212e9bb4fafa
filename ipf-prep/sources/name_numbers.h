/* Numbers for names: 0, 1, … in the order in which the names came first.
 *
 *     size_t number = name_number(&numbers, name);       // numbers.list[number]: a copy of the name
 *     name_numbers_release(&numbers);
 */
#ifndef PREP_NAME_NUMBERS_H
#define PREP_NAME_NUMBERS_H

#include "buffer.h"

#include <stdint.h>

#define NO_NUMBER SIZE_MAX

struct name_numbers {
	struct slice *list; /* the names, allocated */
	size_t count, cap;
	struct name_slot *slots; /* hash_index.h */
	size_t slot_count;
};

/* NO_NUMBER: out of memory, or 2^32 names; those there are stay. */
size_t name_number(struct name_numbers *n, struct slice name);
void name_numbers_release(struct name_numbers *n);

#endif
