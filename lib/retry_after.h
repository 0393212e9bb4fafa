/* How long a server asks its clients to wait, by the headers of a response: Retry-After, in seconds or as a date (RFC
 * 9110, section 10.2.3), and of OpenAI's API retry-after-ms and x-ratelimit-reset-requests ("1m30s"). If there are
 * several, the first in this order counts: retry-after-ms, Retry-After, x-ratelimit-reset-requests.
 *
 *     struct retry_after asked = {0};
 *     retry_after_note(&asked, name, value);            // each header; others are ignored
 *     int64_t wait_ns = retry_after_ns(&asked, now_s);  // IPF_ABSENT: the server did not say
 */
#ifndef IPF_RETRY_AFTER_H
#define IPF_RETRY_AFTER_H

#include "buffer.h"

#include <stdint.h>

#define RETRY_AFTER_MOST_NS (INT64_C(366) * 86400 * 1000000000) /* a longer wait counts as this one */

struct retry_after { /* zero-initialise */
	int rank;        /* the rank of the header that counts; 0: none came */
	bool is_date;
	int64_t value; /* ns, or as a date seconds since the epoch */
};

/* Notes a header. A value in another form is ignored. */
void retry_after_note(struct retry_after *asked, struct slice name, struct slice value);
/* The wait in ns, from 0 to RETRY_AFTER_MOST_NS. `now_s`: seconds since the epoch by the server's clock, its Date. */
int64_t retry_after_ns(const struct retry_after *asked, int64_t now_s);

#endif
