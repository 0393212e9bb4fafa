#include "inputs/trace_index.h"

#include "absent.h"
#include "array.h"
#include "buffer.h"
#include "clock.h"
#include "name_set.h"
#include "stream/provenance.h"
#include "stream/request_check.h"
#include "stream/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static int column_set(struct column *c, int64_t index, int64_t value, struct ipf_error *err)
{
	if (!array_room(c->values, c->cap, index + 1))
		return ipf_error_memory(err);
	while (c->count < index)
		c->values[c->count++] = IPF_ABSENT;
	c->values[c->count++] = value;
	return 0;
}

static int64_t column_get(const struct column *c, int64_t index)
{
	return index < c->count ? c->values[index] : IPF_ABSENT;
}

int64_t trace_index_at(const struct trace_index *trace, int64_t req)
{
	return column_get(&trace->at_ns, req);
}

int64_t trace_index_wait(const struct trace_index *trace, int64_t req)
{
	return column_get(&trace->wait_ns, req);
}

int64_t trace_index_head(const struct trace_index *trace, int64_t head)
{
	if (head == trace->heads)
		return trace->count;
	return trace->head.count ? trace->head.values[head] : head;
}

size_t trace_index_parents(const struct trace_index *trace, int64_t req, const uint32_t **distance)
{
	static const uint32_t before[] = {1};
	int64_t link = column_get(&trace->links, req);

	*distance = link == IPF_ABSENT ? before : &trace->pool[link + 1];
	return link == IPF_ABSENT ? 1 : trace->pool[link];
}

int64_t trace_index_lines(const struct trace_index *trace, int64_t first, int64_t heads)
{
	int64_t rounds = heads / trace->heads, last = first + heads % trace->heads;
	int64_t lines = rounds * trace->count - trace_index_head(trace, first);

	if (last > trace->heads)
		return lines + trace->count + trace_index_head(trace, last - trace->heads);
	return lines + trace_index_head(trace, last);
}

/* ---- reading ---------------------------------------------------------------------------------------------------- */

/* The session being read, and the sessions before it by their 64-bit hashes. Among ten million sessions, one trace in
 * three hundred thousand has two with the same hash. */
struct sessions {
	struct buffer now;   /* its name, verbatim from the trace */
	int64_t first, turn; /* its head; the last turn number */
	struct buffer ids;   /* its requests', decoded, one after another */
	size_t *id_end;
	size_t id_cap;
	struct jdoc doc, tags;
	struct buffer text;
	struct name_set seen;
};

static void sessions_release(struct sessions *s)
{
	buffer_release(&s->now);
	buffer_release(&s->ids);
	buffer_release(&s->text);
	jdoc_release(&s->doc);
	jdoc_release(&s->tags);
	free(s->id_end);
	name_set_release(&s->seen);
}

/* Appends a decoded JSON text to `out`. */
static int decode(struct sessions *s, struct slice json, struct buffer *out, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, json.data, json.len, err) < 0)
		return -1;
	jdoc_text(&s->doc, JDOC_ROOT, out);
	return out->failed ? ipf_error_memory(err) : 0;
}

static int sessions_add_id(struct sessions *s, struct slice id, int64_t place, struct ipf_error *err)
{
	if (!array_room(s->id_end, s->id_cap, place + 1))
		return ipf_error_memory(err);
	if (decode(s, id, &s->ids, err) < 0)
		return -1;
	s->id_end[place] = s->ids.len;
	return 0;
}

/* The place of the request with this id in the session, before `place`; -1. Searches from the nearest. */
static int64_t sessions_find_id(const struct sessions *s, struct slice id, int64_t place)
{
	while (place-- > 0) {
		size_t begin = place ? s->id_end[place - 1] : 0;
		if (slice_equal(id, (struct slice){s->ids.data + begin, s->id_end[place] - begin}))
			return place;
	}
	return -1;
}

