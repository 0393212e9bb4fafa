/* The section "Cost" of the text report: currency and energy per token and request, or why they are not known. Nothing
 * without a price and without accelerators. */
#ifndef REPORT_TEXT_COST_H
#define REPORT_TEXT_COST_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_cost(struct layout *l, const struct report *report);

#endif
