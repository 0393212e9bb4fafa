/* Writing the finished report. */
#ifndef REPORT_OUTPUT_H
#define REPORT_OUTPUT_H

#include "buffer.h"
#include "error.h"

/* To `path` (NULL or "-": standard output), zstd-compressed where its name ends in .zst. IPF_SYSTEM; IPF_CLOSED where
 * the reader went away. */
int report_output_write(const char *path, const struct buffer *text, struct ipf_error *err);

#endif
