/* A request that is not rendered yet: a copy of the trace's line and the session before it. The turns of a session
 * share the text of their common past, so that a conversation of a hundred turns is held once, not a hundred times.
 */
#ifndef IPF_DEFERRED_REQUEST_H
#define IPF_DEFERRED_REQUEST_H

#include "stream/trace.h"

#include <stdatomic.h>

/* The messages of a session, in the order of its turns. Grows in the feeder's thread only; any thread may drop its
 * hold. */
struct dialogue {
	struct buffer messages;
	atomic_size_t users;
};

struct dialogue *dialogue_new(void); /* held once; NULL: out of memory */
struct dialogue *dialogue_hold(struct dialogue *d);
void dialogue_drop(struct dialogue *d); /* NULL is fine */

struct deferred_request {
	struct trace_request request; /* its slices point into `memory` */
	char *memory;
	size_t bytes;
	struct dialogue *dialogue;
	size_t before; /* so much of it comes before this request */
};

/* NULL: out of memory. */
struct deferred_request *deferred_request_new(const struct trace_request *request, struct dialogue *dialogue,
                                              size_t before);
void deferred_request_free(struct deferred_request *d);                  /* NULL is fine */
struct slice deferred_request_context(const struct deferred_request *d); /* good until the dialogue grows */

#endif
