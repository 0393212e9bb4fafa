/* Cutting a body into events: server-sent events, NDJSON lines, JSON maps one after the other, gRPC's messages, or the
 * whole.
 *
 *     framing_begin(&f, FRAMING_SSE, body);
 *     while (framing_next(&f, &event))
 *         … event.data, event.end …          // good until the next call
 *
 * It works on the whole body, since that is what a record holds, and says of each event where it ends; the time of an
 * event is the time of the read that brought its last byte (answer.h). So where a body was split into reads can never
 * change what is understood, only when.
 *
 * SSE as in the WHATWG's standard: lines end in LF, CRLF or CR; a byte order mark at the very start is skipped; a line
 * that begins with a colon is a comment; one space after the colon of a field is dropped; several data lines are joined
 * by LF; a blank line ends the event. Three habits of servers go beyond it: an event may have a name and no data; a
 * line `error: {…}` (llama.cpp) is data of an event named "error"; and a line that begins with a brace (an error
 * written without `data:`) is an event by itself, marked `bare`.
 *
 * Maps of JSON one after the other need nothing between them; white space, commas, the brackets of a list around them,
 * NUL (an old delimiter of vLLM's) and the record separator of RFC 7464 may stand there.
 */
#ifndef IPF_FRAMING_H
#define IPF_FRAMING_H

#include "api/api.h"

struct framing {
	enum framing_kind kind;
	struct slice body;
	size_t at;          /* the next byte to look at */
	size_t newline;     /* where the next LF stands at or after `at`; the body's length where there is none */
	struct slice name;  /* of the event that is being gathered */
	struct slice data;  /* its data: one line of the body; or … */
	struct buffer many; /* … several, joined, where `lines` > 1 */
	size_t lines;
	size_t unknown; /* lines that are none of the standard's: this may not be SSE at all */
	bool done;
};

struct framing_event {
	struct slice name; /* SSE: the event's name; absent */
	struct slice data;
	size_t end;      /* just past the last byte of its terminator, in the body */
	bool pending;    /* the body ended before the terminator came */
	bool bare;       /* SSE: a line of JSON that stands without "data:"; gRPC: bytes that are no message */
	bool compressed; /* gRPC: by its flag */
};

void framing_begin(struct framing *f, enum framing_kind kind, struct slice body);
bool framing_next(struct framing *f, struct framing_event *event);
void framing_release(struct framing *f);

/* The body without a byte order mark and white space around it. */
struct slice framing_trim(struct slice body);

#endif
