#include "http/multi_handles.h"

#include "http/h2_sharing.h"

#include <stdlib.h>

#define SESSION_CELLS      16           /* multi handles that the connections of sessions are distributed over */
#define SESSIONS_KEPT      1024L        /* connections in each, before the oldest idle one is closed */
#define FEWEST_CONNECTIONS ((size_t)16) /* per multi handle, before another one is created */
#define MOST_CONNECTIONS   ((size_t)256)
#define MULTIS             16 /* up to this number of multi handles, each has the fewest connections */

static struct multi_handle *multi_handle_new(struct transport *t, size_t target)
{
	struct multi_handle **multi_handles = realloc(t->multi_handles, (t->count + 1) * sizeof(struct multi_handle *));
	if (!multi_handles)
		return NULL;
	t->multi_handles = multi_handles;
	struct multi_handle *m = calloc(1, sizeof *m);
	if (!m)
		return NULL;
	*m = (struct multi_handle){
		.transport = t, .target = target, .handle = curl_multi_init(), .deadline = INT64_MAX, .healthy_id = -1};
	if (!m->handle) {
		free(m);
		return NULL;
	}
	curl_multi_setopt(m->handle, CURLMOPT_SOCKETFUNCTION, t->on_socket);
	curl_multi_setopt(m->handle, CURLMOPT_SOCKETDATA, m);
	curl_multi_setopt(m->handle, CURLMOPT_TIMERFUNCTION, t->on_timer);
	curl_multi_setopt(m->handle, CURLMOPT_TIMERDATA, m);
	const struct connection_policy *c = &t->options->connections;
	curl_multi_setopt(m->handle, CURLMOPT_PIPELINING, c->http == HTTP_1_1 ? CURLPIPE_NOTHING : CURLPIPE_MULTIPLEX);
	curl_multi_setopt(m->handle, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)h2_sharing_streams(t, target));
	curl_multi_setopt(m->handle, CURLMOPT_MAXCONNECTS, c->kind == CONNECTION_POLICY_SESSION ? SESSIONS_KEPT : 1L << 20);
	return t->multi_handles[t->count++] = m;
}

/* How many connections a multi handle should have, given their total number. libcurl searches those of a handle for
 * each request, so that fewer are better; a handle takes some 40 KiB, so that many connections need larger handles. */
static size_t room_of(size_t connections)
{
	size_t room = connections / MULTIS;
	return room < FEWEST_CONNECTIONS ? FEWEST_CONNECTIONS : room > MOST_CONNECTIONS ? MOST_CONNECTIONS : room;
}

/* The same multi handle for all requests of a session, so that its connection is found again. */
static struct multi_handle *multi_handle_of_session(struct transport *t, size_t target, uint64_t key)
{
	size_t session_cell = (size_t)(key >> 1) % SESSION_CELLS; /* the key's last bit is always set */
	for (size_t i = 0; i < t->count; i++)
		if (t->multi_handles[i]->target == target && t->multi_handles[i]->session_cell == session_cell)
			return t->multi_handles[i];
	struct multi_handle *m = multi_handle_new(t, target);
	if (m)
		m->session_cell = session_cell;
	return m;
}

/* Another multi handle for a pool, with its share of the connections. */
static struct multi_handle *multi_handle_of_pool(struct transport *t, size_t target)
{
	size_t pool = (size_t)t->options->connections.pool, left = pool;
	for (size_t i = 0; i < t->count; i++)
		left -= t->multi_handles[i]->target == target ? t->multi_handles[i]->max_connections : 0;
	struct multi_handle *m = left ? multi_handle_new(t, target) : NULL;
	if (!m)
		return NULL;
	m->max_connections = left < room_of(pool) ? left : room_of(pool);
	curl_multi_setopt(m->handle, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)m->max_connections);
	return m;
}

struct multi_handle *multi_handle_choose(struct transport *t, size_t target, uint64_t key)
{
	const struct connection_policy *c = &t->options->connections;
	size_t streams = h2_sharing_streams(t, target), most = room_of(t->queues[target].busy);
	struct multi_handle *room = NULL;
	if (c->kind == CONNECTION_POLICY_SESSION)
		return multi_handle_of_session(t, target, key);
	for (size_t i = 0; i < t->count; i++) {
		struct multi_handle *m = t->multi_handles[i];
		if (m->target != target)
			continue;
		if (c->kind != CONNECTION_POLICY_FRESH && (streams == 1 ? m->open > m->busy : h2_sharing_room(t, m)))
			return m;
		if (!room &&
		    (streams == 1 ? m->busy : m->ready + m->opening) < (m->max_connections ? m->max_connections : most))
			room = m;
	}
	return room                                ? room
	       : c->kind == CONNECTION_POLICY_POOL ? multi_handle_of_pool(t, target)
	                                           : multi_handle_new(t, target);
}
