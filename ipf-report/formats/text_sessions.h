/* The section "Sessions" of the text report. Nothing if no session has several requests. */
#ifndef REPORT_TEXT_SESSIONS_H
#define REPORT_TEXT_SESSIONS_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_sessions(struct layout *l, const struct report *report);

#endif
