/* --help and --version, made from the program's option table. */
#ifndef IPF_HELP_H
#define IPF_HELP_H

#include "buffer.h"
#include "cli/option_table.h"

/* Appends the text of --help: usage, options under their headings, details, exit status; at most 79 columns wide. */
void help_format(const struct program *program, struct buffer *out);

/* Appends the text of --version: the program's version, and those of the libraries that it runs with. */
void version_format(const struct program *program, struct buffer *out);

#endif
