/* The operands SOURCE [FILE…]: a format, or auto, and the files read in it. */
#ifndef PREP_SOURCE_OPERANDS_H
#define PREP_SOURCE_OPERANDS_H

#include "config/prep_config.h"
#include "input/input.h"
#include "input/input_paths.h"

/* Whether it is the name of a format, or auto. */
bool source_operands_is_source(const char *name);
/* Checks the operands of this command, and finds the files and their format. To detect the format the first file is
 * opened, which is then *first. NULL: err; IPF_USAGE for wrong operands, before anything is opened. */
const struct source_format *source_operands_open(const struct prep_config *config, const char *command,
                                                 const struct operands *operands, struct input_paths *paths,
                                                 struct input **first, struct ipf_error *err);

/* The file of one trace of ours (ipf-trace(5)), which can be read as it is: "trace [FILE]", "auto FILE" or FILE if it
 * begins as one, "-" for standard input. NULL: the operands are anything else. */
const char *source_operands_trace(const struct operands *operands);

#endif
