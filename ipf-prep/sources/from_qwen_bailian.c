/* qwen-bailian: usage traces of Qwen models on Alibaba's Bailian platform.
 *
 * Origin: github.com/alibaba-edu/qwen-bailian-usagetraces-anon, files qwen_…_blksz_16.jsonl. JSON Lines:
 *
 *     chat_id         number of the request
 *     parent_chat_id  the previous request of the conversation; -1: there is none
 *     timestamp       arrival, in seconds from the beginning of the trace
 *     input_length    length of the prompt, in tokens
 *     output_length   length of the answer, in tokens
 *     type            text, search, image, file, thinking, …; becomes the tag "type"
 *     hash_ids        an id for each block of 16 tokens of the prompt; the last block may be partial, or have no id
 *
 * and in traces of agents (of 512 tokens a block, or whichever power of two fits the first row of several blocks):
 *
 *     session_id           the session
 *     time_to_parent_chat  seconds from the end of the previous request to this one
 *
 * A session is a chain of parent_chat_id links; a parent that is not in the file ends it. Prompts are synthetic: equal
 * ids give equal text. `turn` is ignored.
 */
#include "absent.h"
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#include <stdlib.h>

#define BLOCK_TOKENS       16
#define AGENT_BLOCK_TOKENS 512

/* A hash table from a chat to the first chat of its chain. */
struct chats {
	int64_t *ids, *roots; /* ids: IPF_ABSENT if the slot is free */
	size_t count, cap;
	int64_t block_tokens; /* of the file; 0: not known yet */
};

static void close_state(void *opened)
{
	struct chats *c = opened;
	free(c->ids);
	free(c->roots);
}

static size_t slot_of(const struct chats *c, int64_t id)
{
	size_t at = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 16) & (c->cap - 1);
	while (c->ids[at] != IPF_ABSENT && c->ids[at] != id)
		at = (at + 1) & (c->cap - 1);
	return at;
}

static int grow(struct chats *c)
{
	struct chats more = {.cap = c->cap ? c->cap * 2 : 1024, .count = c->count, .block_tokens = c->block_tokens};
	more.ids = malloc(more.cap * sizeof *more.ids);
	more.roots = malloc(more.cap * sizeof *more.roots);
	if (!more.ids || !more.roots) {
		close_state(&more);
		return -1;
	}
	for (size_t i = 0; i < more.cap; i++)
		more.ids[i] = IPF_ABSENT;
	for (size_t i = 0; i < c->cap; i++)
		if (c->ids[i] != IPF_ABSENT) {
			size_t at = slot_of(&more, c->ids[i]);
			more.ids[at] = c->ids[i];
			more.roots[at] = c->roots[i];
		}
	close_state(c);
	*c = more;
	return 0;
}

/* 1: added; 0: the id is in the table already; -1: out of memory. */
static int add_chat(struct chats *c, int64_t id, int64_t root)
{
	if (c->count * 2 >= c->cap && grow(c) < 0)
		return -1;
	size_t at = slot_of(c, id);
	if (c->ids[at] == id)
		return 0;
	c->ids[at] = id;
	c->roots[at] = root;
	c->count++;
	return 1;
}

static int64_t root_of(const struct chats *c, int64_t chat, int64_t parent)
{
	if (parent < 0 || c->cap == 0)
		return chat;
	size_t at = slot_of(c, parent);
	return c->ids[at] == parent ? c->roots[at] : chat;
}

/* Several files are merged by time, and each numbers its chats from 0. */
static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct chats *c = opened;
	(void)csv;
	(void)err;
	for (size_t i = 0; i < c->cap; i++)
		c->ids[i] = IPF_ABSENT;
	c->count = 0;
	c->block_tokens = 0;
	return 0;
}

/* The ids of the whole blocks, and that of a last partial block if it has one. */
static int read_blocks(struct chats *c, struct draft *d, const struct jdoc *j, struct draft_request *r,
                       struct ipf_error *err)
{
	if (need_block_ids(d, j, JDOC_ROOT, "hash_ids", &r->blocks, err) < 0)
		return -1;
	const int64_t count = (int64_t)r->blocks.count, usual[] = {BLOCK_TOKENS, AGENT_BLOCK_TOKENS};
	if (!c->block_tokens && count > 1)
		c->block_tokens = r->input_tokens / AGENT_BLOCK_TOKENS == count
		                      ? AGENT_BLOCK_TOKENS
		                      : block_tokens_that_fit(r->input_tokens, count, usual, 2);
	/* one block or none leaves open which of the usual sizes it is */
	r->blocks.tokens = c->block_tokens                                 ? c->block_tokens
	                   : r->input_tokens <= BLOCK_TOKENS && count == 1 ? BLOCK_TOKENS
	                                                                   : AGENT_BLOCK_TOKENS;
	int64_t whole = r->input_tokens / r->blocks.tokens;
	if (d->failed || count == whole || (count == whole + 1 && r->input_tokens % r->blocks.tokens))
		return 0;
	return ipf_error_set(err, IPF_INPUT, "hash_ids: expected length %lld for input_length %lld, got %lld",
	                     (long long)(whole + (r->input_tokens % r->blocks.tokens != 0)), (long long)r->input_tokens,
	                     (long long)count);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct chats *chats = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	int64_t chat = 0, parent = -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	struct slice session;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_uint(j, JDOC_ROOT, "chat_id", &chat, err) < 0 ||
	    jdoc_get_int(j, JDOC_ROOT, "parent_chat_id", &parent, err) < 0 ||
	    need_duration(j, JDOC_ROOT, "timestamp", NS_PER_S, &r->at_ns, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "session_id", &session, err) < 0 ||
	    field_duration(j, JDOC_ROOT, "time_to_parent_chat", NS_PER_S, &r->wait_ns, err) < 0 ||
	    read_blocks(chats, d, j, r, err) < 0)
		return -1;
	int64_t root = root_of(chats, chat, parent);
	int added = add_chat(chats, chat, root);
	if (added == 0)
		return ipf_error_set(err, IPF_INPUT, "chat_id: expected a unique id, got %lld again", (long long)chat);
	d->failed |= added < 0;
	d->session = name_in_file(d, record->file_index, session.data ? session : draft_format(d, "%lld", (long long)root));
	jdoc_id type = jdoc_get(j, JDOC_ROOT, "type");
	if (jdoc_type_of(j, type) == JDOC_TEXT) {
		struct slice raw = jdoc_raw(j, type);
		r->tags = draft_join(d, draft_join(d, slice_of("{\"type\":"), "", raw), "", slice_of("}"));
	}
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "chat_id parent_chat_id hash_ids");
}

const struct source_format source_qwen_bailian = {
	.name = "qwen-bailian",
	.about = "Qwen usage traces of Bailian (JSON Lines): arrivals, lengths, shared blocks of 16 tokens, sessions",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.state_size = sizeof(struct chats),
	.begin_file = begin_file,
	.read_record = read_record,
	.recognises = recognises,
	.close = close_state,
};
