/* Times as recorded traces and people write them, read to the nanosecond without a detour over floating point. */
#ifndef IPF_TIMES_H
#define IPF_TIMES_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

/* "2023-11-16 18:15:46.6805900", with a T instead of the blank, none to nine fractional digits, none or a zone (Z,
 * +00:00, -0730): nanoseconds since the epoch, UTC where no zone is given. -1: `expected …, got "…"`. */
int time_parse(struct slice text, int64_t *ns, struct ipf_error *err);

/* A decimal number ("1.5", "27482", "1e-3") of units of `unit_ns` nanoseconds, rounded down to a whole nanosecond. -1
 * for what is not a number or does not fit. */
int time_from_number(struct slice number, int64_t unit_ns, int64_t *ns);

#endif
