/* The thread that writes: takes what has ended, renders it as a record and writes it, with a line about ourselves each
 * second. However slow the output is, the engine goes on; what waits for it stays in memory.
 */
#ifndef IPF_RECORDER_H
#define IPF_RECORDER_H

#include "run/client_stats.h"
#include "job/job.h"
#include "stream/stream.h"

#include <pthread.h>

struct recorder;

struct recorder_options {
	struct stream_writer *writer;       /* the recorder's alone from start to stop */
	bool pipe;                          /* written through at once; and is it still read? */
	int output_fd;                      /* whose reader may go away; -1: unknown */
	int64_t zero_ns;                    /* the run's start */
	struct client_stats_options client; /* what is told about ourselves */
	int engine_fd;                      /* an eventfd to wake the engine when the output is gone */
	struct run_counters *gauges;
	struct queue *spare; /* takes the jobs that are written */
	bool show;           /* each record on standard error as well */
	bool show_messages;  /* whose body is messages of gRPC */
};

int recorder_start(struct recorder **recorder, const struct recorder_options *options, struct ipf_error *err);
/* The engine has put its last job: what is left is written. The descriptor that it returns is readable when that is
 * done. */
int recorder_finish(struct recorder *r);
/* Waits for that, and ends the thread. err: what went wrong with the output (IPF_CLOSED: nobody
 * reads). The writer is the caller's again. NULL is fine. What it returns is new: what the lines about ourselves come
 * to over the whole run; NULL: not known. */
json_t *recorder_stop(struct recorder *r, struct ipf_error *err);

#endif
