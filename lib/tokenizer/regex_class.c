#include "tokenizer/regex_class.h"

#include "tokenizer/character_set.h"
#include "tokenizer/code_point.h"

#include <stdlib.h>
#include <string.h>

enum item_kind { ITEM_CHARACTER, ITEM_SET, ITEM_NESTED, ITEM_AND, ITEM_CLOSE };

struct item {
	enum item_kind kind;
	uint32_t first, last;
	struct character_set set;
};

static bool next_is(const struct translator *t, char c)
{
	return t->at < t->end && *t->at == c;
}

/* Reads the escape after a backslash. */
static int item_escape(struct translator *t, struct item *item, const char *at)
{
	static const char simple[] = "n\nt\tr\rf\fv\va\ae\033b\b";
	if (t->at == t->end)
		return translator_refuse(t, at, "backslash at the end");
	unsigned char c = (unsigned char)*t->at;
	item->kind = ITEM_CHARACTER;
	if (c >= 0x80) {
		item->first = utf8_next(&t->at);
		return 0;
	}
	t->at++;
	item->first = c;
	for (size_t i = 0; simple[i]; i += 2)
		if (c == (unsigned char)simple[i]) {
			item->first = (unsigned char)simple[i + 1];
			return 0;
		}
	if (c == 'x' || c == 'u' || (c >= '0' && c <= '7')) {
		int32_t value = translator_number(t, (char)c);
		if (value < 0)
			return translator_refuse(t, at, "expected a character code");
		item->first = (uint32_t)value;
		return 0;
	}
	if (c == 'p' || c == 'P') {
		item->kind = ITEM_SET;
		return character_set_property(t, &item->set, c == 'P', true);
	}
	if (c && character_set_escape(&item->set, (char)c, true) == 0) {
		item->kind = ITEM_SET;
		return 0;
	}
	if (c && strchr("RXcCMk", c))
		return translator_refuse(t, at, "escape is not supported in a class");
	item->set.negated = false;
	return 0;
}

/* Reads one character or set, without a range. */
static int single(struct translator *t, struct item *item, bool first)
{
	const char *at = t->at;
	if (t->at == t->end)
		return translator_refuse(t, at, "missing ] of a class");
	item->kind = ITEM_CHARACTER;
	switch (*t->at) {
	case '\\':
		t->at++;
		return item_escape(t, item, at);
	case ']':
		t->at++;
		item->first = ']';
		item->kind = first ? ITEM_CHARACTER : ITEM_CLOSE;
		return 0;
	case '[':
		t->at++;
		if (next_is(t, ':')) {
			t->at++;
			if (character_set_bracket(t, &item->set) == 0) {
				item->kind = ITEM_SET;
				return 0;
			}
			t->at--;
		}
		item->kind = ITEM_NESTED;
		return 0;
	case '&':
		if (t->end - t->at >= 2 && t->at[1] == '&') {
			t->at += 2;
			item->kind = ITEM_AND;
			return 0;
		}
		break;
	default:
		break;
	}
	item->first = utf8_next(&t->at);
	return 0;
}

static int next_item(struct translator *t, struct item *item, bool first)
{
	buffer_clear(&item->set.items);
	item->set = (struct character_set){.items = item->set.items};
	if (single(t, item, first) < 0)
		return -1;
	item->last = item->first;
	if (item->kind != ITEM_CHARACTER || !next_is(t, '-') || t->end - t->at < 2 || t->at[1] == ']')
		return 0;
	const char *at = t->at++;
	struct item to = {0};
	int status = single(t, &to, false);
	if (status == 0 && to.kind != ITEM_CHARACTER)
		status = translator_refuse(t, at, "range does not end in a character");
	else if (status == 0 && to.first < item->first)
		status = translator_refuse(t, at, "range ends before it begins");
	item->last = to.first;
	buffer_release(&to.set.items);
	return status;
}

/* Writes the class as items. 1: done; 0: it has to be computed; -1: error. */
static int class_items(struct translator *t, struct buffer *out, struct item *item)
{
	bool negated = next_is(t, '^');
	if (negated)
		t->at++;
	buffer_text(out, negated ? "[^" : "[");
	for (bool first = true;; first = false) {
		if (next_item(t, item, first) < 0)
			return -1;
		if (item->kind == ITEM_CLOSE)
			break;
		if (item->kind == ITEM_NESTED || item->kind == ITEM_AND)
			return 0;
		if (item->kind == ITEM_SET) {
			if (item->set.negated || item->set.inexact || (item->set.cased && t->ignore_case))
				return 0;
			buffer_slice(out, buffer_all(&item->set.items));
			continue;
		}
		character_set_write_range(item->first, item->last, out);
	}
	buffer_byte(out, ']');
	return 1;
}

static int class_bits(struct translator *t, uint64_t *bits, int depth);

/* Adds an item to `bits`. */
static int item_bits(struct translator *t, const struct item *item, uint64_t *bits, int depth)
{
	if (item->kind == ITEM_CHARACTER) {
		for (uint32_t c = item->first; c <= item->last; c++)
			bits[c / 64] |= UINT64_C(1) << (c % 64);
		return 0;
	}
	if (item->kind == ITEM_SET) {
		if (item->set.cased && t->ignore_case)
			return translator_refuse(t, t->at, "ignoring case is not supported for letters of one case");
		return character_set_fill(t, &item->set, bits);
	}
	uint64_t *nested = calloc(SET_WORDS, sizeof *nested);
	int status = nested ? class_bits(t, nested, depth + 1) : -1;
	for (size_t i = 0; status == 0 && i < SET_WORDS; i++)
		bits[i] |= nested[i];
	free(nested);
	return status;
}

/* Adds the class to `bits`, which is empty; t->at is after its '['. */
static int class_bits(struct translator *t, uint64_t *bits, int depth)
{
	bool negated = next_is(t, '^');
	uint64_t *all = malloc(SET_WORDS * sizeof *all); /* the intersection of the parts before && */
	struct item item = {0};
	int status = all ? 0 : -1;

	if (depth > 20)
		status = translator_refuse(t, t->at, "classes nested too deep");
	if (negated)
		t->at++;
	if (all)
		memset(all, 0xff, SET_WORDS * sizeof *all);
	for (bool first = true; status == 0; first = false) {
		status = next_item(t, &item, first);
		if (status < 0)
			break;
		if (item.kind != ITEM_AND && item.kind != ITEM_CLOSE) {
			status = item_bits(t, &item, bits, depth);
			continue;
		}
		for (size_t i = 0; i < SET_WORDS; i++) {
			all[i] &= bits[i];
			bits[i] = 0;
		}
		if (item.kind == ITEM_CLOSE)
			break;
	}
	for (size_t i = 0; status == 0 && i < SET_WORDS; i++)
		bits[i] = negated ? ~all[i] : all[i];
	free(all);
	buffer_release(&item.set.items);
	return status;
}

int regex_class_translate(struct translator *t)
{
	const char *at = t->at;
	size_t before = t->out->len;
	struct item item = {0};
	int done = class_items(t, t->out, &item);

	buffer_release(&item.set.items);
	if (done)
		return done < 0 ? -1 : 0;
	t->out->len = before;
	t->at = at;
	uint64_t *bits = calloc(SET_WORDS, sizeof *bits);
	int status = bits ? class_bits(t, bits, 0) : -1;
	if (status == 0)
		character_set_write_bits(bits, t->out);
	free(bits);
	return status;
}
