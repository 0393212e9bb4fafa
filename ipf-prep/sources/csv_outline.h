/* Is the beginning of a file a table with a header, or text with commas?
 *
 *     if (csv_outline_is_table(head, whole)) …
 *
 * It is a table if its first row looks like names (short, without the punctuation of sentences) and the rows after it
 * have as many fields.
 */
#ifndef PREP_CSV_OUTLINE_H
#define PREP_CSV_OUTLINE_H

#include "buffer.h"

#include <stdbool.h>

/* `whole`: `head` is the whole file, so its last row is not cut. */
bool csv_outline_is_table(struct slice head, bool whole);

#endif
