/* ipf-prep SOURCE --help: the data of a source, and the options for some sources only. All of it comes from the
 * source's row (sources/source.h) and the option table.
 *
 *     if (source_help_is_asked(argc, argv))
 *         return source_help(source_find(argv[1], &err));
 */
#ifndef PREP_SOURCE_HELP_H
#define PREP_SOURCE_HELP_H

#include "sources/source.h"

/* Is the first argument a source, and a later one -h or --help? */
bool source_help_is_asked(int argc, char **argv);
/* Prints the text to standard output; returns the exit status. */
int source_help(const struct source_format *format);

#endif
