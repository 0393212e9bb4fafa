/* The text report: how exact the latencies are. */
#ifndef REPORT_TEXT_ACCURACY_H
#define REPORT_TEXT_ACCURACY_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_accuracy(struct layout *l, const struct report *report);

#endif
