/* Framing: cuts a response body into events, which are server-sent events, NDJSON lines, JSON objects run together,
 * gRPC messages, or the body as a whole. A body that is bytes, such as audio, is not cut: each read is an event
 * (response.c).
 *
 *     struct framing f = {0};
 *     framing_begin(&f, FRAMING_SSE, body);
 *     while (framing_next(&f, &event))
 *         … event.data, event.end …          // good until the next call
 *     framing_release(&f);
 *
 * It works on the complete body, as a record holds it, and reports where each event ends; an event's time is the time
 * of the read that brought its last byte (response.h). How the body was split into reads can thus never change the
 * events, only their times.
 *
 * SSE is read as the WHATWG standard says: lines end in LF, CRLF or CR; a byte order mark at the start is skipped; a
 * line beginning with a colon is a comment; one space after a field's colon is dropped; several data lines are joined
 * by LF; a blank line ends the event. Four habits of servers are accepted beyond the standard: an event may have a name
 * and no data; a line `error: {…}` (llama.cpp) is data of an event named "error"; a JSON object without `data:` (an
 * error, on one line or pretty-printed over several) is an event by itself, marked `bare`; and the lines of a
 * pretty-printed object may lack `data:` after the first one.
 *
 * A line of NDJSON may also be an object that is pretty-printed over several lines.
 *
 * JSON objects run together need no separator. White space, commas, the brackets of a surrounding array, NUL (a
 * delimiter of early vLLM) and the record separator of RFC 7464 may come between them.
 */
#ifndef IPF_FRAMING_H
#define IPF_FRAMING_H

#include "buffer.h"

#include <stdbool.h>

enum framing_kind { FRAMING_SSE, FRAMING_NDJSON, FRAMING_JSON, FRAMING_JSON_SEQUENCE, FRAMING_GRPC, FRAMING_BYTES };
extern const char *const framing_names[]; /* as descriptors write them, by kind; NULL at the end */

struct framing {
	enum framing_kind kind;
	struct slice body;
	size_t at;          /* the next byte to look at */
	size_t newline;     /* position of the next LF at or after `at`; the body's length if there is none */
	size_t cr;          /* SSE: the same of CR */
	struct slice name;  /* the name of the event being read */
	struct slice data;  /* its data if that is one line, or … */
	struct buffer many; /* … its data lines, joined, if `lines` > 1 */
	size_t lines;
	size_t unknown;      /* lines the standard does not know: the body may not be SSE */
	size_t loose_end;    /* SSE: where the last such line of the event ends, if it has data; 0: it has none */
	size_t no_object_to; /* no object of several lines begins before this position */
	bool done;
};

struct framing_event {
	struct slice name; /* SSE: the event's name; without data if it has none */
	struct slice data;
	size_t end;      /* position in the body after the event's terminator */
	bool pending;    /* the body ended before the terminator */
	bool bare;       /* SSE: JSON without "data:"; gRPC: bytes that are not a message */
	bool compressed; /* gRPC: the message's flag */
};

/* Starts on a body (borrowed). The struct is zero-initialised, or was used before. */
void framing_begin(struct framing *f, enum framing_kind kind, struct slice body);
/* The next event; false at the end of the body. */
bool framing_next(struct framing *f, struct framing_event *event);
void framing_release(struct framing *f);

/* Whether a body (trimmed) is server-sent events, by its first line. */
bool framing_begins_like_events(struct slice body);

/* Whether the body is several JSON objects: FRAMING_NDJSON with one in each line, FRAMING_JSON_SEQUENCE otherwise.
 * FRAMING_JSON: it is not. Only the first two are looked at, and their values are not. */
enum framing_kind framing_of_objects(struct slice body);

/* The body without a byte order mark and surrounding white space. */
struct slice framing_trim(struct slice body);

#endif
