/* agentic-mooncake: Mooncake traces of agents, whose requests wait for others by name.
 *
 * Origin: github.com/ai-dynamo/dynamo, lib/data-gen (the output of its converters) and aisimulate (its reader). JSON
 * Lines of requests with lengths and blocks (mooncake_row.h) and:
 *
 *     request_id      the name of the request
 *     session_id      the agent; becomes the tag "agent"
 *     timestamp       arrival, in milliseconds
 *     wait_for        the requests that must have ended
 *     branches        requests that wait for this one
 *     delay           milliseconds after their ends, and tool_wait_ms, which is added
 *     prefix_reset    ignored: equal hash_ids say what prompts share
 *
 * In the versioned form, the first line is a header, and each request has its dependencies instead:
 *
 *     {"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": 64, "hash_id_scope": "local", "source": {…}}
 *
 *     play_id               hash_ids are equal within a play only
 *     not_before_ms         the arrival, from the beginning of the play
 *     recorded_api_time_ms  until the answer ended (optional): the recorded latency
 *     model                 the recorded model; becomes the tag "model"
 *     dependencies          list of {"request_id", "trigger": "dispatch" or "completion", "delay_ms", "relation":
 *                           "sequence", "spawn", "join" or "replay_barrier"}
 *
 * Requests waiting for each other are a session; request_graph.h says how waits are brought into a trace.
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "json/jout.h"
#include "name_set.h"
#include "sources/mooncake_row.h"
#include "sources/recorded_times.h"
#include "sources/request_graph.h"
#include "sources/sniff.h"
#include "text_hash.h"

#include <stdlib.h>

#define SCHEMA "dynamo.agentic_mooncake"

struct state {
	struct request_graph graph;
	struct draft **drafts; /* copies, by the number in the graph; freed when they have been handed over */
	size_t drafts_cap;
	struct name_set sessions;
	struct mooncake_blocks blocks;
	bool versioned, drop_agents;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	((struct state *)opened)->drop_agents = settings->drop_agents;
	return 0;
}

static void close_state(void *opened)
{
	struct state *s = opened;
	request_graph_release(&s->graph);
	name_set_release(&s->sessions);
	for (size_t i = 0; i < s->drafts_cap; i++)
		free(s->drafts[i]);
	free(s->drafts);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	(void)csv;
	(void)err;
	s->versioned = false;
	s->blocks.tokens = 0;
	return 0;
}

/* ---- a line ---- */

static int read_header(struct state *s, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id schema = jdoc_get(j, JDOC_ROOT, "schema"), scope = jdoc_get(j, JDOC_ROOT, "hash_id_scope");
	int64_t version = 0;
	if (!jdoc_text_is(j, schema, SCHEMA))
		return jdoc_expected(j, schema, "schema", SCHEMA, err);
	if (need_uint(j, JDOC_ROOT, "version", &version, err) < 0)
		return -1;
	if (version < 1 || version > 2)
		return ipf_error_set(err, IPF_INPUT, "version: expected 1 or 2, got %lld", (long long)version);
	if (!jdoc_is_null(j, scope) && !jdoc_text_is(j, scope, "local"))
		return jdoc_expected(j, scope, "hash_id_scope", "local", err);
	int got = field_block_tokens(j, JDOC_ROOT, "block_size", &s->blocks.tokens, err);
	s->versioned = got > 0;
	return got > 0 ? 0 : got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "block_size: missing");
}

/* An optional number of milliseconds, at most a year of them, in nanoseconds; 0 if it is absent. */
static int read_delay(const struct jdoc *j, jdoc_id map, const char *key, int64_t *ns, struct ipf_error *err)
{
	*ns = 0;
	int got = field_duration(j, map, key, NS_PER_MS, ns, err);
	return got < 0 || *ns <= NS_PER_YEAR ? got : jdoc_expected(j, jdoc_get(j, map, key), key, "at most a year", err);
}

static int read_times(struct state *s, const struct jdoc *j, struct draft_request *r, struct graph_request *request,
                      struct ipf_error *err)
{
	int64_t api_ns = 0, tools_ns = 0, delay_ns = 0;
	char name[32];
	*request = (struct graph_request){.end_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT};
	int got = s->versioned ? need_duration(j, JDOC_ROOT, "not_before_ms", NS_PER_MS, &r->at_ns, err)
	                       : mooncake_times(j, r, err);
	if (got < 0)
		return -1;
	if (r->at_ns != IPF_ABSENT && !time_is_possible(r->at_ns))
		return ipf_error_set(err, IPF_INPUT, "timestamp: expected less than 146 years");
	request->at_ns = r->at_ns;
	if (s->versioned) {
		got = read_delay(j, JDOC_ROOT, "recorded_api_time_ms", &api_ns, err);
		request->end_ns = got > 0 ? r->at_ns + api_ns : IPF_ABSENT;
		recorded_times_set_possible(
			r, &(struct recorded_times){.ttft_ns = IPF_ABSENT, .e2e_ns = got > 0 ? api_ns : IPF_ABSENT});
		return got < 0 ? -1 : 0;
	}
	int waits = read_delay(j, JDOC_ROOT, mooncake_name(j, "delay delay_ms", name), &delay_ns, err);
	int tools = read_delay(j, JDOC_ROOT, "tool_wait_ms", &tools_ns, err);
	if (waits > 0 || tools > 0)
		request->wait_ns = delay_ns + tools_ns;
	return waits < 0 || tools < 0 ? -1 : 0;
}

