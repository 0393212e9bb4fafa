/* The tables of the Markdown report on what other tools would have said (--as), folded up. */
#ifndef REPORT_MD_SAID_H
#define REPORT_MD_SAID_H

#include "formats/report_format.h"

/* Nothing without --as. */
void md_said(struct buffer *out, const struct report *report);

#endif
