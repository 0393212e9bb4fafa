/* The operands SOURCE [FILE…] of ipf-prep: which format, and which files. */
#ifndef PREP_SOURCE_OPERANDS_H
#define PREP_SOURCE_OPERANDS_H

#include "config/prep_config.h"
#include "input/input.h"
#include "input/input_paths.h"

/* Whether it is the name of a format, or auto. */
bool source_operands_is_source(const char *name);
/* Finds the files and their format. To detect the format the first file is opened, which is then *first. NULL:
 * IPF_USAGE, IPF_SYSTEM, IPF_INPUT. */
const struct source_format *source_operands_open(const struct prep_config *config, const struct operands *operands,
                                                 struct input_paths *paths, struct input **first,
                                                 struct ipf_error *err);

#endif
