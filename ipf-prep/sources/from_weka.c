/* Recorded conversations of coding agents without their text (kv-cache-tester, and the sets published in its layout):
 * an object each,
 * {"id", "block_size", "hash_id_scope": "local" | "global", "requests": [{"t", "in", "out", "hash_ids", "think_time",
 * …}, …]}. Ids are of blocks of block_size tokens; some sets count the last block that is not full, some don't.
 *
 * An entry of type "subagent" has requests of its own, which share nothing with the conversation's. It begins once the
 * request before it has ended; the request after it waits for it; entries next to each other run side by side.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"

#include <stdlib.h>

struct state {
	bool drop_agents;
};

/* The conversation being taken in. */
struct taking {
	const struct jdoc *j;
	struct draft *draft;
	int64_t block_tokens;
	struct slice id;
	bool local, drop_agents;
	int64_t main; /* the place of the conversation's last request; -1: none yet */
	int64_t main_end_ns;
	uint64_t *tails; /* the last requests of the agents that the next request waits for */
	size_t tail_count, tail_cap;
	int64_t agents_end_ns; /* since the conversation's beginning; IPF_ABSENT */
	int64_t agents, agent; /* how many there were; the one at hand, -1: none */
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	struct state *state = calloc(1, sizeof *state);
	if (!state)
		return ipf_error_memory(err);
	state->drop_agents = settings->drop_agents;
	*opened = state;
	return 0;
}

static int take_blocks(const struct taking *t, jdoc_id request, struct draft_request *r, struct slice scope,
                       struct ipf_error *err)
{
	struct draft_blocks *b = &r->blocks;
	jdoc_id ids = jdoc_get(t->j, request, "hash_ids");
	if (jdoc_is_null(t->j, ids))
		return 0;
	if (record_fields_block_ids(t->draft, t->j, ids, "hash_ids", &b->ids, &b->count, err) < 0)
		return -1;
	b->tokens = t->block_tokens;
	b->scope = scope;
	int64_t whole = r->input_tokens / b->tokens, any = whole + (r->input_tokens % b->tokens != 0);
	if (!t->draft->failed && (int64_t)b->count != whole && (int64_t)b->count != any)
		return ipf_error_set(err, IPF_INPUT, "hash_ids: expected %lld of them for %lld tokens, got %zu",
		                     (long long)whole, (long long)r->input_tokens, b->count);
	return 0;
}

/* What was recorded of it and is not asked: carried along. */
static struct slice take_tags(const struct taking *t, jdoc_id node, struct slice model)
{
	static const char *const times[][2] = {
		{"think_time", "think_time_s"}, {"ttft", "ttft_s"}, {"api_time", "api_time_s"}};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jout_begin_map(&w);
	jout_member_string(&w, "model", model);
	if (t->agent >= 0)
		jout_member_int(&w, "agent", t->agent);
	for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
		jdoc_id time = jdoc_get(t->j, node, times[i][0]);
		if (jdoc_type_of(t->j, time) == JDOC_NUMBER)
			jout_member_value(&w, times[i][1], jdoc_raw(t->j, time));
	}
	jout_end_map(&w);
	struct slice tags = out.len > 2 ? draft_keep(t->draft, buffer_all(&out)) : (struct slice){0};
	t->draft->failed |= out.failed;
	buffer_release(&out);
	return tags;
}

/* A request as it stands; its times are for the caller. */
static int take_request(const struct taking *t, jdoc_id node, struct slice scope, int64_t *t_ns, int64_t *end_ns,
                        struct ipf_error *err)
{
	const struct jdoc *j = t->j;
	int64_t api_ns = 0;
	struct slice model;
	struct draft_request *r = draft_request(t->draft);
	if (!r)
		return 0;
	if (need_map(j, node, "requests", err) < 0 || need_uint(j, node, "in", &r->input_tokens, err) < 0 ||
	    need_uint(j, node, "out", &r->output_tokens, err) < 0 || take_blocks(t, node, r, scope, err) < 0 ||
	    record_fields_duration(j, node, "t", NS_PER_S, t_ns, err) < 0 ||
	    record_fields_duration(j, node, "think_time", NS_PER_S, &r->wait_ns, err) < 0 ||
	    record_fields_duration(j, node, "api_time", NS_PER_S, &api_ns, err) < 0 ||
	    record_fields_text(t->draft, j, node, "model", &model, err) < 0)
		return -1;
	r->tags = take_tags(t, node, model);
	*end_ns = *t_ns + api_ns;
	return 0;
}

static void set_parents(struct draft *d, const uint64_t *places, size_t count)
{
	uint64_t *copy = draft_ids(d, count);
	for (size_t i = 0; copy && i < count; i++)
		copy[i] = places[i];
	d->requests[d->count - 1].parents = copy;
	d->requests[d->count - 1].parent_count = copy ? count : 0;
}

