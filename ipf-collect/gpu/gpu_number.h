/* Numbers as the tools print them: "512.30", "512.30 W", "[N/A]". A value other than a number, or not in the expected
 * unit, is unknown. */
#ifndef COLLECT_GPU_NUMBER_H
#define COLLECT_GPU_NUMBER_H

#include "buffer.h"

#include <stdint.h>

/* Without white space around it. */
struct slice gpu_trimmed(struct slice text);
/* NAN: unknown. White space around is allowed; so is `unit` after the number. */
double gpu_number(struct slice text, const char *unit);
/* times `factor`, rounded; IPF_ABSENT: NAN, negative or above 2^62. */
int64_t gpu_integer(double value, double factor);
/* Percent as a share; NAN unless 0 … 100. */
double gpu_share(double percent);

#endif
