/* The section "Saturation" of the text report: the capacity that a sweep or a ramp shows, and the highest rate within
 * the objectives. Nothing if the run has neither. */
#ifndef REPORT_TEXT_SATURATION_H
#define REPORT_TEXT_SATURATION_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_saturation(struct layout *l, const struct report *report);

#endif
