/* The thread reading ahead: takes the next arrivals, renders their bodies, and puts them into the queues of their lanes
 * while there is room. The sending threads fetch them. Later turns of sessions come without a body (job->deferred) and
 * are rendered when ordered, so a long conversation is not held once for each of its turns.
 */
#ifndef IPF_FEEDER_H
#define IPF_FEEDER_H

#include "body/body_renderer.h"
#include "body/history.h"
#include "endpoint/endpoint.h"
#include "job/queue.h"
#include "job/spare_jobs.h"
#include "job/request_body.h"
#include "run/run_counters.h"
#include "requests/arrival_reader.h"

#include <pthread.h>

struct feeder;

/* All borrowed. Arrivals, renderer and history are the feeder's alone from start to stop. */
struct feeder_options {
	struct arrival_reader *arrivals;
	struct body_renderer *renderer;
	const struct endpoint *endpoint;
	const struct request_media *media;
	struct history *history; /* NULL: later turns repeat the answers in the trace */
	struct run_counters *counters;
	struct spare_jobs *spare; /* jobs are made from these (job/spare_jobs.h) */
	bool streamed;
	const char *run_id; /* for ids of distributed tracing in requests; "": they send none */
};

int feeder_start(struct feeder **feeder, const struct feeder_options *options, struct ipf_error *err);
/* Ends the thread and frees the rest of its jobs. err: the fault of the input (IPF_OK: nothing). NULL is fine.
 */
void feeder_stop(struct feeder *f, struct ipf_error *err);

/* Waits until the first requests are rendered, or the input has ended. -1: an error ended the run before it began
 * (err), or a signal came on `signal_fd` (err stays IPF_OK). */
int feeder_wait(struct feeder *f, int signal_fd, struct ipf_error *err);

/* When the first request is due, in the schedule's time, after feeder_wait and before anything is fetched. 0: at once,
 * or not known. */
int64_t feeder_first_due(const struct feeder *f);

/* ---- for the sending threads, one at a time ---- */

/* The lane's next job; NULL: none now, or none ever again (*ended). After NULL, `wake_fd` becomes readable when there
 * is one. */
struct job *feeder_fetch(struct feeder *f, size_t lane, bool *ended);
/* Orders a deferred job to be rendered now, once. It must not be touched or freed until job->rendered. false: too many
 * orders, try again. */
bool feeder_order(struct feeder *f, struct job *job);
/* Has it been rendered? After false, `wake_fd` becomes readable when it is. */
bool feeder_rendered(struct feeder *f, struct job *job);

/* ---- for any sending thread ---- */

/* The job has ended, and its answer may belong into the next turn. To be called before the job is handed on. */
void feeder_answered(struct feeder *f, const struct job *job);
int feeder_wake_fd(const struct feeder *f);
pthread_t feeder_thread(const struct feeder *f);

#endif
