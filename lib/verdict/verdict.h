/* Can this run be trusted? Four questions, asked before any number is shown; each answer is OK, DOUBTFUL or INVALID,
 * with a sentence and figures:
 *
 *   load_delivered    was the offered load delivered: everything started, on time?
 *   client_headroom   was the client the limit: CPU of the sending thread, its waits for it, how late it was, what it
 * ran out of, events that came several to a read? server_answers    did the server do what was asked: errors, streams
 * cut short, lengths not as asked? enough_samples    is there enough of it for the percentiles shown?
 *
 *     struct verdict *v = verdict_new();
 *     verdict_part(v, &schedule);                  // once a results stream (a shard or a repeat)
 *     verdict_row(v, &row);                        // every request …
 *     verdict_client(v, client);                   // … and every client line, in any order
 *     const struct verdict_finding *f = verdict_judge(v);
 *     if (f->status == VERDICT_INVALID) …
 *     verdict_free(v);
 *
 * Only measured stages count. Memory does not grow with the requests. When memory runs out, verdict_judge says so
 * (NULL).
 */
#ifndef IPF_VERDICT_H
#define IPF_VERDICT_H

#include "stream/result.h"
#include "stream/schedule.h"

#include <jansson.h>

enum verdict_status { VERDICT_OK, VERDICT_DOUBTFUL, VERDICT_INVALID };
enum verdict_question { VERDICT_LOAD, VERDICT_CLIENT, VERDICT_SERVER, VERDICT_SAMPLES, VERDICT_QUESTIONS };

/* The limits, in the order DOUBTFUL, INVALID. verdict_rules() says them in words. */
#define VERDICT_DELIVERED_DOUBTFUL 0.99 /* share of the scheduled load that was delivered, of the worst stage */
#define VERDICT_DELIVERED_INVALID  0.95
#define VERDICT_LATE_DOUBTFUL_MS   10 /* p99 of the client's own lateness */
#define VERDICT_LATE_INVALID_MS    100
#define VERDICT_SLOTS_DOUBTFUL     0.01 /* share of open-loop requests that waited for a slot, longer than … */
#define VERDICT_SLOT_WAIT_NS       1000000
#define VERDICT_CPU_DOUBTFUL       0.80 /* of one core, for the sending thread: p95 over the seconds of the run */
#define VERDICT_CPU_INVALID        0.95
#define VERDICT_LOOP_DOUBTFUL_MS   10 /* p95 over the seconds of each second's worst loop lag */
#define VERDICT_LOOP_INVALID_MS    100
#define VERDICT_WAIT_SAID                                                                                              \
	0.01 /* of the time, for the sending thread, ready to run and without a core: p95 over the seconds */
#define VERDICT_WAIT_DOUBTFUL 0.10
#define VERDICT_WAIT_INVALID  0.50
#define VERDICT_DELAY_DOUBTFUL_MS                                                                                      \
	10 /* p95 over the seconds of each second's p99 of our clock less the kernel's stamp at reads */
#define VERDICT_DELAY_INVALID_MS 100
#define VERDICT_FULL_DOUBTFUL    0.90 /* the queue of what is to be written */
#define VERDICT_STARVED_INVALID                                                                                        \
	0.01 /* share of the requests that could not be sent for want of files; any at all is DOUBTFUL */
#define VERDICT_REJECTED_DOUBTFUL  0.01 /* share of the kernel's stamps */
#define VERDICT_COALESCED_DOUBTFUL 0.05 /* share of content events that shared a read */
#define VERDICT_ERRORS_DOUBTFUL                                                                                        \
	0.01 /* share of failed requests, less those that we cancelled and stale connections;                              \
	        of those on which we did not hang up on purpose */
#define VERDICT_ERRORS_INVALID     0.05
#define VERDICT_CANCELLED_DOUBTFUL 0.01
#define VERDICT_LENGTH_DOUBTFUL    0.10 /* output tokens differ from those asked for by more than this share */

/* The error kinds of a result row, and "other" for what is none of them. */
enum { VERDICT_HUNG_UP = 8, VERDICT_CANCELLED, VERDICT_OTHER, VERDICT_KINDS };
extern const char *const verdict_kinds[VERDICT_KINDS];
size_t verdict_kind_of(struct slice error_kind); /* a JSON text, with its quotes */

struct verdict_check {
	const char *name; /* "load_delivered" */
	enum verdict_status status;
	char detail[768]; /* a sentence, without a full stop */
	json_t *figures;  /* object; owned by the verdict */
};

struct verdict_finding {
	enum verdict_status status; /* the worst of the checks */
	struct verdict_check checks[VERDICT_QUESTIONS];
};

struct verdict;

struct verdict *verdict_new(void); /* NULL: out of memory */
void verdict_free(struct verdict *v);

/* A stream begins whose schedule has these stages (copied; NULL or empty: unknown, every stage counts as measured). The
 * stages of later streams add to those of the first one by position. -1: out of memory. */
int verdict_part(struct verdict *v, const struct schedule *plan);
/* The streams are shards that carried out one schedule between them, so that what was scheduled counts once. Without
 * this call they are repeats, whose schedules add up. */
void verdict_shards(struct verdict *v);
void verdict_row(struct verdict *v, const struct result *row);
/* The object of a `client` line as ipf-fire wrote it; members that are not there are not judged. */
void verdict_client(struct verdict *v, struct slice client);
/* Some of the run is missing, and why; makes load_delivered DOUBTFUL at least. May be called several times. */
void verdict_incomplete(struct verdict *v, const char *why);

/* The answers for what was fed so far; owned by the verdict, good until the next call. NULL: out of memory. */
const struct verdict_finding *verdict_judge(struct verdict *v);
/* {"status": …, "checks": [{"name", "status", "detail", …figures}]}; new; NULL: out of memory. */
json_t *verdict_json(struct verdict *v);

const char *verdict_status_name(enum verdict_status status); /* "OK", "DOUBTFUL", "INVALID" */
/* The limits in words, i = 0, 1, … until NULL; *about is the check's name. */
const char *verdict_rule(size_t i, const char **about);

#endif
