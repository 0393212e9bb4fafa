/* Connections that carry several requests at once: who waits for one that is being made, and who has another one made. libcurl, asked for all
 * at once, would make one for each, or fail. */
#include "transport_private.h"

#include <openssl/ssl.h>
#include <string.h>

size_t sharing_streams(const struct transport *t, size_t place)
{
	return t->queues[place].single ? 1 : (size_t)connections_streams(&t->options->connections);
}

size_t sharing_free(const struct transport *t, const struct multi *m)
{
	size_t most = m->ready * sharing_streams(t, m->place), used = m->busy - m->opening;
	return most > used ? most - used : 0;
}

bool sharing_has_to_wait(const struct transport *t, size_t place, uint64_t key, size_t ahead)
{
	const struct queueing *q = &t->queues[place];
	size_t streams = sharing_streams(t, place);
	const struct connections *c = &t->options->connections;
	/* the pool was laid out for more streams, until the server agreed to one */
	if (streams == 1)
		return q->single && c->kind == CONNECTIONS_POOL && (int64_t)(q->busy - ahead) > c->pool;
	if (!q->opening)
		return false;
	if (c->kind == CONNECTIONS_SESSION) {
		const struct exchange *x = q->openers;
		while (x && x->key != key)
			x = x->opener_next;
		return x;
	}
	/* the server takes less than we thought: nobody knows how much less */
	if (q->unplanned)
		return true;
	for (size_t i = 0; i < t->count; i++)
		if (t->multis[i]->place == place && sharing_free(t, t->multis[i]))
			return false;
	return ahead < q->opening * (streams - 1);
}

void sharing_opening(struct exchange *x, bool planned)
{
	struct queueing *q = &x->multi->transport->queues[x->multi->place];
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

void sharing_opened(struct exchange *x)
{
	struct queueing *q = &x->multi->transport->queues[x->multi->place];
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

void sharing_agreed(struct exchange *x)
{
	struct transport *t = x->multi->transport;
	struct curl_tlssessioninfo *tls = NULL;
	const unsigned char *protocol = NULL;
	unsigned len = 0;
	if (t->options->connections.http != HTTP_2 || curl_easy_getinfo(x->easy, CURLINFO_TLS_SSL_PTR, &tls) || !tls ||
	    tls->backend != CURLSSLBACKEND_OPENSSL || !tls->internals)
		return;
	SSL_get0_alpn_selected(tls->internals, &protocol, &len);
	t->queues[x->multi->place].single = len != 2 || memcmp(protocol, "h2", 2) != 0;
}
