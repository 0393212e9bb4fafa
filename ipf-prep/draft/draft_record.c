#include "draft/draft_record.h"

#include "absent.h"

#include <stddef.h>

/* The numbers and texts of a request. A bit of its mask says a field has another value than a new request. */
static const struct {
	size_t offset;
	int64_t absent;
} numbers[] = {
	{offsetof(struct draft_request, input_tokens), IPF_ABSENT},
	{offsetof(struct draft_request, output_tokens), IPF_ABSENT},
	{offsetof(struct draft_request, at_ns), IPF_ABSENT},
	{offsetof(struct draft_request, wait_ns), IPF_ABSENT},
	{offsetof(struct draft_request, hang_up_ns), IPF_ABSENT},
	{offsetof(struct draft_request, recorded_ttft_ns), IPF_ABSENT},
	{offsetof(struct draft_request, recorded_e2e_ns), IPF_ABSENT},
	{offsetof(struct draft_request, answer_tokens), 0},
	{offsetof(struct draft_request, blocks.tokens), 0},
};
static const size_t texts[] = {
	offsetof(struct draft_request, answer),  offsetof(struct draft_request, id),
	offsetof(struct draft_request, model),   offsetof(struct draft_request, tools),
	offsetof(struct draft_request, body),    offsetof(struct draft_request, response_format),
	offsetof(struct draft_request, tags),    offsetof(struct draft_request, slo),
	offsetof(struct draft_request, after),   offsetof(struct draft_request, blocks.scope),
	offsetof(struct draft_request, headers),
};
enum {
	NUMBERS = sizeof numbers / sizeof *numbers,
	TEXTS = sizeof texts / sizeof *texts,
	/* the bits after those of the fields */
	COUNTED = NUMBERS + TEXTS,
	FAILED,
	BATCH,
	BLOCKS,
	SIZES,
	PARENTS,
};
/* Bits of a draft, and of a message above its role. */
enum { HAS_PART = 1, HAS_COPY = 2, HAS_TURN = 4, HAS_SESSION = 8, IS_CHAIN = 16, MAY_BE_ALONE = 32 };
enum { HAS_TOKENS = 256, HAS_TEXT = 512, HAS_JSON = 1024, HAS_MEDIA = 2048 };

static uint64_t bit(bool set, int number)
{
	return (uint64_t)set << number;
}

/* ---- writing: numbers of 8 bytes, and the texts after all of them ---- */

static void put(struct buffer *to, uint64_t number)
{
	buffer_append(to, &number, sizeof number);
}

static void put_list(struct buffer *to, const void *list, size_t count)
{
	buffer_append(to, list, count * sizeof(uint64_t));
}

static const int64_t *number_at(const struct draft_request *r, int i)
{
	return (const int64_t *)(const void *)((const char *)r + numbers[i].offset);
}

static const struct slice *text_at(const struct draft_request *r, int i)
{
	return (const struct slice *)(const void *)((const char *)r + texts[i]);
}

static void write_request(const struct draft_request *r, struct buffer *to)
{
	const struct draft_blocks *blocks = &r->blocks;
	uint64_t mask = bit(r->answer_counted, COUNTED) | bit(r->failed, FAILED) | bit(r->batch, BATCH) |
	                bit(blocks->count > 0, BLOCKS) | bit(blocks->sizes, SIZES) | bit(r->parents, PARENTS);
	for (int i = 0; i < NUMBERS; i++)
		mask |= bit(*number_at(r, i) != numbers[i].absent, i);
	for (int i = 0; i < TEXTS; i++)
		mask |= bit(text_at(r, i)->data, NUMBERS + i);
	put(to, mask);
	put(to, r->first);
	put(to, r->count);
	for (int i = 0; i < NUMBERS; i++)
		if (mask & bit(true, i))
			put(to, (uint64_t)*number_at(r, i));
	for (int i = 0; i < TEXTS; i++)
		if (mask & bit(true, NUMBERS + i))
			put(to, text_at(r, i)->len);
	if (blocks->count > 0) {
		put(to, blocks->count);
		put_list(to, blocks->ids, blocks->count);
		if (blocks->sizes)
			put_list(to, blocks->sizes, 2 * blocks->count);
	}
	if (r->parents) {
		put(to, r->parent_count);
		put_list(to, r->parents, r->parent_count);
	}
}

static void write_message(const struct draft_message *m, struct buffer *to)
{
	put(to, (uint64_t)m->role | (m->counted ? HAS_TOKENS : 0) | (m->text.data ? HAS_TEXT : 0) |
	            (m->json.data ? HAS_JSON : 0) | (m->media.data ? HAS_MEDIA : 0));
	if (m->counted)
		put(to, (uint64_t)m->tokens);
	if (m->text.data)
		put(to, m->text.len);
	if (m->json.data)
		put(to, m->json.len);
	if (m->media.data)
		put(to, m->media.len);
}

