#include "http/h2_sharing.h"

#include "http/curl_streams.h"
#include "text_hash.h"

#include <openssl/ssl.h>
#include <poll.h>
#include <string.h>

uint64_t h2_sharing_session_key(const struct transport *t, const struct job *job)
{
	bool sticky = t->options->connections.kind == CONNECTION_POLICY_SESSION && job->session.data;
	return sticky ? text_hash_mixed(job->session) | 1 : 0;
}

size_t h2_sharing_streams(const struct transport *t, size_t target)
{
	const struct target_queue *q = &t->queues[target];
	size_t streams = q->http1_only ? 1 : (size_t)connection_policy_streams(&t->options->connections);
	return q->max_streams && q->max_streams < streams ? q->max_streams : streams;
}

/* libcurl applies our limit to connections whose settings have not arrived yet. */
void h2_sharing_read_settings(struct multi_handle *m)
{
	struct transport *t = m->transport;
	uint32_t streams = curl_streams_read();
	if (!streams || streams == t->queues[m->target].max_streams)
		return;
	t->queues[m->target].max_streams = streams;
	for (size_t i = 0; i < t->count; i++)
		if (t->multi_handles[i]->target == m->target)
			curl_multi_setopt(t->multi_handles[i]->handle, CURLMOPT_MAX_CONCURRENT_STREAMS,
			                  (long)h2_sharing_streams(t, m->target));
}

size_t h2_sharing_room(const struct transport *t, const struct multi_handle *m)
{
	size_t most = m->ready * h2_sharing_streams(t, m->target), used = m->busy - m->opening - m->retiring;
	return most > used ? most - used : 0;
}

bool h2_sharing_pool_full(const struct transport *t, size_t target)
{
	const struct connection_policy *c = &t->options->connections;
	return c->kind == CONNECTION_POLICY_POOL &&
	       (int64_t)t->queues[target].busy >= c->pool * (int64_t)h2_sharing_streams(t, target);
}

bool h2_sharing_must_wait(const struct transport *t, size_t target, uint64_t key, size_t ahead)
{
	const struct target_queue *q = &t->queues[target];
	size_t streams = h2_sharing_streams(t, target);
	const struct connection_policy *c = &t->options->connections;
	/* until the server's settings arrived, the pool was sized for more streams */
	if (c->kind == CONNECTION_POLICY_POOL && (q->busy - ahead - 1) / streams >= (size_t)c->pool)
		return true;
	if (streams == 1 || !q->opening)
		return false;
	if (c->kind == CONNECTION_POLICY_SESSION) {
		const struct transfer *x = q->openers;
		while (x && x->key != key)
			x = x->opener_next;
		return x;
	}
	/* libcurl found no room where there should be some: the free room is unknown */
	if (q->unplanned)
		return true;
	for (size_t i = 0; i < t->count; i++)
		if (t->multi_handles[i]->target == target && h2_sharing_room(t, t->multi_handles[i]))
			return false;
	return ahead < q->opening * (streams - 1);
}

void h2_sharing_opening(struct transfer *x, bool planned)
{
	struct target_queue *q = &x->multi->transport->queues[x->multi->target];
	if (x->opening)
		return;
	x->opening = true;
	x->unplanned = !planned;
	x->multi->opening++;
	q->opening++;
	q->unplanned += x->unplanned;
	x->opener_previous = NULL;
	x->opener_next = q->openers;
	if (q->openers)
		q->openers->opener_previous = x;
	q->openers = x;
}

void h2_sharing_opened(struct transfer *x)
{
	struct target_queue *q = &x->multi->transport->queues[x->multi->target];
	if (!x->opening)
		return;
	x->opening = false;
	x->multi->opening--;
	q->opening--;
	q->unplanned -= x->unplanned;
	*(x->opener_previous ? &x->opener_previous->opener_next : &q->openers) = x->opener_next;
	if (x->opener_next)
		x->opener_next->opener_previous = x->opener_previous;
}

void h2_sharing_joined(struct transfer *x, struct socket *s)
{
	s->streams++;
	x->multi->retiring += s->retiring;
}

void h2_sharing_left(struct transfer *x, struct socket *s)
{
	if (!s)
		return;
	s->streams--;
	x->multi->retiring -= s->retiring;
}

void h2_sharing_retire(struct socket *s)
{
	if (!s || s->retiring)
		return;
	s->retiring = true;
	s->multi->retiring += s->streams;
	s->multi->ready -= s->ready;
}

/* If the server has not closed it, libcurl closes it because a request was refused; otherwise the connection broke. */
void h2_sharing_closed(const struct socket *s, int fd)
{
	struct multi_handle *m = s->multi;
	struct pollfd p = {.fd = fd, .events = POLLRDHUP};
	m->ready -= s->ready && !s->retiring;
	m->retiring -= s->retiring ? s->streams : 0;
	if (m->transport->options->connections.http != HTTP_1_1 && poll(&p, 1, 0) == 0)
		m->healthy_id = s->id;
}

void h2_sharing_negotiated(struct transfer *x)
{
	struct transport *t = x->multi->transport;
	struct curl_tlssessioninfo *tls = NULL;
	const unsigned char *protocol = NULL;
	unsigned len = 0;
	if (t->options->connections.http != HTTP_2 || curl_easy_getinfo(x->easy, CURLINFO_TLS_SSL_PTR, &tls) || !tls ||
	    tls->backend != CURLSSLBACKEND_OPENSSL || !tls->internals)
		return;
	SSL_get0_alpn_selected(tls->internals, &protocol, &len);
	t->queues[x->multi->target].http1_only = len != 2 || memcmp(protocol, "h2", 2) != 0;
}