/* Which of two texts a member is: 0 or 1, -1. */
static int read_choice(const struct jdoc *j, jdoc_id map, const char *key, const char *const words[], int count,
                       struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	struct buffer known = {0};
	for (int i = 0; i < count; i++)
		if (jdoc_text_is(j, node, words[i]))
			return i;
	for (int i = 0; i < count; i++)
		buffer_format(&known, "%s%s", i ? i + 1 < count ? ", " : " or " : "", words[i]);
	buffer_byte(&known, '\0');
	jdoc_expected(j, node, key, known.failed ? "another text" : known.data, err);
	buffer_release(&known);
	return -1;
}

/* Adds the dependency to the graph if the request is there; else it is only checked. */
static int read_dependency(struct state *s, const struct source_record *record, struct draft *d, jdoc_id node,
                           size_t request, struct ipf_error *err)
{
	static const char *const triggers[] = {"completion", "dispatch"}, *const relations[] = {"sequence", "spawn", "join",
	                                                                                        "replay_barrier"};
	const struct jdoc *j = record->json;
	struct graph_wait wait = {0};
	struct slice id;
	if (need_object(j, node, "dependencies", err) < 0 || need_name(d, j, node, "request_id", &id, err) < 0 ||
	    read_delay(j, node, "delay_ms", &wait.delay_ns, err) < 0)
		return -1;
	int trigger = read_choice(j, node, "trigger", triggers, 2, err),
		relation = trigger < 0 ? -1 : read_choice(j, node, "relation", relations, 4, err);
	wait.for_start = trigger == 1;
	wait.barrier = relation == 3;
	if (relation >= 0 && request != NO_REQUEST)
		request_graph_wait(&s->graph, request, name_in_file(d, record->file_index, id), &wait);
	return relation < 0 ? -1 : 0;
}

/* The requests this one waits for: checked, and added to the graph if the request is there. */
static int read_waits(struct state *s, const struct source_record *record, struct draft *d, size_t request,
                      struct ipf_error *err)
{
	static const char *const names[] = {"dependencies", "wait_for", "branches"};
	static const struct graph_wait wait = {.delay_ns = IPF_ABSENT};
	const struct jdoc *j = record->json;
	for (int i = s->versioned ? 0 : 1; i < (s->versioned ? 1 : 3); i++) {
		jdoc_id list = jdoc_get(j, JDOC_ROOT, names[i]);
		if (!jdoc_is_null(j, list) && jdoc_type_of(j, list) != JDOC_LIST)
			return jdoc_expected(j, list, names[i], "a list", err);
		for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
			struct slice id;
			if (i == 0 && read_dependency(s, record, d, e.value, request, err) < 0)
				return -1;
			if (i == 0)
				continue;
			if (jdoc_is_null(j, e.value) || node_name(d, j, e.value, names[i], &id, err) < 0)
				return err->kind ? -1 : jdoc_expected(j, e.value, names[i], "a name", err);
			id = name_in_file(d, record->file_index, id);
			if (request != NO_REQUEST && i == 1)
				request_graph_wait(&s->graph, request, id, &wait);
			else if (request != NO_REQUEST)
				request_graph_wait_named(&s->graph, id, request, &wait);
		}
	}
	return 0;
}

/* Keeps a request for the end, when all are known it waits for. */
static int keep(struct state *s, const struct source_record *record, struct draft *d,
                const struct graph_request *request, struct ipf_error *err)
{
	struct slice id = d->requests[0].id;
	if (draft_check_names(d, err) < 0 || draft_check_lengths(d, err) < 0)
		return -1;
	size_t at = request_graph_add(&s->graph, id, request);
	if (at == NO_REQUEST && !s->graph.failed)
		return ipf_error_set(err, IPF_INPUT, "request_id: expected a unique id, got \"%.*s\" again",
		                     (int)(id.len > 40 ? 40 : id.len), id.data);
	if (read_waits(s, record, d, at, err) < 0)
		return -1;
	d->failed |= s->graph.failed || !array_reach(s->drafts, s->drafts_cap, at);
	if (!d->failed)
		d->failed = !(s->drafts[at] = draft_clone(d));
	return 0;
}

