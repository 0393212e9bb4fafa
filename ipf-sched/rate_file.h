/* Rates from a file: lines of a time and a rate, with a comma, a semicolon or blanks between them.
 *
 *     seconds,rate
 *     0,5
 *     60,20
 *     90s,300/m
 *
 * Times are seconds, or durations with a unit, and increase; the first is the stage's beginning, whatever it says. A
 * first line that does not begin with a digit is a heading; empty lines and those that begin with # are skipped.
 */
#ifndef IPF_RATE_FILE_H
#define IPF_RATE_FILE_H

#include "kind.h"

/* Reads stage->file into stage->points, and notes its digest. What makes no sense is IPF_INPUT, with its line. */
int rate_file_read(struct stage *stage, struct resources *resources, struct ipf_error *err);

#endif
