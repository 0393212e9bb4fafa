/* --definitions: what each figure means, and when the verdict is DOUBTFUL or INVALID. */
#ifndef REPORT_DEFINITIONS_H
#define REPORT_DEFINITIONS_H

#include "buffer.h"

/* Appends the text, on 80 columns. The METRICS section of ipf-report(1) has the same definitions, word for word. */
void definitions_format(struct buffer *out);

#endif
