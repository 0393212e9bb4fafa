/* The thread that reads ahead: takes what comes next from the plan, renders its body and puts it into the lane's queue,
 * as long as there is room. The engine fetches. Later turns of sessions come without a body (job->deferred) and are
 * rendered when the engine orders it, so that a long conversation is not held once for each of its turns.
 */
#ifndef IPF_FEEDER_H
#define IPF_FEEDER_H

#include "job/run_counters.h"
#include "body/history.h"
#include "run/arrival_reader.h"
#include "job/queue.h"
#include "body/body_renderer.h"
#include "endpoint/endpoint.h"

#include <pthread.h>

struct feeder;

/* All borrowed; jobs are made of those in `spare`, see job.h; `history` is NULL where later turns repeat the trace's
 * answers; it, the renderer and the plan are the feeder's alone from start to stop. */
int feeder_start(struct feeder **feeder, struct arrival_reader *plan, struct renderer *renderer,
                 const struct endpoint *target, bool streamed, struct history *history, struct run_counters *gauges,
                 struct queue *spare, struct ipf_error *err);
/* Ends the thread and frees what was not fetched. The plan and its error (IPF_OK: none) are the caller's again. NULL is
 * fine. */
void feeder_stop(struct feeder *f, struct ipf_error *err);

/* Until the first requests are rendered, or the end or an error came before that. -1: an error that ends the run before
 * it began (err), or a signal on `signal_fd` (err stays IPF_OK). */
int feeder_wait(struct feeder *f, int signal_fd, struct ipf_error *err);

/* For the engine's thread: the lane's next job; NULL: none now (*ended: and never more). After a NULL, `wake_fd`
 * becomes readable when there is one. */
struct job *feeder_fetch(struct feeder *f, size_t lane, bool *ended);
/* For the engine's thread: to be rendered now (a deferred job, once). Until job->rendered it must not be touched or
 * freed. false: too many at once, try again. */
bool feeder_order(struct feeder *f, struct job *job);
/* For the thread that sent it, before it gives the job away: it has ended, and what it was answered may belong into the
 * next turn. */
void feeder_answered(struct feeder *f, const struct job *job);
/* Has it been rendered? After a false, `wake_fd` becomes readable when it is. */
bool feeder_rendered(struct feeder *f, struct job *job);
int feeder_wake_fd(const struct feeder *f);
pthread_t feeder_thread(const struct feeder *f);

#endif
