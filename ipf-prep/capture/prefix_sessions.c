#include "capture/prefix_sessions.h"

#include "absent.h"
#include "hash_index.h"
#include "text_hash.h"

#include <stdlib.h>

/* A request by the hash of all its messages. */
struct prefix_session {
	uint64_t key;
	int64_t first; /* the conversation's first request */
};

/* The conversation of a request with exactly these messages; IPF_ABSENT: there was none. */
static int64_t find(const struct prefix_sessions *s, uint64_t key)
{
	const struct prefix_session *found = s->room ? hash_index_find(s->table, s->room, key) : NULL;
	return found && found->key ? found->first : IPF_ABSENT;
}

static void remember(struct prefix_sessions *s, uint64_t key, int64_t first)
{
	if (s->count == PREFIX_SESSIONS_MOST)
		return;
	if (!hash_index_room(s->table, s->room, s->count + 1)) {
		s->failed = true;
		return;
	}
	struct prefix_session *found = hash_index_find(s->table, s->room, key);
	s->count += !found->key;
	*found = (struct prefix_session){key, first};
}

int64_t prefix_sessions_of(struct prefix_sessions *s, const struct jdoc *body, int64_t number)
{
	const jdoc_id messages = jdoc_get(body, JDOC_ROOT, "messages");
	int64_t first = number;
	uint64_t hash = 1;
	if (jdoc_type_of(body, messages) != JDOC_LIST || !jdoc_count(body, messages))
		return IPF_ABSENT;
	for (struct jdoc_each e = jdoc_each(body, messages); jdoc_step(&e);) {
		/* the messages before this one, an answer, may be all of an earlier request */
		if (hash != 1 && jdoc_text_is(body, jdoc_get(body, e.value, "role"), "assistant")) {
			const int64_t earlier = find(s, hash);
			first = earlier == IPF_ABSENT ? first : earlier;
		}
		hash = hash_index_key(hash ^ text_hash_mixed(jdoc_raw(body, e.value)));
	}
	remember(s, hash, first);
	return first;
}

void prefix_sessions_release(struct prefix_sessions *s)
{
	free(s->table);
}
