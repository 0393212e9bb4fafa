/* The rows to which the lengths of steps are fitted (robust_fit.h), from two views of the same events.
 *
 * By steps: those that only decode, stretches of steps in which prompts were computed. Requires the events of a step
 * come together, nearer than steps follow each other.
 *
 * By spans: the time of each answer from its first event to its last. As many steps as it has events after the first
 * one; in them, every event of any answer is a sequence in a step, and prompts whose first token came meanwhile were
 * computed. It requires nothing of single times, so it holds for servers that hand tokens out late, or whose steps are
 * shorter than the clock's resolution; but a single step is not seen.
 *
 * With both, the time to first token of requests finding the server idle, which has the overhead besides.
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
/* The time of a row's steps by the twin, in ns, without overhead and the delay by waiting requests. */
double twin_row_length(const struct twin *twin, const double x[COLUMN_COUNT]);
/* Only the answers of one server: that of the request `first`; next: the first request of the next one. -1: out of
 * memory. */
int twin_rows_of_server(struct robust_fit *fit, const struct twin_data *data, int64_t first, int64_t *next,
                        struct ipf_error *err);

#endif
