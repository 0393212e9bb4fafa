/* claude-code: Claude Code's sessions on disk, ~/.claude/projects/FOLDER/SESSION.jsonl, and those of its sub-agents,
 * SESSION/subagents/agent-….jsonl.
 *
 * Origin: its readers: github.com/anthropics/claude-agent-sdk-python, src/claude_agent_sdk/_internal/sessions.py (how
 * lines form a conversation); github.com/ai-dynamo/dynamo, lib/bench/src/coding/claude/parser.rs, and
 * github.com/uw-syfi/TraceLab, scripts/extract_claude_rounds.py (usage, times). JSON Lines; these members are read:
 *
 *     uuid, parentUuid      the line, and the one before it in the conversation; null: the conversation begins
 *     sessionId, agentId    the session and the sub-agent
 *     isSidechain           true: a line of a sub-agent. Without agentId, its parents say of which
 *     timestamp             when the line was complete
 *     type                  user: a message of the user, or results of tools; assistant: part of an answer;
 *                           system: with `subtype` compact_boundary, the context is replaced by a summary, and
 *                           logicalParentUuid is the line before. Lines of other types are parents at most
 *     isCompactSummary      true: the summary
 *     requestId             of an answer's request (optional)
 *     message.id, .model    of an answer
 *     message.usage         input_tokens, cache_creation_input_tokens and cache_read_input_tokens, which add up to the
 *                           prompt, and output_tokens
 *     message.content       list of parts; those of type tool_use count as tool calls
 *
 * An answer has a line for each of its parts, with the same message.id and requestId. Their usage is the whole
 * answer's, but may not be complete in the earlier ones: the one with the longest answer counts. A session resumed or
 * forked in another file begins with copies of earlier lines: a line or an answer counts once, in the session read
 * first. Messages of the model "<synthetic>" were never sent.
 *
 * A request begins with the last message before its answer, and ends with the answer's last line. Texts are not read:
 * they lack the instructions and the tools, which are part of the recorded lengths (agent_log.h).
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "name_set.h"
#include "sources/agent_log.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#include <stdlib.h>

/* A place in a conversation: a line. */
struct place {
	size_t request; /* the last one up to there; NO_AGENT_REQUEST */
	size_t agent;   /* the chain of a sub-agent; NO_CHAIN: it is not known, or not a sub-agent's */
	bool replaced;  /* the context was replaced since this request */
	bool known;     /* the line was read; else only a line continuing it */
};

struct state {
	struct agent_log log;
	struct name_numbers lines; /* their uuids */
	struct place *places;      /* the lines' */
	size_t place_count, place_cap;
	int64_t *input_ns; /* each chain's: the last message before a request; IPF_ABSENT */
	size_t input_count, input_cap;
	struct name_set tools; /* the ids of tool calls */
	bool drop_agents;
};

/* The line being read. */
struct line {
	const struct jdoc *j;
	struct draft *draft;
	struct slice uuid;
	struct slice name; /* its session's or sub-agent's */
	size_t chain;
	bool sub_agent;
	int64_t ns;
	struct place place;
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
	agent_log_release(&s->log);
	name_numbers_release(&s->lines);
	name_set_release(&s->tools);
	free(s->places);
	free(s->input_ns);
}

/* ---- places ---- */

/* The place of a line, by its uuid. NULL when out of memory. */
static struct place *find_place(struct state *s, struct slice uuid)
{
	size_t number = s->log.failed ? NO_NUMBER : name_number(&s->lines, uuid);
	s->log.failed |= number == NO_NUMBER || !array_room(s->places, s->place_cap, number + 1);
	if (s->log.failed)
		return NULL;
	for (; s->place_count <= number; s->place_count++)
		s->places[s->place_count] = (struct place){.request = NO_AGENT_REQUEST, .agent = NO_CHAIN};
	return &s->places[number];
}

/* When the last message of this chain without a request came. NULL when out of memory. */
static int64_t *find_input(struct state *s, size_t chain)
{
	if (chain == NO_CHAIN)
		return NULL;
	if (!array_room(s->input_ns, s->input_cap, chain + 1)) {
		s->log.failed = true;
		return NULL;
	}
	for (; s->input_count <= chain; s->input_count++)
		s->input_ns[s->input_count] = IPF_ABSENT;
	return &s->input_ns[chain];
}

