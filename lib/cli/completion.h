/* Shell completion: made of the program's option table. */
#ifndef IPF_COMPLETION_H
#define IPF_COMPLETION_H

#include "buffer.h"
#include "cli/option_table.h"

/* Appends a script for bash that completes the program's options, their values where these are a list or a file, and
 * its operands. */
void completion_format(const struct program *program, struct buffer *out);

#endif
