/* The recording thread: writes ended jobs as records, and once a second a line about the program itself. However slow
 * the output is, the sending threads go on; unwritten records stay in memory.
 */
#ifndef IPF_RECORDER_H
#define IPF_RECORDER_H

#include "job/run_observer.h"
#include "run/client_stats.h"
#include "stream/stream.h"
#include "verdict/failure_tally.h"

#include <pthread.h>

struct recorder;

struct recorder_options {
	struct stream_writer *writer;       /* the recorder's alone from start to stop */
	bool pipe;                          /* flush at once, and check whether it is still read */
	int output_fd;                      /* to check; -1: unknown */
	int64_t zero_ns;                    /* the run's start */
	struct client_stats_options client; /* for the lines about the program */
	int engine_fd;                      /* an eventfd waking the engine when the output is gone */
	struct run_counters *counters;
	struct memory_use *memory;
	struct failure_tally *failures;      /* the recorder's alone from start to stop; warm-up requests are not in it */
	const struct api *api;               /* to find the end mark of an answer whose transfer failed */
	struct spare_jobs *spare;            /* takes the jobs written */
	const struct run_observer *observer; /* NULL: none */
	bool show;                           /* show each response on standard error, too */
	bool show_messages;                  /* responses are gRPC messages */
};

int recorder_start(struct recorder **recorder, const struct recorder_options *options, struct ipf_error *err);
/* All jobs are in the queues: writes the rest. The descriptor it returns is readable when it is done. */
int recorder_finish(struct recorder *r);
/* Waits for it, and ends the thread. The writer is the caller's again. err: the output's error (IPF_CLOSED: its reader
 * is gone). Returns the figures about the program over the whole run; new; NULL: unknown. NULL is fine. */
json_t *recorder_stop(struct recorder *r, struct ipf_error *err);

#endif
