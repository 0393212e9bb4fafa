/* dynamo-trace: NVIDIA Dynamo's traces of requests and of agents.
 *
 * Origin: github.com/ai-dynamo/dynamo: DYN_REQUEST_TRACE (1.2 to 1.6; lib/llm/src/request_trace/types.rs, schema
 * dynamo.request.trace.v1) and DYN_AGENT_TRACE (1.1 and 1.2, schema dynamo.agent.trace.v1). JSON Lines of events, each
 * in an envelope {"timestamp": …, "event": {…}} or bare. The event "request_end" of a request is read:
 *
 *     request.request_received_ms          the arrival, since 1970; or else event_time_unix_ms less total_time_ms
 *     request.total_time_ms                until the answer ended: the recorded latency; or else event_time_unix_ms is
 *                                          the end
 *     request.ttft_ms                      until the first token
 *     request.replay.input_length          length of the prompt, in tokens; or else request.input_tokens
 *     request.replay.input_sequence_hashes a hash for each block of trace_block_size tokens, and all blocks before it
 *     request.output_tokens                length of the answer
 *     request.model
 *     request.finish_reason_metadata       backend_finish_reason: an error, or cancelled: the request failed
 *     agent_context.session_id             a chain of requests: what one agent asked; parent_session_id: its agent.
 *                                          In older versions trajectory_id (program_id) of the run session_id
 *                                          (workflow_id), and parent_trajectory_id (parent_program_id)
 *
 * Chains descending from one are a session; agent_chains.h describes the waits. cached_tokens, the chain of a
 * sub-agent, input_trigger and the number of tool calls become the tags "cached_tokens", "agent", "input_trigger" and
 * "tool_calls". Events of tools are unusable: their time is within the wait of the next request. The texts of
 * "request_payload" are not read either. Priorities are not traced, nor is it whether a client left, unless the backend
 * says so.
 */
#include "absent.h"
#include "clock.h"
#include "draft/draft_sorter.h"
#include "json/jout.h"
#include "sort/sort_key.h"
#include "sources/agent_chains.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"
#include "sources/sniff.h"

#include <stdlib.h>
#include <string.h>

struct state {
	struct time_origin origin;
	struct agent_chains chains;
	struct draft_sorter kept; /* the calls of the chains, in the order in which they began */
	bool drop_agents;
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
	agent_chains_release(&s->chains);
	draft_sorter_release(&s->kept);
}

/* ---- an event ---- */

static int read_times(const struct jdoc *j, jdoc_id event, int64_t *start_ns, int64_t *end_ns, struct ipf_error *err)
{
	jdoc_id request = jdoc_get(j, event, "request");
	int64_t total_ns = 0;
	int started = field_time(j, request, "request_received_ms", NS_PER_MS, start_ns, err),
		timed = field_duration(j, request, "total_time_ms", NS_PER_MS, &total_ns, err);
	if (started < 0 || timed < 0 || need_time(j, event, "event_time_unix_ms", NS_PER_MS, end_ns, err) < 0)
		return -1;
	if (total_ns > NS_PER_YEAR)
		return jdoc_expected(j, jdoc_get(j, request, "total_time_ms"), "total_time_ms", "at most a year", err);
	if (started == 0 && timed == 0)
		return ipf_error_set(err, IPF_INPUT, "request_received_ms: missing");
	if (started == 0)
		*start_ns = *end_ns - total_ns;
	if (timed > 0)
		*end_ns = *start_ns + total_ns;
	return 0;
}

static int read_lengths(struct draft *d, const struct jdoc *j, jdoc_id request, struct draft_request *r,
                        struct ipf_error *err)
{
	jdoc_id replay = jdoc_get(j, request, "replay");
	if (field_tokens(j, request, "output_tokens", &r->output_tokens, err) < 0)
		return -1;
	if (jdoc_is_null(j, replay))
		return field_tokens(j, request, "input_tokens", &r->input_tokens, err) < 0 ? -1 : 0;
	if (need_object(j, replay, "replay", err) < 0 || need_tokens(j, replay, "input_length", &r->input_tokens, err) < 0)
		return -1;
	int got = field_block_tokens(j, replay, "trace_block_size", &r->blocks.tokens, err);
	if (got <= 0)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "trace_block_size: missing");
	return need_covering_blocks(d, j, replay, "input_sequence_hashes", r, err);
}

static bool begins_with(struct slice text, const char *with)
{
	size_t len = strlen(with);
	return text.len >= len && memcmp(text.data, with, len) == 0;
}

/* An agent's request: its chain, and its agent's parent chain. Absent if there is none. */
struct agent_names {
	struct slice chain, parent;
};

static int read_agent(struct draft *d, const struct jdoc *j, jdoc_id context, struct agent_names *names,
                      struct ipf_error *err)
{
	static const char *const members[][3] = {{"trajectory_id", "parent_trajectory_id", "session_id"},
	                                         {"program_id", "parent_program_id", "workflow_id"},
	                                         {"session_id", "parent_session_id", NULL}};
	struct slice run = {0};
	size_t i = 0;
	*names = (struct agent_names){0};
	if (jdoc_is_null(j, context))
		return 0;
	while (i < 2 && jdoc_get(j, context, members[i][0]) == JDOC_NONE)
		i++;
	if (need_object(j, context, "agent_context", err) < 0 ||
	    need_name(d, j, context, members[i][0], &names->chain, err) < 0 ||
	    field_name(d, j, context, members[i][1], &names->parent, err) < 0 ||
	    (members[i][2] && need_name(d, j, context, members[i][2], &run, err) < 0))
		return -1;
	if (run.data) /* a trajectory is unique within its run only */
		names->chain = draft_join(d, run, "/", names->chain);
	if (run.data && names->parent.data)
		names->parent = draft_join(d, run, "/", names->parent);
	return 0;
}

