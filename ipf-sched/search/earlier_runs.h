/* The measurements of earlier runs: the stages of results files (ipf-results(5)) with their requests, from which a
 * sweep or a search continues.
 *
 *     struct earlier_runs runs = {0};
 *     if (earlier_runs_read(&runs, "run1.results.zst", &err) < 0) …
 *     runs.stages[0].rows[0].ok …
 *     earlier_runs_release(&runs);
 */
#ifndef IPF_EARLIER_RUNS_H
#define IPF_EARLIER_RUNS_H

#include "buffer.h"
#include "search/search_goal.h"
#include "seen_numbers.h"

#include <jansson.h>

struct earlier_request {
	int64_t start_ns, end_ns;
	int64_t latency_ns[LATENCY_COUNT]; /* from due if the request was due, else from start; IPF_ABSENT */
	int64_t client_lag_ns;             /* the client's part of it; 0 */
	bool ok;
	uint8_t error_kind; /* a failed request's, as verdict_kind_of */
	int16_t status;     /* HTTP's, if it was the error; 0 */
};

struct earlier_stage {
	char *file, *kind, *name;
	double rate;                  /* planned arrivals per second; NAN */
	int64_t users;                /* a closed stage's, or its requests in flight; IPF_ABSENT */
	bool sessions;                /* a user took whole sessions */
	bool followed;                /* it sent later turns of sessions */
	int64_t length_ns, stop_ns;   /* planned length, and planned end in the run; IPF_ABSENT */
	int64_t rest_ns;              /* how long its requests went on after that; 0 */
	int64_t copy;                 /* for all its requests; 0: the requests of the trace themselves */
	bool measured, copies;        /* copies: a replay's, which one the rows do not say */
	char *incomplete;             /* why part of the run is missing; NULL: it is complete */
	struct earlier_request *rows; /* in the order in which the requests ended */
	size_t count, cap;
	size_t late;                         /* rows the client itself started late … */
	size_t too_late;                     /* … and so late that the measurement is invalid (verdict.h) */
	size_t failed;                       /* rows of failed requests */
	size_t repeated;                     /* rows with a prompt an earlier row sent, also of an earlier run */
	int64_t input_tokens, cached_tokens; /* rows that have both */
	size_t not_streamed;                 /* successful responses in one piece: they have no first token and no gaps */
};

/* The requests sent from the last file's trace. */
struct sent_prompts {
	char trace_sha256[65];    /* ""; nothing is known */
	int64_t trace_requests;   /* its lines */
	struct seen_numbers seen; /* by schedule_prompt_number */
	int64_t next_copy;        /* the first copy of which no stage was */
};

struct earlier_runs {
	struct earlier_stage *stages;
	size_t count;
	int64_t spent_ns; /* the time of the runs, with that between them, as far as it was needed for starting the next */
	int64_t t0_unix_ns, run_ns; /* the last file's begin, IPF_ABSENT, and its duration */
	int64_t next_req; /* the request after the last one that the last file's schedule used; 0: no file was read */
	struct sent_prompts sent;
	json_t *headers; /* array: headers of the files, for the "from" of the schedule's header */
	json_t *digests; /* array: digests of the files, for the "from" of the schedule's trailer */
};

/* Adds the stages of one more results file. A cut file, belongs to a single shard or was read before is IPF_INPUT: part
 * of a stage shows nothing. A predicted run beside a measured one is refused as well. Release the runs also after an
 * error. */
int earlier_runs_read(struct earlier_runs *runs, const char *path, struct ipf_error *err);
void earlier_runs_release(struct earlier_runs *runs);

/* Was it a closed loop with a number of users or, with by_concurrency, of requests in flight? Without later turns of
 * sessions it was both. */
bool earlier_stage_is_closed(const struct earlier_stage *stage, bool by_concurrency);
/* Was the client late, so the verdict of a report is DOUBTFUL? Then the stage may show the client's limit. */
bool earlier_stage_client_late(const struct earlier_stage *stage);
/* Was the client so late that the verdict is INVALID? */
bool earlier_stage_client_failed(const struct earlier_stage *stage);
/* Appends the failures and their main reason, such as "86 % of 300 requests failed, most often http-status 503". */
void earlier_stage_describe_failures(const struct earlier_stage *stage, struct buffer *out);

#endif
