#include "absent.h"
#include "stream/fields.h"

#include "json/bytes8.h"
#include "json/jinteger.h"
#include "json/jtext.h"
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

static void set_absent(const struct field *f, void *object)
{
	if (is_integer(f))
		*(int64_t *)place(f, object) = IPF_ABSENT;
	else if (f->type == FIELD_BOOL)
		*(bool *)place(f, object) = false;
	else
		*(struct slice *)place(f, object) = (struct slice){0};
}

void fields_init(const struct field *fields, size_t count, void *object)
{
	for (const struct field *f = fields; f < fields + count; f++)
		set_absent(f, object);
}

static bool has_integers_only(const struct jdoc *doc, jdoc_id list)
{
	int64_t value;
	for (struct jdoc_each e = jdoc_each(doc, list); jdoc_step(&e);)
		if (!jdoc_to_int(doc, e.value, &value) || value < 0 || value > FIELD_INT_MAX)
			return false;
	return true;
}

static int read_one(const struct field *f, void *object, const struct jdoc *doc, jdoc_id node, struct ipf_error *err)
{
	static const enum jdoc_type types[] = {[FIELD_TEXT] = JDOC_TEXT,
	                                       [FIELD_NAME] = JDOC_TEXT,
	                                       [FIELD_LIST] = JDOC_LIST,
	                                       [FIELD_INTEGERS] = JDOC_LIST,
	                                       [FIELD_MAP] = JDOC_MAP};
	static const char *const wanted[] = {
		[FIELD_INT] = "an integer",
		[FIELD_UINT] = "an integer of 0 or more",
		[FIELD_BOOL] = "true or false",
		[FIELD_TEXT] = "a string",
		[FIELD_NAME] = "a name without control characters",
		[FIELD_LIST] = "a list",
		[FIELD_INTEGERS] = "a list of integers of 0 or more",
		[FIELD_MAP] = "an object",
		[FIELD_TAGS] = "a list or an object without control characters",
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
		enum jdoc_type type = jdoc_type_of(doc, node);
		good = f->type == FIELD_TAGS ? (type == JDOC_LIST || type == JDOC_MAP) && jdoc_is_safe(doc, node)
		                             : type == types[f->type] && (f->type != FIELD_NAME || jdoc_is_safe(doc, node)) &&
		                                   (f->type != FIELD_INTEGERS || has_integers_only(doc, node));
		if (good)
			*(struct slice *)place(f, object) = jdoc_raw(doc, node);
	}
	return good ? 0 : jdoc_expected(doc, node, f->name, wanted[f->type], err);
}

/* Writers use the table's order, so nearly always the next field is the one after the last match. */
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

/* ---- lines as fields_write writes them ---- */

