/* The values of routers so the later requests of a session reach the same replica. A response header has the value, and
 * later requests return it (--session-header). The value of Set-Cookie goes back as Cookie, without its attributes.
 *
 *     session_tokens_note(tokens, session, name, value);       // a response has this header
 *     if (session_tokens_line(tokens, session, &line)) …       // "X-Session: value", for the next request
 *
 * All functions may be called by any thread.
 */
#ifndef IPF_SESSION_TOKENS_H
#define IPF_SESSION_TOKENS_H

#include "buffer.h"
#include "error.h"
#include "job/memory_use.h"

#define SESSION_TOKEN_MOST  4096      /* bytes of a value; longer ones are not kept */
#define SESSION_TOKENS_MOST (1 << 20) /* sessions; those beyond have none */

struct session_tokens;

/* Is this a possible header to return? -1: IPF_USAGE. */
int session_tokens_check(const char *header, struct ipf_error *err);

/* Borrows the header's name. NULL: out of memory. */
struct session_tokens *session_tokens_new(const char *header, struct memory_use *memory);
void session_tokens_free(struct session_tokens *t); /* NULL is fine */

/* A header of a response to a request of the session; the names of others are ignored. */
void session_tokens_note(struct session_tokens *t, struct slice session, struct slice name, struct slice value);
/* Sets the line going back. false: the session has none (yet); out of memory. */
bool session_tokens_line(struct session_tokens *t, struct slice session, struct buffer *line);

struct session_tokens_counts {
	int64_t sessions, given, returned; /* with a value; responses with one; requests returning one */
};
struct session_tokens_counts session_tokens_counts(struct session_tokens *t);

#endif
