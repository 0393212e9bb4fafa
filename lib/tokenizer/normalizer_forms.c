/* NFC, NFD, NFKC and NFKD: by utf8proc, except for characters the reference does not know (unicode_unknown_to_forms)
 * and for the order of marks, which utf8proc finds by swapping neighbours, in quadratic time.
 *
 * A text is cut into parts that stay unchanged (characters that are `safe`: they start a new sequence, are their own
 * normal form and never combine with the one before them) and stretches around the other characters. Only these are
 * rewritten.
 */
#include "tokenizer/code_point.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

enum normal_form { FORM_NFC, FORM_NFD, FORM_NFKC, FORM_NFKD };

#define TABLED 0x3400 /* characters below have a bit; above are ideographs, syllables and rare characters */

struct form_normalizer {
	struct normalizer base;
	enum normal_form form;
	uint64_t safe[TABLED / 64];
};

static bool composes(enum normal_form form)
{
	return form == FORM_NFC || form == FORM_NFKC;
}

static utf8proc_option_t options_of(enum normal_form form, unsigned direction)
{
	return (utf8proc_option_t)(UTF8PROC_STABLE | direction | (form >= FORM_NFKC ? UTF8PROC_COMPAT : 0u));
}

/* The longest decomposition has 18 characters (U+FDFA). */
static size_t decompose_one(enum normal_form form, uint32_t c, utf8proc_int32_t to[32])
{
	int boundary = UTF8PROC_BOUNDCLASS_START;
	if (!unicode_unknown_to_forms(c)) {
		utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)c, to, 32, options_of(form, UTF8PROC_DECOMPOSE),
		                                             &boundary);
		if (n >= 0 && n <= 32)
			return (size_t)n;
	}
	to[0] = (utf8proc_int32_t)c;
	return 1;
}

/* True if the character could combine with one before it. All second parts of compositions are marks, or vowels and
 * finals of Hangul. */
static bool joins(uint32_t c)
{
	return CATEGORY_IN(utf8proc_category((utf8proc_int32_t)c), CATEGORIES_M) || (c >= 0x1160 && c <= 0x11ff);
}

static bool looks_safe(enum normal_form form, uint32_t c)
{
	const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)c);
	utf8proc_int32_t parts[32];

	if (unicode_unknown_to_forms(c))
		return true;
	if (property->combining_class || (composes(form) && joins(c)))
		return false;
	size_t n = decompose_one(form, c, parts);
	if (composes(form) && n > 1)
		n = (size_t)utf8proc_normalize_utf32(parts, (utf8proc_ssize_t)n, options_of(form, UTF8PROC_COMPOSE));
	return n == 1 && parts[0] == (utf8proc_int32_t)c;
}

static bool is_safe(const struct form_normalizer *f, uint32_t c)
{
	if (c < TABLED)
		return f->safe[c / 64] >> (c % 64) & 1;
	if (c >= 0x4e00 && c <= 0x9fff)
		return true;
	if (c >= 0xac00 && c <= 0xd7a3)
		return composes(f->form);
	return looks_safe(f->form, c);
}

static unsigned combining_class(utf8proc_int32_t c)
{
	return unicode_unknown_to_forms((uint32_t)c) ? 0 : (unsigned)utf8proc_get_property(c)->combining_class;
}

/* Sorts marks by class and keeps the order within a class: few marks by insertion, many by counting. */
static bool sort_marks(utf8proc_int32_t *marks, size_t count)
{
	if (count <= 16) {
		for (size_t i = 1; i < count; i++) {
			utf8proc_int32_t mark = marks[i];
			size_t k = i;
			for (; k && combining_class(marks[k - 1]) > combining_class(mark); k--)
				marks[k] = marks[k - 1];
			marks[k] = mark;
		}
		return true;
	}
	utf8proc_int32_t *sorted = malloc(count * sizeof *sorted);
	size_t starts[257] = {0};
	if (!sorted)
		return false;
	for (size_t i = 0; i < count; i++)
		starts[combining_class(marks[i]) + 1]++;
	for (size_t i = 1; i < 257; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < count; i++)
		sorted[starts[combining_class(marks[i])]++] = marks[i];
	memcpy(marks, sorted, count * sizeof *marks);
	free(sorted);
	return true;
}

static bool order_marks(utf8proc_int32_t *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t end = i;
		while (end < count && combining_class(c[end]))
			end++;
		if (end - i > 1 && !sort_marks(c + i, end - i))
			return false;
		i = end;
	}
	return true;
}

/* True if the character composes with nothing, whatever utf8proc says: characters the reference does not know, and the
 * one before the finals of Hangul, which some versions of utf8proc confuse with "no final". */
