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
 * A session is a chain of parent_chat_id links; a parent outside the file ends it. A row may come before its parent,
 * and waits for it while at most WAITING_MAX rows do. Prompts are synthetic: equal ids give equal text. `turn` is
 * ignored.
 */
#include "absent.h"
#include "hash_index.h"
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_TOKENS       16
#define AGENT_BLOCK_TOKENS 512

#define WAITING_MAX 4096

/* In place of the first chat of a chain: the chat is known only as a parent; its row waits for its own parent. */
enum { ROOT_AWAITED = -1, ROOT_WAITS = -2 };

/* A row whose parent has not been read. */
struct waiting_row {
	struct draft *draft;
	int64_t chat, parent;
};

struct known_chat {
	uint64_t key; /* its number's */
	int64_t root; /* the first chat of its chain */
};

struct chats {
	struct known_chat *known; /* hash_index.h */
	size_t count, cap;
	int64_t block_tokens; /* the file's; 0: not known yet */
	int file_index;
	struct waiting_row waiting[WAITING_MAX]; /* in the order of the file */
	size_t waiting_count;
};

static void close_state(void *opened)
{
	struct chats *c = opened;
	free(c->known);
	for (size_t i = 0; i < c->waiting_count; i++)
		free(c->waiting[i].draft);
}

static int64_t *find_root(const struct chats *c, int64_t chat)
{
	struct known_chat *found = c->cap ? hash_index_find(c->known, c->cap, hash_index_key((uint64_t)chat)) : NULL;
	return found && found->key ? &found->root : NULL;
}

static int set_root(struct chats *c, int64_t chat, int64_t root)
{
	const uint64_t key = hash_index_key((uint64_t)chat);
	if (!hash_index_room(c->known, c->cap, c->count + 1))
		return -1;
	struct known_chat *found = hash_index_find(c->known, c->cap, key);
	c->count += !found->key;
	*found = (struct known_chat){key, root};
	return 0;
}

/* ---- rows waiting for their parent ---- */

static int keep_waiting(struct chats *c, const struct draft *d, int64_t chat, int64_t parent, struct ipf_error *err)
{
	struct draft *copy = draft_clone(d);
	if (!copy || set_root(c, chat, ROOT_WAITS) < 0 ||
	    (!find_root(c, parent) && set_root(c, parent, ROOT_AWAITED) < 0)) {
		free(copy);
		return ipf_error_memory(err);
	}
	c->waiting[c->waiting_count++] = (struct waiting_row){.draft = copy, .chat = chat, .parent = parent};
	return 0;
}

/* Hands over a waiting row, now that the first chat of its chain is known. */
static int hand_over(struct chats *c, size_t index, int64_t root, struct sink *sink, struct ipf_error *err)
{
	struct waiting_row row = c->waiting[index];
	memmove(&c->waiting[index], &c->waiting[index + 1], (--c->waiting_count - index) * sizeof *c->waiting);
	row.draft->session = name_in_file(&sink->draft, c->file_index, draft_format(&sink->draft, "%lld", (long long)root));
	int status = set_root(c, row.chat, root) < 0 ? ipf_error_memory(err) : sink->take(sink, row.draft, err);
	free(row.draft);
	return status;
}

/* Hands over the rows waiting for a chat whose chain is known, and then those waiting for them. */
static int hand_over_children(struct chats *c, struct sink *sink, struct ipf_error *err)
{
	for (size_t i = 0; i < c->waiting_count;) {
		int64_t root = *find_root(c, c->waiting[i].parent);
		if (root < 0) {
			i++;
			continue;
		}
		if (hand_over(c, i, root, sink, err) < 0)
			return -1;
		i = 0;
	}
	return 0;
}

static size_t find_waiting(const struct chats *c, int64_t chat)
{
	size_t i = 0;
	while (c->waiting[i].chat != chat)
		i++;
	return i;
}

/* Begins a session with the first of the rows the oldest one waits for: its parent is missing. */
static int give_up_oldest(struct chats *c, struct sink *sink, struct ipf_error *err)
{
	size_t first = 0;
	/* a circle of parents ends the search */
	for (size_t steps = 0; steps < c->waiting_count && *find_root(c, c->waiting[first].parent) == ROOT_WAITS; steps++)
		first = find_waiting(c, c->waiting[first].parent);
	if (hand_over(c, first, c->waiting[first].chat, sink, err) < 0)
		return -1;
	return hand_over_children(c, sink, err);
}

static int end_file(void *opened, struct sink *sink, struct ipf_error *err)
{
	struct chats *c = opened;
	while (c->waiting_count > 0)
		if (give_up_oldest(c, sink, err) < 0)
			return -1;
	return 0;
}

/* Several files are merged by time, and each numbers its chats from 0. */
static int begin_file(struct chats *c, int file_index, struct sink *sink, struct ipf_error *err)
{
	if (end_file(c, sink, err) < 0)
		return -1;
	if (c->cap)
		memset(c->known, 0, c->cap * sizeof *c->known);
	c->count = 0;
	c->block_tokens = 0;
	c->file_index = file_index;
	return 0;
}

/* ---- a row ---- */

/* The ids of the whole blocks, and the id of a last partial block if it has one. */
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

/* How a row belongs to others. */
struct chat_link {
	int64_t chat, parent;
	struct slice session; /* by the data; absent: the chain's */
};

/* Hands over the row, or keeps it until its parent has been read. */
static int put_into_session(struct chats *c, struct draft *d, struct chat_link link, struct sink *sink,
                            struct ipf_error *err)
{
	const int64_t *known = find_root(c, link.chat), *of_parent = link.parent < 0 ? NULL : find_root(c, link.parent);
	bool awaited = known && *known == ROOT_AWAITED, waits = link.parent >= 0 && (!of_parent || *of_parent < 0);
	if (known && !awaited)
		return ipf_error_set(err, IPF_INPUT, "chat_id: expected a unique id, got %lld again", (long long)link.chat);
	if (waits && link.parent != link.chat && !link.session.data) {
		if (c->waiting_count == WAITING_MAX && give_up_oldest(c, sink, err) < 0)
			return -1;
		return keep_waiting(c, d, link.chat, link.parent, err);
	}
	int64_t root = waits || !of_parent ? link.chat : *of_parent;
	if (set_root(c, link.chat, root) < 0)
		return ipf_error_memory(err);
	d->session = name_in_file(d, c->file_index,
	                          link.session.data ? link.session : draft_format(d, "%lld", (long long)root));
	int status = sink->take(sink, d, err);
	return status == 0 && awaited ? hand_over_children(c, sink, err) : status;
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
	if (record->file_index != chats->file_index && begin_file(chats, record->file_index, sink, err) < 0)
		return -1;
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
	jdoc_id type = jdoc_get(j, JDOC_ROOT, "type");
	if (jdoc_type_of(j, type) == JDOC_TEXT) {
		struct slice raw = jdoc_raw(j, type);
		r->tags = draft_join(d, draft_join(d, slice_of("{\"type\":"), "", raw), "", slice_of("}"));
	}
	return put_into_session(chats, d, (struct chat_link){.chat = chat, .parent = parent, .session = session}, sink,
	                        err);
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
	.read_record = read_record,
	.finish = end_file,
	.recognises = recognises,
	.close = close_state,
};
