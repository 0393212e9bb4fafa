/* Result lines that other threads hand to the main thread, which alone writes the results.
 *
 *     struct line_queue *queue = line_queue_new(LINE_QUEUE_BYTES);
 *     line_queue_put(queue, line);                            // any thread
 *     poll() on line_queue_fd(queue) together with the input; then, in the main thread:
 *     while (line_queue_take(queue, &line)) …                 // in the order in which they were put
 *
 * It is bounded, and putting never waits: if the main thread cannot write (nothing reads the output), lines are dropped
 * and counted. A sampler whose samples are increases since the last one keeps its old base if its line was dropped, so
 * the next one has the whole increase.
 */
#ifndef COLLECT_LINE_QUEUE_H
#define COLLECT_LINE_QUEUE_H

#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define LINE_QUEUE_BYTES ((size_t)8 << 20)

struct line_queue;

/* `max_bytes`: of all lines in the queue. NULL: no memory, or no descriptor (errno says which). */
struct line_queue *line_queue_new(size_t max_bytes);
void line_queue_free(struct line_queue *queue); /* NULL is fine; no other thread may use it any more */

/* Copies a line (without a newline). Any thread. False: dropped, because there is no room for it or no memory. */
bool line_queue_put(struct line_queue *queue, struct slice line);
/* Readable while there may be a line. */
int line_queue_fd(const struct line_queue *queue);
/* Main thread. Appends the oldest line to `line`; false: there is none, and nothing is appended. Without a line it
 * costs one atomic load, so it can be called for each record. */
bool line_queue_take(struct line_queue *queue, struct buffer *line);
/* How many lines were dropped so far. */
int64_t line_queue_dropped(const struct line_queue *queue);

#endif
