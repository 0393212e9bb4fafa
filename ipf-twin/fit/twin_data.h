/* The requests of a run with the times of their events, from which the steps of its server are found.
 *
 *     struct twin_data data;
 *     if (twin_data_read(&data, &run, NULL, &err) == 0) … data.requests[i], data.events[k]
 *     twin_data_release(&data);
 *
 * With the trace of the run (workload), the common beginnings of prompts are known as well: twin_data_blocks.
 *
 * Parts of a run, and its servers, follow each other; no step has events of two of them.
 */
#ifndef TWIN_TWIN_DATA_H
#define TWIN_TWIN_DATA_H

#include "results/workload.h"

/* Longer runs are read up to the first requests that have so many events. */
#define TWIN_EVENTS_MOST (INT64_C(1) << 23)
/* And of rows without events: the first so many, of which a replay takes half a gigabyte. */
#define TWIN_ROWS_MOST (INT64_C(1) << 19)

struct measured_request {
	int64_t start_ns, first_ns, last_ns; /* on the clock of its part, of shards on that of the first */
	int64_t connect_ns;                  /* from rows: the wait for its connection, before start_ns */
	int64_t row;                         /* its number in the run */
	int64_t input_tokens;                /* the prompt's */
	int64_t cached_tokens;               /* cached ones, as the server says; 0 also without its count */
	int64_t output_tokens;
	int64_t events;
	uint32_t node;   /* its prompt's in the tree; PREFIX_ROOT: not known */
	int32_t stage;   /* a number for each stage of each part */
	int32_t session; /* -1: of none */
	int32_t server;  /* a number for each target and replica of each part */
};

struct measured_event {
	int64_t t_ns;
	int32_t request; /* number in the list */
	int32_t order;   /* which of the request's events it is, from 0 */
	int32_t tokens;  /* 0: not known */
};

struct twin_data {
	struct measured_request *requests; /* sorted by server and start */
	int64_t request_count, request_cap;
	struct measured_event *events; /* sorted by server and time */
	int64_t event_count, event_cap;
	int32_t sessions;               /* numbers of sessions are below it */
	int32_t servers_each;           /* numbers of servers of a part: those of part k are from k times this on */
	int32_t stages;                 /* numbers of stages are below it */
	int64_t failed;                 /* requests left out since they failed */
	int64_t left_out;               /* and because the run has more than the events or rows above */
	bool cached_reported;           /* does the server report its prefix cache's hits? */
	bool tokens_known;              /* all events together */
	const struct prefix_tree *tree; /* the trace's; borrowed; NULL: not known */
	double factor;                  /* tokens of the server for each token of the tree */
};

/* `workload` may be NULL. -1: IPF_INPUT, the run lacks something, which the message names; IPF_SYSTEM. */
int twin_data_read(struct twin_data *data, const struct run_data *run, const struct workload *workload,
                   struct ipf_error *err);
/* The same from the rows alone: first_ns and last_ns are from TTFT and E2E, there are no events, and start_ns is when
 * the connection of a request was there. Shards of a run share their servers. */
int twin_data_read_rows(struct twin_data *data, const struct run_data *run, const struct workload *workload,
                        struct ipf_error *err);
/* The blocks of the prompt, in the order of the prompt: `add` is called with a hash of all tokens up to the end of each
 * KV_BLOCK tokens of the server, for whole blocks. -1: out of memory. */
int twin_data_blocks(const struct twin_data *data, const struct measured_request *request,
                     void (*add)(void *to, uint64_t hash), void *to);
void twin_data_release(struct twin_data *data);

#endif
