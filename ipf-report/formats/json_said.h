/* The member "as" of the JSON report: what other tools would have said (--as). */
#ifndef REPORT_JSON_SAID_H
#define REPORT_JSON_SAID_H

#include "formats/report_format.h"

/* A new object; NULL: without --as. */
json_t *json_said(const struct report *report);

#endif
