#include "tokenizer/added_tokens.h"

#include "tokenizer/code_point.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

static int by_bytes(const void *a, const void *b)
{
	const struct added_pattern *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
	return order ? order : (x->len > y->len) - (x->len < y->len);
}

static void index_set(struct added_set *set)
{
	qsort(set->patterns, set->count, sizeof *set->patterns, by_bytes);
	int kinds = 0;
	for (size_t i = 0, byte = 0; byte < 256; byte++) {
		set->first[byte] = (uint32_t)i;
		while (i < set->count && (unsigned char)set->patterns[i].text[0] == byte)
			i++;
		set->first[byte + 1] = (uint32_t)i;
		set->begins[byte] = set->first[byte] < i;
		if (set->begins[byte]) {
			kinds++;
			set->only = (int)byte;
		}
	}
	if (kinds != 1)
		set->only = -1;
}

static int by_id(const void *a, const void *b)
{
	const struct added_record *x = a, *y = b;
	return (x->id > y->id) - (x->id < y->id);
}

/* The reference identifies special tokens by their text. */
static bool is_special_text(const struct added_tokens *a, const struct added_record *records, struct slice text)
{
	for (size_t i = 0; i < a->count; i++)
		if (records[i].special && records[i].bytes == text.len &&
		    memcmp(a->texts + records[i].text, text.data, text.len) == 0)
			return true;
	return false;
}

/* Normalizes the tokens matched in normalized text. `text` and `bytes` of their records then refer to the normalized
 * forms. */
static int normalize_tokens(struct added_tokens *a, const struct added_record *records,
                            const struct normalizer *normalizer, struct ipf_error *err)
{
	for (size_t i = 0; i < a->count; i++) {
		struct added_record *r = &a->sorted[i];
		if (!r->normalized)
			continue;
		struct slice text = {a->texts + r->text, r->bytes};
		size_t at = a->normal_texts.len;
		int changed = normalizer ? normalizer->apply(normalizer, text, &a->normal_texts, err) : 0;
		if (changed < 0)
			return -1;
		if (changed == 0)
			buffer_slice(&a->normal_texts, text);
		r->text = (uint32_t)at;
		r->bytes = (uint32_t)(a->normal_texts.len - at);
		if (changed && !a->normal_texts.failed)
			r->special = is_special_text(a, records, (struct slice){a->normal_texts.data + at, r->bytes});
	}
	return a->normal_texts.failed ? ipf_error_memory(err) : 0;
}

struct slice added_tokens_text(const struct added_tokens *a, const struct added_record *r)
{
	return (struct slice){(r->normalized ? a->normal_texts.data : a->texts) + r->text, r->bytes};
}

int added_tokens_init(struct added_tokens *a, const struct compiled_block *block, const struct normalizer *normalizer,
                      struct ipf_error *err)
{
	size_t bytes = compiled_bytes(block, SECTION_ADDED);
	*a = (struct added_tokens){.texts = compiled_section(block, SECTION_ADDED_TEXT),
	                           .count = bytes / sizeof(struct added_record)};
	a->sorted = malloc(bytes + 1);
	a->raw.patterns = calloc(a->count + 1, sizeof *a->raw.patterns);
	a->normalized.patterns = calloc(a->count + 1, sizeof *a->normalized.patterns);
	if (!a->sorted || !a->raw.patterns || !a->normalized.patterns)
		return ipf_error_memory(err);
	memcpy(a->sorted, compiled_section(block, SECTION_ADDED), bytes);
	qsort(a->sorted, a->count, sizeof *a->sorted, by_id);
	if (normalize_tokens(a, compiled_section(block, SECTION_ADDED), normalizer, err) < 0)
		return -1;
	for (size_t i = 0; i < a->count; i++) {
		const struct added_record *r = &a->sorted[i];
		struct added_set *set = r->normalized ? &a->normalized : &a->raw;
		struct slice text = added_tokens_text(a, r);
		if (text.len)
			set->patterns[set->count++] = (struct added_pattern){text.data, (uint32_t)text.len, r->id,
			                                                     r->lstrip, r->rstrip,          r->single_word};
	}
	index_set(&a->raw);
	index_set(&a->normalized);
	return 0;
}

