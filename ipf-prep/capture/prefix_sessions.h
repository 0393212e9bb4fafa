/* Sessions by growing prefixes: a chat request whose messages begin with all messages of an earlier request, followed
 * by an answer, is the next turn of that conversation.
 *
 *     struct prefix_sessions sessions = {0};
 *     const int64_t first = prefix_sessions_of(&sessions, body, number);   // number of the conversation's first
 * request prefix_sessions_release(&sessions);
 *
 * Messages are compared by a hash of their JSON. If two conversations began alike, the newest one goes on. At most
 * PREFIX_SESSIONS_MOST requests are remembered, in 24 MiB; later ones begin conversations that have no second turn.
 */
#ifndef PREP_PREFIX_SESSIONS_H
#define PREP_PREFIX_SESSIONS_H

#include "json/jdoc.h"

#include <stdint.h>

#define PREFIX_SESSIONS_MOST ((size_t)1 << 20)

struct prefix_session;

struct prefix_sessions {
	struct prefix_session *table;
	size_t room, count;
	bool failed; /* out of memory */
};

/* The conversation of a request with this body, by the number of its first request; `number` itself if it begins one.
 * IPF_ABSENT: the body has no list of messages. */
int64_t prefix_sessions_of(struct prefix_sessions *s, const struct jdoc *body, int64_t number);
void prefix_sessions_release(struct prefix_sessions *s);

#endif
