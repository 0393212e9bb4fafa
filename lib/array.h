/* Growing arrays: a pointer to the items, and an integer saying how many of them there is room for.
 *
 *     struct list { struct entry *items; size_t count, cap; };         // zero-initialise
 *
 *     if (!array_room(list->items, list->cap, list->count + 1))
 *         return ipf_error_memory(err);
 *     list->items[list->count++] = entry;
 *     …
 *     free(list->items);
 *
 * When memory runs out, the array stays as it was. New items are not initialised. An array that only ever grows by one
 * needs no room of its own:
 *
 *     if (!array_one_more(list->items, list->count)) …
 *
 * Nor does a table whose items are zero until they are set:
 *
 *     if (!array_reach(table->items, table->count, index)) …
 */
#ifndef IPF_ARRAY_H
#define IPF_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `wanted_` items in all. `cap_` is an integer of four or eight bytes. It at least doubles. False: out
 * of memory, or more than `cap_` can count. */
#define array_room(items_, cap_, wanted_)                                                                              \
	((size_t)(wanted_) <= (size_t)(cap_) ||                                                                            \
	 array_grow(&(items_), sizeof *(items_), &(cap_), sizeof(cap_), (size_t)(wanted_)))
/* Makes room for item `count_` of an array that has grown by this call only: room is for the next power of two. */
#define array_one_more(items_, count_) array_double(&(items_), sizeof *(items_), (size_t)(count_))

/* Lengthens the table so that it has an item `index_`, sets the new items to zero bytes, and `count_` to their number,
 * an integer of four or eight bytes. False: as above. */
#define array_reach(items_, count_, index_)                                                                            \
	((size_t)(index_) < (size_t)(count_) ||                                                                            \
	 array_extend(&(items_), sizeof *(items_), &(count_), sizeof(count_), (size_t)(index_)))

/* `items`: the address of the pointer. */
bool array_grow(void *items, size_t item_size, void *cap, size_t cap_size, size_t wanted);
bool array_double(void *items, size_t item_size, size_t count);
bool array_extend(void *items, size_t item_size, void *count, size_t count_size, size_t index);

#endif
