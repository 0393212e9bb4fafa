#include "requests.h"

#include "absent.h"
#include "buffer.h"
#include "clock.h"
#include "stream/provenance.h"
#include "stream/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static int out_of_memory(struct ipf_error *err)
{
	return ipf_error_memory(err);
}

static int column_set(struct column *c, int64_t index, int64_t value, struct ipf_error *err)
{
	if (index >= c->cap) {
		int64_t cap = index < 512 ? 1024 : index * 2;
		int64_t *grown = realloc(c->values, (size_t)cap * sizeof *grown);
		if (!grown)
			return out_of_memory(err);
		c->values = grown;
		c->cap = cap;
	}
	while (c->count < index)
		c->values[c->count++] = IPF_ABSENT;
	c->values[c->count++] = value;
	return 0;
}

static int64_t column_get(const struct column *c, int64_t index)
{
	return index < c->count ? c->values[index] : IPF_ABSENT;
}

int64_t requests_at(const struct requests *requests, int64_t req)
{
	return column_get(&requests->at_ns, req);
}

int64_t requests_wait(const struct requests *requests, int64_t req)
{
	return column_get(&requests->wait_ns, req);
}

int64_t requests_head(const struct requests *requests, int64_t head)
{
	if (head == requests->heads)
		return requests->count;
	return requests->head.count ? requests->head.values[head] : head;
}

size_t requests_parents(const struct requests *requests, int64_t req, const uint32_t **distance)
{
	static const uint32_t before[] = {1};
	int64_t link = column_get(&requests->links, req);

	*distance = link == IPF_ABSENT ? before : &requests->pool[link + 1];
	return link == IPF_ABSENT ? 1 : requests->pool[link];
}

int64_t requests_lines(const struct requests *requests, int64_t first, int64_t heads)
{
	int64_t rounds = heads / requests->heads, last = first + heads % requests->heads;
	int64_t lines = rounds * requests->count - requests_head(requests, first);

	if (last > requests->heads)
		return lines + requests->count + requests_head(requests, last - requests->heads);
	return lines + requests_head(requests, last);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* The session being read, and which ones there were (by their hashes: two of 64 bits that are equal by chance, among
 * ten million sessions, are a matter of once in three hundred thousand traces). */
struct sessions {
	struct buffer now;   /* its name as it stands in the trace */
	int64_t first, turn; /* its head; the last turn number */
	struct buffer ids;   /* of its requests, decoded, one after another */
	size_t *id_end;
	size_t id_cap;
	struct jdoc doc;
	struct buffer text;
	uint64_t *seen; /* open addressing; 0: free */
	size_t seen_count, seen_size;
};

static void sessions_release(struct sessions *s)
{
	buffer_release(&s->now);
	buffer_release(&s->ids);
	buffer_release(&s->text);
	jdoc_release(&s->doc);
	free(s->id_end);
	free(s->seen);
}

static uint64_t hash_of(struct slice text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (uint8_t)text.data[i]) * UINT64_C(0x100000001b3);
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

static bool seen_put(uint64_t *seen, size_t size, uint64_t hash)
{
	size_t at = (size_t)hash & (size - 1);

	for (; seen[at]; at = (at + 1) & (size - 1))
		if (seen[at] == hash)
			return false;
	seen[at] = hash;
	return true;
}

/* 1: new; 0: it was there; -1: out of memory. */
static int sessions_remember(struct sessions *s, struct slice name, struct ipf_error *err)
{
	if (s->seen_count * 2 >= s->seen_size) {
		size_t size = s->seen_size ? s->seen_size * 2 : 1024;
		uint64_t *seen = calloc(size, sizeof *seen);
		if (!seen)
			return out_of_memory(err);
		for (size_t i = 0; i < s->seen_size; i++)
			if (s->seen[i])
				seen_put(seen, size, s->seen[i]);
		free(s->seen);
		s->seen = seen;
		s->seen_size = size;
	}
	if (!seen_put(s->seen, s->seen_size, hash_of(name)))
		return 0;
	s->seen_count++;
	return 1;
}

/* A JSON text, decoded at the end of `out`. */
static int decode(struct sessions *s, struct slice json, struct buffer *out, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, json.data, json.len, err) < 0)
		return -1;
	jdoc_text(&s->doc, JDOC_ROOT, out);
	return out->failed ? out_of_memory(err) : 0;
}

