/* The status of a Benchmark: a pure function of observations and of the status before.
 *
 *     struct observation o = {.phase = PHASE_COMPLETE, .job = name, .result = result, .generation = 3, .now = "…Z"};
 *     json_t *status = benchmark_status(&o, old);              // new; equal to the old one where nothing changed
 *     json_t *patch = merge_patch(old, status);                // what makes the one of the other (RFC 7386)
 *
 * A condition's lastTransitionTime is its last change's, so observing again changes nothing.
 */
#ifndef IPF_OPERATOR_BENCHMARK_STATUS_H
#define IPF_OPERATOR_BENCHMARK_STATUS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum phase { PHASE_PENDING, PHASE_RUNNING, PHASE_COMPLETE, PHASE_FAILED };
extern const char *const phase_names[]; /* "Pending", …, NULL */

struct observation {
	enum phase phase;
	const char *reason;   /* a word, of why it is in this phase */
	const char *message;  /* a sentence */
	const char *job;      /* NULL: there is none yet */
	const json_t *result; /* result_read(); NULL: none */
	json_int_t generation;
	const char *now; /* RFC 3339 */
};

json_t *benchmark_status(const struct observation *o, const json_t *old);
/* Has this Job's measurement ended, by this status? */
bool status_has_ended(const json_t *status, const char *job);

/* The report of a pod about its run, in its termination message, at most 4096 bytes of JSON: {"verdict", "reason",
 * "folder", "figures", "objectives", "regression", "problem"}, see benchmark.sh. Only members with these names and with
 * values of the right type are kept, since the text comes from a pod. NULL: it is something else. The caller frees
 * it. */
json_t *result_read(const char *message);

/* A condition of a list as in status.conditions; NULL: absent. */
const json_t *condition_of(const json_t *status, const char *type);
/* Sets it; the time only if its status changes. `status` is "True", "False" or "Unknown". */
struct condition {
	const char *type, *status, *reason, *message;
};
void condition_set(json_t *conditions, const json_t *old_status, const struct condition *c, const json_t *generation,
                   const char *now);

json_t *merge_patch(const json_t *from, const json_t *to);

/* "2026-11-23T06:00:00Z" of seconds since the epoch, and back; -1: it is something else. */
void rfc3339(int64_t seconds, char text[24]);
int64_t rfc3339_seconds(const json_t *text);

#endif
