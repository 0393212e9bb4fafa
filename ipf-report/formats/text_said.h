/* The section of the text report on what other tools would have said (--as). */
#ifndef REPORT_TEXT_SAID_H
#define REPORT_TEXT_SAID_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

/* Nothing without --as. */
void text_said(struct layout *l, const struct report *report);

#endif
