/* Can this run be trusted? Four questions come before any figure. Each answer is OK, DOUBTFUL or INVALID (or
 * UNKNOWN, see verdict_unknown, or N/A, see verdict_predicted), with a sentence and figures:
 *
 *   load_delivered    Was the offered load delivered? Every request started, on time.
 *   client_headroom   Was the client the limit? Its CPU, its lateness, its limits reached, events that shared a read.
 *   server_answers    Did the server answer as requested? Errors, truncated streams, output lengths.
 *   enough_samples    Are there enough samples for the percentiles that are shown?
 *
 *     struct verdict *v = verdict_new();
 *     verdict_part(v, &schedule);                  // once per results stream (a shard or a repeat)
 *     verdict_row(v, &row);                        // every request …
 *     verdict_client(v, client, err);                   // … and every client line, in any order
 *     const struct verdict_finding *f = verdict_judge(v); // at the end, and also in the middle of a run
 *     if (f->status == VERDICT_INVALID) …
 *     verdict_free(v);
 *
 * Only measured stages count. Memory does not grow with the number of requests. Out of memory is reported at the end:
 * verdict_judge returns NULL.
 */
#ifndef IPF_VERDICT_H
#define IPF_VERDICT_H

#include "stream/result.h"
#include "stream/schedule.h"
#include "verdict/answer_health.h"
#include "verdict/verdict_check.h"
#include "verdict/verdict_limits.h"

#include <jansson.h>

enum verdict_question { VERDICT_LOAD, VERDICT_CLIENT, VERDICT_SERVER, VERDICT_SAMPLES, VERDICT_QUESTIONS };
/* The name of VERDICT_CLIENT for an observed run. */
enum { VERDICT_CAPTURE = VERDICT_QUESTIONS, VERDICT_NAMES };
extern const char *const verdict_question_names[VERDICT_NAMES]; /* "load_delivered", … */

/* The error kinds of result rows, and "other" for any other. */
enum { VERDICT_HUNG_UP = 8, VERDICT_CANCELLED, VERDICT_TOO_LARGE, VERDICT_UNSEEN, VERDICT_OTHER, VERDICT_KINDS };
extern const char *const verdict_kinds[VERDICT_KINDS];
size_t verdict_kind_of(struct slice error_kind); /* for a JSON string, with its quotes */
/* Is it neither a success nor a failure, so that no share, latency or objective counts it? -1: no error. */
static inline bool verdict_uncounted(int64_t kind)
{
	return kind == VERDICT_HUNG_UP || kind == VERDICT_UNSEEN;
}
/* Did the model or the limit end the answer? Anything else counts as an early end. */
bool verdict_usual_finish(struct slice reason);

struct verdict_finding {
	enum verdict_status status; /* the worst of the checks */
	struct verdict_check checks[VERDICT_QUESTIONS];
};

struct verdict;

struct verdict *verdict_new(void); /* NULL: out of memory */
void verdict_free(struct verdict *v);

/* Begins a stream whose schedule has these stages (copied; NULL or empty: unknown, every stage counts as measured).
 * Stages of later streams are added to those of the first one by position. -1: out of memory. */
int verdict_part(struct verdict *v, const struct schedule *schedule);
/* The streams are shards of one schedule, so its requests count once. Without this call they are repeats, whose
 * schedules add up. */
void verdict_shards(struct verdict *v);
/* The rows of this part are those of several clients, one after another. */
void verdict_several_clients(struct verdict *v);
/* A twin predicted the run (twin/predicted.h): client_headroom is N/A, and neither clocks nor findings of the transport
 * count. */
void verdict_predicted(struct verdict *v);
/* The run was observed in a capture (stream/observed.h): load_delivered is N/A, and the capture is judged instead of
 * the client. `capture`: what it had and lacked, for the first call with it; NULL: not known (yet). */
void verdict_observed(struct verdict *v, json_t *capture);
bool verdict_is_predicted(const struct verdict *v);
/* Several predictions are parts of one run: load_delivered is INVALID, since none of them met the load of the others.
 */