/* ---- an answer ---- */

/* Takes the lengths of an answer's line, unless those of an earlier line are of more of the answer. */
static int read_usage(const struct jdoc *j, jdoc_id usage, struct agent_request *r, struct ipf_error *err)
{
	int64_t new_tokens = 0, written = 0, cached = 0, output = 0;
	if (field_tokens(j, usage, "input_tokens", &new_tokens, err) < 0 ||
	    field_tokens(j, usage, "cache_creation_input_tokens", &written, err) < 0 ||
	    field_tokens(j, usage, "cache_read_input_tokens", &cached, err) < 0 ||
	    field_tokens(j, usage, "output_tokens", &output, err) < 0)
		return -1;
	int64_t input = new_tokens + written + cached;
	if (output < r->output_tokens || (output == r->output_tokens && input < r->input_tokens))
		return 0;
	return agent_log_set_lengths(r, input, cached, output, err);
}

static void count_tools(struct state *s, const struct line *line, jdoc_id content, struct agent_request *r)
{
	for (struct jdoc_each e = jdoc_each(line->j, content); jdoc_step(&e);) {
		struct slice id = draft_text(line->draft, line->j, jdoc_get(line->j, e.value, "id"));
		if (jdoc_text_is(line->j, jdoc_get(line->j, e.value, "type"), "tool_use"))
			r->tool_calls += id.data ? name_set_add(&s->tools, id) : 1;
	}
	s->log.failed |= s->tools.failed;
}

/* A request whose first line this is. */
static void begin_request(struct state *s, struct line *line, struct slice model, struct agent_request *r)
{
	int64_t *input_ns = find_input(s, line->chain);
	r->chain = line->chain;
	r->sub_agent = line->sub_agent;
	r->continues = line->place.request;
	r->replaced = line->place.replaced;
	r->model = agent_log_model(&s->log, model);
	r->start_ns = r->end_ns = line->ns;
	if (input_ns && *input_ns != IPF_ABSENT)
		agent_log_begin(&s->log, r, *input_ns);
	if (input_ns)
		*input_ns = IPF_ABSENT;
}

static int read_answer(struct state *s, struct line *line, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = line->j;
	jdoc_id message = jdoc_get(j, JDOC_ROOT, "message"), usage = jdoc_get(j, message, "usage");
	struct slice id, request_id, model;
	bool is_new;
	if (need_object(j, message, "message", err) < 0 || need_name(line->draft, j, message, "id", &id, err) < 0 ||
	    field_name(line->draft, j, JDOC_ROOT, "requestId", &request_id, err) < 0 ||
	    field_name(line->draft, j, message, "model", &model, err) < 0 ||
	    (!jdoc_is_null(j, usage) && need_object(j, usage, "usage", err) < 0))
		return -1;
	if (slice_is(model, "<synthetic>")) {
		sink->no_request(sink, "not an answer of a model");
		return 0;
	}
	if (agent_log_check_names(line->name, model, err) < 0)
		return -1;
	struct agent_request *r = agent_log_request(
		&s->log, draft_append(line->draft, id, "/", request_id.data ? request_id : slice_of("")), &is_new);
	if (!r)
		return 0;
	if (is_new)
		begin_request(s, line, model, r);
	line->place.request = agent_log_number(&s->log, r);
	line->place.replaced = false;
	if (r->chain != line->chain) {
		sink->no_request(sink, "copy of an answer in another session");
		return 0;
	}
	r->end_ns = line->ns > r->end_ns ? line->ns : r->end_ns;
	count_tools(s, line, jdoc_get(j, message, "content"), r);
	return read_usage(j, usage, r, err);
}

/* ---- a line ---- */

