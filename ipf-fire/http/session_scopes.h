/* Numbers for sessions that have connections of their own, by which libcurl tells these apart.
 *
 * A connection that libcurl keeps is taken again only by a request with the same scope, which is meant for link-local
 * addresses of IPv6: the kernel does not look at it for any other. So each session has a scope of its own for as long
 * as anything of it is left: a request under way, or a connection. Neither names nor proxies have a part in it.
 */
#ifndef IPF_SESSION_SCOPES_H
#define IPF_SESSION_SCOPES_H

#include <stdint.h>

struct session_scopes;

struct session_scopes *session_scopes_new(void);    /* NULL: out of memory */
void session_scopes_free(struct session_scopes *s); /* NULL is fine */

/* The number of this key (which is not 0), the same until session_scopes_leave has been called as often as this; never
 * 0. 0: out of memory. */
uint32_t session_scopes_take(struct session_scopes *s, uint64_t key);
void session_scopes_leave(struct session_scopes *s, uint64_t key);

#endif
