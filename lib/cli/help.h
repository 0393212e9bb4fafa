/* --help and --version, made from the program's option table. */
#ifndef IPF_HELP_H
#define IPF_HELP_H

#include "buffer.h"
#include "cli/option_table.h"

/* Appends the text of --help: usage, options under their headings, details, exit status; at most 79 columns wide. */
void help_format(const struct program *program, struct buffer *out);

/* Appends the text, which begins at column `at`, as lines of at most 79 columns; further lines are indented by
 * `indent`.
 */
void help_wrap(struct buffer *out, const char *text, size_t at, size_t indent);

/* Appends the help of these options, a NULL-terminated list, in the order of the table. */
void help_format_options(const struct program *program, const char *const *names, struct buffer *out);

/* Appends the text of --version: the program's version, and those of the libraries it runs with. */
void version_format(const struct program *program, struct buffer *out);

#endif
