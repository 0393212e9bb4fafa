/* The ids under which a request appears in distributed tracing (W3C Trace Context, level 1): computed, not drawn, so
 * whoever knows the run and the request knows its ids.
 *
 *     struct span_ids ids = span_ids(slice_of(run), n, session);
 *     char header[SPAN_IDS_TRACEPARENT];
 *     span_ids_traceparent(&ids, header);              // 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01
 *
 * The requests of a session share one trace; every other request has its own.
 */
#ifndef IPF_SPAN_IDS_H
#define IPF_SPAN_IDS_H

#include "buffer.h"

#include <stdint.h>

struct span_ids {
	unsigned char trace[16], span[8]; /* never all zero */
};

#define SPAN_IDS_TRACEPARENT 56 /* with its NUL */

/* `run`: a text that no other run has. `n`: the request's number in it. `session`: the name of its session, as JSON
 * verbatim; absent or empty: none. */
struct span_ids span_ids(struct slice run, int64_t n, struct slice session);
/* The value of the header `traceparent`: version 00, sampled. */
void span_ids_traceparent(const struct span_ids *ids, char text[SPAN_IDS_TRACEPARENT]);

#endif