static int pool_add(struct trace_index *t, uint32_t value, struct ipf_error *err)
{
	if (!array_room(t->pool, t->pool_cap, t->pool_count + 1))
		return ipf_error_memory(err);
	t->pool[t->pool_count++] = value;
	return 0;
}

/* Adds the list of parents of a follower: ids of earlier requests of its session. */
static int add_parents(struct trace_index *t, struct sessions *s, struct slice parents, struct ipf_error *err)
{
	int64_t place = t->count - s->first;
	size_t link = t->pool_count;
	struct jdoc doc = {0};
	struct jdoc_each e;
	int status = -1;

	if (jdoc_parse(&doc, parents.data, parents.len, err) < 0 || pool_add(t, 0, err) < 0)
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
				ipf_error_memory(err);
			else
				jdoc_expected(&doc, e.value, "parents", "the id of an earlier request of the session", err);
			goto out;
		}
		if (pool_add(t, (uint32_t)(place - parent), err) < 0)
			goto out;
	}
	t->pool[link] = (uint32_t)(t->pool_count - link - 1);
	if (t->pool[link] == 0) {
		ipf_error_set(err, IPF_INPUT,
		              "parents: expected at least one id, got [] (only the first request of a session has no parents)");
		goto out;
	}
	if (t->pool[link] > t->most_parents)
		t->most_parents = t->pool[link];
	status = column_set(&t->links, t->count, (int64_t)link, err);
out:
	jdoc_release(&doc);
	return status;
}

/* Adds a head. From the first follower on, heads are stored, because they are no longer all requests. */
static int add_head(struct trace_index *t, const struct trace_request *request, int64_t line, struct ipf_error *err)
{
	int64_t head = t->heads++;

	if (request->at_ns == IPF_ABSENT) {
		if (!t->untimed_line)
			t->untimed_line = line;
	} else {
		int64_t before = head ? trace_index_at(t, trace_index_head(t, head - 1)) : IPF_ABSENT;
		if (before != IPF_ABSENT && request->at_ns < before && !t->unsorted_line)
			t->unsorted_line = line;
		t->timed++;
	}
	return t->head.count ? column_set(&t->head, head, t->count, err) : 0;
}

static int add_follower(struct trace_index *t, struct sessions *s, const struct trace_request *request,
                        struct ipf_error *err)
{
	if (t->count - s->first >= UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "session: has more than %lld requests", (long long)UINT32_MAX);
	for (int64_t head = t->head.count; head < t->heads; head++)
		if (column_set(&t->head, head, head, err) < 0)
			return -1;
	if (request->parents.data)
		return add_parents(t, s, request->parents, err);
	if (request->turn != IPF_ABSENT && s->turn != IPF_ABSENT && request->turn <= s->turn)
		return ipf_error_set(err, IPF_INPUT,
		                     "turn: expected more than %lld, the turn of the previous request, got %lld",
		                     (long long)s->turn, (long long)request->turn);
	return 0;
}

/* A request of a session: its first or a later one. */
static int add_turn(struct trace_index *t, struct sessions *s, const struct trace_request *request, int64_t line,
                    struct ipf_error *err)
{
	bool first = s->now.len == 0 || !slice_equal(buffer_all(&s->now), request->session);

	if (first) {
		bool added = name_set_add(&s->seen, request->session);
		if (s->seen.failed)
			return ipf_error_memory(err);
		if (!added)
			return ipf_error_set(
				err, IPF_INPUT,
				"session: %.*s continues after another session began; the requests of a session must be consecutive",
				(int)(request->session.len < 200 ? request->session.len : 200), request->session.data);
		if (trace_has_parents(request))
			return ipf_error_set(err, IPF_INPUT, "parents: expected none for the first request of a session, got %.*s",
			                     (int)(request->parents.len < 200 ? request->parents.len : 200), request->parents.data);
		buffer_clear(&s->now);
		buffer_clear(&s->ids);
		buffer_slice(&s->now, request->session);
		if (s->now.failed)
			return ipf_error_memory(err);
		s->first = t->count;
		if (add_head(t, request, line, err) < 0)
			return -1;
	} else if (add_follower(t, s, request, err) < 0) {
		return -1;
	}
	s->turn = request->turn;
	return sessions_add_id(s, request->id, t->count - s->first, err);
}

