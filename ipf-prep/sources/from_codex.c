/* codex: Codex's sessions on disk, ~/.codex/sessions/YEAR/MONTH/DAY/rollout-….jsonl.
 *
 * Origin: github.com/openai/codex, codex-rs/protocol/src/protocol.rs (RolloutLine), codex-rs/rollout/src/policy.rs
 * (written items) and codex-rs/core/src/session/rollout_reconstruction.rs (replaced contexts). Counted as a call:
 * github.com/uw-syfi/TraceLab, scripts/extract_codex_rounds.py. JSON Lines of {"timestamp", "type", "payload"}:
 *
 *     session_meta   payload.id is the thread. The first one of a file counts: those of a fork or a sub-agent have the
 *                    lines of the thread from which they come after their own. A sub-agent has its agent in
 *                    payload.source.subagent.thread_spawn.parent_thread_id
 *     turn_context   payload.model, payload.turn_id
 *     compacted      the context is replaced by a summary
 *     response_item  payload.type: message, whose `role` assistant is output, and any other is input;
 *                    function_call_output, custom_tool_call_output and tool_search_output, which are input; reasoning,
 *                    which is output; and function_call, custom_tool_call, local_shell_call, tool_search_call and
 *                    web_search_call, which are output and count as tool calls
 *     event_msg      payload.type: task_started (turn_started), with `turn_id`; user_message, which is input;
 *                    thread_rolled_back, which replaces the context; and
 *                    token_count: the end of a call. payload.info.last_token_usage has input_tokens,
 *                    cached_input_tokens (of the input) and output_tokens (with those of the reasoning). One with the
 *                    same total_token_usage as before, or without tokens, is not of a call
 *
 * A request begins with the last input before its first output, and ends with its count, or, if results of tools came
 * before it, with its last output. Turns of a fork or a sub-agent older than its thread are copies, which later prompts
 * continue (agent_log.h). Ids of both begin with a time (UUID version 7). Texts are not read. Files of the first
 * versions, whose lines have no payload, record no lengths.
 */
#include "absent.h"
#include "clock.h"
#include "sources/agent_log.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

#include <string.h>

struct state {
	struct agent_log log;
	bool drop_agents;

	/* the file being read */
	struct buffer thread, turn, key; /* `key` is scratch space */
	bool sub_agent;
	size_t chain; /* NO_CHAIN: no session_meta yet */
	size_t model;
	int64_t calls;     /* the turn's */
	int64_t totals[3]; /* input, cached input and output, summed by Codex */
	size_t last;       /* the last request; NO_AGENT_REQUEST */
	bool replaced;     /* the context was replaced since then */

	/* the call being read */
	int64_t input_ns; /* the last input before its output; IPF_ABSENT */
	int64_t next_ns;  /* the last input after its output */
	int64_t output_ns, last_output_ns;
	int64_t tool_calls;
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
	buffer_release(&s->thread);
	buffer_release(&s->turn);
	buffer_release(&s->key);
}

static void begin_call(struct state *s)
{
	s->input_ns = s->next_ns;
	s->next_ns = s->output_ns = s->last_output_ns = IPF_ABSENT;
	s->tool_calls = 0;
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	(void)csv;
	(void)err;
	buffer_clear(&s->thread);
	buffer_clear(&s->turn);
	s->sub_agent = s->replaced = false;
	s->chain = NO_CHAIN;
	s->model = NO_NUMBER;
	s->calls = 0;
	s->last = NO_AGENT_REQUEST;
	s->next_ns = IPF_ABSENT;
	memset(s->totals, 0, sizeof s->totals);
	begin_call(s);
	return 0;
}

static bool is_one_of(const struct jdoc *j, jdoc_id node, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (jdoc_text_is(j, node, words[i]))
			return true;
	return false;
}

/* ---- the thread ---- */

static int read_meta(struct state *s, const struct jdoc *j, jdoc_id payload, struct draft *d, struct ipf_error *err)
{
	jdoc_id spawn = jdoc_get(j, jdoc_get(j, jdoc_get(j, payload, "source"), "subagent"), "thread_spawn");
	struct slice id, parent;
	if (s->chain != NO_CHAIN)
		return 0;
	if (need_name(d, j, payload, "id", &id, err) < 0 || field_name(d, j, spawn, "parent_thread_id", &parent, err) < 0 ||
	    agent_log_check_names(id, (struct slice){0}, err) < 0)
		return -1;
	buffer_slice(&s->thread, id);
	s->chain = agent_chains_find(&s->log.chains, id);
	s->sub_agent = parent.data != NULL;
	if (s->sub_agent)
		agent_chains_link(&s->log.chains, s->chain, agent_chains_find(&s->log.chains, parent));
	return 0;
}

