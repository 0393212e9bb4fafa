#include "json/jdoc.h"

#include "json/jtext.h"
#include "safe_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct jdoc_node *node_at(const struct jdoc *j, jdoc_id node)
{
	return node < j->count ? &j->nodes[node] : NULL;
}

uint32_t jdoc_count(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	return n ? n->count : 0;
}

struct slice jdoc_raw(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	return n ? (struct slice){j->text + n->begin, n->end - n->begin} : (struct slice){0};
}

bool jdoc_is_null(const struct jdoc *j, jdoc_id node)
{
	return jdoc_type_of(j, node) == JDOC_NULL;
}

struct jdoc_each jdoc_each(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	if (!n || (n->type != JDOC_MAP && n->type != JDOC_LIST))
		return (struct jdoc_each){.j = j, .key = JDOC_NONE, .value = JDOC_NONE};
	return (struct jdoc_each){
		.j = j, .at = node + 1, .end = n->next, .map = n->type == JDOC_MAP, .key = JDOC_NONE, .value = JDOC_NONE};
}

bool jdoc_step(struct jdoc_each *e)
{
	if (e->at >= e->end)
		return false;
	if (e->map)
		e->key = e->at++;
	e->value = e->at;
	e->at = e->j->nodes[e->value].next;
	return true;
}

bool jdoc_text_is(const struct jdoc *j, jdoc_id node, const char *text)
{
	const struct jdoc_node *n = node_at(j, node);
	if (!n || n->type != JDOC_TEXT)
		return false;
	size_t len = strlen(text);
	if (!n->escaped)
		return n->end - n->begin - 2 == len && memcmp(j->text + n->begin + 1, text, len) == 0;
	const char *at = j->text + n->begin + 1, *end = j->text + n->end - 1;
	char one[4];
	while (at < end) {
		size_t got = jtext_decode_one(one, &at, end);
		if (got > len || memcmp(one, text, got) != 0)
			return false;
		text += got;
		len -= got;
	}
	return len == 0;
}

bool jdoc_text_empty(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	return !n || n->type != JDOC_TEXT || n->end - n->begin == 2;
}

jdoc_id jdoc_member(const struct jdoc *j, jdoc_id map, struct slice key)
{
	const struct jdoc_node *m = node_at(j, map);
	if (!m || m->type != JDOC_MAP)
		return JDOC_NONE;
	for (jdoc_id at = map + 1; at < m->next; at = j->nodes[at + 1].next) {
		const struct jdoc_node *k = &j->nodes[at];
		const char *text = j->text + k->begin + 1;
		if (k->escaped ? jdoc_text_is(j, at, key.data)
		               : k->end - k->begin == key.len + 2 && (!key.len || *text == *key.data) &&
		                     !memcmp(text, key.data, key.len))
			return at + 1;
	}
	return JDOC_NONE;
}

jdoc_id jdoc_key_of(const struct jdoc *j, jdoc_id node)
{
	jdoc_id parent = node < j->count ? node : 0;
	while (parent > 0 && j->nodes[--parent].next <= node)
		;
	return parent < node && node < j->count && j->nodes[parent].type == JDOC_MAP ? node - 1 : JDOC_NONE;
}

jdoc_id jdoc_get(const struct jdoc *j, jdoc_id map, const char *key)
{
	return jdoc_member(j, map, slice_of(key));
}

jdoc_id jdoc_at(const struct jdoc *j, jdoc_id list, uint32_t index)
{
	if (jdoc_type_of(j, list) != JDOC_LIST || index >= jdoc_count(j, list))
		return JDOC_NONE;
	struct jdoc_each e = jdoc_each(j, list);
	for (uint32_t i = 0; jdoc_step(&e) && i < index; i++)
		;
	return e.value;
}

bool jdoc_is_safe(const struct jdoc *j, jdoc_id node)
{
	struct slice raw = jdoc_raw(j, node);
	const char *at = raw.data, *end = at ? at + raw.len : NULL; /* there may be none */
	char one[4];
	while (at < end) {
		const char *escape = memchr(at, '\\', (size_t)(end - at)), *until = escape ? escape : end;
		/* between strings there may be white space */
		for (const char *part = at; part < until;) {
			size_t len = 0;
			while (part + len < until && !strchr("\t\n\r", part[len]))
				len++;
			if (!safe_text_is_safe((struct slice){part, len}))
				return false;
			part += len + (part + len < until);
		}
		at = until;
		if (escape && !safe_text_is_safe((struct slice){one, jtext_decode_one(one, &at, end)}))
			return false;
	}
	return true;
}