static int add_tail(struct taking *t, uint64_t place)
{
	if (t->tail_count == t->tail_cap) {
		size_t cap = t->tail_cap ? t->tail_cap * 2 : 16;
		uint64_t *tails = reallocarray(t->tails, cap, sizeof *tails);
		if (!tails)
			return -1;
		t->tails = tails;
		t->tail_cap = cap;
	}
	t->tails[t->tail_count++] = place;
	return 0;
}

static int take_agent(struct taking *t, jdoc_id node, struct ipf_error *err)
{
	const struct jdoc *j = t->j;
	struct draft *d = t->draft;
	jdoc_id requests;
	int64_t begin_ns = 0, length_ns = 0, t_ns = 0, end_ns = 0;
	if (need_list(j, node, "requests", &requests, err) < 0 ||
	    record_fields_duration(j, node, "t", NS_PER_S, &begin_ns, err) < 0 ||
	    record_fields_duration(j, node, "duration_ms", NS_PER_MS, &length_ns, err) < 0)
		return -1;
	if (t->drop_agents)
		return 0;
	struct slice scope = draft_format(d, "%.*s/%lld", (int)(t->id.len < 256 ? t->id.len : 256), t->id.data,
	                                  (long long)t->agents);
	t->agent = t->agents++;
	int64_t before = t->main;
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e);) {
		bool first = before == t->main;
		if (take_request(t, e.value, scope, &t_ns, &end_ns, err) < 0)
			return -1;
		struct draft_request *r = &d->requests[d->count - 1];
		if (first) /* it begins when the one before has ended, as long after as it did */
			r->wait_ns = t->main >= 0 && begin_ns >= t->main_end_ns ? begin_ns - t->main_end_ns
			             : t->main >= 0                             ? 0
			                                                        : IPF_ABSENT;
		set_parents(d, &(uint64_t){(uint64_t)before}, before >= 0);
		before = (int64_t)d->count - 1;
	}
	t->agent = -1;
	if (before != t->main && add_tail(t, (uint64_t)before) < 0)
		d->failed = true;
	end_ns = length_ns ? begin_ns + length_ns : begin_ns + end_ns;
	t->agents_end_ns = end_ns > t->agents_end_ns ? end_ns : t->agents_end_ns;
	return 0;
}

static int take_main(struct taking *t, jdoc_id node, struct ipf_error *err)
{
	struct draft *d = t->draft;
	int64_t t_ns = 0;
	if (take_request(t, node, t->local ? t->id : (struct slice){0}, &t_ns, &t->main_end_ns, err) < 0)
		return -1;
	if (t->tail_count > 0) {
		set_parents(d, t->tails, t->tail_count);
		d->requests[d->count - 1].wait_ns = t_ns > t->agents_end_ns ? t_ns - t->agents_end_ns : 0;
		t->tail_count = 0;
		t->agents_end_ns = IPF_ABSENT;
	}
	t->main = (int64_t)d->count - 1;
	return 0;
}

static int take_all(struct taking *t, struct ipf_error *err)
{
	const struct jdoc *j = t->j;
	jdoc_id requests;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 ||
	    record_fields_name(t->draft, j, JDOC_ROOT, "id", &t->id, err) < 0 ||
	    need_uint(j, JDOC_ROOT, "block_size", &t->block_tokens, err) < 0 ||
	    need_list(j, JDOC_ROOT, "requests", &requests, err) < 0)
		return -1;
	if (t->block_tokens < 1 || t->block_tokens > 1 << 20)
		return ipf_error_set(err, IPF_INPUT, "block_size: expected 1 or more, got %lld", (long long)t->block_tokens);
	if (!t->id.data)
		t->id = draft_format(t->draft, "%lld", (long long)t->draft->number);
	t->local = !jdoc_text_is(j, jdoc_get(j, JDOC_ROOT, "hash_id_scope"), "global");
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e) && !t->draft->failed;) {
		bool agent = jdoc_text_is(j, jdoc_get(j, e.value, "type"), "subagent");
		if ((agent ? take_agent(t, e.value, err) : take_main(t, e.value, err)) < 0)
			return -1;
	}
	return 0;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct state *state = opened;
	struct draft *d = &sink->draft;
	struct taking t = {.j = record->json,
	                   .draft = d,
	                   .main = -1,
	                   .agent = -1,
	                   .agents_end_ns = IPF_ABSENT,
	                   .drop_agents = state->drop_agents};
	int status = take_all(&t, err);
	free(t.tails);
	if (status < 0 || d->failed)
		return status;
	if (d->count == 0) {
		sink->unusable(sink, "empty conversation");
		return 0;
	}
	d->session = t.id;
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "block_size requests") || (!sniff->json && sniff_text(sniff, "\"hash_id_scope\""));
}

const struct source_format source_weka = {
	.name = "weka",
	.about = "agents' conversations without text (kv-cache-tester): lengths, think times, shared blocks, sub-agents",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_SESSIONS | MAKES_TEXT | HAS_BLOCKS | HAS_AGENTS,
	.filled =
		"prose of the recorded length, block by block from its id within the conversation; what no block covers is text of its own",
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
