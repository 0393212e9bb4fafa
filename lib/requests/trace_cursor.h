/* Requests of a trace by their index, from a file that is read as a stream.
 *
 * Requests are requested nearly in the order of the trace. To reach one further on, the cursor reads up to it, and
 * keeps passed requests that belong to a session or have parents (a follower may request them later). To reach one that
 * lies behind and was not kept, it reads from the beginning again; that is how a trace wraps around.
 */
#ifndef IPF_TRACE_CURSOR_H
#define IPF_TRACE_CURSOR_H

#include "requests/deferred_request.h"
#include "stream/trace.h"

struct trace_cursor;

/* `copy` 0: the requests themselves; k: copy k of each (request_copies.h). */
int trace_cursor_open(struct trace_cursor **cursor, const char *path, int64_t copy, struct ipf_error *err);
void trace_cursor_close(struct trace_cursor *c); /* NULL is fine */

/* 1: request `index` and the messages of its session's earlier turns (prompt_append_turn), valid until the next call.
 * 0: the trace ends before it. -1: error. */
int trace_cursor_get(struct trace_cursor *c, int64_t index, struct trace_request *request, struct slice *context,
                     struct ipf_error *err);
/* A copy of the last call's result, to be rendered later. NULL: out of memory. */
struct deferred_request *trace_cursor_defer(const struct trace_cursor *c);
int64_t trace_cursor_count(const struct trace_cursor *c); /* requests in all; IPF_ABSENT until the end has been read */
bool trace_cursor_cut(const struct trace_cursor *c);      /* the end read is a cut */

/* Bytes of passed requests that are kept (a sixteenth for a copy, since there may be many copies). Above this the
 * oldest are dropped, and read again if they are requested. */
#define TRACE_CURSOR_KEEP_BYTES ((size_t)256 << 20)

#endif
