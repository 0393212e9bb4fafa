/* `auto`: detects the format of a file from its beginning. */
#ifndef PREP_DETECT_FORMAT_H
#define PREP_DETECT_FORMAT_H

#include "input/input.h"
#include "sources/source.h"

/* Asks each format in the order of the table, without consuming any input; with `fields` (the user says where the
 * values are) it is jsonl or csv. NULL if none recognises the file (IPF_INPUT: the kind of file, its columns or
 * members, and a remedy), or if it cannot be read. */
const struct source_format *detect_format(struct input *input, bool fields, struct ipf_error *err);

#endif
