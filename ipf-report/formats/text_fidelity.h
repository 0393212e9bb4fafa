/* The section "Fidelity" of the text report: one line, and the causes of what is missing. Nothing without a replay. */
#ifndef REPORT_TEXT_FIDELITY_H
#define REPORT_TEXT_FIDELITY_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_fidelity(struct layout *l, const struct report *report);
/* What the cause did to how many requests, in words; `text` has room for 200 bytes. */
const char *fidelity_describe(const struct fidelity *f, enum fidelity_cause cause, char text[200]);

#endif
