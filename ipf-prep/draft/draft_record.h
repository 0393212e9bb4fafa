/* A draft as bytes, to be put aside in memory or in a temporary file (sort/record_sorter.h). Only this process reads
 * them: they have the order of bytes of the machine.
 *
 *     draft_record_write(&draft, &record);
 *     …
 *     draft_record_read(&draft, bytes);      // its texts and blocks borrow the bytes
 *
 * Fields without a value take no space: a request of a trace takes less than 100 bytes, and its texts.
 */
#ifndef PREP_DRAFT_RECORD_H
#define PREP_DRAFT_RECORD_H

#include "draft/draft.h"

/* Appends the draft; the buffer must have a multiple of 8 bytes before it. */
void draft_record_write(const struct draft *d, struct buffer *to);
/* Empties the draft and fills it. The bytes must begin at a multiple of 8, and must outlive it. Without memory the
 * draft fails. */
void draft_record_read(struct draft *d, struct slice bytes);

#endif
