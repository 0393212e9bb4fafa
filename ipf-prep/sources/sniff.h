/* The beginning of a file, by which a format's `recognises` tells whether the file is one of its own.
 *
 *     return sniff_members(sniff, "prompt response");
 */
#ifndef PREP_SNIFF_H
#define PREP_SNIFF_H

#include "input/csv.h"
#include "json/jdoc.h"

struct sniff {
	const struct jdoc *json; /* the first record; NULL if it is not JSON, or longer than the part read */
	const struct csv *csv;   /* the columns if the file is read as CSV; NULL for JSON */
	struct slice head;       /* the bytes */
	bool text;               /* it is text in UTF-8 that does not look like JSON or CSV */
};

/* Names are separated by single spaces. */

/* Does the first JSON record have all of these members? */
bool sniff_members(const struct sniff *sniff, const char *names);
/* Does the CSV header have all of these columns? */
bool sniff_columns(const struct sniff *sniff, const char *names);
/* Does this text occur in the part of the file looked at? */
bool sniff_text(const struct sniff *sniff, const char *text);

#endif
