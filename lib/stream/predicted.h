/* A run a twin predicted (ipf-twin predict): the member "predicted" of the headers of its records and results
 * (ipf-results(5)). No server was measured, and there is no client, no clock and no network to judge.
 *
 *     json_t *predicted = predicted_find(header);               // NULL: the run was measured
 *     … predicted_by(predicted).text, predicted_error(predicted, TWIN_ERROR_TTFT, 99) …
 *
 * Predicted and measured runs do not mix: whoever reads several streams of one run calls predicted_check.
 */
#ifndef IPF_PREDICTED_H
#define IPF_PREDICTED_H

#include "error.h"

#include <jansson.h>

/* The figures with a twin's error. */
enum twin_error_of { TWIN_ERROR_TTFT, TWIN_ERROR_TPOT, TWIN_ERROR_E2E, TWIN_ERROR_COUNT };
extern const char *const twin_error_names[TWIN_ERROR_COUNT]; /* "ttft", "tpot", "e2e" */

/* Parameters of a twin of which a run can only show they are at least so great. */
#define TWIN_NAME_STEP_TOKENS "step_tokens"
#define TWIN_NAME_SEQUENCES   "most_sequences"
#define TWIN_NAME_KV_BLOCKS   "kv_blocks"

/* The member of this header, or of that of the records it was made from. Borrowed; NULL: the run was measured. */
json_t *predicted_find(json_t *header);
/* The twin's name, and its assumptions: "llama.twin with kv_blocks=9000"; "a twin" if it has no name. Plain text from a
 * file: shown() for a terminal. */
struct predicted_name {
	char text[240];
};
struct predicted_name predicted_by(const json_t *predicted);
/* How far the twin's runs are from its predictions for them, as a share: at a percentile up to 90 (and for means) its
 * error at p50, above that its error at p99. That at the load of these runs which is nearest to so many requests in
 * flight (by their ratio); NAN: that of all runs together. NAN: not known. */
double predicted_error(const json_t *predicted, enum twin_error_of of, double percentile, double in_flight);

/* The names of the parameters the run exceeded, from a trailer and from those of its inputs in "from": adds them to
 * `list`, each once. */
void predicted_add_extrapolated(json_t *list, json_t *trailer);
/* Properties of the run beyond the runs from which the twin was fitted: "more sequences in flight than any run
 * showed". */
const char *predicted_beyond(const char *parameter);

/* Two streams of one run, `first` and `other` with their names in errors. IPF_INPUT if one of them is predicted and the
 * other measured, or if they were predicted by different twins. */
struct predicted_stream {
	const char *name;
	const json_t *predicted; /* NULL: measured */
};
int predicted_check(struct predicted_stream first, struct predicted_stream other, struct ipf_error *err);

#endif
