/* A comparison to read, 80 columns wide: what the sides are and in what they differ, the outcome, and the figures: what
 * changed first. */
#ifndef COMPARE_COMPARE_TEXT_H
#define COMPARE_COMPARE_TEXT_H

#include "compare/comparison.h"

void compare_text(const struct comparison *c, bool colour, struct buffer *out);

#endif
