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
 * think_time, ttft and api_time become the tags "model", "think_time_s", "ttft_s" and "api_time_s". Other members are
 * ignored.
 *
 * An entry of type "subagent" has a `t`, a `duration_ms` and `requests`, which share no text with the conversation's.
 * It begins when the request before it has ended, and the request after it waits for it. Subagents next to each other
 * run in parallel. The tag "agent" numbers them.
 */
#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#include <stdlib.h>

struct state {
	bool drop_agents;
};

/* The conversation being read. */
struct weka_conversation {
	const struct jdoc *j;
	struct draft *draft;
	int64_t block_tokens;
	struct slice id;
	bool local, drop_agents;
	int64_t main;        /* index of the last request that is not a subagent's; -1: none yet */
	int64_t main_end_ns; /* when it ended */
	uint64_t *tails;     /* the last requests of the subagents that the next request waits for */
	size_t tail_count, tail_cap;
	int64_t
		agents_end_ns; /* when the last of them ended; IPF_ABSENT. All times are from the conversation's beginning */
	int64_t agents;    /* how many subagents were read */
	int64_t agent;     /* the current one, from 0; -1: none */
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

static int read_blocks(const struct weka_conversation *c, jdoc_id request, struct draft_request *r, struct slice scope,
                       struct ipf_error *err)
{
	struct draft_blocks *b = &r->blocks;
	if (jdoc_is_null(c->j, jdoc_get(c->j, request, "hash_ids")))
		return 0;
	if (need_block_ids(c->draft, c->j, request, "hash_ids", b, err) < 0)
		return -1;
	b->tokens = c->block_tokens;
	b->scope = scope;
	int64_t whole = r->input_tokens / b->tokens, all = whole + (r->input_tokens % b->tokens != 0);
	if (c->draft->failed || (int64_t)b->count == whole || (int64_t)b->count == all)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "hash_ids: expected length %lld for %lld tokens, got %zu", (long long)whole,
	                     (long long)r->input_tokens, b->count);
}

/* What was recorded of the request but is not part of it. */
static struct slice make_tags(const struct weka_conversation *c, jdoc_id node, struct slice model)
{
	static const char *const times[][2] = {
		{"think_time", "think_time_s"}, {"ttft", "ttft_s"}, {"api_time", "api_time_s"}};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	jout_member_string(&w, "model", model);
	if (c->agent >= 0)
		jout_member_int(&w, "agent", c->agent);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		jdoc_id time = jdoc_get(c->j, node, times[i][0]);
		if (jdoc_type_of(c->j, time) == JDOC_NUMBER)
			jout_member_value(&w, times[i][1], jdoc_raw(c->j, time));
	}
	jout_end_map(&w);
	return tags_written(c->draft, &out);
}

