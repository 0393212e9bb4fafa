/* Encodes: text to ids. */
#include "json/jdoc.h"
#include "utf8.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/code_point.h"
#include "tokenizer/pipeline.h"

/* Where ids go: into a list, or counted only. */
struct token_sink {
	struct token_ids *ids;
	bool count_only;
	int64_t counted;
};

struct encoding {
	const struct tokenizer *t;
	struct tokenizer_scratch *s;
	struct token_sink sink;
	struct ipf_error *err;
};

static void count_ids(struct encoding *e)
{
	if (e->sink.count_only) {
		e->sink.counted += (int64_t)e->sink.ids->count;
		e->sink.ids->count = 0;
	}
}

static int add_id(struct encoding *e, uint32_t id)
{
	return token_ids_push(e->sink.ids, id) ? 0 : ipf_error_memory(e->err);
}

/* Encodes a word in the form the model sees. */
static int encode_model(struct encoding *e, const char *word, size_t len)
{
	if (!e->t->spaces_inside)
		return e->t->model->encode(e->t->model, e->s->model, word, len, e->sink.ids, e->err);
	struct buffer *to = &e->s->word;
	buffer_clear(to);
	for (const char *end = word + len; word < end;) {
		const char *space = memchr(word, ' ', (size_t)(end - word));
		buffer_append(to, word, (size_t)((space ? space : end) - word));
		if (space)
			buffer_append(to, "\xe2\x96\x81", 3);
		word = space ? space + 1 : end;
	}
	if (to->failed)
		return ipf_error_memory(e->err);
	return e->t->model->encode(e->t->model, e->s->model, to->data, to->len, e->sink.ids, e->err);
}

static int encode_new_word(struct encoding *e, struct cached_word *set, const uint64_t key[3], const char *word,
                           size_t len)
{
	struct token_ids *ids = e->sink.ids;
	size_t before = ids->count;
	if (encode_model(e, word, len) < 0 || !token_ids_grow(ids, WORD_BATCH * WORD_IDS))
		return e->err->kind ? -1 : ipf_error_memory(e->err);
	if (ids->count - before > WORD_IDS)
		return 0;
	set[1] = set[0];
	memcpy(set[0].key, key, sizeof set[0].key);
	set[0].len = (uint8_t)len;
	set[0].count = (uint8_t)(ids->count - before);
	memcpy(set[0].ids, ids->ids + before, set[0].count * sizeof *ids->ids);
	return 0;
}

static int encode_long_word(struct encoding *e, const char *word, size_t len)
{
	if (encode_model(e, word, len) < 0)
		return -1;
	return token_ids_grow(e->sink.ids, WORD_BATCH * WORD_IDS) ? 0 : ipf_error_memory(e->err);
}

/* Encodes the words ending at `ends`. There is room in ids for the cache's tokens. */
static int encode_batch(struct encoding *e, const char *text, size_t begin, size_t end, const size_t *ends,
                        size_t count)
{
	struct word_cache *words = e->s->words;
	struct token_ids *ids = e->sink.ids;

	if (!token_ids_grow(ids, WORD_BATCH * WORD_IDS))
		return ipf_error_memory(e->err);
	for (size_t i = 0; i < count; i++) {
		const char *at = text + begin;
		size_t len = ends[i] - begin;
		begin = ends[i];
		if (len > WORD_KEY) {
			if (encode_long_word(e, at, len) < 0)
				return -1;
			continue;
		}
		uint64_t key[3];
		struct cached_word *set = words->sets[word_key(at, len, (size_t)(text + end - at), key)];
		const struct cached_word *w = &set[0];
		if (!word_is(w, key, len)) {
			w = &set[1];
			if (!word_is(w, key, len)) {
				if (encode_new_word(e, set, key, at, len) < 0)
					return -1;
				continue;
			}
		}
		memcpy(ids->ids + ids->count, w->ids, sizeof w->ids);
		ids->count += w->count;
	}
	count_ids(e);
	return 0;
}

static bool is_letter(uint32_t c)
{
	return (c | 0x20) - 'a' < 26;
}

/* Cuts between two characters next to each other in no token; spaces count as their replacement. Does not cut between
 * letters: parts of random words hardly repeat, and long words are encoded faster, several windows side by side. */