static bool stands_alone(utf8proc_int32_t c)
{
	return c == 0x11a7 || unicode_unknown_to_forms((uint32_t)c);
}

/* Composes the characters between those standing alone, and appends them all. */
static void append_composed(enum normal_form form, utf8proc_int32_t *c, size_t count, struct buffer *out)
{
	for (size_t i = 0; i < count; i++) {
		size_t end = i;
		while (end < count && !stands_alone(c[end]))
			end++;
		size_t n = end - i;
		if (n > 1 && composes(form))
			n = (size_t)utf8proc_normalize_utf32(c + i, (utf8proc_ssize_t)n, options_of(form, UTF8PROC_COMPOSE));
		for (size_t k = 0; k < n; k++)
			utf8_append(out, (uint32_t)c[i + k]);
		if (end < count)
			utf8_append(out, (uint32_t)c[end]);
		i = end;
	}
}

/* Rewrites a stretch; `room` is scratch. */
static bool rewrite(enum normal_form form, const char *at, const char *end, struct buffer *room, struct buffer *out)
{
	buffer_clear(room);
	while (at < end) {
		utf8proc_int32_t parts[32];
		size_t n = decompose_one(form, utf8_next(&at), parts);
		buffer_append(room, parts, n * sizeof *parts);
	}
	utf8proc_int32_t *c = (utf8proc_int32_t *)(void *)room->data;
	size_t count = room->len / sizeof *c;
	if (room->failed || !order_marks(c, count))
		return false;
	append_composed(form, c, count, out);
	return !out->failed;
}

static const char *skip_ascii(const char *at, const char *end)
{
	uint64_t eight;
	for (; end - at >= 8; at += 8) {
		memcpy(&eight, at, 8);
		if (eight & UINT64_C(0x8080808080808080))
			break;
	}
	while (at < end && (unsigned char)*at < 0x80)
		at++;
	return at;
}

/* Returns the next character that is not safe, and sets `*before` to the beginning of the one before it. */
static const char *find_unsafe(const struct form_normalizer *f, const char *at, const char *end, const char **before)
{
	*before = at;
	while (at < end) {
		const char *ascii = skip_ascii(at, end);
		if (ascii > at)
			*before = ascii - 1;
		at = ascii;
		if (at == end)
			break;
		const char *next = at;
		if (!is_safe(f, utf8_next(&next)))
			return at;
		*before = at;
		at = next;
	}
	return end;
}

static int apply_form(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct form_normalizer *f = (const struct form_normalizer *)self;
	const char *at = text.data, *end = text.data + text.len, *begin;
	struct buffer room = {0};
	size_t origin = out->len;
	bool failed = false;

	const char *unsafe = find_unsafe(f, at, end, &begin);
	if (unsafe == end)
		return 0;
	while (unsafe < end && !failed) {
		const char *stop = unsafe, *next = unsafe;
		while (stop < end && !is_safe(f, utf8_next(&next)))
			stop = next;
		buffer_append(out, at, (size_t)(begin - at));
		failed = !rewrite(f->form, begin, stop, &room, out);
		at = stop;
		unsafe = find_unsafe(f, at, end, &begin);
	}
	buffer_append(out, at, (size_t)(end - at));
	buffer_release(&room);
	if (failed || out->failed)
		return ipf_error_memory(err);
	if (out->len - origin == text.len && memcmp(out->data + origin, text.data, text.len) == 0) {
		out->len = origin;
		return 0;
	}
	return 1;
}

static void init_form(struct form_normalizer *f, enum normal_form form)
{
	f->form = form;
	for (uint32_t c = 0; c < TABLED; c++)
		if (c < 0xa0 || looks_safe(form, c))
			f->safe[c / 64] |= UINT64_C(1) << (c % 64);
}

static void free_form(struct normalizer *self)
{
	free(self);
}

static int form_new(struct normalizer **normalizer, enum normal_form form, struct ipf_error *err)
{
	struct form_normalizer *f = calloc(1, sizeof *f);
	if (!f)
		return ipf_error_memory(err);
	f->base = (struct normalizer){apply_form, free_form};
	init_form(f, form);
	*normalizer = &f->base;
	return 0;
}

int normalizer_nfc(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return form_new(normalizer, FORM_NFC, err);
}

int normalizer_nfd(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return form_new(normalizer, FORM_NFD, err);
}

int normalizer_nfkc(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return form_new(normalizer, FORM_NFKC, err);
}

int normalizer_nfkd(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return form_new(normalizer, FORM_NFKD, err);
}
