/* The messages of sessions with the server's own answers (--history live).
 *
 * It belongs to the feeder's thread, which adds every request of a session it makes. When a request has ended, the
 * thread that sent it hands over the response; the turn after it is rendered then:
 *
 *     history_head(h, lane);                               // a session begins: the one before has no more turns
 *     history_add(h, job, lane, deferred);                 // made
 *     if (history_order(h, job)) render(job);              // ordered: now, or …
 *     while ((job = history_next(h))) render(job);         // … once the answer that it waits for is there
 *         history_request(h, job, &context)                // what to render
 *
 * The text of an answer is used, and its tool calls (live_answer.h), and the reasoning if requested; where prompts are
 * token ids, those of the answer. If a turn failed or nothing of its answer can be used, the answer in the trace is; if
 * the trace has none, the turn is left out of the later ones.
 *
 * A turn continues one turn: the last of its session among those it waits for. Several turns may continue the same one
 * (branches), and each of them has its messages, its answer, and its own messages. Answers are kept until the next
 * session of the lane has been read, since only then no further branch can come, and up to HISTORY_BYTES; beyond it,
 * continued ones are dropped, then the oldest. A turn continuing a dropped one is rendered with the trace's answers. A
 * turn after an answer without enough memory is skipped as well.
 */
#ifndef IPF_HISTORY_H
#define IPF_HISTORY_H

#include "body/live_answer.h"
#include "job/job.h"

struct history;

#define HISTORY_BYTES (INT64_C(256) << 20)

/* Turns sent, by the source of the answer in their history. */
struct history_counts {
	int64_t live;                    /* the server's answer */
	int64_t recorded;                /* the answer in the trace */
	int64_t server;                  /* kept by the server: the turn names the answer it continues */
	int64_t left_out;                /* nothing: the turn failed, and the trace has no answer */
	struct live_answer_counts calls; /* the live ones' */
};

struct history_options {
	const struct api *api;     /* borrowed */
	bool by_server;            /* it keeps the messages of sessions, and a turn names the answer before it */
	bool reasoning;            /* goes back with the answers */
	struct memory_use *memory; /* counts the kept memory; borrowed */
};

struct history *history_new(const struct history_options *options); /* NULL: out of memory */
void history_free(struct history *h);                               /* NULL is fine; waiting jobs are forgotten */

/* A request waiting for no other one was read in a lane (arrival_reader.h): later requests continue no session read
 * before it (ipf-schedule(5)). This happens at the end of the lane too. */
void history_head(struct history *h, size_t lane);
/* Adds a request of a session. Takes `request` over, also if it fails (-1: out of memory). */
int history_add(struct history *h, struct job *job, size_t lane, struct deferred_request *request);
/* Can it be rendered now? If not, history_next returns it later. */
bool history_order(struct history *h, struct job *job);
/* The next job whose awaited answer has come; NULL: none now. */
struct job *history_next(struct history *h);
/* The request of a job rendered now, which may have other messages than in the trace, and the messages of the turns
 * before it, or the id of the answer it continues, as JSON (valid until the next call). Sets job->continues. */
const struct trace_request *history_request(struct history *h, struct job *job, struct slice *context,
                                            struct slice *previous);

/* The job has ended. For the thread that sent it, any of several. Copies its body; parses nothing. */
void history_ended(struct history *h, const struct job *job);

struct history_counts history_counts(const struct history *h); /* counts for ended turns */

#endif
