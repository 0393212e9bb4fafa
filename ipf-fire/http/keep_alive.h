/* How long a server keeps an idle connection of HTTP/1.1, and for how many requests, as its answers announce it:
 *
 *     Keep-Alive: timeout=5, max=100
 *
 *     struct keep_alive k = KEEP_ALIVE_UNKNOWN;   // of a connection
 *     keep_alive_sent(&k);                        // with each request on it
 *     keep_alive_read(&k, value);                 // with each such header
 *     if (keep_alive_over(&k, idle_ns)) …         // the server may close it before a request gets there
 *
 * `max` counts the requests after the answered one (Apache httpd); servers for which it counts the whole connection
 * (Node.js) say with its last answer they close it.
 */
#ifndef IPF_KEEP_ALIVE_H
#define IPF_KEEP_ALIVE_H

#include "buffer.h"

#include <stdint.h>

struct keep_alive {
	int64_t idle_ns;  /* the time it may be idle; INT64_MAX: not announced */
	int64_t requests; /* the number that may follow; INT64_MAX: not announced */
};

#define KEEP_ALIVE_UNKNOWN ((struct keep_alive){INT64_MAX, INT64_MAX})

/* Takes the known values of a header, and ignores anything but numbers. The time a connection may be idle is a second
 * less than the server says, and half of less than two seconds: a request needs time to get there. */
void keep_alive_read(struct keep_alive *k, struct slice value);
void keep_alive_sent(struct keep_alive *k);
bool keep_alive_over(const struct keep_alive *k, int64_t idle_ns);

#endif
