/* --completion: a bash completion script, made from the program's option table. */
#ifndef IPF_COMPLETION_H
#define IPF_COMPLETION_H

#include "buffer.h"
#include "cli/option_table.h"

/* Appends a bash script that completes the program's options, their values if these are choices or files, and its
 * operands. */
void completion_format(const struct program *program, struct buffer *out);

#endif
