/* What a session has said so far, with the server's own answers in it (--history live).
 *
 * The feeder's thread keeps one of these. It tells of every request of a session that it makes; each, once it has
 * ended, comes back from the thread that sent it with what the server answered; and a later turn is rendered when the
 * turn before it has:
 *
 *     history_add(h, job, draft);                          // made
 *     if (history_order(h, job)) render(job);              // wanted: now, or when …
 *     while ((job = history_next(h))) render(job);         // … the answer has come that it waited for
 *         history_context(h, job)                          // the messages before its own
 *
 * What is put in is the answer's text, without its reasoning and calls of tools. A turn that failed, or has no text, is
 * given the trace's answer; where the trace has none, it is left out of what comes after it. Answers that no turn has
 * asked for yet are held up to HISTORY_BYTES (the last turn of a session is such a one, and nobody knows); beyond that
 * the oldest are let go, and a turn that asks for one all the same is rendered with the trace's answers.
 */
#ifndef IPF_HISTORY_H
#define IPF_HISTORY_H

#include "api/response.h"
#include "job/job.h"

struct history;

#define HISTORY_BYTES ((size_t)256 << 20)

/* How many turns that were sent, the whole of them, had what to stand for the turn before them. */
struct history_counts {
	int64_t live;     /* the server's answer */
	int64_t recorded; /* the trace's */
	int64_t left_out; /* nothing: it failed, and the trace has no answer */
};

/* `api` is borrowed. NULL: out of memory. */
struct history *history_new(const struct api *api);
void history_free(struct history *h); /* NULL is fine; those that still wait are forgotten */

/* A request of a session was made. `draft` is the history's from here on, also where memory is out (-1). */
int history_add(struct history *h, struct job *job, struct deferred_request *draft);
/* May it be rendered now? If not, history_next gives it later. */
bool history_order(struct history *h, struct job *job);
/* Those that waited for an answer that has come; NULL: no more for now. */
struct job *history_next(struct history *h);
/* Of a job that is rendered now: its request, and the messages of the turns before (good until the next call). */
const struct trace_request *history_request(struct history *h, struct job *job, struct slice *context);

/* From the thread that sent it, any of several: it has ended. Its body is copied; nothing is parsed. */
void history_ended(struct history *h, const struct job *job);

struct history_counts history_counts(const struct history *h); /* of those that have ended */

#endif
