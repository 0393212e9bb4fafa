/* Requests of the trace by their index, from a file that is read as a stream.
 *
 * Requests are asked for nearly in the trace's order. One that lies ahead is read up to; what is passed on the way and belongs
 * to a session (a follower may still ask for it) is kept until it is taken. One that lies behind and was not kept makes
 * the reading start from the top: so it goes where a trace wraps, and whatever a schedule asks for is found.
 */
#ifndef IPF_PICKER_H
#define IPF_PICKER_H

#include "draft.h"
#include "trace.h"

struct picker;

/* `copy` 0: the requests themselves; k: copy k of each, see copies.h. */
int picker_open(struct picker **picker, const char *path, int64_t copy, struct ipf_error *err);
void picker_close(struct picker *p); /* NULL is fine */

/* Request `index` and the messages of its session's earlier turns (session_append); good until the next call. 0 where the trace
 * ends before it (*count is then how many there are, *cut whether its end is missing); -1 on error. */
int picker_get(struct picker *p, int64_t index, struct trace_request *request, struct slice *context, struct ipf_error *err);
/* A copy of what the last call gave, to be rendered later. NULL: out of memory. */
struct draft *picker_draft(const struct picker *p);
int64_t picker_count(const struct picker *p); /* requests up to the end; IPF_ABSENT while it was not seen */
bool picker_cut(const struct picker *p);      /* the end that was seen is a cut */

/* Bytes kept for requests that were passed (of a copy, of which there may be many, a sixteenth); above this the oldest are let go (and read again if they are asked for). */
#define PICKER_KEEP_BYTES ((size_t)256 << 20)

#endif
