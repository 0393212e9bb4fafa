/* The section "Autoscaling" of the text report: what followed on each spike and ramp. Nothing if there are none. */
#ifndef REPORT_TEXT_AUTOSCALING_H
#define REPORT_TEXT_AUTOSCALING_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_autoscaling(struct layout *l, const struct report *report);

#endif
