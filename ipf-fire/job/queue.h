/* A bounded queue between one thread putting and one taking; neither ever waits for the other.
 *
 *     if (!queue_put(q, job))  … full: the caller keeps it and tries again
 *     while ((job = queue_take(q)))  …
 *
 * Writes of the putting thread before queue_put are visible to the taking thread after queue_take. A thread wanting to
 * sleep until something changes needs its own means: the sender has an eventfd, the recorder polls every few
 * milliseconds.
 */
#ifndef IPF_QUEUE_H
#define IPF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct queue;

/* Room for at least `capacity` items. NULL: out of memory. */
struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q); /* NULL is fine; its items are forgotten */

bool queue_put(struct queue *q, void *item); /* item != NULL; false: full */
void *queue_take(struct queue *q);           /* NULL: empty */
void *queue_next(const struct queue *q);     /* the next to take, if it was there before; NULL: not known */
bool queue_full(const struct queue *q);      /* for the putting thread */
size_t queue_room(const struct queue *q);    /* how many items fit */
size_t queue_count(const struct queue *q);   /* approximate while the other thread is active */

#endif