/* The turn and the model of the lines after this one. */
static int read_turn(struct state *s, const struct jdoc *j, jdoc_id payload, struct draft *d, struct ipf_error *err)
{
	struct slice turn, model;
	if (field_name(d, j, payload, "turn_id", &turn, err) < 0 || field_name(d, j, payload, "model", &model, err) < 0 ||
	    agent_log_check_names((struct slice){0}, model, err) < 0)
		return -1;
	if (model.data)
		s->model = agent_log_model(&s->log, model);
	if (turn.data && !slice_equal(turn, buffer_all(&s->turn))) {
		buffer_clear(&s->turn);
		buffer_slice(&s->turn, turn);
		s->calls = 0;
		if (s->output_ns != IPF_ABSENT) /* the output of an uncounted call */
			begin_call(s);
	}
	return 0;
}

/* ---- a call ---- */

static void read_input(struct state *s, int64_t ns)
{
	*(s->output_ns == IPF_ABSENT ? &s->input_ns : &s->next_ns) = ns;
}

static void read_output(struct state *s, int64_t ns)
{
	s->output_ns = s->output_ns == IPF_ABSENT ? ns : s->output_ns;
	s->last_output_ns = ns;
}

static void read_item(struct state *s, const struct jdoc *j, jdoc_id payload, int64_t ns)
{
	static const char *const inputs[] = {"function_call_output", "custom_tool_call_output", "tool_search_output"},
							 *const calls[] = {"function_call", "custom_tool_call", "local_shell_call",
	                                           "tool_search_call", "web_search_call"};
	jdoc_id type = jdoc_get(j, payload, "type");
	bool message = jdoc_text_is(j, type, "message"), call = is_one_of(j, type, calls, sizeof calls / sizeof *calls);
	bool answer = message && jdoc_text_is(j, jdoc_get(j, payload, "role"), "assistant");
	s->tool_calls += call;
	if (call || answer || jdoc_text_is(j, type, "reasoning"))
		read_output(s, ns);
	else if (message || is_one_of(j, type, inputs, sizeof inputs / sizeof *inputs))
		read_input(s, ns);
}

/* Is the turn one of the thread from which the file's thread was forked? */
static bool is_copied(const struct state *s)
{
	enum { UUID = 36, VERSION = 14 };
	const struct buffer *turn = &s->turn, *thread = &s->thread;
	return turn->len == UUID && thread->len == UUID && turn->data[VERSION] == '7' && thread->data[VERSION] == '7' &&
	       memcmp(turn->data, thread->data, UUID) < 0;
}

/* The request of a call in the file's own thread, unless it was read from another copy of the file. */
static void set_call(struct state *s, struct agent_request *r, int64_t end_ns)
{
	int64_t begin_ns = s->input_ns != IPF_ABSENT ? s->input_ns : s->output_ns;
	r->chain = s->chain;
	r->sub_agent = s->sub_agent;
	r->model = s->model;
	r->tool_calls = s->tool_calls;
	r->start_ns = r->end_ns = end_ns;
	if (begin_ns != IPF_ABSENT)
		agent_log_begin(&s->log, r, begin_ns);
}

/* The request of the ending call. NULL when out of memory. */
static struct agent_request *find_request(struct state *s, int64_t end_ns)
{
	struct agent_request *r;
	bool is_new, copied = is_copied(s);
	do { /* a turn going on after another one began has calls of these numbers already */
		buffer_clear(&s->key);
		buffer_slice(&s->key, buffer_all(s->turn.len ? &s->turn : &s->thread));
		buffer_format(&s->key, "/%lld", (long long)s->calls++);
		r = s->key.failed ? NULL : agent_log_request(&s->log, buffer_all(&s->key), &is_new);
	} while (r && !copied && r->chain == s->chain && r->end_ns != end_ns);
	if (!r)
		return NULL;
	if (is_new) {
		r->continues = s->last;
		r->replaced = s->replaced;
	}
	if (r->chain == NO_CHAIN && !copied)
		set_call(s, r, end_ns);
	return r;
}

