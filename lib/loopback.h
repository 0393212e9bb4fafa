/* Which hosts are this machine: nothing sent there leaves it, so plain http will do.
 *
 * Only numbers and one name count: 127.0.0.0/8, ::1, ::ffff:127.0.0.0/104 and "localhost". A name beginning like a
 * number ("127.evil.example"), and a name or number ending in a dot, go to the resolver: they can be any machine.
 */
#ifndef IPF_LOOPBACK_H
#define IPF_LOOPBACK_H

#include <stdbool.h>

/* `host` is the host of a URL: an IPv6 address may be in brackets. libcurl's URL parser writes short forms such as
 * 127.1 and 0x7f000001 as four numbers; here these are no addresses. */
bool host_is_loopback(const char *host);
/* The same of the host of a URL, with or without a port and a user. */
bool url_is_loopback(const char *url);

#endif
