#include "requests/trace_cursor.h"

#include "absent.h"
#include "requests/prompt.h"
#include "requests/request_copies.h"

#include <stdlib.h>

/* A request passed without being taken, and is kept. */
struct passed_request {
	int64_t index;
	size_t times; /* that it was passed and not taken: the trace may wrap in between */
	struct deferred_request *request;
	struct passed_request *in_bucket, *newer, *older;
};

struct trace_cursor {
	struct trace_reader *reader;
	int64_t index;                /* the index of `request`; -1 before the first */
	struct trace_request request; /* as read, or its copy (request_copies.h) */
	struct request_copier copier;
	bool taken;            /* `request` has been returned */
	bool ended;            /* the reader is past `request`, at the end */
	struct buffer session; /* the name of the session of `dialogue` */
	struct dialogue *dialogue;
	size_t context_len; /* for `dialogue`, before `request` */
	int64_t count;
	bool cut;
	struct passed_request **buckets;
	size_t mask, kept_count, kept_bytes;
	struct passed_request *oldest, *newest;
	struct deferred_request *returned; /* by the last call; NULL: that was `request` */
};

static void passed_free(struct passed_request *k)
{
	deferred_request_free(k->request);
	free(k);
}

int trace_cursor_open(struct trace_cursor **cursor, const char *path, int64_t copy, struct ipf_error *err)
{
	*cursor = NULL;
	struct trace_cursor *c = calloc(1, sizeof *c);
	if (!c)
		return ipf_error_memory(err);
	c->index = -1;
	c->copier.copy = copy;
	c->count = IPF_ABSENT;
	c->mask = 1023;
	c->buckets = calloc(c->mask + 1, sizeof(struct passed_request *));
	c->dialogue = dialogue_new();
	if (!c->buckets || !c->dialogue)
		ipf_error_memory(err);
	else if (trace_reader_open(&c->reader, path, err) == 0) {
		*cursor = c;
		return 0;
	}
	trace_cursor_close(c);
	return -1;
}

void trace_cursor_close(struct trace_cursor *c)
{
	if (!c)
		return;
	for (struct passed_request *k = c->oldest, *next; k; k = next) {
		next = k->newer;
		passed_free(k);
	}
	deferred_request_free(c->returned);
	dialogue_release(c->dialogue);
	request_copier_release(&c->copier);
	buffer_release(&c->session);
	free(c->buckets);
	trace_reader_close(c->reader);
	free(c);
}

int64_t trace_cursor_count(const struct trace_cursor *c)
{
	return c->count;
}

bool trace_cursor_cut(const struct trace_cursor *c)
{
	return c->cut;
}

/* ---- passed requests ---- */

static struct passed_request **bucket(struct trace_cursor *c, int64_t index)
{
	return &c->buckets[(uint64_t)index & c->mask];
}

static struct passed_request **find(struct trace_cursor *c, int64_t index)
{
	struct passed_request **at = bucket(c, index);
	while (*at && (*at)->index != index)
		at = &(*at)->in_bucket;
	return at;
}

static void unlink_passed(struct trace_cursor *c, struct passed_request **at)
{
	struct passed_request *k = *at;
	*at = k->in_bucket;
	*(k->older ? &k->older->newer : &c->oldest) = k->newer;
	*(k->newer ? &k->newer->older : &c->newest) = k->older;
	c->kept_count--;
	c->kept_bytes -= k->request->bytes;
}

static void grow_buckets(struct trace_cursor *c)
{
	size_t mask = 2 * c->mask + 1;
	struct passed_request **buckets = calloc(mask + 1, sizeof(struct passed_request *));
	if (!buckets)
		return; /* the chains get longer */
	free(c->buckets);
	c->buckets = buckets;
	c->mask = mask;
	for (struct passed_request *k = c->oldest; k; k = k->newer) {
		struct passed_request **at = bucket(c, k->index);
		k->in_bucket = *at;
		*at = k;
	}
}

/* Keeps `request` if it has not been taken and a follower may request it. */
static int keep(struct trace_cursor *c, struct ipf_error *err)
{
	if (c->taken || c->index < 0 || (!c->request.session.data && !c->request.parents.data))
		return 0;
	struct passed_request **at = find(c, c->index);
	if (*at) {
		(*at)->times++;
		return 0;
	}
	struct passed_request *k = calloc(1, sizeof *k);
	if (!k || !(k->request = deferred_request_new(&c->request, c->dialogue, c->context_len))) {
		free(k);
		return ipf_error_memory(err);
	}
	k->index = c->index;
	k->times = 1;
	k->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = k;
	c->newest = *at = k;
	c->kept_count++;
	c->kept_bytes += k->request->bytes;
	if (c->kept_count > c->mask)
		grow_buckets(c);
	while (c->kept_bytes > (c->copier.copy ? TRACE_CURSOR_KEEP_BYTES / 16 : TRACE_CURSOR_KEEP_BYTES)) {
		struct passed_request **old = find(c, c->oldest->index);
		k = *old;
		unlink_passed(c, old);
		passed_free(k);
	}
	return 0;
}

