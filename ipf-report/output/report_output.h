/* Writes the rendered report. */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include "buffer.h"
#include "error.h"

/* Writes to `path` (NULL or "-": standard output), compressed if its name ends in .zst. IPF_SYSTEM; IPF_CLOSED if the
 * reader of a pipe has gone. */
int report_output_write(const char *path, const struct buffer *text, struct ipf_error *err);

#endif
