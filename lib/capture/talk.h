/* The interface of the readers of protocols: a talk is the HTTP of one TCP connection, of which a reader gets the bytes
 * of both sides in order.
 *
 *     void *talk = http1_talk.open(&context, &about);
 *     switch (http1_talk.bytes(talk, &bytes, &err)) …
 *     http1_talk.end(talk, &end, &err);
 *     http1_talk.close(talk);
 *
 * A reader calls `ended` of the context for each exchange, once, when nothing more can come of it.
 */
#ifndef IPF_CAPTURE_TALK_H
#define IPF_CAPTURE_TALK_H

#include "capture/captured.h"
#include "capture/tcp.h"

/* All connections share it. */
struct talk_context {
	struct captured_memory memory;
	int64_t exchanges;              /* begun so far */
	size_t streams, stream_headers; /* HTTP/2: open ones, and bytes of their headers */
	/* Takes the exchange over. 0 or -1. */
	int (*ended)(void *data, struct captured *x, struct ipf_error *err);
	void *data;
	bool snapped; /* bytes that are lost now were cut by the capture */
};

/* One connection. */
struct talk_about {
	const struct tcp_connection *tcp;
	int64_t number;    /* the connection's, from 0 */
	int64_t exchanges; /* begun on it */
	bool began_before; /* its beginning is not in the capture */
};

enum talk_result {
	TALK_MORE,
	TALK_OTHER,    /* it is no such protocol (any more): further bytes are not wanted */
	TALK_UPGRADED, /* to h2c: *used bytes were taken, the rest is HTTP/2 */
	TALK_FAILED,   /* err is set */
};

/* The bytes of one side, or a part of them. */
struct talk_bytes {
	enum tcp_side from;
	struct slice bytes;
	int64_t t_ns;
	size_t used; /* set by the reader if it returns TALK_UPGRADED */
};

/* How the connection ended, for exchanges that have not. */
struct talk_end {
	enum record_error error; /* RECORD_OK: by damage */
	enum capture_damage damage;
	const char *why; /* constant */
	int64_t t_ns;
};

struct talk_reader {
	/* Both are borrowed. NULL: out of memory. */
	void *(*open)(struct talk_context *context, struct talk_about *about);
	/* The next bytes of a side. */
	enum talk_result (*bytes)(void *talk, struct talk_bytes *bytes, struct ipf_error *err);
	/* Bytes of a side that are not in the capture: TALK_MORE, TALK_OTHER or TALK_FAILED. */
	enum talk_result (*lost)(void *talk, enum tcp_side from, uint64_t len, int64_t t_ns, struct ipf_error *err);
	/* A side has finished; 0 or -1. */
	int (*finished)(void *talk, enum tcp_side from, int64_t t_ns, struct ipf_error *err);
	/* The connection has ended, and with it all exchanges; 0 or -1. */
	int (*end)(void *talk, const struct talk_end *end, struct ipf_error *err);
	void (*close)(void *talk); /* tells nothing; NULL is fine */
};

/* The ends of the two sides, for exchanges that have not ended. */
struct talk_closing {
	int64_t left_ns; /* when the client finished, before the server did; IPF_ABSENT: it did not */
	bool server_finished;
};

/* Notes why an exchange ended before its answer did. A client that leaves first has hung up, unless it went on reading.
 * Returns when it ended: never before its last byte. */
int64_t talk_end_exchange(struct captured *x, const struct talk_closing *closing, const struct talk_end *end);

/* A new exchange of the connection, whose first byte came at t_ns. NULL: out of memory. */
struct captured *talk_begin(struct talk_context *context, struct talk_about *about, int64_t t_ns);

#endif
