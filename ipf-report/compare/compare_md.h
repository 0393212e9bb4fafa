/* A comparison as Markdown, for a comment on a change. */
#ifndef COMPARE_COMPARE_MD_H
#define COMPARE_COMPARE_MD_H

#include "compare/comparison.h"

void compare_md(const struct comparison *c, struct buffer *out);

#endif
