/* Text of a table as mdoc, for the programs that complete manual pages at build time.
 *
 *     mdoc_put_text(&out, "First event - start. See `--slo`.");      // two lines and ".Ql \-\-slo ."
 */
#ifndef IPF_MDOC_TEXT_H
#define IPF_MDOC_TEXT_H

#include "buffer.h"

/* Appends each sentence on a line of its own; `words` between backquotes become literals. */
void mdoc_put_text(struct buffer *out, const char *text);

#endif
