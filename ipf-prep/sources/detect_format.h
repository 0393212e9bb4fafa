/* `auto`: detects the format of a file from its beginning. */
#ifndef PREP_DETECT_FORMAT_H
#define PREP_DETECT_FORMAT_H

#include "input/input.h"
#include "sources/source.h"

/* Asks each format in the order of the table, without consuming any input. NULL if none recognises the file
 * (IPF_INPUT), or if it cannot be read. */
const struct source_format *detect_format(struct input *input, struct ipf_error *err);

/* For a format's `recognises`. Names are separated by single spaces. */

/* Does the first JSON record have all of these members? */
bool sniff_members(const struct sniff *sniff, const char *names);
/* Does the CSV header have all of these columns? */
bool sniff_columns(const struct sniff *sniff, const char *names);
/* Does this text occur in the part of the file that was looked at? */
bool sniff_text(const struct sniff *sniff, const char *text);

#endif
