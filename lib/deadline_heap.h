/* Deadlines, the earliest first, of equal ones the lowest order. Each belongs to something that may end before it, and
 * is then taken out.
 *
 *     struct deadline_entry d = {0};                          // a member of what it is for
 *     if (!deadline_heap_set(&heap, &d, at_ns)) …       // puts it in, or moves it
 *     while ((first = deadline_heap_first(&heap)) && first->at_ns <= now) … deadline_heap_remove(&heap, first);
 *     deadline_heap_release(&heap);
 */
#ifndef IPF_DEADLINE_HEAP_H
#define IPF_DEADLINE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadline_entry {
	int64_t at_ns;
	int64_t order; /* set by the caller before it goes in */
	size_t place;  /* the heap's own: from 1; 0: it is not in it */
};

struct deadline_heap { /* zero-initialise */
	struct deadline_entry **items;
	size_t count, cap;
};

/* False: out of memory; only where it was not in the heap. */
bool deadline_heap_set(struct deadline_heap *heap, struct deadline_entry *deadline, int64_t at_ns);
void deadline_heap_remove(struct deadline_heap *heap, struct deadline_entry *deadline); /* nothing if it is not in it */
struct deadline_entry *deadline_heap_first(const struct deadline_heap *heap);           /* NULL: it is empty */
void deadline_heap_release(struct deadline_heap *heap);

#endif