/* ---- reading on ---- */

/* Determines the context of `request`, then adds its turn to the session. */
static int follow_session(struct trace_cursor *c, struct ipf_error *err)
{
	struct trace_request *q = &c->request;
	if (request_copier_name(&c->copier, q, err) < 0)
		return -1;
	bool same = q->session.data && slice_equal(q->session, buffer_all(&c->session)) && c->session.len;
	if (!same || !q->context_session) {
		struct dialogue *d = dialogue_new();
		if (!d)
			return ipf_error_memory(err);
		dialogue_release(c->dialogue);
		c->dialogue = d;
		buffer_clear(&c->session);
		buffer_slice(&c->session, q->session);
	}
	c->context_len = c->dialogue->messages.len;
	if (c->context_len && (*c->dialogue->messages.data == '{') != !q->prompt_token_ids.data)
		return ipf_error_set(err, IPF_INPUT, "request %lld: %s: the turns before it in its session are %s",
		                     (long long)c->index, q->prompt_token_ids.data ? "prompt_token_ids" : "messages",
		                     q->prompt_token_ids.data ? "messages" : "token ids");
	if (!c->context_len && request_copier_mark(&c->copier, q, err) < 0)
		return -1;
	if (q->session.data)
		prompt_append_turn(&c->dialogue->messages, q);
	return c->dialogue->messages.failed || c->session.failed ? ipf_error_memory(err) : 0;
}

static int read_next(struct trace_cursor *c, struct ipf_error *err)
{
	if (keep(c, err) < 0)
		return -1;
	struct ipf_error why = {0};
	int got = trace_reader_next(c->reader, &c->request, &why);
	if (got < 0 && why.kind != IPF_CUT) {
		*err = why;
		return -1;
	}
	if (got <= 0) {
		c->cut = got < 0;
		c->count = c->index + 1;
		c->taken = c->ended = true; /* `request` is no longer valid; it was kept if needed */
		return 0;
	}
	c->index++;
	c->taken = false;
	return follow_session(c, err) < 0 ? -1 : 1;
}

static int rewind_to_begin(struct trace_cursor *c, struct ipf_error *err)
{
	c->index = -1;
	c->taken = true;
	c->ended = false;
	buffer_clear(&c->session);
	return trace_reader_rewind(c->reader, err);
}

static int take_passed(struct trace_cursor *c, struct passed_request **at, struct trace_request *request,
                       struct slice *context, struct ipf_error *err)
{
	struct passed_request *k = *at;
	if (--k->times) {
		c->returned = deferred_request_new(&k->request->request, k->request->dialogue, k->request->context_len);
		if (!c->returned)
			return ipf_error_memory(err);
	} else {
		unlink_passed(c, at);
		c->returned = k->request;
		free(k);
	}
	*request = c->returned->request;
	*context = deferred_request_context(c->returned);
	return 1;
}

int trace_cursor_get(struct trace_cursor *c, int64_t index, struct trace_request *request, struct slice *context,
                     struct ipf_error *err)
{
	deferred_request_free(c->returned);
	c->returned = NULL;
	if (c->count != IPF_ABSENT && index >= c->count)
		return 0;
	if (index != c->index || c->ended) {
		struct passed_request **at = find(c, index);
		if (*at)
			return take_passed(c, at, request, context, err);
		if (index <= c->index && (keep(c, err) < 0 || rewind_to_begin(c, err) < 0))
			return -1;
	}
	while (c->index < index) {
		int got = read_next(c, err);
		if (got <= 0)
			return got;
	}
	c->taken = true;
	*request = c->request;
	*context = (struct slice){c->dialogue->messages.data, c->context_len};
	return 1;
}

struct deferred_request *trace_cursor_defer(const struct trace_cursor *c)
{
	return c->returned ? deferred_request_new(&c->returned->request, c->returned->dialogue, c->returned->context_len)
	                   : deferred_request_new(&c->request, c->dialogue, c->context_len);
}