void verdict_predicted_apart(struct verdict *v);
/* Sessions had the server's own answers in the prompts of their later turns. */
void verdict_live_histories(struct verdict *v);
/* The caller judges by the trace itself whether the prefix cache was warm. `possible`: the share of the prompt tokens a
 * cold cache finds; NAN: not known. */
void verdict_cache_known(struct verdict *v, double possible);
/* The cache was filled on purpose before the run (ipf-fire --cache warm): hits are no finding. */
void verdict_cache_filled(struct verdict *v);
/* The share of the tokens looked up in the prefix cache that were there, by the servers' own counters over the run;
 * NAN: not known. Judged if the answers do not report cached tokens. */
void verdict_cache_counters(struct verdict *v, double share);
void verdict_row(struct verdict *v, const struct result *row);
/* The checked answers so far; borrowed. */
const struct answer_health *verdict_answers(const struct verdict *v);
/* Takes a `client` line as ipf-fire wrote it. Members that are absent are not judged. */
int verdict_client(struct verdict *v, struct slice client, struct ipf_error *err); /* -1: a number out of range */
/* The input is not enough to judge this question, and why: a clause without a full stop. The caller's findings
 * (verdict_note, verdict_incomplete) still count. */
__attribute__((format(printf, 3, 4))) void verdict_unknown(struct verdict *v, enum verdict_question question,
                                                           const char *format, ...);
/* Adds a finding of the caller to the answer of a question, as a clause without a full stop. May be called several
 * times.
 */
__attribute__((format(printf, 4, 5))) void verdict_note(struct verdict *v, enum verdict_question question,
                                                        enum verdict_status status, const char *format, ...);
/* Takes the findings of a results trailer (`transport`, an array or NULL): those making figures doubtful become notes
 * about server_answers. -1: out of memory. */
int verdict_transport(struct verdict *v, const json_t *findings);
/* The clock of one shard is between low_ns and high_ns ahead of that of another: DOUBTFUL if the windows of the series,
 * of window_ns each, may not belong together. Nothing if low_ns is IPF_ABSENT. */
void verdict_clocks(struct verdict *v, int64_t low_ns, int64_t high_ns, int64_t window_ns);
/* Some of the run is missing, and why. load_delivered becomes at least DOUBTFUL. May be called several times. */
void verdict_incomplete(struct verdict *v, const char *why);

/* The run was ended on purpose during this stage, before the end of its schedule: the number of requests from there on
 * does not measure the delivered load. May be called several times; the earliest stage counts. */
void verdict_stopped(struct verdict *v, int64_t stage);

/* Has no request of a measured stage ended yet, as in a warm-up? Then server_answers and enough_samples are INVALID,
 * which says nothing of a run going on. */
bool verdict_is_empty(const struct verdict *v);

/* Judges the run so far; changes nothing of it, so the run can go on. Owned by the verdict, good until the next call.
 * NULL: out of memory. Takes longer with the number of client lines: milliseconds for those of a day. */
const struct verdict_finding *verdict_judge(struct verdict *v);
/* {"status": …, "predicted": true if it is, "checks": [{"name", "status", "detail", "cause" unless OK, …figures}]};
 * new. NULL: out of memory. */
json_t *verdict_json(struct verdict *v);
/* The same without figures and causes, safe to show: for a report on two runs, whose own reports have these. New. */
json_t *verdict_checks_json(const struct verdict_finding *finding);

const char *verdict_status_name(enum verdict_status status); /* "OK", "DOUBTFUL", "INVALID", "UNKNOWN", "N/A" */
/* The statuses in words. */
#define VERDICT_WORDS                                                                                                  \
	"OK, DOUBTFUL or INVALID, UNKNOWN if it cannot be judged, or N/A if there is nothing to judge; the run has the "   \
	"worst verdict of its checks."
/* The limits in words, i = 0, 1, … until NULL; *about is the check's name. */
const char *verdict_rule(size_t i, const char **about);

#endif