/* The chain of the line's session or sub-agent. */
static int find_chain(struct state *s, struct line *line, struct ipf_error *err)
{
	struct slice agent = {0};
	if (need_name(line->draft, line->j, JDOC_ROOT, "sessionId", &line->name, err) < 0 ||
	    jdoc_get_bool(line->j, JDOC_ROOT, "isSidechain", &line->sub_agent, err) < 0 ||
	    field_name(line->draft, line->j, JDOC_ROOT, "agentId", &agent, err) < 0)
		return -1;
	struct agent_chains *chains = &s->log.chains;
	size_t session = line->chain = agent_chains_find(chains, line->name);
	if (!line->sub_agent) {
		line->place.agent = NO_CHAIN;
		return 0;
	}
	if (!agent.data && line->place.agent == NO_CHAIN)
		agent = line->uuid;
	if (agent.data) {
		line->name = draft_join(line->draft, line->name, "/", agent);
		line->place.agent = agent_chains_find(chains, line->name);
		agent_chains_link(chains, line->place.agent, session);
	}
	line->chain = line->place.agent;
	return 0;
}

/* Where the line continues the conversation. */
static int find_parent(struct state *s, struct line *line, struct ipf_error *err)
{
	const struct jdoc *j = line->j;
	bool boundary = jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "subtype"), "compact_boundary"), summary = false;
	struct slice parent, logical = {0};
	if (field_name(line->draft, j, JDOC_ROOT, "parentUuid", &parent, err) < 0 ||
	    (boundary && field_name(line->draft, j, JDOC_ROOT, "logicalParentUuid", &logical, err) < 0) ||
	    jdoc_get_bool(j, JDOC_ROOT, "isCompactSummary", &summary, err) < 0)
		return -1;
	struct slice before = logical.data ? logical : parent;
	line->place = (struct place){.request = NO_AGENT_REQUEST, .agent = NO_CHAIN};
	if (before.data) {
		const struct place *place = find_place(s, before);
		if (place)
			line->place = *place;
	}
	line->place.replaced |= boundary || summary;
	return 0;
}

static int read_line(struct state *s, struct line *line, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = line->j;
	jdoc_id type = jdoc_get(j, JDOC_ROOT, "type");
	bool user = jdoc_text_is(j, type, "user"), answer = jdoc_text_is(j, type, "assistant");
	if (find_parent(s, line, err) < 0)
		return -1;
	if (!user && !answer)
		return 0;
	if (need_time(j, JDOC_ROOT, "timestamp", NS_PER_S, &line->ns, err) < 0 || find_chain(s, line, err) < 0)
		return -1;
	if (answer)
		return read_answer(s, line, sink, err);
	int64_t *input_ns = find_input(s, line->chain);
	if (input_ns && (*input_ns == IPF_ABSENT || *input_ns < line->ns))
		*input_ns = line->ns;
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	struct line line = {.j = record->json, .draft = &sink->draft};
	if (need_object(line.j, JDOC_ROOT, "record", err) < 0 ||
	    field_name(line.draft, line.j, JDOC_ROOT, "uuid", &line.uuid, err) < 0)
		return -1;
	if (!line.uuid.data)
		return 0;
	const struct place *place = find_place(s, line.uuid);
	if (!place || place->known) /* a copy */
		return place ? 0 : ipf_error_memory(err);
	int status = read_line(s, &line, sink, err);
	line.place.known = true; /* a bad line too: the lines after it continue the one before it */
	struct place *own = find_place(s, line.uuid);
	if (own)
		*own = line.place;
	return status == 0 && (s->log.failed || s->log.chains.failed) ? ipf_error_memory(err) : status;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	return agent_log_finish(&s->log, s->drop_agents, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff->json && sniff_members(sniff, "type") && sniff_text(sniff, "\"parentUuid\":") &&
	       sniff_text(sniff, "\"isSidechain\":") && sniff_text(sniff, "\"sessionId\":");
}

const struct source_format source_claude_code = {
	.name = "claude-code",
	.about = "Claude Code's sessions on disk (JSON Lines): arrivals, lengths, shared context, sub-agents",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ending = ".jsonl",
	.ignored = "sessionId timestamp",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_AGENTS,
	.filled = "prose of the recorded length; the common part with an earlier prompt is the same text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