static int sessions_add_id(struct sessions *s, struct slice id, int64_t place, struct ipf_error *err)
{
	if ((size_t)place >= s->id_cap) {
		size_t cap = s->id_cap ? s->id_cap * 2 : 64;
		size_t *grown = realloc(s->id_end, cap * sizeof *grown);
		if (!grown)
			return out_of_memory(err);
		s->id_end = grown;
		s->id_cap = cap;
	}
	if (decode(s, id, &s->ids, err) < 0)
		return -1;
	s->id_end[place] = s->ids.len;
	return 0;
}

/* The place in the session, before `place`, of the request with this id; -1. The nearest are looked at first. */
static int64_t sessions_find_id(const struct sessions *s, struct slice id, int64_t place)
{
	while (place-- > 0) {
		size_t begin = place ? s->id_end[place - 1] : 0;
		if (slice_equal(id, (struct slice){s->ids.data + begin, s->id_end[place] - begin}))
			return place;
	}
	return -1;
}

static int pool_add(struct requests *r, uint32_t value, struct ipf_error *err)
{
	if (r->pool_count == r->pool_cap) {
		size_t cap = r->pool_cap ? r->pool_cap * 2 : 1024;
		uint32_t *grown = realloc(r->pool, cap * sizeof *grown);
		if (!grown)
			return out_of_memory(err);
		r->pool = grown;
		r->pool_cap = cap;
	}
	r->pool[r->pool_count++] = value;
	return 0;
}

/* A follower's own list of parents: ids of earlier requests of its session. */
static int add_parents(struct requests *r, struct sessions *s, struct slice parents, struct ipf_error *err)
{
	int64_t place = r->count - s->first;
	size_t link = r->pool_count;
	struct jdoc doc = {0};
	struct jdoc_each e;
	int status = -1;

	if (jdoc_parse(&doc, parents.data, parents.len, err) < 0 || pool_add(r, 0, err) < 0)
		goto out;
	for (e = jdoc_each(&doc, JDOC_ROOT); jdoc_step(&e);) {
		int64_t parent;
		if (jdoc_type_of(&doc, e.value) != JDOC_TEXT) {
			jdoc_expected(&doc, e.value, "parents", "the id of an earlier request of the session", err);
			goto out;
		}
		buffer_clear(&s->text);
		jdoc_text(&doc, e.value, &s->text);
		parent = sessions_find_id(s, buffer_all(&s->text), place);
		if (s->text.failed || parent < 0) {
			if (s->text.failed)
				out_of_memory(err);
			else
				jdoc_expected(&doc, e.value, "parents", "the id of an earlier request of the session", err);
			goto out;
		}
		if (pool_add(r, (uint32_t)(place - parent), err) < 0)
			goto out;
	}
	r->pool[link] = (uint32_t)(r->pool_count - link - 1);
	if (r->pool[link] == 0) {
		ipf_error_set(err, IPF_INPUT,
		              "parents: expected at least one id, got [] (only a session's first request waits for none)");
		goto out;
	}
	if (r->pool[link] > r->most_parents)
		r->most_parents = r->pool[link];
	status = column_set(&r->links, r->count, (int64_t)link, err);
out:
	jdoc_release(&doc);
	return status;
}

/* A request that waits for nobody. From the first follower on, the heads have to be written down. */
static int add_head(struct requests *r, const struct trace_request *request, int64_t line, struct ipf_error *err)
{
	int64_t head = r->heads++;

	if (request->at_ns == IPF_ABSENT) {
		if (!r->untimed_line)
			r->untimed_line = line;
	} else {
		int64_t before = head ? requests_at(r, requests_head(r, head - 1)) : IPF_ABSENT;
		if (before != IPF_ABSENT && request->at_ns < before && !r->unsorted_line)
			r->unsorted_line = line;
		r->timed++;
	}
	return r->head.count ? column_set(&r->head, head, r->count, err) : 0;
}

static int add_follower(struct requests *r, struct sessions *s, const struct trace_request *request,
                        struct ipf_error *err)
{
	if (r->count - s->first >= UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "session: more than %lld requests", (long long)UINT32_MAX);
	for (int64_t head = r->head.count; head < r->heads; head++)
		if (column_set(&r->head, head, head, err) < 0)
			return -1;
	if (request->parents.data)
		return add_parents(r, s, request->parents, err);
	if (request->turn != IPF_ABSENT && s->turn != IPF_ABSENT && request->turn <= s->turn)
		return ipf_error_set(err, IPF_INPUT, "turn: expected more than %lld, that of the request before, got %lld",
		                     (long long)s->turn, (long long)request->turn);
	return 0;
}

