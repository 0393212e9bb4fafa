#include "anonymize/anonymous_trace.h"

#include "array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A request owning its hashes, parents, model and tags, which follow it in this order. */
struct held_request {
	struct anonymous_request request;
	int64_t order_ns;
	uint64_t sequence; /* breaks ties in order_ns: the first comes first */
	uint64_t numbers[];
};

/* ---- lines ---- */

/* Is it of the session the last request was of? Notes the session if not. */
static bool goes_on(uint64_t *session, bool *within, const struct anonymous_request *r)
{
	const bool same = *within && r->turn != IPF_ABSENT && r->session == *session;
	*within = r->turn != IPF_ABSENT;
	*session = r->session;
	return same;
}

static bool has_id(const struct block_hashes *ids, uint64_t id)
{
	for (size_t i = ids->count; i-- > 0;)
		if (ids->ids[i] == id)
			return true;
	return false;
}

/* Requests that --k leaves out of a session leave no gap: turns are counted anew, and parents are those present. */
static int close_gaps(struct anonymous_trace *t, struct anonymous_request *r, struct ipf_error *err)
{
	struct block_hashes *written = &t->written, *parents = &t->parents;
	const bool same = goes_on(&t->written_session, &t->within_written, r);
	if (r->turn == IPF_ABSENT)
		return 0;
	const size_t turn = same ? written->count : 0;
	if (!block_hashes_resize(written, turn + 1) || !block_hashes_resize(parents, r->parent_count))
		return ipf_error_memory(err);
	written->ids[turn] = r->id;
	written->count = turn;
	parents->count = 0;
	for (size_t i = 0; i < r->parent_count; i++)
		if (has_id(written, r->parents[i]))
			parents->ids[parents->count++] = r->parents[i];
	written->count = turn + 1;
	r->turn = (int64_t)turn;
	r->lists_parents &= parents->count || !r->parent_count;
	r->parents = parents->ids;
	r->parent_count = parents->count;
	return 0;
}

static int write_line(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	if (t->format == ANONYMOUS_TRACE)
		anonymous_line_trace(&t->line, r, t->block_tokens);
	else
		anonymous_line_mooncake(&t->line, r, t->block_tokens);
	remains_note(t->remains, r);
	return remains_failed(t->remains) ? ipf_error_memory(err) : stream_writer_line(t->writer, &t->line, err);
}

/* ---- rare lengths ---- */

static int spool_failed(struct ipf_error *err)
{
	return ipf_error_errno(err, errno ? errno : EIO, NULL, "--k: cannot use a temporary file");
}

static bool spool_bytes(struct anonymous_trace *t, const void *bytes, size_t size)
{
	return size == 0 || fwrite(bytes, size, 1, t->spool) == 1;
}

static int put_into_spool(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	errno = 0;
	if (!length_groups_add(&t->groups, r))
		return ipf_error_memory(err);
	const bool written = spool_bytes(t, r, sizeof *r) && spool_bytes(t, r->hashes, r->hash_count * sizeof *r->hashes) &&
	                     spool_bytes(t, r->parents, r->parent_count * sizeof *r->parents) &&
	                     spool_bytes(t, r->model.data, r->model.len) && spool_bytes(t, r->tags.data, r->tags.len);
	return written ? 0 : spool_failed(err);
}

/* Fits the hashes to another length: those of blocks beyond the recorded ones are like no others. */
static int set_length(struct anonymous_trace *t, struct anonymous_request *r, struct block_hashes *hashes,
                      const struct lengths *lengths)
{
	const size_t known = hashes->count, blocks = (size_t)((lengths->input + t->block_tokens - 1) / t->block_tokens);
	if (!block_hashes_resize(hashes, blocks))
		return -1;
	for (size_t i = known; i < blocks; i++) {
		struct salted_hash hash;
		salted_hash_begin(&hash, t->salt, SALTED_FILLER);
		salted_hash_add_number(&hash, r->number);
		salted_hash_add_number(&hash, i);
		hashes->ids[i] = salted_hash_number(&hash, t->salt);
	}
	r->input_tokens = lengths->input;
	r->output_tokens = lengths->output;
	r->hashes = hashes->ids;
	r->hash_count = blocks;
	return 0;
}

/* A request of the spool, and its pointers. */
struct spooled {
	struct anonymous_request request;
	struct block_hashes hashes, parents;
	struct buffer model, tags;
};

static bool read_numbers(struct anonymous_trace *t, struct block_hashes *to)
{
	return to->count == 0 || fread(to->ids, to->count * sizeof *to->ids, 1, t->spool) == 1;
}

static bool read_text(struct anonymous_trace *t, struct slice *text, char *to)
{
	text->data = text->data ? to : NULL;
	return text->len == 0 || fread(to, text->len, 1, t->spool) == 1;
}

/* 1: the next request; 0: there are no more; -1. */
static int read_spool(struct anonymous_trace *t, struct spooled *s, struct ipf_error *err)
{
	struct anonymous_request *r = &s->request;
	errno = 0;
	if (fread(r, sizeof *r, 1, t->spool) != 1)
		return ferror(t->spool) ? spool_failed(err) : 0;
	char *model = buffer_reserve(&s->model, r->model.len), *tags = buffer_reserve(&s->tags, r->tags.len);
	if (!block_hashes_resize(&s->hashes, r->hash_count) || !block_hashes_resize(&s->parents, r->parent_count) ||
	    !model || !tags)
		return ipf_error_memory(err);
	if (!read_numbers(t, &s->hashes) || !read_numbers(t, &s->parents) || !read_text(t, &r->model, model) ||
	    !read_text(t, &r->tags, tags))
		return spool_failed(err);
	r->parents = s->parents.ids;
	return 1;
}