static int read_row(struct state *s, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct graph_request request;
	struct slice agent, play = {0}, model = {0};
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_name(d, j, JDOC_ROOT, "request_id", &r->id, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "session_id", &agent, err) < 0 ||
	    (s->versioned && (need_name(d, j, JDOC_ROOT, "play_id", &play, err) < 0 ||
	                      field_name(d, j, JDOC_ROOT, "model", &model, err) < 0)) ||
	    read_times(s, j, r, &request, err) < 0 || mooncake_lengths(d, j, r, &s->blocks, err) < 0 ||
	    read_waits(s, record, d, NO_REQUEST, err) < 0)
		return -1;
	if (r->input_tokens == 0) {
		sink->unusable(sink, "no input token");
		return 0;
	}
	r->id = name_in_file(d, record->file_index, r->id);
	r->blocks.scope = name_in_file(d, record->file_index, play);
	d->session = name_in_file(d, record->file_index, play.data ? play : agent.data ? agent : r->id);
	request.agent = text_hash(agent);
	r->tags = mooncake_tags(d, j, agent, model);
	return d->failed ? 0 : keep(s, record, d, &request, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	return jdoc_get(j, JDOC_ROOT, "schema") != JDOC_NONE ? read_header(opened, j, err)
	                                                     : read_row(opened, record, sink, err);
}

/* ---- sessions ---- */

static void count_differences(const struct graph_step *step, struct sink *sink)
{
	static const struct {
		unsigned differs;
		const char *how;
	} kinds[] = {
		{STEP_UNKNOWN, "a wait names a request missing from the data, and is ignored"},
		{STEP_OVERLAPS, "it began while another one was running, and waits for its end instead"},
		{STEP_DELAYS, "it waited for several with different delays; the shortest counts, from the last end"},
		{STEP_MOVED, "it was recorded before its parent, and arrives with it"},
	};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (step->differs & kinds[i].differs)
			sink->inexact(sink, kinds[i].how);
}

/* The session is named after its first request's play or agent, and after the request too if the name is taken. */
static void name_session(struct state *s, struct draft *first, struct sink *sink)
{
	if (name_set_add(&s->sessions, first->session) == 0)
		first->session = draft_join(&sink->draft, first->session, "/", first->requests[0].id);
	sink->draft.failed |= s->sessions.failed;
}

static int take_step(struct state *s, const struct graph_step *step, struct buffer *after, struct sink *sink,
                     struct ipf_error *err)
{
	struct draft *d = s->drafts[step->request], *first = s->drafts[step->first];
	struct draft_request *r = &d->requests[0];
	struct jout w = {.out = after};
	buffer_clear(after);
	jout_begin_list(&w);
	for (size_t i = 0; i < step->after_count; i++)
		jout_string(&w, request_graph_id(&s->graph, step->after[i]));
	jout_end_list(&w);
	if (after->failed)
		return ipf_error_memory(err);
	if (d == first)
		name_session(s, d, sink);
	else
		r->after = buffer_all(after);
	d->session = first->session;
	r->at_ns = step->at_ns;
	r->wait_ns = d == first ? IPF_ABSENT : step->wait_ns;
	count_differences(step, sink);
	int status = sink->take(sink, d, err);
	if (d != first) {
		free(d);
		s->drafts[step->request] = NULL;
	}
	return status;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct buffer after = {0};
	struct graph_step step;
	int status = 0;
	request_graph_sort(&s->graph, s->drop_agents);
	while (status == 0 && !sink->full && request_graph_next(&s->graph, &step))
		status = take_step(s, &step, &after, sink, err);
	buffer_release(&after);
	for (size_t i = request_graph_circles(&s->graph); i > 0 && !s->graph.failed; i--) {
		sink->unusable(sink, "waits for itself");
		sink->inexact(sink, "it waited for itself through others, and is left out");
	}
	return status == 0 && s->graph.failed ? ipf_error_memory(err) : status;
}

static bool recognises(const struct sniff *sniff)
{
	static const char *const signs[] = {"\"wait_for\"", "\"prefix_reset\"", "\"tool_wait_ms\"", "\"branches\""};
	if (sniff->json && jdoc_text_is(sniff->json, jdoc_get(sniff->json, JDOC_ROOT, "schema"), SCHEMA))
		return true;
	for (size_t i = 0; i < sizeof signs / sizeof *signs && sniff_members(sniff, "request_id hash_ids"); i++)
		if (sniff_text(sniff, signs[i]))
			return true;
	return false;
}

const struct source_format source_agentic_mooncake = {
	.name = "agentic-mooncake",
	.about =
		"Mooncake traces of agents (JSON Lines), as NVIDIA Dynamo converts them: parents of requests, shared blocks",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS | HAS_AGENTS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.begin_file = begin_file,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
