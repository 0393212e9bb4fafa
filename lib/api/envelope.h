/* The envelope of a response body: Amazon's event streams carry the real body as the payloads of their messages. The
 * payloads are joined, and every position in them is mapped back to the position in the body at which its message ends,
 * so events keep their times.
 *
 *     struct envelope e = {0};
 *     if (envelope_open(&e, body, &err) < 0) …
 *     framing_begin(&f, FRAMING_SSE, buffer_all(&e.payload));
 *     while (framing_next(&f, &event))
 *         … envelope_end(&e, event.end) …
 *     envelope_release(&e);
 *
 * aws_eventstream.h reads the messages.
 */
#ifndef IPF_ENVELOPE_H
#define IPF_ENVELOPE_H

#include "buffer.h"
#include "error.h"

struct envelope_part {
	size_t payload_end, body_end;
};

/* Zero-initialise; may be opened again for each body. */
struct envelope {
	struct buffer payload; /* all messages together */
	struct buffer error;   /* name and text of the first exception or error message; empty if there is none */
	bool truncated;        /* the body ends within a message */
	bool broken;           /* the body, or the rest of it, is not an event stream */

	/* private */
	struct envelope_part *parts;
	size_t count, cap, at;
};

/* -1: out of memory. */
int envelope_open(struct envelope *e, struct slice body, struct ipf_error *err);
/* The position in the body for a position in the payload. Positions must not decrease from call to call. */
size_t envelope_end(struct envelope *e, size_t payload_end);
/* Lets positions start from the beginning again. */
void envelope_rewind(struct envelope *e);
void envelope_release(struct envelope *e);

#endif