/* Recorded values outside the request. */
static struct slice make_tags(struct draft *d, const struct jdoc *j, jdoc_id event, const struct agent_names *agent)
{
	jdoc_id request = jdoc_get(j, event, "request"), cached = jdoc_get(j, request, "cached_tokens"),
			trigger = jdoc_get(j, jdoc_get(j, event, "agent_context"), "input_trigger"),
			calls = jdoc_get(j, jdoc_get(j, request, "finish_reason_metadata"), "tool_calls");
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	if (jdoc_type_of(j, cached) == JDOC_NUMBER)
		jout_member_value(&w, "cached_tokens", jdoc_raw(j, cached));
	if (agent->parent.data)
		jout_member_string(&w, "agent", agent->chain);
	if (jdoc_type_of(j, trigger) == JDOC_TEXT)
		jout_member_string(&w, "input_trigger", draft_text(d, j, trigger));
	if (jdoc_type_of(j, calls) == JDOC_LIST && jdoc_count(j, calls) > 0)
		jout_member_int(&w, "tool_calls", jdoc_count(j, calls));
	jout_end_map(&w);
	return tags_written(d, &out);
}

static int read_latencies(const struct jdoc *j, jdoc_id request, struct draft_request *r, struct ipf_error *err)
{
	struct recorded_times times = RECORDED_TIMES_NONE;
	if (field_duration(j, request, "ttft_ms", NS_PER_MS, &times.ttft_ns, err) < 0 ||
	    field_duration(j, request, "total_time_ms", NS_PER_MS, &times.e2e_ns, err) < 0)
		return -1;
	return recorded_times_set(r, &times, err);
}

/* Hands over a request of no agent, and keeps one of an agent. */
static int take(struct state *s, const struct agent_names *agent, int64_t start_ns, int64_t end_ns, struct sink *sink,
                struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct draft_request *r = &d->requests[0];
	r->at_ns = since_origin(&s->origin, start_ns);
	if (!agent->chain.data)
		return sink->take(sink, d, err);
	size_t chain = agent_chains_find(&s->chains, agent->chain);
	if (agent->parent.data)
		agent_chains_link(&s->chains, chain, agent_chains_find(&s->chains, agent->parent));
	if (agent->parent.data && s->drop_agents)
		return 0;
	agent_chains_add(&s->chains, chain, start_ns, end_ns);
	if (s->chains.failed)
		return ipf_error_memory(err);
	sort_key_number(&s->kept.key, start_ns);
	return draft_sorter_add(&s->kept, NULL, 0, d, err);
}

static int read_request(struct state *s, const struct jdoc *j, jdoc_id event, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	jdoc_id request = jdoc_get(j, event, "request");
	struct agent_names agent;
	int64_t start_ns, end_ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, request, "request", err) < 0 || read_times(j, event, &start_ns, &end_ns, err) < 0 ||
	    read_lengths(d, j, request, r, err) < 0 || field_name(d, j, request, "model", &r->model, err) < 0 ||
	    read_agent(d, j, jdoc_get(j, event, "agent_context"), &agent, err) < 0)
		return -1;
	if (r->input_tokens == IPF_ABSENT || r->input_tokens == 0) {
		sink->unusable(sink, "no length of the prompt");
		return 0;
	}
	struct slice reason = draft_text(
		d, j, jdoc_get(j, jdoc_get(j, request, "finish_reason_metadata"), "backend_finish_reason"));
	r->failed = begins_with(reason, "error") || begins_with(reason, "cancelled");
	if (read_latencies(j, request, r, err) < 0)
		return -1;
	r->tags = make_tags(d, j, event, &agent);
	return d->failed ? 0 : take(s, &agent, start_ns, end_ns, sink, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	jdoc_id event = jdoc_get(j, JDOC_ROOT, "event");
	if (need_object(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	if (event == JDOC_NONE)
		event = JDOC_ROOT;
	if (need_object(j, event, "event", err) < 0)
		return -1;
	if (jdoc_text_is(j, jdoc_get(j, event, "event_type"), "request_end"))
		return read_request(opened, j, event, sink, err);
	sink->no_request(sink, "not the end of a request");
	return 0;
}

/* ---- sessions ---- */

/* Steps and drafts are in the same order. */
static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct agent_step step;
	struct draft d = {0};
	int got = draft_sorter_begin(&s->kept, err);
	agent_chains_sort(&s->chains);
	while (got == 0 && !sink->full && agent_chains_next(&s->chains, &step) &&
	       (got = draft_sorter_next(&s->kept, NULL, 0, &d, err)) > 0)
		got = agent_chains_take(&s->chains, &step, &d, sink, err);
	draft_release(&d);
	return got == 0 && s->chains.failed ? ipf_error_memory(err) : got;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_text(sniff, "\"dynamo.request.trace.v") || sniff_text(sniff, "\"dynamo.agent.trace.v");
}

const struct source_format source_dynamo_trace = {
	.name = "dynamo-trace",
	.about = "NVIDIA Dynamo's traces of requests and agents (JSON Lines): arrivals, lengths, shared blocks, sessions",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored =
		"timestamp /event/request/input_tokens /event/request/finish_reason_metadata/choices /request/input_tokens /request/finish_reason_metadata/choices",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS | HAS_AGENTS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
