#include "draft/draft.h"

#include "absent.h"
#include "array.h"
#include "safe_text.h"
#include "text_hash.h"
#include "token_count.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A piece of the arena. Texts never move, so slices of them stay valid. A text without room gets a further chunk, twice
 * as large; draft_reset keeps the newest, so a few records later one chunk suffices. */
struct draft_chunk {
	struct draft_chunk *older;
	size_t used, cap;
	char bytes[];
};

#define CHUNK_MIN ((size_t)64 << 10)

static void free_chunks(struct draft_chunk *chunk)
{
	while (chunk) {
		struct draft_chunk *older = chunk->older;
		free(chunk);
		chunk = older;
	}
}

void draft_reset(struct draft *d)
{
	if (d->arena && d->arena->older) {
		free_chunks(d->arena->older);
		d->arena->older = NULL;
	}
	if (d->arena)
		d->arena->used = 0;
	d->count = d->message_count = 0;
	d->number = d->part = d->copy = d->turn = 0;
	d->session = (struct slice){0};
	d->chain = d->failed = d->may_be_alone = false;
}

void draft_begin(struct draft *d, int64_t number, int64_t part)
{
	draft_reset(d);
	d->number = number;
	d->part = part;
}

void draft_release(struct draft *d)
{
	free(d->requests);
	free(d->messages);
	free_chunks(d->arena);
	*d = (struct draft){0};
}

char *draft_space(struct draft *d, size_t len)
{
	struct draft_chunk *chunk = d->arena;
	if (!chunk || chunk->cap - chunk->used < len) {
		size_t cap = chunk ? 2 * chunk->cap : CHUNK_MIN;
		if (cap < len)
			cap = len;
		chunk = malloc(sizeof *chunk + cap);
		if (!chunk) {
			d->failed = true;
			return NULL;
		}
		*chunk = (struct draft_chunk){.older = d->arena, .cap = cap};
		d->arena = chunk;
	}
	char *space = chunk->bytes + chunk->used;
	chunk->used += len;
	return space;
}

/* Makes room for one more element; the array may move. */
struct draft_request *draft_request(struct draft *d)
{
	d->failed |= !array_room(d->requests, d->requests_cap, d->count + 1);
	if (d->failed)
		return NULL;
	struct draft_request *r = &d->requests[d->count++];
	*r = (struct draft_request){.first = d->message_count,
	                            .input_tokens = IPF_ABSENT,
	                            .output_tokens = IPF_ABSENT,
	                            .at_ns = IPF_ABSENT,
	                            .wait_ns = IPF_ABSENT,
	                            .hang_up_ns = IPF_ABSENT,
	                            .recorded_ttft_ns = IPF_ABSENT,
	                            .recorded_e2e_ns = IPF_ABSENT};
	return r;
}

struct draft_message *draft_message(struct draft *d, enum role role, struct slice text)
{
	d->failed |= !array_room(d->messages, d->messages_cap, d->message_count + 1);
	if (d->failed || d->count == 0)
		return NULL;
	struct draft_message *m = &d->messages[d->message_count++];
	*m = (struct draft_message){.role = role, .text = text};
	d->requests[d->count - 1].count++;
	return m;
}

struct slice draft_text(struct draft *d, const struct jdoc *doc, jdoc_id node)
{
	if (jdoc_type_of(doc, node) != JDOC_TEXT)
		return (struct slice){0};
	struct slice raw = jdoc_raw(doc, node);
	if (!doc->nodes[node].escaped)
		return (struct slice){raw.data + 1, raw.len - 2};
	/* Decoding never makes a text longer than its literal, so the buffer never outgrows its space. */
	char *space = draft_space(d, raw.len);
	if (!space)
		return (struct slice){0};
	struct buffer out = {.data = space, .cap = raw.len};
	jdoc_text(doc, node, &out);
	d->arena->used -= raw.len - out.len;
	return (struct slice){out.data, out.len};
}

