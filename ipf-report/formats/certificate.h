/* ipf-report certificate: the evidence for the error bars, for somebody who wants to check them. Each source of error,
 * how it was measured, how often, its quantiles and the requests with the largest; the machines and their reports about
 * their clocks; the digests of the streams, and the commands to verify them.
 */
#ifndef REPORT_CERTIFICATE_H
#define REPORT_CERTIFICATE_H

#include "formats/report_format.h"

#include <jansson.h>

/* {"ipf": "certificate", …}, see ipf-report-export(1). A new object; when memory runs out, see memory.h. */
json_t *certificate_json(const struct report *report);

/* As text and as JSON. They are in no list: `ipf-report certificate` selects them. */
extern const struct report_format format_certificate_text, format_certificate_json;

#endif
