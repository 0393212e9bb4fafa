/* scaffolding: execution traces of TensorRT-LLM's scaffolding.
 *
 * Origin: github.com/NVIDIA/TensorRT-LLM, tensorrt_llm/scaffolding/execution_trace.py. An object for each trace:
 *
 *     trace_id  the session (default: the number of the record)
 *     events    list in the order of recording, each with `event_type` and `branch_path`, a list of integers:
 *       message         of the role assistant: a request with prompt_tokens and completion_tokens in conversation_id;
 *                       those of other roles are parts of prompts
 *       tool_call       its duration_ms is part of the wait of the next request on its branch
 *       parallel_start  with `children`, events that ran at the same time; without, branches follow, whose paths are
 *                       longer by one
 *
 * A request waits for the open part of its branch: the request before it, or all of several at the same time, and the
 * ends of branches from it. The first one of a branch waits for the open part above it. A prompt begins with the prompt
 * and answer before it in its conversation. There are no times and no texts. Other events are ignored.
 */
#include "absent.h"
#include "clock.h"
#include "sources/prompt_pieces.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#include <string.h>

#define REQUESTS_MAX 1000 /* a session's: each has the pieces of those before it */

/* A request whose end nothing on its branch or above it has waited for. */
struct open_request {
	struct slice path; /* its branch's: "/0/1" */
	uint64_t request;
	int64_t wait_ns; /* tools' time on its branch since then */
};

struct conversation {
	struct slice id;
	struct prompt_pieces context;
	uint64_t pieces; /* it ever had: their names */
};

/* The trace being read. */
struct reading {
	const struct jdoc *j;
	struct draft *draft;
	struct open_request open[REQUESTS_MAX];
	size_t open_count;
	struct conversation conversations[REQUESTS_MAX];
	size_t conversation_count;
};

static struct slice branch_path(struct reading *g, jdoc_id event)
{
	struct buffer text = {0};
	for (struct jdoc_each e = jdoc_each(g->j, jdoc_get(g->j, event, "branch_path")); jdoc_step(&e);) {
		buffer_byte(&text, '/');
		buffer_slice(&text, jdoc_raw(g->j, e.value));
	}
	return draft_take_buffer(g->draft, &text);
}

/* Is the branch `path` the one above `other`, or the same? */
static bool is_above(struct slice path, struct slice other)
{
	return path.len <= other.len && (path.len == 0 || memcmp(path.data, other.data, path.len) == 0) &&
	       (path.len == other.len || other.data[path.len] == '/');
}

/* The parents of an event's requests. */
struct parents {
	uint64_t *requests;
	size_t count;
	int64_t wait_ns;
};

static void add_parent(struct parents *p, const struct open_request *open)
{
	p->requests[p->count++] = open->request;
	p->wait_ns = open->wait_ns > p->wait_ns ? open->wait_ns : p->wait_ns;
}

/* The open requests of the branch and below, which closes them; or else those of the nearest branch above. */
static struct parents find_parents(struct reading *g, struct slice path)
{
	struct parents p = {.requests = draft_ids(g->draft, g->open_count + 1)};
	size_t kept = 0, nearest = 0;
	for (size_t i = 0; i < g->open_count && p.requests; i++)
		if (is_above(path, g->open[i].path))
			add_parent(&p, &g->open[i]);
		else
			g->open[kept++] = g->open[i];
	g->open_count = p.requests ? kept : g->open_count;
	if (p.count > 0 || !p.requests)
		return p;
	for (size_t i = 0; i < g->open_count; i++)
		if (is_above(g->open[i].path, path) && g->open[i].path.len > nearest)
			nearest = g->open[i].path.len;
	for (size_t i = 0; i < g->open_count; i++)
		if (is_above(g->open[i].path, path) && g->open[i].path.len == nearest)
			add_parent(&p, &g->open[i]);
	return p;
}

static struct conversation *find_conversation(struct reading *g, struct slice id)
{
	for (size_t i = 0; i < g->conversation_count; i++)
		if (slice_equal(g->conversations[i].id, id))
			return &g->conversations[i];
	struct conversation *c = &g->conversations[g->conversation_count++];
	*c = (struct conversation){.id = id};
	return c;
}

static int add_request(struct reading *g, jdoc_id event, const struct parents *parents, struct sink *sink,
                       struct ipf_error *err)
{
	const struct jdoc *j = g->j;
	struct draft *d = g->draft;
	struct slice id;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (d->count > REQUESTS_MAX)
		return ipf_error_set(err, IPF_INPUT, "events: expected at most %d requests", REQUESTS_MAX);
	if (need_tokens(j, event, "prompt_tokens", &r->input_tokens, err) < 0 ||
	    need_tokens(j, event, "completion_tokens", &r->output_tokens, err) < 0 ||
	    field_name(d, j, event, "conversation_id", &id, err) < 0)
		return -1;
	if (r->input_tokens < 1 || r->input_tokens > INT32_MAX || r->output_tokens > INT32_MAX)
		return jdoc_expected(j, jdoc_get(j, event, "prompt_tokens"), "prompt_tokens", "1 to 2147483647 tokens", err);
	struct conversation *c = find_conversation(g, id);
	struct slice name = draft_join(d, d->session, "/", id);
	prompt_pieces_truncate(&c->context, r->input_tokens);
	prompt_pieces_add(&c->context, prompt_piece_id(name, c->pieces++), r->input_tokens - c->context.tokens);
	prompt_pieces_to_blocks(&c->context, d, &r->blocks);
	prompt_pieces_add(&c->context, prompt_piece_id(name, c->pieces++), r->output_tokens);
	d->failed |= c->context.failed;
	if (d->count == 1)
		return 0;
	r->parents = parents->requests;
	r->parent_count = parents->count;
	r->wait_ns = parents->wait_ns;
	if (parents->count == 0) {
		r->parents = draft_ids(d, 1);
		r->parent_count = r->parents != NULL;
		if (r->parents)
			*(uint64_t *)(uintptr_t)r->parents = 0;
		sink->inexact(sink, "it began with the first one, and waits for its end instead");
	}
	return 0;
}

