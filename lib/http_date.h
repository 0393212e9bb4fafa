/* The Date header of HTTP: "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, section 5.6.7). The two obsolete forms are not
 * read: no server of this century sends them. */
#ifndef IPF_HTTP_DATE_H
#define IPF_HTTP_DATE_H

#include "buffer.h"

#include <stdint.h>

#define HTTP_DATE_LENGTH 29

/* Seconds since the epoch; IPF_ABSENT for anything else. The day of the week is not compared with the date. */
int64_t http_date_parse(struct slice text);

#endif
