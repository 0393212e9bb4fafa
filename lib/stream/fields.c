#include "absent.h"
#include "stream/fields.h"

#include "token_count.h"

#include <stdint.h>
#include <string.h>

enum { MASK_BITS = 64 };

static void *place(const struct field *f, void *object)
{
	return (char *)object + f->offset;
}

static const void *place_const(const struct field *f, const void *object)
{
	return (const char *)object + f->offset;
}

static bool is_integer(const struct field *f)
{
	return f->type == FIELD_INT || f->type == FIELD_UINT || f->type == FIELD_TOKENS;
}

void fields_init(const struct field *fields, size_t count, void *object)
{
	for (const struct field *f = fields; f < fields + count; f++) {
		if (is_integer(f))
			*(int64_t *)place(f, object) = IPF_ABSENT;
		else if (f->type == FIELD_BOOL)
			*(bool *)place(f, object) = false;
		else
			*(struct slice *)place(f, object) = (struct slice){0};
	}
}

static int read_one(const struct field *f, void *object, const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	static const enum jdoc_type types[] = {
		[FIELD_TEXT] = JDOC_TEXT, [FIELD_NAME] = JDOC_TEXT, [FIELD_LIST] = JDOC_LIST, [FIELD_MAP] = JDOC_MAP};
	static const char *const wanted[] = {
		[FIELD_INT] = "an integer",
		[FIELD_UINT] = "an integer of 0 or more",
		[FIELD_BOOL] = "true or false",
		[FIELD_TEXT] = "a string",
		[FIELD_NAME] = "a name without control characters",
		[FIELD_LIST] = "a list",
		[FIELD_MAP] = "an object",
		[FIELD_TOKENS] = TOKENS_EXPECTED,
	};
	bool good;
	if (is_integer(f)) {
		int64_t value = 0;
		good = jdoc_to_int(doc, node, &value) && (f->type == FIELD_INT || value >= 0) &&
		       (f->type != FIELD_TOKENS || token_count_is_possible(value));
		if (good && (value > FIELD_INT_MAX || value < -FIELD_INT_MAX))
			return jdoc_expected(doc, node, f->name, "an integer below 2^61", err);
		if (good)
			*(int64_t *)place(f, object) = value;
	} else if (f->type == FIELD_BOOL) {
		good = jdoc_type_of(doc, node) == JDOC_BOOL;
		*(bool *)place(f, object) = good && jdoc_raw(doc, node).data[0] == 't';
	} else {
		good = jdoc_type_of(doc, node) == types[f->type] && (f->type != FIELD_NAME || jdoc_is_safe(doc, node));
		if (good)
			*(struct slice *)place(f, object) = jdoc_raw(doc, node);
	}
	return good ? 0 : jdoc_expected(doc, node, f->name, wanted[f->type], err);
}

/* Writers use the table's order, so that nearly always the next field is the one after the last match. */
static size_t find(const struct field *fields, size_t count, size_t hint, const struct jdoc *doc, jdoc_id key)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = hint + i < count ? hint + i : hint + i - count;
		if (jdoc_text_is(doc, key, fields[at].name))
			return at;
	}
	return count;
}

int fields_read(const struct field *fields, size_t count, void *object, const struct jdoc *doc, jdoc_id map,
                struct ipf_error *err)
{
	uint64_t seen[FIELDS_MAX / MASK_BITS] = {0};
	size_t hint = 0;
	fields_init(fields, count, object);
	if (count > FIELDS_MAX)
		return ipf_error_set(err, IPF_SYSTEM, "a table of %zu fields is too long for fields_read", count);
	if (jdoc_type_of(doc, map) != JDOC_MAP)
		return ipf_error_set(err, IPF_INPUT, "expected an object");
	for (struct jdoc_each e = jdoc_each(doc, map); jdoc_step(&e);) {
		size_t at = find(fields, count, hint, doc, e.key);
		if (at == count)
			continue;
		hint = at + 1 < count ? at + 1 : 0;
		uint64_t *mask = &seen[at / MASK_BITS], bit = UINT64_C(1) << at % MASK_BITS;
		if (*mask & bit || jdoc_is_null(doc, e.value))
			continue;
		if (read_one(&fields[at], object, doc, e.value, err) < 0)
			return -1;
		*mask |= bit;
	}
	for (size_t i = 0; i < count; i++)
		if (fields[i].required && !(seen[i / MASK_BITS] & UINT64_C(1) << i % MASK_BITS))
			return ipf_error_set(err, IPF_INPUT, "%s: missing", fields[i].name);
	return 0;
}

void fields_write(const struct field *fields, size_t count, const void *object, struct jout *w)
{
	for (const struct field *f = fields; f < fields + count; f++) {
		const void *from = place_const(f, object);
		if (is_integer(f)) {
			jout_member_int(w, f->name, *(const int64_t *)from);
		} else if (f->type == FIELD_BOOL) {
			if (!f->required && !*(const bool *)from)
				continue;
			jout_key(w, f->name);
			jout_bool(w, *(const bool *)from);
		} else {
			jout_member_value(w, f->name, *(const struct slice *)from);
		}
	}
}
