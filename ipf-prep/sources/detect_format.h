/* auto: the format of a file by how it begins. */
#ifndef PREP_GUESS_H
#define PREP_GUESS_H

#include "input/input.h"
#include "sources/source.h"

/* Looks into the input without taking anything of it. NULL: no format knows it (IPF_INPUT), or it cannot be read. */
const struct source_format *detect_format(struct input *input, struct ipf_error *err);

/* For formats to look with: does the first record have all of these members? The names have a blank between them. */
bool sniff_has(const struct sniff *sniff, const char *names);
/* Does the CSV have all of these columns? */
bool sniff_columns(const struct sniff *sniff, const char *names);
/* Does this text stand somewhere in what was looked at? */
bool sniff_text(const struct sniff *sniff, const char *text);

#endif
