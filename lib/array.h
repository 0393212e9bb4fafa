/* Growing arrays: a pointer to the items, and an integer that says how many of them there is room for.
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

/* `items`: the address of the pointer. */
bool array_grow(void *items, size_t item_size, void *cap, size_t cap_size, size_t wanted);
bool array_double(void *items, size_t item_size, size_t count);

#endif
