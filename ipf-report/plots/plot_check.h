/* Are these commands such as our plots consist of? A saved report contains the plots' commands for gnuplot, which could
 * otherwise run programs, and read and write files: a report coming from elsewhere is not trusted.
 *
 *     if (plot_commands_check(slice_of(text), &err) < 0) …          // err says which word is not one of ours
 *
 * A plot passing has only the words of a list, reads nothing but the variable `data`, gives no variable a value, and
 * has strings only where gnuplot draws them: a string a plot could take for its data is a file, or a command.
 */
#ifndef REPORT_PLOT_CHECK_H
#define REPORT_PLOT_CHECK_H

#include "buffer.h"
#include "error.h"

/* IPF_INPUT. */
int plot_commands_check(struct slice commands, struct ipf_error *err);

#endif