struct slice draft_join(struct draft *d, struct slice a, const char *between, struct slice b)
{
	size_t gap = strlen(between), len = a.len + gap + b.len;
	char *to = draft_space(d, len);
	if (!to)
		return (struct slice){0};
	if (a.len > 0)
		memcpy(to, a.data, a.len);
	memcpy(to + a.len, between, gap);
	if (b.len > 0)
		memcpy(to + a.len + gap, b.data, b.len);
	return (struct slice){to, len};
}

struct slice draft_append(struct draft *d, struct slice a, const char *between, struct slice b)
{
	return a.len == 0 && b.len > 0 ? b : b.len > 0 ? draft_join(d, a, between, b) : a;
}

struct slice draft_keep(struct draft *d, struct slice text)
{
	char *to = text.data ? draft_space(d, text.len) : NULL;
	if (!to)
		return (struct slice){0};
	memcpy(to, text.data, text.len);
	return (struct slice){to, text.len};
}

struct slice draft_take_buffer(struct draft *d, struct buffer *text)
{
	struct slice kept = draft_keep(d, buffer_all(text));
	d->failed |= text->failed;
	buffer_release(text);
	return kept;
}

struct slice draft_format(struct draft *d, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	int len = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return draft_keep(d, (struct slice){text, len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1});
}

uint64_t *draft_ids(struct draft *d, size_t count)
{
	/* The arena is not aligned: leave room to begin at a multiple of eight. */
	char *space = draft_space(d, (count + 1) * sizeof(uint64_t));
	return space ? (uint64_t *)(void *)(space + (-(uintptr_t)space & (sizeof(uint64_t) - 1))) : NULL;
}

int64_t draft_block_tokens(const struct draft_blocks *blocks, size_t i, int64_t left)
{
	int64_t tokens = blocks->sizes ? blocks->sizes[2 * i + 1] : blocks->tokens;
	return tokens < left ? tokens : left;
}

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}

uint64_t draft_block_id(const struct draft_blocks *blocks, size_t i)
{
	if (!blocks->scope.data)
		return blocks->ids[i];
	return mix(mix(text_hash(blocks->scope)) ^ blocks->ids[i]);
}

/* ---- copying ---- */

/* Calls visit(slice, data) for every slice of a draft; it may change the slice. */
static void each_slice(struct draft *d, void (*visit)(struct slice *s, void *data), void *data)
{
	visit(&d->session, data);
	for (size_t i = 0; i < d->count; i++) {
		struct draft_request *r = &d->requests[i];
		visit(&r->answer, data);
		visit(&r->id, data);
		visit(&r->model, data);
		visit(&r->tools, data);
		visit(&r->response_format, data);
		visit(&r->body, data);
		visit(&r->headers, data);
		visit(&r->tags, data);
		visit(&r->slo, data);
		visit(&r->after, data);
		visit(&r->blocks.scope, data);
	}
	for (size_t i = 0; i < d->message_count; i++) {
		visit(&d->messages[i].text, data);
		visit(&d->messages[i].json, data);
		visit(&d->messages[i].media, data);
	}
}

static void add_length(struct slice *s, void *data)
{
	*(size_t *)data += s->data ? s->len : 0;
}

static void move_text(struct slice *s, void *data)
{
	char **to = data;
	if (!s->data)
		return;
	memcpy(*to, s->data, s->len);
	s->data = *to;
	*to += s->len;
}

