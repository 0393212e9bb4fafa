/* A request rendered later: a copy of the trace's line, and the session before it. The turns of a session share their
 * common text, so a conversation of a hundred turns is held once, not a hundred times.
 */
#ifndef IPF_DEFERRED_REQUEST_H
#define IPF_DEFERRED_REQUEST_H

#include "stream/trace.h"

#include <stdatomic.h>

/* The messages of a session, in the order of its turns. Grows in the feeder's thread only; any thread may release its
 * reference. */
struct dialogue {
	struct buffer messages;
	atomic_size_t references;
};

struct dialogue *dialogue_new(void);       /* with one reference; NULL: out of memory */
void dialogue_release(struct dialogue *d); /* NULL is fine */

struct deferred_request {
	struct trace_request request; /* its slices point into `memory` */
	char *memory;
	size_t bytes; /* that it takes, without the dialogue */
	struct dialogue *dialogue;
	size_t context_len; /* the beginning of the dialogue coming before this request */
};

/* NULL: out of memory. */
struct deferred_request *deferred_request_new(const struct trace_request *request, struct dialogue *dialogue,
                                              size_t context_len);
void deferred_request_free(struct deferred_request *d); /* NULL is fine */
/* The messages before it; valid until the dialogue grows. */
struct slice deferred_request_context(const struct deferred_request *d);

#endif