static void write_texts(const struct draft *d, struct buffer *to)
{
	buffer_slice(to, d->session);
	for (size_t i = 0; i < d->count; i++)
		for (int k = 0; k < TEXTS; k++)
			buffer_slice(to, *text_at(&d->requests[i], k));
	for (size_t i = 0; i < d->message_count; i++) {
		buffer_slice(to, d->messages[i].text);
		buffer_slice(to, d->messages[i].json);
		buffer_slice(to, d->messages[i].media);
	}
}

void draft_record_write(const struct draft *d, struct buffer *to)
{
	size_t begin = to->len;
	put(to, 0); /* the bytes before the texts */
	put(to, (d->part ? HAS_PART : 0) | (d->copy ? HAS_COPY : 0) | (d->turn ? HAS_TURN : 0) |
	            (d->session.data ? HAS_SESSION : 0) | (d->chain ? IS_CHAIN : 0) | (d->may_be_alone ? MAY_BE_ALONE : 0));
	put(to, (uint64_t)d->number);
	put(to, d->count);
	put(to, d->message_count);
	if (d->part)
		put(to, (uint64_t)d->part);
	if (d->copy)
		put(to, (uint64_t)d->copy);
	if (d->turn)
		put(to, (uint64_t)d->turn);
	if (d->session.data)
		put(to, d->session.len);
	for (size_t i = 0; i < d->count; i++)
		write_request(&d->requests[i], to);
	for (size_t i = 0; i < d->message_count; i++)
		write_message(&d->messages[i], to);
	uint64_t before = to->len - begin;
	if (!to->failed)
		memcpy(to->data + begin, &before, sizeof before);
	write_texts(d, to);
}

/* ---- reading ---- */

struct reading {
	const uint64_t *at;
	const char *text;
};

static uint64_t get(struct reading *from)
{
	return *from->at++;
}

static const uint64_t *get_list(struct reading *from, size_t count)
{
	const uint64_t *list = from->at;
	from->at += count;
	return list;
}

static struct slice get_text(struct reading *from)
{
	struct slice text = {from->text, get(from)};
	from->text += text.len;
	return text;
}

static void read_request(struct reading *from, struct draft *d)
{
	struct draft_request *r = draft_request(d);
	if (!r)
		return;
	uint64_t mask = get(from);
	r->first = get(from);
	r->count = get(from);
	r->answer_counted = mask & bit(true, COUNTED);
	r->failed = mask & bit(true, FAILED);
	r->batch = mask & bit(true, BATCH);
	for (int i = 0; i < NUMBERS; i++)
		if (mask & bit(true, i))
			memcpy((char *)r + numbers[i].offset, from->at++, sizeof(int64_t));
	for (int i = 0; i < TEXTS; i++)
		if (mask & bit(true, NUMBERS + i)) {
			struct slice text = get_text(from);
			memcpy((char *)r + texts[i], &text, sizeof text);
		}
	if (mask & bit(true, BLOCKS)) {
		r->blocks.count = get(from);
		r->blocks.ids = get_list(from, r->blocks.count);
		if (mask & bit(true, SIZES))
			r->blocks.sizes = (const int64_t *)get_list(from, 2 * r->blocks.count);
	}
	if (mask & bit(true, PARENTS)) {
		r->parent_count = get(from);
		r->parents = get_list(from, r->parent_count);
	}
}

static void read_message(struct reading *from, struct draft *d)
{
	uint64_t mask = get(from);
	struct draft_message *m = draft_message(d, (enum role)(mask & (HAS_TOKENS - 1)), (struct slice){0});
	if (!m)
		return;
	m->counted = mask & HAS_TOKENS;
	if (m->counted)
		m->tokens = (int64_t)get(from);
	if (mask & HAS_TEXT)
		m->text = get_text(from);
	if (mask & HAS_JSON)
		m->json = get_text(from);
	if (mask & HAS_MEDIA)
		m->media = get_text(from);
}

void draft_record_read(struct draft *d, struct slice bytes)
{
	struct reading from = {.at = (const uint64_t *)(const void *)bytes.data};
	from.text = bytes.data + get(&from);
	uint64_t mask = get(&from);
	draft_begin(d, (int64_t)get(&from), 0);
	size_t count = get(&from), messages = get(&from);
	d->chain = mask & IS_CHAIN;
	d->may_be_alone = mask & MAY_BE_ALONE;
	if (mask & HAS_PART)
		d->part = (int64_t)get(&from);
	if (mask & HAS_COPY)
		d->copy = (int64_t)get(&from);
	if (mask & HAS_TURN)
		d->turn = (int64_t)get(&from);
	if (mask & HAS_SESSION)
		d->session = get_text(&from);
	for (size_t i = 0; i < count && !d->failed; i++)
		read_request(&from, d);
	/* adding a message counts it as one of the last request */
	size_t of_last = d->count > 0 ? d->requests[d->count - 1].count : 0;
	for (size_t i = 0; i < messages && !d->failed; i++)
		read_message(&from, d);
	if (d->count > 0)
		d->requests[d->count - 1].count = of_last;
}
