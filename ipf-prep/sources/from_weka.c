/* weka: conversations of coding agents, recorded without their text by kv-cache-tester.
 *
 * Origin: github.com/callanjfox/kv-cache-tester, traces; other sets are published in its format. An object for each
 * conversation:
 *
 *     id             the session (default: the number of the record)
 *     block_size     tokens in a block
 *     hash_id_scope  global: equal ids are equal text in all conversations; else only in the same conversation
 *     requests       list of requests in order
 *
 * and for each request:
 *
 *     t           seconds from the beginning of the conversation
 *     in, out     lengths of the prompt and the answer, in tokens
 *     hash_ids    an id for each block of the prompt (optional); some sets count a last partial block, some do not
 *     think_time  seconds from the end of the previous answer (optional)
 *     api_time    seconds until the answer ended (optional)
 *     ttft        seconds until the answer began (optional)
 *     model       the recorded model (optional)
 *
 * Prompts are synthetic: equal ids give equal text; tokens outside of blocks are text that no other prompt has. model,
 * think_time, ttft and api_time become the tags "model", "think_time_s", "ttft_s" and "api_time_s"; the latter two are
 * the recorded latencies. Other members are ignored.
 *
 * An entry of type "subagent" has requests too, and so on:
 *
 *     t            seconds from the beginning of the conversation
 *     duration_ms  until it ended (optional)
 *     status       async_launched: nothing waits for it; else the request after it waits
 *     requests     their `t` counts from the beginning of the conversation, or, if the first one's is before the
 *                  entry's, from that
 *
 * It begins when the request before it has ended. Subagents next to each other run in parallel. The tag "agent" numbers
 * them. Their ids are those of the conversation. Releases of SemiAnalysis: cc-traces-weka-051926 (v5) to 062126 (v7).
 */
#include "absent.h"
#include "array.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"
#include "sources/recorded_times.h"

#include <stdlib.h>

struct state {
	bool drop_agents;
};

/* The conversation being read. */
struct weka_conversation {
	const struct jdoc *j;
	struct draft *draft;
	int64_t block_tokens;
	struct slice id, scope;
	bool drop_agents;
	int64_t agents; /* how many subagents were read */
};

/* The conversation itself, or a subagent. All times are from the conversation's beginning. */
struct weka_agent {
	int64_t number;        /* from 0; -1: the conversation itself */
	int64_t begin_ns;      /* from which the times of its requests count */
	int64_t last;          /* index of its last request, or at first the index before it; -1: none */
	int64_t last_end_ns;   /* its end */
	int64_t first_wait_ns; /* from then to its first request; IPF_ABSENT: it is recorded with it */
	bool begun;
	uint64_t *tails; /* the last requests of the subagents the next request waits for */
	size_t tail_count, tail_cap;
	int64_t agents_end_ns; /* when the last of them ended; IPF_ABSENT */
};

/* When a request began and when its answer ended. */
struct span {
	int64_t begin_ns, end_ns;
};

static int open_state(void *opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)err;
	((struct state *)opened)->drop_agents = settings->drop_agents;
	return 0;
}

static int read_blocks(const struct weka_conversation *c, jdoc_id request, struct draft_request *r,
                       struct ipf_error *err)
{
	struct draft_blocks *b = &r->blocks;
	if (jdoc_is_null(c->j, jdoc_get(c->j, request, "hash_ids")))
		return 0;
	if (need_block_ids(c->draft, c->j, request, "hash_ids", b, err) < 0)
		return -1;
	b->tokens = c->block_tokens;
	b->scope = c->scope;
	int64_t whole = r->input_tokens / b->tokens, all = whole + (r->input_tokens % b->tokens != 0);
	if (c->draft->failed || (int64_t)b->count == whole || (int64_t)b->count == all)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "hash_ids: expected length %lld for %lld tokens, got %zu", (long long)whole,
	                     (long long)r->input_tokens, b->count);
}

/* Recorded values outside the request. */
static struct slice make_tags(const struct weka_conversation *c, jdoc_id node, int64_t agent, struct slice model)
{
	static const char *const times[][2] = {
		{"think_time", "think_time_s"}, {"ttft", "ttft_s"}, {"api_time", "api_time_s"}};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	jout_member_string(&w, "model", model);
	if (agent >= 0)
		jout_member_int(&w, "agent", agent);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		jdoc_id time = jdoc_get(c->j, node, times[i][0]);
		if (jdoc_type_of(c->j, time) == JDOC_NUMBER)
			jout_member_value(&w, times[i][1], jdoc_raw(c->j, time));
	}
	jout_end_map(&w);
	return tags_written(c->draft, &out);
}

