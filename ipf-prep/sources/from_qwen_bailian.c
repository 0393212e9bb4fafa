/* The traces of Qwen on Bailian: JSON Lines with chat_id, parent_chat_id (-1: none), timestamp (seconds), input_length,
 * output_length, type, turn and hash_ids, one for each block of 16 tokens. A session is what hangs together by
 * parent_chat_id; a parent that is not in the file ends the chain.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"

#include <stdlib.h>

#define BLOCK_TOKENS 16

/* From a chat to the first of its chain. */
struct chats {
	int64_t *ids, *roots; /* ids: IPF_ABSENT where free */
	size_t count, cap;
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	*opened = calloc(1, sizeof(struct chats));
	return *opened ? 0 : ipf_error_memory(err);
}

static void close_source(void *opened)
{
	struct chats *c = opened;
	if (c) {
		free(c->ids);
		free(c->roots);
	}
	free(c);
}

static size_t place_of(const struct chats *c, int64_t id)
{
	size_t at = (size_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 16) & (c->cap - 1);
	while (c->ids[at] != IPF_ABSENT && c->ids[at] != id)
		at = (at + 1) & (c->cap - 1);
	return at;
}

static int put(struct chats *c, int64_t id, int64_t root)
{
	if (c->count * 2 >= c->cap) {
		struct chats more = {.cap = c->cap ? c->cap * 2 : 1024, .count = c->count};
		more.ids = malloc(more.cap * sizeof *more.ids);
		more.roots = malloc(more.cap * sizeof *more.roots);
		if (!more.ids || !more.roots) {
			free(more.ids);
			free(more.roots);
			return -1;
		}
		for (size_t i = 0; i < more.cap; i++)
			more.ids[i] = IPF_ABSENT;
		for (size_t i = 0; i < c->cap; i++)
			if (c->ids[i] != IPF_ABSENT) {
				size_t at = place_of(&more, c->ids[i]);
				more.ids[at] = c->ids[i];
				more.roots[at] = c->roots[i];
			}
		free(c->ids);
		free(c->roots);
		*c = more;
	}
	size_t at = place_of(c, id);
	if (c->ids[at] == id)
		return 0;
	c->ids[at] = id;
	c->roots[at] = root;
	c->count++;
	return 1;
}

/* Files are laid over each other, and each counts its chats anew. */
static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct chats *c = opened;
	(void)csv;
	(void)err;
	for (size_t i = 0; i < c->cap; i++)
		c->ids[i] = IPF_ABSENT;
	c->count = 0;
	return 0;
}

static int take_blocks(struct draft *d, const struct jdoc *j, struct draft_request *r, struct ipf_error *err)
{
	struct draft_blocks *b = &r->blocks;
	int64_t blocks = r->input_tokens / BLOCK_TOKENS + (r->input_tokens % BLOCK_TOKENS != 0);
	if (record_fields_block_ids(d, j, jdoc_get(j, JDOC_ROOT, "hash_ids"), "hash_ids", &b->ids, &b->count, err) < 0)
		return -1;
	b->tokens = BLOCK_TOKENS;
	return d->failed || (int64_t)b->count == blocks
	           ? 0
	           : ipf_error_set(err, IPF_INPUT, "hash_ids: expected %lld of them for an input_length of %lld, got %zu",
	                           (long long)blocks, (long long)r->input_tokens, b->count);
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct chats *chats = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	int64_t chat = 0, parent = -1;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_uint(j, JDOC_ROOT, "chat_id", &chat, err) < 0 ||
	    jdoc_get_int(j, JDOC_ROOT, "parent_chat_id", &parent, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int timed = record_fields_duration(j, JDOC_ROOT, "timestamp", NS_PER_S, &r->at_ns, err);
	if (timed <= 0)
		return timed < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	if (need_uint(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 ||
	    need_uint(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0 || take_blocks(d, j, r, err) < 0)
		return -1;
	int64_t root = chat;
	if (parent >= 0 && chats->cap) {
		size_t at = place_of(chats, parent);
		root = chats->ids[at] == parent ? chats->roots[at] : chat;
	}
	int added = put(chats, chat, root);
	if (added == 0)
		return ipf_error_set(err, IPF_INPUT, "chat_id: twice the same, %lld", (long long)chat);
	d->failed |= added < 0;
	d->session = record->file_index ? draft_format(d, "%d:%lld", record->file_index, (long long)root)
	                                : draft_format(d, "%lld", (long long)root);
	jdoc_id type = jdoc_get(j, JDOC_ROOT, "type");
	if (jdoc_type_of(j, type) == JDOC_TEXT) {
		struct slice raw = jdoc_raw(j, type);
		r->tags = draft_join(d, draft_join(d, slice_of("{\"type\":"), "", raw), "", slice_of("}"));
	}
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "chat_id parent_chat_id hash_ids");
}

const struct source_format source_qwen_bailian = {
	.name = "qwen-bailian",
	.about = "Qwen on Bailian (JSON Lines): arrivals, lengths, shared blocks of 16 tokens, sessions by their chains",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.open = open_source,
	.begin = begin_file,
	.knows = knows,
	.record = one_record,
	.close = close_source,
};
