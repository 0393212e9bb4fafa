/* "server" and "accelerators" of the JSON report, see ipf-report(1). */
#ifndef REPORT_JSON_SERVER_H
#define REPORT_JSON_SERVER_H

#include "formats/report_format.h"

json_t *json_server(const struct report *report);       /* a new object, empty if no server was scraped */
json_t *json_accelerators(const struct report *report); /* a new array */

#endif
