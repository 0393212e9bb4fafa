/* A request against a twin, from its line of the schedule to its line of the records. */
#ifndef IPF_TWIN_REQUEST_H
#define IPF_TWIN_REQUEST_H

#include "deadline_heap.h"
#include "dispatch/dispatch.h"
#include "requests/arrival_reader.h"
#include "stream/record.h"
#include "twin/twin_server.h"

/* Tokens coming at once. */
struct twin_event {
	int64_t t_ns, tokens;
};

struct twin_request {
	struct twin_answer answer;      /* first: the server hands it back */
	struct deadline_entry deadline; /* when the client gives up */
	struct dispatch_node *ticket;
	struct twin_request *next; /* in a list of spare ones */
	/* Members that the record repeats; the slices point into `text`. */
	struct buffer text;
	struct slice id, session, model, slo, tags, after;
	int64_t n, req, stage, copy, session_requests, turn, input_tokens, output_tokens, hang_up_ns;
	bool follows;    /* it waits for others */
	bool refused;    /* it is too long, and gets an answer saying so */
	int64_t counted; /* bytes the driver counts for it */
	int64_t held;    /* tokens the driver counts as in the cache */
	int64_t due_ns, ready_ns, slot_ns, start_ns, end_ns;
	int64_t status; /* IPF_ABSENT: no answer */
	enum record_error error;
	char error_text[128];
	struct twin_event *events;
	size_t events_count, events_cap;
	struct buffer refusal; /* the body of an answer that is one */
};

/* The source of a line of the records, one request after another. Zero-initialise. */
struct twin_scratch {
	struct buffer body;
	struct record_read *reads;
	size_t reads_cap;
};
void twin_scratch_release(struct twin_scratch *scratch);

/* Takes one from the spare ones, or makes one. NULL: out of memory. */
struct twin_request *twin_request_take(struct twin_request **spare);
/* It has been recorded: its memory is used again, unless it is large. */
void twin_request_recycle(struct twin_request **spare, struct twin_request *q);
void twin_request_free(struct twin_request *q); /* NULL is fine */
void twin_requests_free(struct twin_request **spare);

/* Copies the members that the record repeats. False: out of memory. */
bool twin_request_describe(struct twin_request *q, const struct arrival_request *from, struct slice model);
/* Its memory, approximately: text, blocks and answer. */
int64_t twin_request_bytes(const struct twin_request *q);
/* As job_answer_bytes: the body, and the times of the reads. */
int64_t twin_request_answer_bytes(const struct twin_request *q);

/* The new tokens came at t_ns. False: out of memory. */
bool twin_request_tokens(struct twin_request *q, int64_t t_ns);
/* The server refuses it: an answer with this status and message. False: out of memory. */
bool twin_request_refuse(struct twin_request *q, int64_t t_ns, int64_t status, const char *message);

/* How it is recorded. */
struct twin_record_options {
	int64_t target;       /* IPF_ABSENT if there is only one */
	bool cache;           /* the counts have the cached tokens */
	int64_t draft_tokens; /* drafted in each step; 0: none */
};
/* Its body has a line for each event, and one with the counts after the last token. The slices are valid until the next
 * call for the scratch, and while the request does not change. False: out of memory. */
bool twin_request_record(const struct twin_request *q, const struct twin_record_options *options,
                         struct twin_scratch *scratch, struct record *record);

#endif