static bool skip(const char **at, const char *end, const char *text, size_t len)
{
	if ((size_t)(end - *at) < len || memcmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/* Keys are so short that a call of memcmp would take most of the time. They have 4 bytes or more. */
static inline bool same_key(const char *a, const char *b, size_t len)
{
	uint32_t x, y;
	if (len < 8) {
		memcpy(&x, a, sizeof x);
		memcpy(&y, b, sizeof y);
		bool first = x == y;
		memcpy(&x, a + len - sizeof x, sizeof x);
		memcpy(&y, b + len - sizeof y, sizeof y);
		return first && x == y;
	}
	for (size_t at = 0; at + 8 < len; at += 8)
		if (bytes8_load(a + at) != bytes8_load(b + at))
			return false;
	return bytes8_load(a + len - 8) == bytes8_load(b + len - 8);
}

/* Goes past the key of the field: that of the first member follows a brace, the others a comma. */
static inline bool skip_key(const struct field *f, const char **at, const char *end, bool first)
{
	if ((size_t)(end - *at) < f->key_len || (first && **at != '{') ||
	    !same_key(*at + first, f->key + first, f->key_len - first))
		return false;
	*at += f->key_len;
	return true;
}

static bool read_text(const char **at, const char *end, struct slice *text)
{
	bool escaped;
	const char *begin = *at;
	if (!skip(at, end, "\"", 1) || jtext_check(at, end, &escaped))
		return false;
	*text = (struct slice){begin, (size_t)(*at - begin)};
	return true;
}

static bool read_integers(const char **at, const char *end, struct slice *list)
{
	const char *begin = *at;
	int64_t value;
	for (bool more = skip(at, end, "[", 1); more; more = skip(at, end, ",", 1)) {
		if (!jinteger_read(at, end, &value))
			return false;
		*list = (struct slice){begin, (size_t)(*at - begin) + 1};
	}
	return *at > begin && skip(at, end, "]", 1);
}

static bool read_other_value(const struct field *f, void *object, const char **at, const char *end)
{
	switch (f->type) {
	case FIELD_BOOL:
		*(bool *)place(f, object) = *at < end && **at == 't';
		return skip(at, end, "true", 4) || skip(at, end, "false", 5);
	case FIELD_TEXT:
		return read_text(at, end, place(f, object));
	case FIELD_INTEGERS:
		return read_integers(at, end, place(f, object));
	case FIELD_INT:
	case FIELD_UINT:
	case FIELD_TOKENS:
	case FIELD_NAME:
	case FIELD_LIST:
	case FIELD_MAP:
	case FIELD_TAGS:
		break;
	}
	return false;
}

/* Nearly all values are integers, for which a call would take a good part of the time. */
static inline bool read_value(const struct field *f, void *object, const char **at, const char *end)
{
	if (!is_integer(f))
		return read_other_value(f, object, at, end);
	return jinteger_read(at, end, place(f, object)) &&
	       (f->type != FIELD_TOKENS || token_count_is_possible(*(int64_t *)place(f, object)));
}

/* Keeps which fields the line did not have. */
static void note_absent(const struct field *fields, size_t count, struct fields_shape *shape)
{
	shape->absent_count = 0;
	for (int others = 0; others < 2; others++) {
		size_t next = 0;
		for (size_t i = 0; i < count; i++) {
			if (next < shape->count && shape->list[next] == i)
				next++;
			else if (is_integer(&fields[i]) == !others)
				shape->absent[shape->absent_count++] = (unsigned char)i;
		}
		if (!others)
			shape->absent_integers = shape->absent_count;
	}
}

/* Tries each field in turn. */
static bool read_any_line(const struct field *fields, size_t count, void *object, struct slice line,
                          struct fields_shape *shape)
{
	const char *at = line.data, *end = line.data + line.len;
	shape->count = 0;
	for (const struct field *f = fields; f < fields + count; f++) {
		if (!skip_key(f, &at, end, shape->count == 0)) {
			set_absent(f, object);
			if (f->required)
				return false;
			continue;
		}
		shape->list[shape->count++] = (unsigned char)(f - fields);
		if (!read_value(f, object, &at, end))
			return false;
	}
	note_absent(fields, count, shape);
	return (shape->count > 0 || skip(&at, end, "{", 1)) && skip(&at, end, "}", 1) && at == end;
}

/* Does the line have the same fields as the last one, and no others? */
static bool read_same_fields(const struct field *fields, void *object, struct slice line,
                             const struct fields_shape *shape)
{
	const char *at = line.data, *end = line.data + line.len;
	for (size_t i = 0; i < shape->count; i++) {
		const struct field *f = &fields[shape->list[i]];
		if (!skip_key(f, &at, end, i == 0) || !read_value(f, object, &at, end))
			return false;
	}
	return shape->count > 0 && skip(&at, end, "}", 1) && at == end;
}

static void set_others_absent(const struct field *fields, void *object, const struct fields_shape *shape)
{
	for (size_t i = 0; i < shape->absent_integers; i++)
		*(int64_t *)place(&fields[shape->absent[i]], object) = IPF_ABSENT;
	for (size_t i = shape->absent_integers; i < shape->absent_count; i++)
		set_absent(&fields[shape->absent[i]], object);
}

bool fields_read_line(const struct field *fields, size_t count, void *object, struct slice line,
                      struct fields_shape *shape)
{
	if (read_same_fields(fields, object, line, shape)) {
		set_others_absent(fields, object, shape);
		return true;
	}
	bool good = read_any_line(fields, count, object, line, shape);
	if (!good)
		shape->count = 0; /* required fields may be missing in it */
	return good;
}

void fields_write(const struct field *fields, size_t count, const void *object, struct jout *w)
{
	for (const struct field *f = fields; f < fields + count; f++) {
		const void *from = place_const(f, object);
		if (is_integer(f)) {
			if (*(const int64_t *)from == IPF_ABSENT)
				continue;
			jout_name(w, f->name, f->key_len - 4);
			jout_int(w, *(const int64_t *)from);
		} else if (f->type == FIELD_BOOL) {
			if (!f->required && !*(const bool *)from)
				continue;
			jout_name(w, f->name, f->key_len - 4);
			jout_bool(w, *(const bool *)from);
		} else {
			jout_member_value(w, f->name, *(const struct slice *)from);
		}
	}
}
