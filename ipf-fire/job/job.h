/* A request on its way through the program: made and rendered by the feeder, sent by the engine, written by the
 * recorder. It belongs to exactly one of them at a time and is handed on through the queues.
 */
#ifndef IPF_JOB_H
#define IPF_JOB_H

#include "buffer.h"
#include "dispatch/dispatch.h"
#include "job/deferred_request.h"
#include "job/queue.h"
#include "stream/record.h"
#include "stream/schedule.h"

#include <curl/curl.h>

struct job {
	struct schedule_arrival arrival; /* what the schedule says of it */
	int64_t *after;                  /* arrival.after points here */

	/* What the record repeats of the trace; the slices lie in `text`. */
	struct buffer text;
	struct slice id, session, model, slo;
	int64_t turn, input_tokens, output_tokens;

	/* What is sent. */
	struct buffer request;           /* the body, once `rendered` */
	bool deferred;                   /* a later turn of a session: rendered when the one before it is under way */
	struct deferred_request *draft;  /* what it is rendered from; the feeder's from the order to the rendering */
	atomic_bool rendered;            /* the feeder sets it, and does not touch the job after that */
	struct buffer url;               /* its own, for each place one with a NUL after it; empty: the target's */
	struct curl_slist *headers_sent; /* its own; NULL: the target's */
	bool streamed;

	/* When, from t0; IPF_ABSENT where it did not happen. */
	int64_t due_ns, ready_ns, slot_ns, pool_ns;
	int64_t start_ns, dns_ns, connect_ns, tls_ns, connected_ns, sent_ns, left_ns, first_byte_ns, end_ns;

	/* What came. */
	int64_t target; /* which of several places it went to; IPF_ABSENT */
	int64_t connection, http, refused, status;
	bool reused, resumed, stale;
	enum record_error error;
	char error_text[256];  /* "" where there is none */
	struct buffer headers; /* members of a JSON map */
	struct record_read *reads;
	size_t reads_count, reads_cap;
	struct buffer body;

	/* The engine's. */
	struct job *next; /* in a list that it keeps */
	struct dispatch_node *ticket;
	struct turn *remembered; /* the history's; NULL: of no session, or the trace's answers will do */
	int thread;              /* which sends it */
	bool ordered;            /* the feeder has been asked to render it */
	int64_t request_bytes;   /* kept after the body was released */
	int64_t prompt_bytes;    /* of the prompt's text, where the answer begins with it; IPF_ABSENT */
};

struct job *job_new(void); /* all absent; NULL: out of memory */
void job_free(struct job *job);

/* Jobs that have been recorded, for requests to come: the memory they have, as far as it is little, is used again
 * rather than handed from one thread to another by way of the C library. Of one thread that puts and one that takes. */
void job_put_back(struct queue *spare, struct job *job);
struct job *job_take(struct queue *spare); /* as job_new */
void jobs_free(struct queue *spare);       /* and the queue; NULL is fine */
/* The body that was sent is no longer needed. */
void job_sent(struct job *job);

/* The memory that it holds, nearly. */
size_t job_bytes(const struct job *job);

/* Bytes of the body came: added to the last read where that came at the same time. Reads never go back in time. -1: out
 * of memory. */
int job_received(struct job *job, const void *data, size_t len, int64_t t_ns, int64_t own_ns);

/* As a record; its slices are good as long as the job stands still. `headers` is filled with the map and used by the
 * record. */
void job_to_record(const struct job *job, struct buffer *headers, struct record *record);

#endif
