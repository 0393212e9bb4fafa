/* Parses points in time as recorded traces write them, exact to the nanosecond: no floating point is involved.
 * Durations with units are in units.h. */
#ifndef IPF_TIMES_H
#define IPF_TIMES_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

/* Parses "2023-11-16 18:15:46.6805900" to nanoseconds since the epoch. A T may replace the space; the fraction has up
 * to nine digits or is missing; the zone is Z, +00:00, -0730, +05, " UTC" or missing, which means UTC. -1: IPF_INPUT,
 * `expected …, got "…"`. */
int time_parse(struct slice text, int64_t *ns, struct ipf_error *err);

/* Parses a decimal number ("1.5", "27482", "1e-3") of units of `unit_ns` nanoseconds, rounded towards 0 to a whole
 * nanosecond. -1: not a number, or out of range. */
int time_from_number(struct slice number, int64_t unit_ns, int64_t *ns);

#endif
