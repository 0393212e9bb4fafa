/* A request and its answer as a capture shows them. The readers of protocols (http1_talk.h, http2_talk.h) fill it in;
 * whoever listens gets it when it has ended.
 *
 * Times are nanoseconds since 1970, IPF_ABSENT if they did not happen. Credentials among the headers are dropped when
 * they come. Bodies are without transfer and content encoding (gzip, deflate, zstd); one with another encoding, or
 * whose encoding is faulty, stays as it was sent, and its Content-Encoding is among the headers.
 */
#ifndef IPF_CAPTURE_CAPTURED_H
#define IPF_CAPTURE_CAPTURED_H

#include "buffer.h"
#include "capture/packet.h"
#include "stream/record.h"

/* The most bytes of the headers of a request or an answer that are kept; further ones are left out. */
#define CAPTURED_HEADERS_MOST ((size_t)64 << 10)

/* The part of an exchange that the capture lacks. Each is worse than the one before. */
enum capture_damage {
	DAMAGE_NONE,
	DAMAGE_OPEN,         /* it had not ended when the capture did */
	DAMAGE_LOST,         /* packets are missing */
	DAMAGE_SNAPPED,      /* packets are cut (snaplen) */
	DAMAGE_BEGAN_BEFORE, /* the capture began within it, or the connection's state before is needed */
	DAMAGE_CLOCK,        /* its times go back: the capture's clock was set, or there are several */
	DAMAGE_TOO_LARGE,    /* more than memory allows */
	CAPTURE_DAMAGES
};
extern const char *const capture_damage_names[CAPTURE_DAMAGES]; /* "", "still open", "lost packets", … */

struct content_decoder;

/* A message of the two. */
struct captured_message {
	struct buffer headers; /* name NUL value NUL …, names in lower case, in their order; trailers, too */
	struct buffer body;
	struct content_decoder *decoder; /* NULL: the body is not encoded */
	int64_t wire_bytes;              /* the length of the body as it was sent */
	bool undecoded;                  /* it has an encoding that was not removed */
};

struct captured {
	struct captured *next, *before; /* for the list of whoever reads the protocol */
	int64_t number;                 /* by the start, from 0, over the whole capture */
	struct packet_end client, server;
	int64_t connection; /* number of its connection, from 0 */
	bool reused;        /* the connection had carried a request before */
	int64_t http;       /* 2; IPF_ABSENT: 1.x */
	int32_t stream;     /* HTTP/2's id */

	struct buffer method, target; /* the target has the query */
	struct captured_message request, answer;
	struct record_read *reads; /* the answer's body's */
	size_t reads_count, reads_cap;
	int64_t status; /* the last one; IPF_ABSENT: none */
	int64_t start_ns, sent_ns, first_byte_ns, end_ns;
	bool asked;              /* the whole request was seen */
	enum record_error error; /* how it ended; RECORD_OK: with the whole answer */
	const char *why;         /* the text of the error: constant; NULL: none */
	enum capture_damage damage;
	uint64_t stream_error; /* HTTP/2: the code with which it was reset */
};

/* The memory of all exchanges, and its limit: beyond it the bodies of an exchange are dropped when they grow
 * (DAMAGE_TOO_LARGE). */
struct captured_memory {
	size_t used, limit;
	size_t body_most; /* the limit of one body */
};

struct captured *captured_new(void);                                    /* NULL: out of memory */
void captured_free(struct captured *x, struct captured_memory *memory); /* NULL is fine */

/* Do its times follow each other? */
bool captured_times_are_in_order(const struct captured *x);
/* A worse damage replaces a lesser one. */
void captured_damaged(struct captured *x, enum capture_damage damage);
/* Notes a header or trailer of one of its messages. */
void captured_header(struct captured_message *m, struct slice name, struct slice value);
/* The first header of this name, in upper or lower case; absent: there is none. */
struct slice captured_header_value(const struct captured_message *m, const char *name);
/* Steps through the headers: *at begins as 0. False: there are no more. */
bool captured_header_next(const struct captured_message *m, size_t *at, struct slice *name, struct slice *value);
/* Forgets the headers of an interim answer. */
void captured_headers_forget(struct captured_message *m);
/* The headers have ended: the body is decoded by its Content-Encoding. False: out of memory. */
bool captured_body_begins(struct captured_message *m);
/* Bytes of the request's body. False: out of memory. */
bool captured_request_body(struct captured *x, struct slice bytes, struct captured_memory *memory);
/* Bytes of the answer's body: one read of this time, even if they are several pieces. */
bool captured_answer_body(struct captured *x, struct slice bytes, int64_t t_ns, struct captured_memory *memory);

#endif