/* A request of a session: its first or a later one. */
static int add_turn(struct requests *r, struct sessions *s, const struct trace_request *request, int64_t line,
                    struct ipf_error *err)
{
	bool first = s->now.len == 0 || !slice_equal(buffer_all(&s->now), request->session);
	int got;

	if (first) {
		if ((got = sessions_remember(s, request->session, err)) < 0)
			return -1;
		if (got == 0)
			return ipf_error_set(
				err, IPF_INPUT, "session: %.*s goes on after others began: a session's requests have to stand together",
				(int)(request->session.len < 200 ? request->session.len : 200), request->session.data);
		if (trace_has_parents(request))
			return ipf_error_set(err, IPF_INPUT, "parents: expected none in a session's first request, got %.*s",
			                     (int)(request->parents.len < 200 ? request->parents.len : 200), request->parents.data);
		buffer_clear(&s->now);
		buffer_clear(&s->ids);
		buffer_slice(&s->now, request->session);
		if (s->now.failed)
			return out_of_memory(err);
		s->first = r->count;
		if (add_head(r, request, line, err) < 0)
			return -1;
	} else if (add_follower(r, s, request, err) < 0) {
		return -1;
	}
	s->turn = request->turn;
	return sessions_add_id(s, request->id, r->count - s->first, err);
}

static int add_request(struct requests *r, struct sessions *s, const struct trace_request *request, int64_t line,
                       struct ipf_error *err)
{
	if (request->at_ns != IPF_ABSENT && column_set(&r->at_ns, r->count, request->at_ns, err) < 0)
		return -1;
	if (request->wait_ns != IPF_ABSENT && column_set(&r->wait_ns, r->count, request->wait_ns, err) < 0)
		return -1;
	if (request->session.data) {
		if (add_turn(r, s, request, line, err) < 0)
			return -1;
	} else {
		if (trace_has_parents(request))
			return ipf_error_set(err, IPF_INPUT, "parents: only a request with a session can have them");
		buffer_clear(&s->now);
		if (add_head(r, request, line, err) < 0)
			return -1;
	}
	r->count++;
	return 0;
}

static int read_all(struct requests *r, struct trace_reader *reader, struct progress *progress, struct ipf_error *cut,
                    struct ipf_error *err)
{
	struct stream_reader *stream = trace_reader_stream(reader);
	struct trace_request request;
	struct sessions sessions = {0};
	int got;

	while ((got = trace_reader_next(reader, &request, err)) == 1) {
		int64_t line = stream_reader_line(stream);
		if (add_request(r, &sessions, &request, line, err) < 0) {
			ipf_error_place(err, r->name, line);
			break;
		}
		if ((r->count & 0xfff) == 0 && progress_due(progress, clock_now()))
			progress_show(progress, "%lld requests read", (long long)r->count);
	}
	sessions_release(&sessions);
	if (got == -1 && err->kind == IPF_CUT && r->count > 0) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	if (got != 0)
		return -1;
	if (r->count == 0)
		return ipf_error_at(err, IPF_INPUT, r->name, 0, "the trace has no requests");
	return 0;
}

int requests_read(struct requests *r, const char *path, struct progress *progress, struct ipf_error *cut,
                  struct ipf_error *err)
{
	struct trace_reader *reader;
	int status = -1;

	*r = (struct requests){0};
	if (trace_reader_open(&reader, path, err) < 0)
		return -1;
	snprintf(r->name, sizeof r->name, "%s", stream_reader_name(trace_reader_stream(reader)));
	if (read_all(r, reader, progress, cut, err) < 0)
		goto out;
	snprintf(r->sha256, sizeof r->sha256, "%s", stream_reader_sha256(trace_reader_stream(reader)));
	r->header = json_incref(stream_reader_header(trace_reader_stream(reader)));
	r->digest = provenance_stream(trace_reader_stream(reader));
	status = r->digest ? 0 : out_of_memory(err);
out:
	trace_reader_close(reader);
	return status;
}

void requests_release(struct requests *r)
{
	free(r->head.values);
	free(r->at_ns.values);
	free(r->wait_ns.values);
	free(r->links.values);
	free(r->pool);
	json_decref(r->header);
	json_decref(r->digest);
	*r = (struct requests){0};
}
