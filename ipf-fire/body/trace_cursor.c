#include "body/trace_cursor.h"

#include "absent.h"
#include "body/request_copies.h"
#include "body/body_renderer.h"

#include <stdlib.h>

/* A request that was passed. */
struct kept {
	int64_t index;
	size_t copies; /* passed so often and not taken (the trace may wrap in between) */
	struct deferred_request *draft;
	struct kept *in_bucket, *newer, *older;
};

struct trace_cursor {
	struct trace_reader *reader;
	int64_t index;                /* of `request`; -1 before the first */
	struct trace_request request; /* as the reader gave it, or a copy of that */
	struct copier copier;
	bool taken;            /* … and was asked for */
	bool ended;            /* the reader is past it, at the end */
	struct buffer session; /* of `dialogue` */
	struct dialogue *dialogue;
	size_t before;
	int64_t count;
	bool cut;
	struct kept **buckets;
	size_t mask, kept_count, kept_bytes;
	struct kept *oldest, *newest;
	struct deferred_request *lent; /* given out by the last call; NULL: it was `request` */
};

static void kept_free(struct kept *k)
{
	deferred_request_free(k->draft);
	free(k);
}

int trace_cursor_open(struct trace_cursor **picker, const char *path, int64_t copy, struct ipf_error *err)
{
	*picker = NULL;
	struct trace_cursor *p = calloc(1, sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	p->index = -1;
	p->copier.copy = copy;
	p->count = IPF_ABSENT;
	p->mask = 1023;
	p->buckets = calloc(p->mask + 1, sizeof(struct kept *));
	p->dialogue = dialogue_new();
	if (!p->buckets || !p->dialogue)
		ipf_error_memory(err);
	else if (trace_reader_open(&p->reader, path, err) == 0) {
		*picker = p;
		return 0;
	}
	trace_cursor_close(p);
	return -1;
}

void trace_cursor_close(struct trace_cursor *p)
{
	if (!p)
		return;
	for (struct kept *k = p->oldest, *next; k; k = next) {
		next = k->newer;
		kept_free(k);
	}
	deferred_request_free(p->lent);
	dialogue_drop(p->dialogue);
	copier_release(&p->copier);
	buffer_release(&p->session);
	free(p->buckets);
	trace_reader_close(p->reader);
	free(p);
}

int64_t trace_cursor_count(const struct trace_cursor *p)
{
	return p->count;
}

bool trace_cursor_cut(const struct trace_cursor *p)
{
	return p->cut;
}

/* ---- requests that were passed ---- */

static struct kept **bucket(struct trace_cursor *p, int64_t index)
{
	return &p->buckets[(uint64_t)index & p->mask];
}

static struct kept **find(struct trace_cursor *p, int64_t index)
{
	struct kept **at = bucket(p, index);
	while (*at && (*at)->index != index)
		at = &(*at)->in_bucket;
	return at;
}

static void unlink_kept(struct trace_cursor *p, struct kept **at)
{
	struct kept *k = *at;
	*at = k->in_bucket;
	*(k->older ? &k->older->newer : &p->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &p->newest) = k->older;
	p->kept_count--;
	p->kept_bytes -= k->draft->bytes;
}

static void grow_buckets(struct trace_cursor *p)
{
	size_t mask = 2 * p->mask + 1;
	struct kept **buckets = calloc(mask + 1, sizeof(struct kept *));
	if (!buckets)
		return; /* longer chains, then */
	free(p->buckets);
	p->buckets = buckets;
	p->mask = mask;
	for (struct kept *k = p->oldest; k; k = k->newer) {
		struct kept **at = bucket(p, k->index);
		k->in_bucket = *at;
		*at = k;
	}
}

/* The request read last goes by without being taken. */
static int keep(struct trace_cursor *p, struct ipf_error *err)
{
	if (p->taken || p->index < 0 || (!p->request.session.data && !p->request.parents.data))
		return 0;
	struct kept **at = find(p, p->index);
	if (*at) {
		(*at)->copies++;
		return 0;
	}
	struct kept *k = calloc(1, sizeof *k);
	if (!k || !(k->draft = deferred_request_new(&p->request, p->dialogue, p->before))) {
		free(k);
		return ipf_error_memory(err);
	}
	k->index = p->index;
	k->copies = 1;
	k->older = p->newest;
	*(p->newest ? &p->newest->newer : &p->oldest) = k;
	p->newest = *at = k;
	p->kept_count++;
	p->kept_bytes += k->draft->bytes;
	if (p->kept_count > p->mask)
		grow_buckets(p);
	while (p->kept_bytes > (p->copier.copy ? TRACE_CURSOR_KEEP_BYTES / 16 : TRACE_CURSOR_KEEP_BYTES)) {
		struct kept **old = find(p, p->oldest->index);
		k = *old;
		unlink_kept(p, old);
		kept_free(k);
	}
	return 0;
}

/* ---- reading on ---- */

/* What its turn adds to the session comes after it is known what came before. */
static int follow_session(struct trace_cursor *p, struct ipf_error *err)
{
	struct trace_request *q = &p->request;
	if (copier_names(&p->copier, q, err) < 0)
		return -1;
	bool same = q->session.data && slice_equal(q->session, buffer_all(&p->session)) && p->session.len;
	if (!same || !q->context_session) {
		struct dialogue *d = dialogue_new();
		if (!d)
			return ipf_error_memory(err);
		dialogue_drop(p->dialogue);
		p->dialogue = d;
		buffer_clear(&p->session);
		buffer_slice(&p->session, q->session);
	}
	p->before = p->dialogue->messages.len;
	if (!p->before && copier_mark(&p->copier, q, err) < 0)
		return -1;
	if (q->session.data)
		session_append(&p->dialogue->messages, q);
	return p->dialogue->messages.failed || p->session.failed ? ipf_error_memory(err) : 0;
}

static int read_next(struct trace_cursor *p, struct ipf_error *err)
{
	if (keep(p, err) < 0)
		return -1;
	struct ipf_error why = {0};
	int got = trace_reader_next(p->reader, &p->request, &why);
	if (got < 0 && why.kind != IPF_CUT) {
		*err = why;
		return -1;
	}
	if (got <= 0) {
		p->cut = got < 0;
		p->count = p->index + 1;
		p->taken = p->ended = true; /* the last request is gone, and kept where that was due */
		return 0;
	}
	p->index++;
	p->taken = false;
	return follow_session(p, err) < 0 ? -1 : 1;
}

static int from_the_top(struct trace_cursor *p, struct ipf_error *err)
{
	p->index = -1;
	p->taken = true;
	p->ended = false;
	buffer_clear(&p->session);
	return trace_reader_rewind(p->reader, err);
}

static int give_kept(struct trace_cursor *p, struct kept **at, struct trace_request *request, struct slice *context,
                     struct ipf_error *err)
{
	struct kept *k = *at;
	if (--k->copies) {
		p->lent = deferred_request_new(&k->draft->request, k->draft->dialogue, k->draft->before);
		if (!p->lent)
			return ipf_error_memory(err);
	} else {
		unlink_kept(p, at);
		p->lent = k->draft;
		free(k);
	}
	*request = p->lent->request;
	*context = deferred_request_context(p->lent);
	return 1;
}

int trace_cursor_get(struct trace_cursor *p, int64_t index, struct trace_request *request, struct slice *context,
                     struct ipf_error *err)
{
	deferred_request_free(p->lent);
	p->lent = NULL;
	if (p->count != IPF_ABSENT && index >= p->count)
		return 0;
	if (index != p->index || p->ended) {
		struct kept **at = find(p, index);
		if (*at)
			return give_kept(p, at, request, context, err);
		if (index <= p->index && (keep(p, err) < 0 || from_the_top(p, err) < 0))
			return -1;
	}
	while (p->index < index) {
		int got = read_next(p, err);
		if (got <= 0)
			return got;
	}
	p->taken = true;
	*request = p->request;
	*context = (struct slice){p->dialogue->messages.data, p->before};
	return 1;
}

struct deferred_request *trace_cursor_draft(const struct trace_cursor *p)
{
	return p->lent ? deferred_request_new(&p->lent->request, p->lent->dialogue, p->lent->before)
	               : deferred_request_new(&p->request, p->dialogue, p->before);
}
