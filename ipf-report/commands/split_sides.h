/* The operands of commands about two sides: results before -- and after it.
 *
 *     struct operands sides[2];
 *     if (split_sides(operands, "BASE… -- NEW…", sides, &err) < 0) …
 */
#ifndef REPORT_SPLIT_SIDES_H
#define REPORT_SPLIT_SIDES_H

#include "cli/options.h"

/* Divides the operands; two of them need no --. `expected`: the operands, for the message. IPF_USAGE: a side has none,
 * or options follow --. */
int split_sides(const struct operands *all, const char *expected, struct operands sides[2], struct ipf_error *err);

#endif