void jdoc_text(const struct jdoc *j, jdoc_id node, struct buffer *out)
{
	const struct jdoc_node *n = node_at(j, node);
	if (!n || n->type != JDOC_TEXT)
		return;
	const char *at = j->text + n->begin + 1, *end = j->text + n->end - 1;
	if (!n->escaped) {
		buffer_append(out, at, (size_t)(end - at));
		return;
	}
	char *to = buffer_reserve(out, (size_t)(end - at));
	if (!to)
		return;
	size_t len = jtext_decode(to, at, end);
	out->len += len;
	to[len] = '\0';
}

bool jdoc_to_int(const struct jdoc *j, jdoc_id node, int64_t *value)
{
	const struct jdoc_node *n = node_at(j, node);
	if (!n || n->type != JDOC_NUMBER)
		return false;
	const char *at = j->text + n->begin, *end = j->text + n->end;
	bool negative = *at == '-';
	uint64_t sum = 0;
	bool is_short = end - at <= 18; /* too short to overflow */
	for (at += negative; at < end; at++) {
		if (*at < '0' || *at > '9')
			return false;
		unsigned digit = (unsigned)(*at - '0');
		if (!is_short && sum > ((uint64_t)INT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	*value = negative ? -(int64_t)sum : (int64_t)sum;
	return true;
}

bool jdoc_to_double(const struct jdoc *j, jdoc_id node, double *value)
{
	const struct jdoc_node *n = node_at(j, node);
	if (!n || n->type != JDOC_NUMBER)
		return false;
	/* strtod needs a NUL, which the text may lack; no number that a program writes is longer */
	char copy[1024];
	size_t len = n->end - n->begin;
	if (len >= sizeof copy)
		return false;
	memcpy(copy, j->text + n->begin, len);
	copy[len] = '\0';
	*value = strtod(copy, NULL);
	return isfinite(*value);
}

/* ---- typed members ---- */

int jdoc_expected(const struct jdoc *j, jdoc_id node, const char *key, const char *wanted, struct ipf_error *err)
{
	struct slice raw = node_at(j, node) ? jdoc_raw(j, node) : slice_of("nothing");
	size_t shown = raw.len > 60 ? 57 : raw.len;
	while (shown && shown < raw.len && ((unsigned char)raw.data[shown] & 0xc0) == 0x80)
		shown--;
	return ipf_error_set(err, IPF_INPUT, "%s: expected %s, got %.*s%s", key, wanted, (int)shown, raw.data,
	                     shown < raw.len ? "..." : "");
}

/* 1: found, of this type; 0: absent or null; -1: another type */
static int find(const struct jdoc *j, jdoc_id map, const char *key, enum jdoc_type type, jdoc_id *node,
                struct ipf_error *err)
{
	static const char *const names[] = {"null", "true or false", "a number", "a string", "a list", "an object"};
	*node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, *node))
		return 0;
	if (jdoc_type_of(j, *node) != type)
		return jdoc_expected(j, *node, key, names[type], err);
	return 1;
}

int jdoc_get_int(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, node))
		return 0;
	return jdoc_to_int(j, node, value) ? 1 : jdoc_expected(j, node, key, "an integer", err);
}

int jdoc_get_uint(const struct jdoc *j, jdoc_id map, const char *key, int64_t *value, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, map, key);
	if (jdoc_is_null(j, node))
		return 0;
	if (!jdoc_to_int(j, node, value) || *value < 0)
		return jdoc_expected(j, node, key, "an integer of 0 or more", err);
	return 1;
}

int jdoc_get_bool(const struct jdoc *j, jdoc_id map, const char *key, bool *value, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(j, map, key, JDOC_BOOL, &node, err);
	if (got == 1)
		*value = j->text[j->nodes[node].begin] == 't';
	return got;
}

int jdoc_get_text(const struct jdoc *j, jdoc_id map, const char *key, struct buffer *out, struct ipf_error *err)
{
	jdoc_id node;
	int got = find(j, map, key, JDOC_TEXT, &node, err);
	if (got == 1)
		jdoc_text(j, node, out);
	return got;
}

int jdoc_get_raw(const struct jdoc *j, jdoc_id map, const char *key, enum jdoc_type type, struct slice *raw,
                 struct ipf_error *err)
{
	jdoc_id node;
	*raw = (struct slice){0};
	int got = find(j, map, key, type, &node, err);
	if (got == 1)
		*raw = jdoc_raw(j, node);
	return got;
}
