/* An integer that is not known. Absent is never 0 and never -1: a value that does not exist enters no sum and no mean.
 * Integers that are read from a stream are never this value. The absent double is NAN. */
#ifndef IPF_ABSENT_H
#define IPF_ABSENT_H

#include <stdint.h>

#define IPF_ABSENT INT64_MIN

#endif