struct draft *draft_clone(const struct draft *d)
{
	size_t text = 0, ids = 0;
	each_slice((struct draft *)(uintptr_t)d, add_length, &text);
	for (size_t i = 0; i < d->count; i++)
		ids += d->requests[i].blocks.count * (d->requests[i].blocks.sizes ? 3 : 1) + d->requests[i].parent_count;
	struct draft *copy = malloc(sizeof *copy + d->count * sizeof *d->requests + d->message_count * sizeof *d->messages +
	                            ids * sizeof(uint64_t) + text);
	if (!copy)
		return NULL;
	*copy = *d;
	copy->requests = (struct draft_request *)(void *)(copy + 1);
	copy->messages = (struct draft_message *)(void *)(copy->requests + d->count);
	uint64_t *to = (uint64_t *)(void *)(copy->messages + d->message_count);
	copy->requests_cap = d->count;
	copy->messages_cap = d->message_count;
	if (d->count)
		memcpy(copy->requests, d->requests, d->count * sizeof *d->requests);
	if (d->message_count)
		memcpy(copy->messages, d->messages, d->message_count * sizeof *d->messages);
	for (size_t i = 0; i < d->count; i++) {
		struct draft_blocks *blocks = &copy->requests[i].blocks;
		if (blocks->count)
			memcpy(to, blocks->ids, blocks->count * sizeof *to);
		blocks->ids = to;
		to += blocks->count;
		if (blocks->sizes) {
			memcpy(to, blocks->sizes, 2 * blocks->count * sizeof *to);
			blocks->sizes = (const int64_t *)to;
			to += 2 * blocks->count;
		}
		if (copy->requests[i].parent_count)
			memcpy(to, copy->requests[i].parents, copy->requests[i].parent_count * sizeof *to);
		copy->requests[i].parents = copy->requests[i].parents ? to : NULL;
		to += copy->requests[i].parent_count;
	}
	char *texts = (char *)to;
	copy->arena = NULL;
	each_slice(copy, move_text, &texts);
	return copy;
}

static int check_name(const char *what, struct slice name, struct ipf_error *err)
{
	if (safe_text_is_safe(name))
		return 0;
	return ipf_error_set(err, IPF_INPUT, "%s: expected a name without control characters, got \"%s\"", what,
	                     shown_slice(name).text);
}

/* Tags are JSON, in which a control character is an escape. */
static int check_tags(struct slice tags, struct ipf_error *err)
{
	struct jdoc doc = {0};
	int result = 0;
	if (!tags.data || (safe_text_is_safe(tags) && !memchr(tags.data, '\\', tags.len)))
		return 0;
	if (jdoc_parse(&doc, tags.data, tags.len, err) < 0)
		result = -1;
	else if (!jdoc_is_safe(&doc, JDOC_ROOT))
		result = jdoc_expected(&doc, JDOC_ROOT, "tags", "names and values without control characters", err);
	jdoc_release(&doc);
	return result;
}

int draft_check_names(const struct draft *d, struct ipf_error *err)
{
	if (check_name("session", d->session, err) < 0)
		return -1;
	for (size_t i = 0; i < d->count; i++)
		if (check_name("model", d->requests[i].model, err) < 0 || check_tags(d->requests[i].tags, err) < 0)
			return -1;
	return 0;
}

/* No server accepts a longer prompt; a wrong number in a file must not make us allocate all memory. */
#define SYNTHETIC_TOKENS_MAX INT64_C(100000000)

int draft_check_lengths(const struct draft *d, struct ipf_error *err)
{
	for (size_t i = 0; i < d->count; i++) {
		const struct draft_request *r = &d->requests[i];
		const int64_t lengths[] = {r->input_tokens, r->output_tokens};
		for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
			if (lengths[k] != IPF_ABSENT && !token_count_is_possible(lengths[k]))
				return ipf_error_set(err, IPF_INPUT, "%s: expected " TOKENS_EXPECTED ", got %lld",
				                     k ? "length of the answer" : "length of the prompt", (long long)lengths[k]);
		if (r->count == 0 && r->input_tokens > SYNTHETIC_TOKENS_MAX)
			return ipf_error_set(err, IPF_INPUT, "expected a prompt of at most %lld tokens, got %lld",
			                     (long long)SYNTHETIC_TOKENS_MAX, (long long)r->input_tokens);
	}
	return 0;
}
