/* The rows to which the lengths of steps are fitted (robust_fit.h), from two views of the same events.
 *
 * By steps: those that only decode, stretches of steps in which prompts were computed. Requires that the events of a
 * step come together, nearer than steps follow each other.
 *
 * By spans: what each answer took from its first event to its last. As many steps as it has events after the first one;
 * in them, every event of any answer is a sequence in a step, and prompts whose first token came meanwhile were
 * computed. It requires nothing of single times, so that it holds for servers that hand tokens out late, or whose steps
 * are shorter than what a clock sees; but a single step is not seen.
 *
 * With both, the time to first token of requests that found the server idle, which has the overhead besides.
 */
#ifndef TWIN_TWIN_ROWS_H
#define TWIN_TWIN_ROWS_H

#include "fit/robust_fit.h"
#include "fit/twin_steps.h"

#include "twin/twin.h"

/* The columns of a row. */
enum twin_column {
	COLUMN_STEP,
	COLUMN_SEQUENCES,
	COLUMN_CONTEXT,
	COLUMN_WAITING, /* requests that wait × steps; of spans only */
	COLUMN_PROMPT,
	COLUMN_OVERHEAD,
	COLUMN_COUNT
};

/* The limit of a step as far as the twin has it says of which prompts it is known in how many steps they were computed.
 */
void twin_rows_of_steps(struct robust_fit *fit, const struct twin *twin, const struct twin_data *data,
                        const struct twin_steps *steps);
void twin_rows_of_spans(struct robust_fit *fit, const struct twin *twin, const struct twin_data *data,
                        const struct twin_steps *steps);
/* What the steps of a row take by the twin, in ns, without overhead and what waiting requests add. */
double twin_row_length(const struct twin *twin, const double x[COLUMN_COUNT]);
/* Only what the answers of one server took: that of the request `first`; next: the first request of the next one. -1:
 * out of memory. */
int twin_rows_of_server(struct robust_fit *fit, const struct twin_data *data, int64_t first, int64_t *next,
                        struct ipf_error *err);

#endif