void added_tokens_release(struct added_tokens *a)
{
	free(a->sorted);
	free(a->raw.patterns);
	free(a->normalized.patterns);
	buffer_release(&a->normal_texts);
}

const struct added_record *added_tokens_by_id(const struct added_tokens *a, uint32_t id)
{
	struct added_record key = {.id = id};
	return a->count ? bsearch(&key, a->sorted, a->count, sizeof key, by_id) : NULL;
}

/* Finds the longest pattern at `at`: byte by byte, narrows the range of patterns that match so far. */
static const struct added_pattern *longest_at(const struct added_set *set, const char *at, size_t left)
{
	const struct added_pattern *p = set->patterns, *found = NULL;
	size_t low = set->first[(unsigned char)*at], high = set->first[(unsigned char)*at + 1];
	for (size_t depth = 1; low < high; depth++) {
		if (p[low].len == depth)
			found = &p[low++]; /* the shortest pattern of the range is the first */
		if (low == high || depth == left)
			break;
		unsigned char c = (unsigned char)at[depth];
		size_t a = low, b = high;
		while (a < b) {
			size_t mid = (a + b) / 2;
			if ((unsigned char)p[mid].text[depth] < c)
				a = mid + 1;
			else
				b = mid;
		}
		low = a;
		for (b = high; a < b;) {
			size_t mid = (a + b) / 2;
			if ((unsigned char)p[mid].text[depth] <= c)
				a = mid + 1;
			else
				b = mid;
		}
		high = a;
	}
	return found;
}

static size_t char_before(const char *text, size_t at)
{
	do
		at--;
	while (((unsigned char)text[at] & 0xc0) == 0x80);
	return at;
}

static bool word_before(const char *text, size_t at)
{
	const char *before = text + (at ? char_before(text, at) : 0);
	return at && unicode_word(utf8_next(&before));
}

static bool word_behind(const char *text, size_t at, size_t len)
{
	const char *behind = text + at;
	return at < len && unicode_word(utf8_next(&behind));
}

static size_t spaces_before(const char *text, size_t at)
{
	while (at) {
		size_t before = char_before(text, at);
		const char *c = text + before;
		if (!unicode_white_space(utf8_next(&c)))
			break;
		at = before;
	}
	return at;
}

static size_t spaces_behind(const char *text, size_t at, size_t len)
{
	while (at < len) {
		const char *next = text + at;
		if (!unicode_white_space(utf8_next(&next)))
			break;
		at = (size_t)(next - text);
	}
	return at;
}

static size_t next_start(const struct added_set *set, const char *text, size_t at, size_t len)
{
	if (set->only >= 0) {
		const char *found = memchr(text + at, set->only, len - at);
		return found ? (size_t)(found - text) : len;
	}
	while (at < len && !set->begins[(unsigned char)text[at]])
		at++;
	return at;
}

bool added_tokens_next(const struct added_set *set, struct slice input, struct added_walk *walk,
                       struct added_match *match)
{
	const char *text = input.data;
	const size_t len = input.len;
	size_t at = set->count ? walk->at : len;
	while (at < len && (at = next_start(set, text, at, len)) < len) {
		const struct added_pattern *p = longest_at(set, text + at, len - at);
		if (!p) {
			at++;
			continue;
		}
		size_t begin = at, end = at + p->len;
		at = end;
		if (p->single_word && (word_before(text, begin) || word_behind(text, end, len)))
			continue;
		if (p->lstrip) {
			begin = spaces_before(text, begin);
			/* Spaces belonging to the token before stay with it. */
			if (begin < walk->done)
				begin = walk->done;
		}
		if (p->rstrip)
			end = spaces_behind(text, end, len);
		if (begin >= end) /* a token of spaces, all of which belong to the token before */
			continue;
		walk->at = at;
		*match = (struct added_match){begin, end, p->id};
		return true;
	}
	walk->at = len;
	return false;
}