/* Adds a request; its dependencies are for the caller. */
static int read_request(const struct weka_conversation *c, jdoc_id node, struct slice scope, struct span *span,
                        struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	int64_t api_ns = 0;
	struct slice model;
	struct draft_request *r = draft_request(c->draft);
	if (!r)
		return 0;
	if (need_object(j, node, "requests", err) < 0 || need_tokens(j, node, "in", &r->input_tokens, err) < 0 ||
	    need_tokens(j, node, "out", &r->output_tokens, err) < 0 || read_blocks(c, node, r, scope, err) < 0 ||
	    field_duration(j, node, "t", NS_PER_S, &span->begin_ns, err) < 0 ||
	    field_duration(j, node, "think_time", NS_PER_S, &r->wait_ns, err) < 0 ||
	    field_duration(j, node, "api_time", NS_PER_S, &api_ns, err) < 0 ||
	    field_text(c->draft, j, node, "model", &model, err) < 0)
		return -1;
	r->tags = make_tags(c, node, model);
	span->end_ns = span->begin_ns + api_ns;
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

static int add_tail(struct weka_conversation *c, uint64_t index)
{
	if (c->tail_count == c->tail_cap) {
		size_t cap = c->tail_cap ? c->tail_cap * 2 : 16;
		uint64_t *tails = reallocarray(c->tails, cap, sizeof *tails);
		if (!tails)
			return -1;
		c->tails = tails;
		c->tail_cap = cap;
	}
	c->tails[c->tail_count++] = index;
	return 0;
}

static int read_agent(struct weka_conversation *c, jdoc_id node, struct ipf_error *err)
{
	const struct jdoc *j = c->j;
	struct draft *d = c->draft;
	jdoc_id requests;
	struct span span = {0};
	int64_t begin_ns = 0, length_ns = 0;
	if (need_list(j, node, "requests", &requests, err) < 0 ||
	    field_duration(j, node, "t", NS_PER_S, &begin_ns, err) < 0 ||
	    field_duration(j, node, "duration_ms", NS_PER_MS, &length_ns, err) < 0)
		return -1;
	if (c->drop_agents)
		return 0;
	struct slice scope = draft_format(d, "%.*s/%lld", (int)(c->id.len < 256 ? c->id.len : 256), c->id.data,
	                                  (long long)c->agents);
	c->agent = c->agents++;
	int64_t before = c->main;
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e);) {
		bool first = before == c->main;
		if (read_request(c, e.value, scope, &span, err) < 0)
			return -1;
		struct draft_request *r = &d->requests[d->count - 1];
		if (first) /* the recorded time from the end of the request before it */
			r->wait_ns = c->main >= 0 && begin_ns >= c->main_end_ns ? begin_ns - c->main_end_ns
			             : c->main >= 0                             ? 0
			                                                        : IPF_ABSENT;
		set_parents(d, &(uint64_t){(uint64_t)before}, before >= 0);
		before = (int64_t)d->count - 1;
	}
	c->agent = -1;
	if (before != c->main && add_tail(c, (uint64_t)before) < 0)
		d->failed = true;
	int64_t end_ns = begin_ns + (length_ns ? length_ns : span.end_ns);
	c->agents_end_ns = end_ns > c->agents_end_ns ? end_ns : c->agents_end_ns;
	return 0;
}

static int read_main(struct weka_conversation *c, jdoc_id node, struct ipf_error *err)
{
	struct draft *d = c->draft;
	struct span span = {0};
	if (read_request(c, node, c->local ? c->id : (struct slice){0}, &span, err) < 0)
		return -1;
	c->main_end_ns = span.end_ns;
	if (c->tail_count > 0) {
		set_parents(d, c->tails, c->tail_count);
		d->requests[d->count - 1].wait_ns = span.begin_ns > c->agents_end_ns ? span.begin_ns - c->agents_end_ns : 0;
		c->tail_count = 0;
		c->agents_end_ns = IPF_ABSENT;
	}
	c->main = (int64_t)d->count - 1;
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
	c->local = !jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "hash_id_scope"), "global");
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e) && !c->draft->failed;) {
		bool agent = jdoc_text_is(j, jdoc_get(j, e.value, "type"), "subagent");
		if ((agent ? read_agent(c, e.value, err) : read_main(c, e.value, err)) < 0)
			return -1;
	}
	return 0;
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct state *state = opened;
	struct draft *d = &sink->draft;
	struct weka_conversation c = {.j = record->json,
	                              .draft = d,
	                              .main = -1,
	                              .agent = -1,
	                              .agents_end_ns = IPF_ABSENT,
	                              .drop_agents = state->drop_agents};
	int status = read_conversation(&c, err);
	free(c.tails);
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
	.traits = HAS_SESSIONS | MAKES_TEXT | HAS_BLOCKS | HAS_AGENTS,
	.filled =
		"prose of the recorded length, block by block from its id within the conversation; what no block covers is "
		"text of its own",
	.state_size = sizeof(struct state),
	.open = open_state,
	.read_record = read_record,
	.recognises = recognises,
};
