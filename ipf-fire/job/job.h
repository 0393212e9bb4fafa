/* A request on its way through the program: the feeder makes and renders it, a sender sends it, the recorder writes it.
 * It belongs to exactly one of them at a time, and is handed on through queues.
 */
#ifndef IPF_JOB_H
#define IPF_JOB_H

#include "buffer.h"
#include "dispatch/dispatch.h"
#include "requests/deferred_request.h"
#include "job/memory_use.h"
#include "job/queue.h"
#include "job/request_body.h"
#include "deadline_heap.h"
#include "retry_after.h"
#include "stream/record.h"
#include "stream/schedule.h"

#include <curl/curl.h>

/* The attempts before the one the current one. */
struct job_attempts {
	struct job *job;
	struct buffer list; /* elements of a JSON list */
	int64_t count;
	int64_t first_start_ns, first_pool_ns; /* the first attempt's */
	int64_t attempt_ns;                    /* start of the last one of all, once the request has ended */
	struct deadline_entry again;           /* when it is sent again */
};

struct job {
	/* Members for each read of the answer, in one line of the cache: job_received, job_count_growth. */
	_Alignas(64) struct buffer body;
	struct record_read *reads;
	uint32_t reads_count, reads_cap;
	int64_t first_byte_ns;
	size_t answer_counted; /* the memory of body and reads, as of the last count */

	struct schedule_arrival arrival; /* the line of the schedule */
	int64_t *after;                  /* arrival.after points here */

	/* Repeated members of the trace; the slices point into `text`. */
	struct buffer text;
	struct slice id, session, model, slo, tags, media;
	int64_t turn, input_tokens, output_tokens, hang_up_ns;
	int64_t continues; /* n of the request whose answer of this run it repeats */
	int64_t inputs, asked_outputs;

	/* The request. */
	struct request_body request;     /* once `rendered` */
	struct deferred_request *source; /* the source of a deferred body; the feeder's from order to rendering */
	char *url;                       /* its own URL for each target, each with a NUL after it; NULL: the endpoint's */
	struct curl_slist *headers_sent; /* its own headers; NULL: the endpoint's */
	bool streamed;
	bool deferred;        /* a later turn of a session: rendered once the turn before it has started */
	atomic_bool rendered; /* set by the feeder, which does not touch the job afterwards */

	/* When, from t0; IPF_ABSENT if it did not happen. */
	int64_t due_ns, ready_ns, slot_ns, pool_ns;
	int64_t start_ns, dns_ns, connect_ns, tls_ns, connected_ns, sent_ns, left_ns, end_ns; /* and first_byte_ns */

	/* The response. */
	int64_t target; /* the index of the target it was sent to, if there are several; else IPF_ABSENT */
	int64_t connection, http, stream_resets, status;
	int64_t stale_idle_ns; /* sent again: how long the kept connection had been idle on which it went first */
	bool reused, resumed, stale;
	enum record_error error;
	int headers_count;        /* members of `headers` */
	char *error_text;         /* NULL: none */
	struct buffer headers;    /* members of a JSON map */
	int64_t date_s, date_ns;  /* the Date header, in seconds since the epoch, and when it came */
	struct retry_after asked; /* to wait, by the headers of an unsuccessful response */
	int64_t retry_after_ns;   /* the same once it has ended */

	/* Sent again (--retry): the answers above are those of the last attempt. */
	struct job_attempts *earlier; /* NULL: it was not sent before */

	/* For its modules. */
	struct job *next; /* in a job_list */
	struct dispatch_node *ticket;
	struct history_turn *history_turn; /* NULL: without a session, or the answers in the trace are used */
	int thread;                        /* which sends it */
	bool unmeasured;                   /* its stage is not measured */
	bool first;                        /* among the first started requests (run_counters.h) */
	bool ordered;                      /* the feeder has been asked to render it */
	bool leaving;                      /* counted in memory_use.leaving */
	int64_t counted_bytes;             /* the part in memory_use.taken */
	int64_t growing_bytes;             /* … and in memory_use.growing, while it is in flight */
	int64_t request_bytes;             /* kept after the body is released */
	int64_t prompt_bytes;              /* length of the prompt as text, if responses begin with it; else IPF_ABSENT */
};

static inline bool job_is_warmup(const struct job *job)
{
	return job->arrival.n >= SCHEDULE_WARMUP_FIRST_N;
}

struct job *job_new(void); /* everything absent; NULL: out of memory */
void job_free(struct job *job);

void job_reset(struct job *job); /* as job_new, but for its small buffers */

/* It will be used soon: prefetches its first members into the cache. NULL is fine. */
static inline void job_prefetch(const struct job *job)
{
	for (size_t at = 0; job && at < sizeof *job; at += 64)
		__builtin_prefetch((const char *)job + at, 1);
}

/* How often it was sent before. */
static inline int64_t job_attempts_count(const struct job *job)
{
	return job->earlier ? job->earlier->count : 0;
}
/* May it be sent again? Makes job->earlier. false: out of memory. */
bool job_may_repeat(struct job *job);
/* Did the transfer fail within a possibly complete answer? Its body tells. */
bool job_broke_within_answer(const struct job *job);
/* Then it will, after wait_ns: its answer becomes an earlier attempt, and the job is as if it had not started. */
void job_attempted(struct job *job, int64_t wait_ns);
/* It has ended for good: start_ns and pool_ns become those of the first attempt. */
void job_attempts_end(struct job *job);
/* When it was started first, while it is in flight. */
static inline int64_t job_first_start(const struct job *job)
{
	return job_attempts_count(job) ? job->earlier->first_start_ns : job->start_ns;
}

/* Releases the body sent. `reuse`: a little memory is kept, for its next request. */
void job_sent(struct job *job, bool reuse);

/* How it ended, and why: at most 255 bytes of the text. */
void job_fail(struct job *job, enum record_error error, const char *why);

/* The memory it takes, approximately. */
size_t job_bytes(const struct job *job);

/* The memory of its answer: the bytes of the body, and the times of the reads. --max-answer limits this. */
int64_t job_answer_bytes(const struct job *job);

/* Counts the memory it takes now, instead of the amount counted before, once it has ended or before it starts. Each
 * thread counts in its own part. */
void job_count_memory(struct job *job, struct memory_use *memory, size_t sender);
/* The same while it is in flight. Does it take more than before? */
bool job_count_growth(struct job *job, struct memory_use *memory, size_t sender);
/* Its answer was cut. */
void job_leaves(struct job *job, struct memory_use *memory, size_t sender);
/* It has been recorded: for the recorder. */
void job_uncount_memory(struct job *job, struct memory_use *memory);

/* The places where job_received will put the next bytes are fetched into the cache. */
static inline void job_prefetch_ends(const struct job *job)
{
	if (job->body.data)
		__builtin_prefetch(job->body.data + job->body.len, 1);
	if (job->reads_count)
		__builtin_prefetch(&job->reads[job->reads_count], 1);
}

/* Appends bytes of the response. They are added to the last read if it has the same time; reads never go back in time.
 * -1: out of memory. */
int job_received(struct job *job, const void *data, size_t len, int64_t t_ns, int64_t own_ns);

/* The parts of a record. */
struct job_record_parts { /* zero-initialise */
	struct buffer headers, attempts, after;
};
void job_record_parts_release(struct job_record_parts *parts);
/* Fills in a record, whose slices are valid while the job and the parts do not change. */
void job_to_record(const struct job *job, struct job_record_parts *parts, struct record *record);

#endif