/* An optional time of at most a year, so all their sums are possible. */
static int read_time(const struct jdoc *j, jdoc_id map, const char *key, int64_t unit_ns, int64_t *ns,
                     struct ipf_error *err)
{
	int got = field_duration(j, map, key, unit_ns, ns, err);
	return got <= 0 || *ns <= NS_PER_YEAR ? got : jdoc_expected(j, jdoc_get(j, map, key), key, "at most a year", err);
}

/* Adds a request; its dependencies are for the caller. */
static int read_request(const struct weka_conversation *c, jdoc_id node, int64_t agent, struct span *span,
                        struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	struct recorded_times times = RECORDED_TIMES_NONE;
	struct slice model;
	struct draft_request *r = draft_request(c->draft);
	if (!r)
		return 0;
	if (need_object(j, node, "requests", err) < 0 || need_tokens(j, node, "in", &r->input_tokens, err) < 0 ||
	    need_tokens(j, node, "out", &r->output_tokens, err) < 0 || read_blocks(c, node, r, err) < 0 ||
	    read_time(j, node, "t", NS_PER_S, &span->begin_ns, err) < 0 ||
	    field_duration(j, node, "think_time", NS_PER_S, &r->wait_ns, err) < 0 ||
	    read_time(j, node, "api_time", NS_PER_S, &times.e2e_ns, err) < 0 ||
	    read_time(j, node, "ttft", NS_PER_S, &times.ttft_ns, err) < 0 ||
	    field_text(c->draft, j, node, "model", &model, err) < 0)
		return -1;
	r->tags = make_tags(c, node, agent, model);
	recorded_times_set_possible(r, &times);
	span->end_ns = span->begin_ns + (times.e2e_ns == IPF_ABSENT ? 0 : times.e2e_ns);
	return 0;
}

static void set_parents(struct draft *d, const uint64_t *indexes, size_t count)
{
	uint64_t *copy = draft_ids(d, count);
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = indexes[i];
	d->requests[d->count - 1].parents = copy;
	d->requests[d->count - 1].parent_count = copy ? count : 0;
}

static int add_tail(struct weka_agent *a, uint64_t index)
{
	if (!array_room(a->tails, a->tail_cap, a->tail_count + 1))
		return -1;
	a->tails[a->tail_count++] = index;
	return 0;
}

static int read_turn(struct weka_conversation *c, jdoc_id node, struct weka_agent *a, struct ipf_error *err)
{
	struct draft *d = c->draft;
	struct span span = {0};
	if (read_request(c, node, a->number, &span, err) < 0)
		return -1;
	if (d->failed)
		return 0;
	struct draft_request *r = &d->requests[d->count - 1];
	if (a->tail_count > 0) {
		int64_t wait_ns = a->begin_ns + span.begin_ns - a->agents_end_ns;
		set_parents(d, a->tails, a->tail_count);
		r->wait_ns = wait_ns > 0 ? wait_ns : 0;
		a->tail_count = 0;
		a->agents_end_ns = IPF_ABSENT;
	} else if (a->last >= 0 && (a->number >= 0 || a->last != (int64_t)d->count - 2)) {
		set_parents(d, &(uint64_t){(uint64_t)a->last}, 1);
	}
	if (!a->begun && a->number >= 0)
		r->wait_ns = a->first_wait_ns;
	a->begun = true;
	a->last = (int64_t)d->count - 1;
	a->last_end_ns = a->begin_ns + span.end_ns;
	return 0;
}

static int read_entries(struct weka_conversation *c, jdoc_id list, struct weka_agent *a, struct ipf_error *err);

/* Those of its requests counting from its own beginning do so from the first one on. */
static int read_begin(const struct jdoc *j, jdoc_id requests, int64_t agent_ns, int64_t *begin_ns,
                      struct ipf_error *err)
{
	int64_t first_ns = 0;
	int got = read_time(j, jdoc_at(j, requests, 0), "t", NS_PER_S, &first_ns, err);
	*begin_ns = first_ns < agent_ns ? agent_ns : 0;
	return got < 0 ? -1 : 0;
}

