/* Records: everything that ipf-fire saw of a request. See ipf-records(5).
 *
 * All times are nanoseconds from the run's start (t0); absent ones IPF_ABSENT. Slices of JSON keep their quotes.
 */
#ifndef IPF_RECORD_H
#define IPF_RECORD_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct record_read {
	int64_t t_ns;   /* event clock: when the bytes came */
	int64_t bytes;  /* of the body, as the API sees it (transfer encoding removed) */
	int64_t own_ns; /* our own clock at the read; equal to t_ns where the kernel gave no stamp */
};

enum record_error {
	RECORD_OK = 0,
	RECORD_CONNECT, /* name look-up, refused, unreachable, connect timeout */
	RECORD_TLS,
	RECORD_TIMEOUT, /* --timeout */
	RECORD_RESET, /* the connection broke (error->stale: a kept connection that the server closed before it answered) */
	RECORD_CUT,   /* the transfer ended short of its Content-Length or last chunk */
	RECORD_CANCELLED, /* by us, at the end */
	RECORD_HUNG_UP,   /* by us, as --cancel wanted it: nobody's failure */
	RECORD_PROTOCOL,  /* not HTTP: "malformed" in the results */
};

struct record {
	int64_t n, req, stage;
	int64_t copy;         /* the schedule's; absent: the request itself */
	struct slice id;      /* text: the trace's */
	struct slice session; /* text */
	int64_t turn;
	struct slice model;         /* text: what was asked for */
	int64_t asked_input_tokens; /* the trace's input_tokens */
	int64_t asked_output_tokens;
	struct slice slo; /* map */
	int64_t due_ns;   /* what the schedule says (a follower: end of its parents + wait); absent in a closed loop */
	int64_t ready_ns; /* due, parents ended, wait over: from here on only a slot can be missing */
	int64_t slot_ns;  /* when a slot became free for it; absent where the stage has none or one was free at ready */
	int64_t pool_ns;  /* when a connection of a pool came free for it; absent where it did not wait for one */
	int64_t start_ns, dns_ns, connect_ns, tls_ns, sent_ns, left_ns, first_byte_ns, end_ns;
	int64_t connected_ns; /* when it had a connection, or a stream of one; HTTP/2 only */
	int64_t target;       /* index into the header's "targets"; absent where there is but one */
	int64_t connection;   /* id, from 0 */
	bool reused;
	bool resumed;    /* the connection's TLS session was one of an earlier connection */
	int64_t http;    /* 2; absent: 1.x */
	int64_t refused; /* streams of HTTP/2 that the server did not take, before the one that it was sent on */
	int64_t status;  /* HTTP; absent without an answer */
	enum record_error error;
	bool stale;
	struct slice error_text; /* plain bytes (not JSON); decoded when read */
	struct slice headers;    /* map: response headers asked for, lower-case names */
	bool streamed;           /* was a streamed answer asked for */
	int64_t request_bytes;   /* of the request's body */
	int64_t prompt_bytes;    /* of the prompt in it, where the answer repeats it */
	const struct record_read *reads;
	size_t reads_count;
	struct slice body; /* plain bytes (not JSON); decoded when read */
};

struct record_reader;

int record_reader_open(struct record_reader **reader, const char *path, struct ipf_error *err);
/* 1: a record (good until the next call); 2: a `client` line, in *client as it stands (its object, JSON); 0: the end;
 * -1. */
int record_reader_next(struct record_reader *reader, struct record *record, struct slice *client,
                       struct ipf_error *err);
struct stream_reader *record_reader_stream(struct record_reader *reader);
void record_reader_close(struct record_reader *reader);

void record_init(struct record *record);
/* Renders a record as a body line into `line` (cleared first): the body as "body" where it is UTF-8, else base64 as
 * "body_base64". */
void record_write(const struct record *record, struct buffer *line);
/* "connect", "tls", …; NULL for RECORD_OK. */
const char *record_error_name(enum record_error error);

#endif