static int add_request(struct trace_index *t, struct sessions *s, const struct trace_request *request, int64_t line,
                       struct ipf_error *err)
{
	if (request->at_ns != IPF_ABSENT && column_set(&t->at_ns, t->count, request->at_ns, err) < 0)
		return -1;
	if (request->wait_ns != IPF_ABSENT && column_set(&t->wait_ns, t->count, request->wait_ns, err) < 0)
		return -1;
	if (request->session.data) {
		if (add_turn(t, s, request, line, err) < 0)
			return -1;
	} else {
		if (trace_has_parents(request))
			return ipf_error_set(err, IPF_INPUT, "parents: requires a session");
		buffer_clear(&s->now);
		if (request_check_of(request->tags, &s->tags) != CHECK_NONE &&
		    column_set(&t->checked, t->checked.count, t->heads, err) < 0)
			return -1;
		if (add_head(t, request, line, err) < 0)
			return -1;
	}
	t->count++;
	return 0;
}

static int read_all(struct trace_index *t, struct trace_reader *reader, struct progress *progress,
                    struct ipf_error *cut, struct ipf_error *err)
{
	struct stream_reader *stream = trace_reader_stream(reader);
	struct trace_request request;
	struct sessions sessions = {0};
	int got;

	while ((got = trace_reader_next(reader, &request, err)) == 1) {
		int64_t line = stream_reader_line(stream);
		if (add_request(t, &sessions, &request, line, err) < 0) {
			ipf_error_place(err, t->name, line);
			break;
		}
		if ((t->count & 0xfff) == 0 && progress_due(progress, clock_now()))
			progress_show(progress, "%lld requests read", (long long)t->count);
	}
	sessions_release(&sessions);
	if (got == -1 && err->kind == IPF_CUT && t->count > 0) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	if (got != 0)
		return -1;
	if (t->count == 0)
		return ipf_error_at(err, IPF_INPUT, t->name, 0, "the trace has no requests");
	return 0;
}

int trace_index_read(struct trace_index *t, const char *path, struct progress *progress, struct ipf_error *cut,
                     struct ipf_error *err)
{
	struct trace_reader *reader;
	int status = -1;

	*t = (struct trace_index){0};
	if (trace_reader_open(&reader, path, err) < 0)
		return -1;
	snprintf(t->name, sizeof t->name, "%s", stream_reader_name(trace_reader_stream(reader)));
	if (read_all(t, reader, progress, cut, err) < 0)
		goto out;
	snprintf(t->sha256, sizeof t->sha256, "%s", stream_reader_sha256(trace_reader_stream(reader)));
	t->header = json_incref(stream_reader_header(trace_reader_stream(reader)));
	t->digest = provenance_stream(trace_reader_stream(reader));
	json_t *repeats = json_object_get(stream_reader_trailer(trace_reader_stream(reader)), "repeated_prompts");
	t->repeats = json_integer_value(json_object_get(repeats, "requests"));
	schedule_reuse_from_json(&t->reuse, stream_reader_trailer(trace_reader_stream(reader)));
	status = t->digest ? 0 : ipf_error_memory(err);
out:
	trace_reader_close(reader);
	return status;
}

void trace_index_release(struct trace_index *t)
{
	free(t->head.values);
	free(t->at_ns.values);
	free(t->wait_ns.values);
	free(t->links.values);
	free(t->checked.values);
	free(t->pool);
	json_decref(t->header);
	json_decref(t->digest);
	*t = (struct trace_index){0};
}