#define LETTERS_MOST 65536
static size_t cut_apart(const struct tokenizer *t, const char *text, size_t begin, size_t end, size_t *ends,
                        size_t room)
{
	const char *at = text + begin, *stop = text + end;
	uint32_t left, right;
	size_t count = 0;

	left = utf8_next(&at);
	if (t->spaces_inside && left == ' ')
		left = 0x2581;
	while (at < stop && count < room) {
		const char *here = at;
		right = utf8_next(&at);
		if (t->spaces_inside && right == ' ')
			right = 0x2581;
		if (!neighbours(t->neighbours, left, right) &&
		    !(is_letter(left) && is_letter(right) && here - (text + begin) < LETTERS_MOST)) {
			ends[count++] = (size_t)(here - text);
			begin = ends[count - 1];
		}
		left = right;
	}
	if (at >= stop && count < room)
		ends[count++] = end;
	return count;
}

static int encode_words(struct encoding *e, const char *text, size_t begin, size_t end, scan_function *scan)
{
	const struct tokenizer *t = e->t;
	size_t *ends = e->s->ends;
	while (begin < end) {
		size_t count = scan ? scan(&t->classes, text, begin, end, ends, WORD_BATCH)
		                    : cut_apart(t, text, begin, end, ends, WORD_BATCH);
		if (encode_batch(e, text, begin, end, ends, count) < 0)
			return -1;
		begin = ends[count - 1];
	}
	return 0;
}

/* Encodes one piece. */
static int encode_piece(struct encoding *e, const char *text, size_t begin, size_t end)
{
	const struct tokenizer *t = e->t;
	if (begin == end)
		return 0;
	if (t->prefix_space && text[begin] != ' ') {
		struct buffer *to = &e->s->word;
		buffer_clear(to);
		buffer_byte(to, ' ');
		buffer_append(to, text + begin, end - begin);
		if (to->failed)
			return ipf_error_memory(e->err);
		text = to->data;
		end = to->len;
		begin = 0;
	}
	if (t->scan || t->neighbours)
		return encode_words(e, text, begin, end, t->scan);
	return encode_batch(e, text, begin, end, &end, 1);
}

/* Puts a space before the text, which changes its first word. */
static int encode_prepended(struct encoding *e, const char *text, size_t begin, size_t end)
{
	size_t first;
	struct buffer *to = &e->s->normalized;
	cut_apart(e->t, text, begin, end, &first, 1);
	buffer_clear(to);
	buffer_byte(to, ' ');
	buffer_append(to, text + begin, first - begin);
	if (to->failed)
		return ipf_error_memory(e->err);
	return encode_words(e, to->data, 0, to->len, NULL) < 0 ? -1 : encode_words(e, text, first, end, NULL);
}

/* text[0, head) is the replacement of the first character of the input. */
static int encode_normalized(struct encoding *e, const char *text, size_t begin, size_t end, size_t head)
{
	const struct tokenizer *t = e->t;
	if (begin == end)
		return 0;
	if (t->prepend)
		return encode_prepended(e, text, begin, end);
	if (!t->pretokenizer)
		return encode_piece(e, text, begin, end);
	struct text_pieces *pieces = &e->s->pieces;
	text_pieces_clear(pieces);
	pieces->head = head > begin ? head - begin : 0;
	if (t->pretokenizer->split(t->pretokenizer, (struct slice){text + begin, end - begin}, pieces, e->err) < 0)
		return -1;
	if (pieces->failed)
		return ipf_error_memory(e->err);
	if (!t->prefix_space && !t->scan && !t->neighbours) {
		/* The pieces are the words. */
		size_t at = 0;
		for (size_t i = 0; i < pieces->count; i += WORD_BATCH) {
			size_t n = pieces->count - i < WORD_BATCH ? pieces->count - i : WORD_BATCH;
			if (encode_batch(e, pieces->text.data, at, pieces->text.len, pieces->ends + i, n) < 0)
				return -1;
			at = pieces->ends[i + n - 1];
		}
		return 0;
	}
	for (size_t i = 0, at = 0; i < pieces->count; at = pieces->ends[i++])
		if (encode_piece(e, pieces->text.data, at, pieces->ends[i]) < 0)
			return -1;
	return 0;
}

static size_t length_of(const char *text, size_t len, size_t characters)
{
	const char *at = text, *end = text + len;
	for (; characters && at < end; characters--)
		utf8_next(&at);
	return (size_t)(at - text);
}

/* Sets the length of the part of `to` that the first character of the input became: as many characters as the
 * normalizer makes of that character alone. */
