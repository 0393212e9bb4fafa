/* Scope numbers that keep libcurl from mixing the connections of different sessions.
 *
 * libcurl reuses a connection only for a request with the same address scope. Scopes are meant for link-local IPv6
 * addresses; the kernel ignores them for all others. So each session gets its own scope, which it keeps while a request
 * of it is in flight or a connection of it is open. This works for names and through proxies, too.
 */
#ifndef IPF_SESSION_SCOPES_H
#define IPF_SESSION_SCOPES_H

#include <stdint.h>

struct session_scopes;

struct session_scopes *session_scopes_new(void);    /* NULL: out of memory */
void session_scopes_free(struct session_scopes *s); /* NULL is fine */

/* The scope of this key, which is not 0. It stays the same until session_scopes_leave has been called as often as this
 * function. Never 0, except if out of memory. */
uint32_t session_scopes_take(struct session_scopes *s, uint64_t key);
void session_scopes_leave(struct session_scopes *s, uint64_t key);

#endif
