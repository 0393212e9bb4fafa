/* Carries out a schedule against a twin, in virtual time and one thread: the clock jumps from one thing that happens to
 * the next. The same dispatcher decides the starts as against a server.
 *
 *     if (twin_driver_open(&driver, &options, &err) < 0) …
 *     twin_driver_run(driver, &result, &err);           // -1: a record could not be written, or memory ran out
 *     twin_driver_close(driver);
 *
 * At a moment, first the server's results arrive, then clients give up, then requests start.
 */
#ifndef IPF_TWIN_DRIVER_H
#define IPF_TWIN_DRIVER_H

#include "requests/arrival_reader.h"
#include "stream/stream.h"
#include "predict/predict.h"
#include "predict/twin_prompt.h"
#include "predict/twin_request.h"
#include "run/balance.h"
#include "run/records_header.h"
#include "run/run_counters.h"
#include "twin/twin_server.h"
#include "verdict/failure_tally.h"

struct twin_driver;

/* All borrowed. */
struct twin_driver_options {
	const struct predict_options *options;
	const struct twin *twin;
	struct arrival_reader *arrivals;
	struct twin_server *server;
	struct twin_prompt *prompts;
	struct balance *balance;
	struct cancels cancels;
	struct stream_writer *writer;
	const char *model;    /* --model, as JSON; NULL: that of the trace */
	const char *fallback; /* … where the trace has none; NULL */
	int64_t memory_most;  /* bytes of requests that have been read and have not ended */
	struct run_counters *counters;
	struct failure_tally *failures;
	/* Called now and then, at this moment of the run. */
	void (*show)(void *data, int64_t now_ns);
	void *data;
};

struct twin_driver_result {
	struct run_result run;    /* free its stage times; input: its fault, while the run went on with the rest */
	char stopped[128];        /* run.stopped points here */
	int64_t end_ns;           /* when the last thing happened */
	int64_t most_sequences;   /* in flight at a replica at once */
	int64_t most_step_tokens; /* one prompt's uncached part */
	int64_t most_kv_blocks;   /* for prompts and answers in flight at a replica at once, shared ones counted twice */
};

int twin_driver_open(struct twin_driver **driver, const struct twin_driver_options *options, struct ipf_error *err);
int twin_driver_run(struct twin_driver *d, struct twin_driver_result *result, struct ipf_error *err);
void twin_driver_close(struct twin_driver *d); /* NULL is fine */

#endif
