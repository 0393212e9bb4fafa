/* What options.c and help.c share. */
#ifndef IPF_OPTIONS_PRIVATE_H
#define IPF_OPTIONS_PRIVATE_H

#include "cli/options.h"

/* Does the option take a value? */
bool option_takes_value(const struct option_spec *spec);

/* Print on standard output; 0, or -1 when that could not be done. */
int options_print_help(const struct program *program, struct ipf_error *err);
int options_print_version(const struct program *program, struct ipf_error *err);
int options_print_completion(const struct program *program, struct ipf_error *err);

#endif
