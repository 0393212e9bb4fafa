/* Rates over time from a text file: lines of a time and a rate, separated by a comma, a semicolon or blanks.
 *
 *     seconds,rate
 *     0,5
 *     60,20
 *     90s,300/m
 *
 * Times are seconds, or durations with a unit, and increase. The first time is the beginning of the stage, whatever its
 * value. A first line in which no column begins like a number is a heading. Empty lines and lines beginning with # are
 * skipped.
 */
#ifndef IPF_RATE_FILE_H
#define IPF_RATE_FILE_H

#include "error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* A rate per second, and when it begins, in ns from the first time of the file. */
struct rate_point {
	int64_t at_ns;
	double rate;
};

struct rate_points {
	struct rate_point *list; /* owned: free it, also after an error */
	size_t count;
};

/* Reads the file `path` and appends its points to *points. *entry becomes a new object with name, size and digest of
 * the file, for the "from" of a header. A malformed line is IPF_INPUT, with its number. */
int rate_file_read(const char *path, struct rate_points *points, json_t **entry, struct ipf_error *err);

#endif
