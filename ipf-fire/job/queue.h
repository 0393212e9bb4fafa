/* A bounded queue between one thread that puts and one that takes; neither ever waits for the other.
 *
 *     if (!queue_put(q, job))  … full: the caller keeps it and tries again
 *     while ((job = queue_take(q)))  …
 *
 * What the putting thread wrote before queue_put is visible to the taking thread after queue_take. Whoever wants to
 * sleep until something changes does so by means of its own (the engine by an eventfd, the recorder by looking every
 * few milliseconds).
 */
#ifndef IPF_QUEUE_H
#define IPF_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct queue;

/* Room for at least `capacity` items. NULL: out of memory. */
struct queue *queue_new(size_t capacity);
void queue_free(struct queue *q); /* NULL is fine; what is in it is forgotten */

bool queue_put(struct queue *q, void *item); /* item != NULL; false: full */
void *queue_take(struct queue *q);           /* NULL: empty */
bool queue_full(const struct queue *q);      /* for the putting thread */
size_t queue_room(const struct queue *q);    /* how many items fit */
size_t queue_count(const struct queue *q);   /* exact only for a thread that stands still */

#endif
