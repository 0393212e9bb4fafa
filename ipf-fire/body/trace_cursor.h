/* Requests of the trace by their index, from a file that is read as a stream.
 *
 * Requests are asked for nearly in the trace's order. One that lies ahead is read up to; what is passed on the way and
 * belongs to a session (a follower may still ask for it) is kept until it is taken. One that lies behind and was not
 * kept makes the reading start from the top: so it goes where a trace wraps, and whatever a schedule asks for is found.
 */
#ifndef IPF_TRACE_CURSOR_H
#define IPF_TRACE_CURSOR_H

#include "job/deferred_request.h"
#include "stream/trace.h"

struct trace_cursor;

/* `copy` 0: the requests themselves; k: copy k of each, see request_copies.h. */
int trace_cursor_open(struct trace_cursor **picker, const char *path, int64_t copy, struct ipf_error *err);
void trace_cursor_close(struct trace_cursor *p); /* NULL is fine */

/* Request `index` and the messages of its session's earlier turns (session_append); good until the next call. 0 where
 * the trace ends before it (*count is then how many there are, *cut whether its end is missing); -1 on error. */
int trace_cursor_get(struct trace_cursor *p, int64_t index, struct trace_request *request, struct slice *context,
                     struct ipf_error *err);
/* A copy of what the last call gave, to be rendered later. NULL: out of memory. */
struct deferred_request *trace_cursor_draft(const struct trace_cursor *p);
int64_t trace_cursor_count(const struct trace_cursor *p); /* requests up to the end; IPF_ABSENT while it was not seen */
bool trace_cursor_cut(const struct trace_cursor *p);      /* the end that was seen is a cut */

/* Bytes kept for requests that were passed (of a copy, of which there may be many, a sixteenth); above this the oldest
 * are let go (and read again if they are asked for). */
#define TRACE_CURSOR_KEEP_BYTES ((size_t)256 << 20)

#endif
