/* The section "Prefix cache" of the text report. Nothing without a trace. */
#ifndef REPORT_TEXT_CACHE_H
#define REPORT_TEXT_CACHE_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_cache(struct layout *l, const struct report *report);

#endif