/* Reads an agent started by `up`. */
static int read_agent(struct weka_conversation *c, jdoc_id node, struct weka_agent *up, struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	jdoc_id requests;
	int64_t t_ns = 0, length_ns = 0, base_ns;
	struct weka_agent a = {.last = up->last, .agents_end_ns = IPF_ABSENT, .first_wait_ns = IPF_ABSENT};
	if (need_list(j, node, "requests", &requests, err) < 0 || read_time(j, node, "t", NS_PER_S, &t_ns, err) < 0 ||
	    read_time(j, node, "duration_ms", NS_PER_MS, &length_ns, err) < 0 ||
	    read_begin(j, requests, t_ns, &base_ns, err) < 0)
		return -1;
	if (c->drop_agents)
		return 0;
	int64_t start_ns = up->begin_ns + t_ns;
	a.number = c->agents++;
	a.begin_ns = up->begin_ns + base_ns;
	a.last_end_ns = up->last_end_ns;
	if (up->last >= 0) /* the recorded time from the end of the request before it */
		a.first_wait_ns = start_ns >= up->last_end_ns ? start_ns - up->last_end_ns : 0;
	int status = read_entries(c, requests, &a, err);
	bool awaited = a.begun && !jdoc_text_is(j, jdoc_get(j, node, "status"), "async_launched");
	if (status == 0 && awaited && add_tail(up, (uint64_t)a.last) < 0)
		c->draft->failed = true;
	for (size_t i = 0; i < a.tail_count && status == 0 && awaited; i++) /* agents after its last request */
		if (add_tail(up, a.tails[i]) < 0)
			c->draft->failed = true;
	int64_t end_ns = length_ns ? start_ns + length_ns : a.last_end_ns;
	if (awaited && end_ns > up->agents_end_ns)
		up->agents_end_ns = end_ns;
	free(a.tails);
	return status;
}

static int read_entries(struct weka_conversation *c, jdoc_id list, struct weka_agent *a, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(c->j, list); jdoc_step(&e) && !c->draft->failed;) {
		bool agent = jdoc_text_is(c->j, jdoc_get(c->j, e.value, "type"), "subagent");
		if ((agent ? read_agent(c, e.value, a, err) : read_turn(c, e.value, a, err)) < 0)
			return -1;
	}
	return 0;
}

static int read_conversation(struct weka_conversation *c, struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	jdoc_id requests;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || field_name(c->draft, j, JDOC_ROOT, "id", &c->id, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "block_size", &c->block_tokens, err) < 0 ||
	    need_list(j, JDOC_ROOT, "requests", &requests, err) < 0)
		return -1;
	if (c->block_tokens < 1 || c->block_tokens > 1 << 20)
		return ipf_error_set(err, IPF_INPUT, "block_size: expected 1 to 1048576, got %lld", (long long)c->block_tokens);
	if (!c->id.data)
		c->id = draft_format(c->draft, "%lld", (long long)c->draft->number);
	if (!jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "hash_id_scope"), "global"))
		c->scope = c->id;
	struct weka_agent main = {.number = -1, .last = -1, .agents_end_ns = IPF_ABSENT};
	int status = read_entries(c, requests, &main, err);
	free(main.tails);
	return status;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct state *state = opened;
	struct draft *d = &sink->draft;
	struct weka_conversation c = {.j = record->json, .draft = d, .drop_agents = state->drop_agents};
	int status = read_conversation(&c, err);
	if (status < 0 || d->failed)
		return status;
	if (d->count == 0) {
		sink->unusable(sink, "empty conversation");
		return 0;
	}
	d->session = c.id;
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "block_size requests") || (!sniff->json && sniff_text(sniff, "\"hash_id_scope\""));
}

const struct source_format source_weka = {
	.name = "weka",
	.about = "recorded coding agents without text (kv-cache-tester): lengths, think times, shared blocks, sub-agents",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.ignored = "/requests/*/stop /requests/*/requests/*/model /requests/*/requests/*/stop",
	.traits = HAS_SESSIONS | MAKES_TEXT | HAS_BLOCKS | HAS_AGENTS,
	.filled =
		"prose of the recorded length, block by block from its id within the conversation; the part outside blocks is "
		"unique text",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.recognises = recognises,
};
