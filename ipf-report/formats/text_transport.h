/* What the way between client and server did to the run, in the text report: findings of ipf-collect, with what they
 * can be and what to do. Of those that the verdict states, only the latter. */
#ifndef REPORT_TEXT_TRANSPORT_H
#define REPORT_TEXT_TRANSPORT_H

#include "formats/report_format.h"
#include "formats/text_layout.h"

void text_transport(struct layout *l, const struct report *report);

#endif
