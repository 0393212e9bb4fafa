/* Reads and writes records: everything ipf-fire saw of each request. See ipf-records(5).
 *
 * All times are nanoseconds from the start of the run (t0); an absent one is IPF_ABSENT. Slices hold JSON verbatim,
 * texts with their quotes, unless a comment says otherwise.
 */
#ifndef IPF_RECORD_H
#define IPF_RECORD_H

#include "json/jdoc.h"
#include "stream/stream.h"

struct record_read {
	int64_t t_ns;   /* when the bytes arrived: the kernel's timestamp, or own_ns */
	int64_t bytes;  /* the body's, without the transfer encoding */
	int64_t own_ns; /* our clock at the read; equal to t_ns if there is no kernel timestamp */
};

enum record_error {
	RECORD_OK = 0,
	RECORD_CONNECT, /* name lookup failed, refused, unreachable, connect timeout */
	RECORD_TLS,
	RECORD_TIMEOUT,   /* --timeout, --first-token-timeout */
	RECORD_RESET,     /* the connection broke; with `stale`: a reused connection the server closed before it answered
	                   */
	RECORD_CUT,       /* the response ended before its Content-Length or last chunk */
	RECORD_CANCELLED, /* aborted by us at the end of the run */
	RECORD_HUNG_UP,   /* disconnected by us on purpose (--cancel): not a failure */
	RECORD_PROTOCOL,  /* not HTTP; "malformed" in the stream */
	RECORD_TOO_LARGE, /* cut by us: larger than --max-answer, or the largest when --memory was reached */
	RECORD_UNSEEN,    /* a part of it is not in the capture (ipf-prep capture): neither a failure nor an answer */
};

struct record {
	int64_t n, req, stage;
	int64_t copy;             /* which copy of the request, see schedule.h; absent: the request itself */
	struct slice id;          /* text, from the trace */
	struct slice session;     /* text */
	int64_t session_requests; /* for the first request of a session: how many it has; absent: one, or not known */
	int64_t turn;
	int64_t continues;  /* n of the request whose answer, as the server gave it, is in the prompt (--history live) */
	struct slice after; /* list: the n of the requests whose ends it waited for; absent: it waited for none */
	struct slice model; /* text: the requested model */
	int64_t asked_input_tokens; /* input_tokens of the trace */
	int64_t asked_output_tokens;
	int64_t inputs;        /* how many inputs it carries; absent: one prompt */
	int64_t asked_outputs; /* how many results it asks for; absent: one for each input */
	struct slice slo;      /* map */
	struct slice tags;     /* map or list, from the trace */
	struct slice media;    /* list of maps, from the trace */
	int64_t due_ns;   /* when the schedule wants it; a follower: end of its parents + wait; absent in a closed loop */
	int64_t ready_ns; /* due, parents ended, wait over: from now on only a slot or a connection can be missing */
	int64_t slot_ns;  /* when it got a slot; absent: the stage has none, or one was free at ready_ns */
	int64_t pool_ns;  /* when it got a connection of the pool; absent: it did not wait for one */
	int64_t start_ns, dns_ns, connect_ns, tls_ns, sent_ns, left_ns, first_byte_ns, end_ns;
	int64_t attempt_ns;     /* sent again (--retry): the start of the attempt recorded here; absent: the run, or the
	                         * client, ended it before that. start_ns is the first attempt's */
	struct slice attempts;  /* list: the earlier attempts, see record_attempt.h */
	int64_t retry_after_ns; /* how long the answer asks the client to wait */
	int64_t connected_ns;   /* HTTP/2: when it got a connection, or a stream of one */
	int64_t api;            /* index into the header's "apis"; absent: the first, or there is only one */
	int64_t target;         /* index into the header's "targets"; absent: there is only one */
	int64_t connection;     /* id, from 0 */
	bool reused;
	bool resumed;          /* the connection resumed the TLS session of an earlier one */
	int64_t http;          /* 2; absent: 1.x */
	int64_t stream_resets; /* HTTP/2 streams the server reset unprocessed, before the one that carried the request */
	int64_t stale_idle_ns; /* sent again, since the server had closed the kept connection on which it went first, and
	                           which had been idle for so long */
	int64_t status;        /* HTTP's; absent: no answer */
	enum record_error error;
	bool stale;
	struct slice error_text; /* plain bytes, not JSON */
	struct slice headers;    /* map: the requested response headers, names in lower case */
	bool streamed;           /* a streamed answer was requested */
	int64_t request_bytes;   /* length of the request's body */
	int64_t prompt_bytes;    /* length of the prompt in it, if answers of this API repeat the prompt */
	const struct record_read *reads;
	size_t reads_count;
	struct slice body; /* plain bytes, not JSON */
};

struct record_reader;

int record_reader_open(struct record_reader **reader, const char *path, struct ipf_error *err);
/* 1: a record, valid until the next call; 2: a `client` line, whose object *other is, as JSON; 3: a sample of a server,
 * *other is the line; 0: the end; -1. */
int record_reader_next(struct record_reader *reader, struct record *record, struct slice *other, struct ipf_error *err);
/* For lines coming from elsewhere: a reader without a stream, and the treatment of a line by record_reader_next. The
 * line must outlive the record. NULL: out of memory. */
struct record_reader *record_reader_new(void);
int record_reader_parse(struct record_reader *reader, struct slice line, struct record *record, struct slice *other,
                        struct ipf_error *err);
struct stream_reader *record_reader_stream(struct record_reader *reader);
/* The line of the latest record; valid as long as the record is. */
struct slice record_reader_line(const struct record_reader *reader);
void record_reader_close(struct record_reader *reader);

/* The start of the attempt whose answer is recorded: start_ns, but for a request sent again. IPF_ABSENT: it ended
 * before it was sent again. */
static inline int64_t record_sent_from(const struct record *record)
{
	return record->attempts.data ? record->attempt_ns : record->start_ns;
}

/* Sets all fields to absent. */
void record_init(struct record *record);
/* Renders a record as a body line into `line`, which is cleared first. A body that is not UTF-8, or consists mostly of
 * control characters, becomes "body_base64". */
void record_write(const struct record *record, struct buffer *line);
/* The same behind the bytes of `line`, however large the record is: each time it has grown by more than 128 KiB,
 * `grown` gets the growth, and may empty it. It returns 0, or -1, after which nothing more is appended: -1. */
int record_append(const struct record *record, struct buffer *line, int (*grown)(void *data, size_t bytes), void *data);
/* By the header of records: had sessions the server's own answers in the prompts of their later turns? */
bool record_history_is_live(const json_t *header);
/* "connect", "tls", …; NULL for RECORD_OK. */
const char *record_error_name(enum record_error error);

#endif