static bool is_answer(const struct jdoc *j, jdoc_id event)
{
	return jdoc_text_is(j, jdoc_get(j, event, "event_type"), "message") &&
	       jdoc_text_is(j, jdoc_get(j, event, "role"), "assistant");
}

/* A tool delays the next request of its branch. */
static int read_tool(struct reading *g, jdoc_id event, int64_t *ns, struct ipf_error *err)
{
	int got = field_duration(g->j, event, "duration_ms", NS_PER_MS, ns, err);
	return got <= 0 || *ns <= NS_PER_YEAR
	           ? got
	           : jdoc_expected(g->j, jdoc_get(g->j, event, "duration_ms"), "duration_ms", "at most a year", err);
}

/* Reads an event, or those running at the same time. */
static int read_events(struct reading *g, struct slice path, const jdoc_id *events, size_t count, struct sink *sink,
                       struct ipf_error *err)
{
	struct parents parents = {0};
	int64_t tools_ns = 0;
	size_t first = g->draft->count;
	for (size_t i = 0; i < count && !g->draft->failed; i++) {
		int64_t ns = 0;
		if (jdoc_text_is(g->j, jdoc_get(g->j, events[i], "event_type"), "tool_call") &&
		    read_tool(g, events[i], &ns, err) < 0)
			return -1;
		tools_ns = ns > tools_ns ? ns : tools_ns;
		if (!is_answer(g->j, events[i]))
			continue;
		if (!parents.requests)
			parents = find_parents(g, path);
		if (add_request(g, events[i], &parents, sink, err) < 0)
			return -1;
	}
	for (size_t i = first; i < g->draft->count && !g->draft->failed; i++)
		g->open[g->open_count++] = (struct open_request){.path = path, .request = i};
	for (size_t i = 0; i < g->open_count; i++)
		if (slice_equal(g->open[i].path, path) && g->open[i].wait_ns < NS_PER_YEAR)
			g->open[i].wait_ns += tools_ns;
	return 0;
}

static int read_event(struct reading *g, jdoc_id event, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = g->j;
	jdoc_id children = jdoc_get(j, event, "children"), path = jdoc_get(j, event, "branch_path");
	if (need_object(j, event, "events", err) < 0)
		return -1;
	if (!jdoc_is_null(j, path) && (jdoc_type_of(j, path) != JDOC_LIST || jdoc_count(j, path) > 64))
		return jdoc_expected(j, path, "branch_path", "a list of at most 64", err);
	if (jdoc_is_null(j, children))
		return read_events(g, branch_path(g, event), &event, 1, sink, err);
	if (jdoc_type_of(j, children) != JDOC_LIST || jdoc_count(j, children) > REQUESTS_MAX)
		return jdoc_expected(j, children, "children", "a list of at most 1000", err);
	jdoc_id events[REQUESTS_MAX];
	size_t count = 0;
	for (struct jdoc_each e = jdoc_each(j, children); jdoc_step(&e);)
		events[count++] = e.value;
	return read_events(g, branch_path(g, event), events, count, sink, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct reading *g = opened;
	struct draft *d = &sink->draft;
	jdoc_id events;
	int status = 0;
	*g = (struct reading){.j = record->json, .draft = d};
	if (need_object(g->j, JDOC_ROOT, "record", err) < 0 || need_list(g->j, JDOC_ROOT, "events", &events, err) < 0 ||
	    field_name(d, g->j, JDOC_ROOT, "trace_id", &d->session, err) < 0)
		return -1;
	d->session = name_in_file(d, record->file_index,
	                          d->session.data ? d->session : draft_format(d, "%lld", (long long)d->number));
	for (struct jdoc_each e = jdoc_each(g->j, events); jdoc_step(&e) && status == 0 && !d->failed;)
		status = read_event(g, e.value, sink, err);
	for (size_t i = 0; i < g->conversation_count; i++)
		prompt_pieces_release(&g->conversations[i].context);
	if (status < 0 || d->failed)
		return status;
	if (d->count == 0) {
		sink->unusable(sink, "no request");
		return 0;
	}
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "trace_id events") && sniff_text(sniff, "\"branch_path\"");
}

const struct source_format source_scaffolding = {
	.name = "scaffolding",
	.about = "execution traces of TensorRT-LLM's scaffolding (JSON): lengths, parallel branches, tools",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "/events/*/conversation_id",
	.traits = HAS_SESSIONS | MAKES_TEXT,
	.filled = "prose of the recorded length; the prompts of a conversation share all before them",
	.state_size = sizeof(struct reading),
	.read_record = read_record,
	.recognises = recognises,
};