static int write_spooled(struct anonymous_trace *t, struct ipf_error *err)
{
	struct spooled s = {0};
	struct anonymous_request *r = &s.request;
	struct lengths lengths;
	int got = length_groups_settle(&t->groups) ? 1 : ipf_error_memory(err);
	errno = 0;
	if (got > 0 && (fflush(t->spool) != 0 || fseek(t->spool, 0, SEEK_SET) != 0))
		got = spool_failed(err);
	while (got > 0 && (got = read_spool(t, &s, err)) > 0) {
		if (!length_groups_find(&t->groups, r, &lengths)) {
			t->too_few++;
			continue;
		}
		if (set_length(t, r, &s.hashes, &lengths) < 0)
			got = ipf_error_memory(err);
		else if ((t->format == ANONYMOUS_TRACE && close_gaps(t, r, err) < 0) || write_line(t, r, err) < 0)
			got = -1;
	}
	block_hashes_release(&s.hashes);
	block_hashes_release(&s.parents);
	buffer_release(&s.model);
	buffer_release(&s.tags);
	return got;
}

static int pass_on(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	return t->k ? put_into_spool(t, r, err) : write_line(t, r, err);
}

/* ---- order of arrival ---- */

static bool comes_before(const struct held_request *a, const struct held_request *b)
{
	return a->order_ns < b->order_ns || (a->order_ns == b->order_ns && a->sequence < b->sequence);
}

static struct held_request *copy_of(const struct anonymous_request *r)
{
	const size_t hashes = r->hash_count * sizeof *r->hashes, parents = r->parent_count * sizeof *r->parents;
	struct held_request *h = malloc(sizeof *h + hashes + parents + r->model.len + r->tags.len);
	if (!h)
		return NULL;
	char *to = (char *)h->numbers;
	h->request = *r;
	h->request.hashes = hashes ? memcpy(to, r->hashes, hashes) : NULL;
	h->request.parents = parents ? memcpy(to += hashes, r->parents, parents) : NULL;
	h->request.model.data = r->model.data ? memcpy(to += parents, r->model.data, r->model.len) : NULL;
	h->request.tags.data = r->tags.data ? memcpy(to + r->model.len, r->tags.data, r->tags.len) : NULL;
	return h;
}

static int hold(struct anonymous_trace *t, const struct anonymous_request *r, int64_t order_ns, struct ipf_error *err)
{
	if (!array_room(t->heap, t->cap, t->held + 1))
		return ipf_error_memory(err);
	struct held_request *h = copy_of(r);
	if (!h)
		return ipf_error_memory(err);
	h->order_ns = order_ns;
	h->sequence = t->sequence++;
	size_t at = t->held++;
	for (; at && comes_before(h, t->heap[(at - 1) / 2]); at = (at - 1) / 2)
		t->heap[at] = t->heap[(at - 1) / 2];
	t->heap[at] = h;
	return 0;
}

static struct held_request *take_first(struct anonymous_trace *t)
{
	struct held_request *first = t->heap[0], *last = t->heap[--t->held];
	size_t at = 0, child;
	while ((child = 2 * at + 1) < t->held) {
		if (child + 1 < t->held && comes_before(t->heap[child + 1], t->heap[child]))
			child++;
		if (!comes_before(t->heap[child], last))
			break;
		t->heap[at] = t->heap[child];
		at = child;
	}
	t->heap[at] = last;
	return first;
}

/* Passes on the requests before `until_ns`. */
static int let_go(struct anonymous_trace *t, int64_t until_ns, struct ipf_error *err)
{
	int status = 0;
	while (status == 0 && t->held && t->heap[0]->order_ns <= until_ns) {
		struct held_request *first = take_first(t);
		status = pass_on(t, &first->request, err);
		free(first);
	}
	return status;
}

/* ---- the whole ---- */

int anonymous_trace_open(struct anonymous_trace *t, const char *path, json_t *header, struct ipf_error *err)
{
	t->groups.k = t->k;
	errno = 0;
	if (t->k && !(t->spool = tmpfile()))
		return spool_failed(err);
	return stream_writer_open(&t->writer, path, header, err);
}

/* In a trace, the place of a session is its first request's. */
int anonymous_trace_put(struct anonymous_trace *t, const struct anonymous_request *r, struct ipf_error *err)
{
	const bool same = goes_on(&t->session, &t->within, r);
	if (!same || t->format == ANONYMOUS_MOONCAKE) {
		t->order_ns = r->at_ns;
		t->order_recorded_ns = r->recorded_ns;
	}
	if (!t->jitter_ns || t->order_ns == IPF_ABSENT)
		return pass_on(t, r, err);
	return let_go(t, t->order_recorded_ns, err) < 0 ? -1 : hold(t, r, t->order_ns, err);
}

int anonymous_trace_close(struct anonymous_trace *t, struct ipf_error *err)
{
	struct stream_writer *writer = t->writer;
	if (let_go(t, INT64_MAX, err) < 0 || (t->k && write_spooled(t, err) < 0))
		return -1;
	t->writer = NULL;
	return stream_writer_close(writer, NULL, err);
}

void anonymous_trace_release(struct anonymous_trace *t)
{
	while (t->held)
		free(t->heap[--t->held]);
	free(t->heap);
	length_groups_release(&t->groups);
	if (t->spool)
		fclose(t->spool);
	stream_writer_abandon(t->writer);
	block_hashes_release(&t->written);
	block_hashes_release(&t->parents);
	buffer_release(&t->line);
}