static int read_count(struct state *s, const struct jdoc *j, jdoc_id info, int64_t ns, struct ipf_error *err)
{
	static const char *const names[] = {"input_tokens", "cached_input_tokens", "output_tokens"};
	jdoc_id last = jdoc_get(j, info, "last_token_usage"), total = jdoc_get(j, info, "total_token_usage");
	int64_t tokens[3] = {0}, totals[3] = {0};
	if (jdoc_is_null(j, info)) /* an event about limits only */
		return 0;
	if (need_object(j, info, "info", err) < 0 || need_object(j, last, "last_token_usage", err) < 0 ||
	    need_object(j, total, "total_token_usage", err) < 0)
		return -1;
	for (int i = 0; i < 3; i++)
		if (field_tokens(j, last, names[i], &tokens[i], err) < 0 ||
		    jdoc_get_uint(j, total, names[i], &totals[i], err) < 0)
			return -1;
	if (tokens[0] == 0 || memcmp(totals, s->totals, sizeof totals) == 0)
		return 0;
	if (s->chain == NO_CHAIN)
		return ipf_error_set(err, IPF_INPUT, "type: expected session_meta before token_count");
	memcpy(s->totals, totals, sizeof totals);
	bool early_results = s->next_ns != IPF_ABSENT && s->last_output_ns < ns;
	struct agent_request *r = find_request(s, early_results ? s->last_output_ns : ns);
	if (!r)
		return ipf_error_memory(err);
	s->last = agent_log_number(&s->log, r);
	s->replaced = false;
	begin_call(s);
	return agent_log_set_lengths(r, tokens[0], tokens[1], tokens[2], err);
}

static int read_event(struct state *s, const struct jdoc *j, jdoc_id payload, int64_t ns, struct draft *d,
                      struct ipf_error *err)
{
	jdoc_id type = jdoc_get(j, payload, "type");
	if (jdoc_text_is(j, type, "token_count"))
		return read_count(s, j, jdoc_get(j, payload, "info"), ns, err);
	if (jdoc_text_is(j, type, "task_started") || jdoc_text_is(j, type, "turn_started"))
		return read_turn(s, j, payload, d, err);
	if (jdoc_text_is(j, type, "user_message"))
		read_input(s, ns);
	s->replaced |= jdoc_text_is(j, type, "thread_rolled_back");
	return 0;
}

static int read_line(struct state *s, const struct jdoc *j, struct draft *d, struct ipf_error *err)
{
	jdoc_id type = jdoc_get(j, JDOC_ROOT, "type"), payload = jdoc_get(j, JDOC_ROOT, "payload");
	int64_t ns;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_object(j, payload, "payload", err) < 0 ||
	    need_time(j, JDOC_ROOT, "timestamp", NS_PER_S, &ns, err) < 0)
		return -1;
	if (jdoc_text_is(j, type, "session_meta"))
		return read_meta(s, j, payload, d, err);
	if (jdoc_text_is(j, type, "turn_context"))
		return read_turn(s, j, payload, d, err);
	if (jdoc_text_is(j, type, "event_msg"))
		return read_event(s, j, payload, ns, d, err);
	if (jdoc_text_is(j, type, "response_item"))
		read_item(s, j, payload, ns);
	s->replaced |= jdoc_text_is(j, type, "compacted");
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	if (read_line(s, record->json, &sink->draft, err) < 0)
		return -1;
	bool failed = s->log.failed || s->log.chains.failed || s->thread.failed || s->turn.failed;
	return failed ? ipf_error_memory(err) : 0;
}

static int finish(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	return agent_log_finish(&s->log, s->drop_agents, sink, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "timestamp type payload") &&
	       jdoc_text_is(sniff->json, jdoc_get(sniff->json, JDOC_ROOT, "type"), "session_meta");
}

const struct source_format source_codex = {
	.name = "codex",
	.about = "Codex's sessions on disk (JSON Lines): arrivals, lengths, shared context, sub-agents",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ending = ".jsonl",
	.ignored = "/payload/timestamp",
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_AGENTS,
	.filled = "prose of the recorded length; the common part with an earlier prompt is the same text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.begin_file = begin_file,
	.read_record = read_record,
	.finish = finish,
	.recognises = recognises,
	.close = close_state,
};