static int head_of(struct encoding *e, struct slice first, int changed, const struct buffer *to, size_t *head)
{
	const struct normalizer *n = e->t->normalizer;
	struct buffer alone = {0};
	int of_it = n->apply(n, first, &alone, e->err);
	size_t characters = 0;
	for (size_t at = 0; of_it > 0 && at < alone.len; characters++)
		at += length_of(alone.data + at, alone.len - at, 1);
	if (of_it >= 0 && changed == NORMALIZER_CUT && of_it != NORMALIZER_CUT)
		*head = 0;
	else if (of_it >= 0)
		*head = length_of(to->data ? to->data : "", to->len, characters || changed == NORMALIZER_CUT ? characters : 1);
	bool failed = of_it < 0 || alone.failed;
	buffer_release(&alone);
	return failed ? of_it < 0 ? -1 : ipf_error_memory(e->err) : 0;
}

/* Encodes text between added tokens found in the raw text. */
static int encode_between(struct encoding *e, const char *text, size_t begin, size_t end)
{
	const struct tokenizer *t = e->t;
	struct added_walk walk = {0};
	struct added_match match;

	if (begin == end)
		return 0;
	size_t head = begin == 0 ? length_of(text, end, 1) : 0;
	if (t->normalizer && !t->spaces_inside) {
		struct buffer *to = &e->s->normalized;
		buffer_clear(to);
		int changed = t->normalizer->apply(t->normalizer, (struct slice){text + begin, end - begin}, to, e->err);
		if (changed < 0 || to->failed)
			return to->failed ? ipf_error_memory(e->err) : -1;
		if (changed && head && t->pretokenizer && head_of(e, (struct slice){text, head}, changed, to, &head) < 0)
			return -1;
		if (changed) {
			text = to->data;
			begin = 0;
			end = to->len;
		}
	}
	if (!t->added.normalized.count)
		return encode_normalized(e, text, begin, end, head);
	text += begin;
	end -= begin;
	while (added_tokens_next(&t->added.normalized, (struct slice){text, end}, &walk, &match)) {
		if ((match.begin > walk.done && encode_normalized(e, text, walk.done, match.begin, head) < 0) ||
		    add_id(e, match.id) < 0)
			return -1;
		walk.done = match.end;
	}
	return walk.done < end ? encode_normalized(e, text, walk.done, end, head) : 0;
}

static int encode_all(struct encoding *e, struct slice input)
{
	const char *text = input.data;
	const size_t len = input.len;
	const struct tokenizer *t = e->t;
	struct added_walk walk = {0};
	struct added_match match;
	size_t good;

	if (!utf8_valid(text, len, &good))
		return ipf_error_set(e->err, IPF_INPUT, "byte %zu: not UTF-8", good);
	while (added_tokens_next(&t->added.raw, input, &walk, &match)) {
		if ((match.begin > walk.done && encode_between(e, text, walk.done, match.begin) < 0) || add_id(e, match.id) < 0)
			return -1;
		walk.done = match.end;
	}
	return walk.done < len ? encode_between(e, text, walk.done, len) : 0;
}

static int add_specials(struct encoding *e, const struct token_ids *ids, int flags)
{
	for (size_t i = 0; flags & TOKENIZER_SPECIAL && i < ids->count; i++)
		if (add_id(e, ids->ids[i]) < 0)
			return -1;
	return 0;
}

static int run(struct encoding *e, struct slice text, int flags)
{
	if (add_specials(e, &e->t->post.before, flags) < 0 || encode_all(e, text) < 0 ||
	    add_specials(e, &e->t->post.after, flags) < 0)
		return -1;
	count_ids(e);
	return 0;
}

int tokenizer_encode(const struct tokenizer *t, struct tokenizer_scratch *scratch, struct slice text, int flags,
                     struct token_ids *ids, struct ipf_error *err)
{
	struct encoding e = {.t = t, .s = scratch, .sink = {.ids = ids}, .err = err};
	size_t before = ids->count;
	if (run(&e, text, flags) < 0) {
		ids->count = before;
		return -1;
	}
	return 0;
}

int64_t tokenizer_count(const struct tokenizer *t, struct tokenizer_scratch *scratch, struct slice text, int flags,
                        struct ipf_error *err)
{
	struct encoding e = {.t = t, .s = scratch, .sink = {.ids = &scratch->ids, .count_only = true}, .err = err};
	scratch->ids.count = 0;
	return run(&e, text, flags) < 0 ? -1 : e.sink.counted;
}
