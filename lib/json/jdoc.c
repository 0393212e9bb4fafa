#include "json/jdoc.h"

#include "array.h"
#include "json/bytes8.h"
#include "json/jinteger.h"
#include "json/jtext.h"
#include "safe_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 512

struct parser {
	struct jdoc *j;
	const char *text, *at, *end;
	struct jdoc_direct *direct; /* NULL: none */
	struct ipf_error *err;
};

static int fail(struct parser *p, const char *what)
{
	return ipf_error_set(p->err, IPF_INPUT, "not JSON: %s at byte %zu", what, (size_t)(p->at - p->text));
}

static jdoc_id add_node(struct parser *p, enum jdoc_type type)
{
	struct jdoc *j = p->j;
	if (j->count == j->cap) {
		uint32_t cap = j->cap ? j->cap * 2 : 64;
		struct jdoc_node *nodes = cap > j->cap && cap < JDOC_NONE / 2 ? realloc(j->nodes, cap * sizeof *nodes) : NULL;
		if (!nodes) {
			ipf_error_memory(p->err);
			return JDOC_NONE;
		}
		j->nodes = nodes;
		j->cap = cap;
	}
	j->nodes[j->count] = (struct jdoc_node){.begin = (uint32_t)(p->at - p->text), .type = (uint8_t)type};
	return j->count++;
}

static void end_node(struct parser *p, jdoc_id id)
{
	p->j->nodes[id].end = (uint32_t)(p->at - p->text);
	p->j->nodes[id].next = p->j->count;
}

static void skip_space(struct parser *p)
{
	while (p->at < p->end && (*p->at == ' ' || *p->at == '\n' || *p->at == '\t' || *p->at == '\r'))
		p->at++;
}

/* p->at is at the opening quote; afterwards it is behind the closing one. */
static int parse_string(struct parser *p, bool *escaped)
{
	p->at++;
	const char *wrong = jtext_check(&p->at, p->end, escaped);
	return wrong ? fail(p, wrong) : 0;
}

static bool digits(struct parser *p)
{
	const char *from = p->at;
	while (p->end - p->at >= 8) {
		uint64_t marks = bytes8_not_digit(bytes8_load(p->at));
		p->at += marks ? bytes8_first(marks) : 8;
		if (marks)
			return p->at > from;
	}
	while (p->at < p->end && *p->at >= '0' && *p->at <= '9')
		p->at++;
	return p->at > from;
}

static int parse_number(struct parser *p)
{
	if (*p->at == '-')
		p->at++;
	if (p->at < p->end && *p->at == '0')
		p->at++;
	else if (!digits(p))
		return fail(p, "expected a value");
	if (p->at < p->end && *p->at == '.') {
		p->at++;
		if (!digits(p))
			return fail(p, "expected a digit after the decimal point");
	}
	if (p->at < p->end && (*p->at == 'e' || *p->at == 'E')) {
		p->at++;
		if (p->at < p->end && (*p->at == '+' || *p->at == '-'))
			p->at++;
		if (!digits(p))
			return fail(p, "expected a digit in the exponent");
	}
	return 0;
}

static int parse_word(struct parser *p, const char *word)
{
	size_t len = strlen(word);
	if ((size_t)(p->end - p->at) < len || memcmp(p->at, word, len) != 0)
		return fail(p, "expected a value");
	p->at += len;
	return 0;
}

/* Any value but a list or a map. */
static int parse_scalar(struct parser *p)
{
	static const enum jdoc_type types[256] = {
		['"'] = JDOC_TEXT, ['t'] = JDOC_BOOL, ['f'] = JDOC_BOOL, ['n'] = JDOC_NULL};
	char c = *p->at;
	bool escaped = false;
	int status;
	jdoc_id id = add_node(p, c == '-' || (c >= '0' && c <= '9') ? JDOC_NUMBER : types[(unsigned char)c]);
	if (id == JDOC_NONE)
		return -1;
	switch (c) {
	case '"':
		status = parse_string(p, &escaped);
		break;
	case 't':
		status = parse_word(p, "true");
		break;
	case 'f':
		status = parse_word(p, "false");
		break;
	case 'n':
		status = parse_word(p, "null");
		break;
	default:
		status = parse_number(p);
	}
	p->j->nodes[id].escaped = escaped;
	end_node(p, id);
	return status;
}

/* ---- direct reading ---- */

/* A text, decoded while it is checked. */
static int read_text(struct parser *p, struct jdoc_direct *d)
{
	jdoc_id id = add_node(p, JDOC_TEXT);
	char *room = buffer_reserve(d->text, (size_t)(p->end - p->at)), *to = room;
	if (id == JDOC_NONE || !room)
		return ipf_error_memory(p->err);
	p->at++;
	const char *wrong = jtext_read(&p->at, p->end, &to);
	if (wrong)
		return fail(p, wrong);
	d->text->len += (size_t)(to - room);
	*to = '\0';
	p->j->nodes[id].escaped = true;
	d->text_node = id;
	end_node(p, id);
	return 1;
}

/* A row is at most this long; of one so near to the end of the text, ordinary parsing takes care. */
enum { ROW_LONGEST = JDOC_ROW * (8 + 8) + 4 };

static int64_t *add_row(struct jdoc_direct *d)
{
	return array_room(d->rows, d->rows_cap, d->rows_count + 1) ? d->rows[d->rows_count++] : NULL;
}

/* A list as our writers write it. 0: p->at is at something else, which is left to ordinary parsing. */
static int read_rows(struct parser *p, struct jdoc_direct *d)
{
	const char *at = p->at;
	char next = ',';
	d->rows_count = 0;
	for (at++; next == ','; next = *at++) {
		int64_t *row = p->end - at > ROW_LONGEST && *at == '[' ? add_row(d) : NULL;
		for (int i = 0; i < JDOC_ROW; i++) {
			if (!row || (++at, !jinteger_read_here(&at, &row[i])) || *at != (i + 1 < JDOC_ROW ? ',' : ']'))
				return 0;
		}
		at++;
	}
	if (next != ']')
		return 0;
	jdoc_id id = add_node(p, JDOC_LIST);
	if (id == JDOC_NONE)
		return -1;
	p->at = at;
	p->j->nodes[id].count = (uint32_t)d->rows_count;
	d->rows_node = id;
	end_node(p, id);
	return 1;
}

/* 1: the value of the root's member was read; 0: it is not such a member; -1. */
static int read_member(struct parser *p, struct jdoc_direct *d)
{
	if (p->j->nodes[JDOC_ROOT].type != JDOC_MAP)
		return 0;
	struct slice key = jdoc_raw(p->j, p->j->count - 1);
	key = (struct slice){key.data + 1, key.len - 2};
	if (*p->at == '"' && d->text_node == JDOC_NONE && slice_is(key, d->text_key))
		return read_text(p, d);
	if (*p->at == '[' && d->rows_node == JDOC_NONE && slice_is(key, d->rows_key))
		return read_rows(p, d);
	return 0;
}

/* ---- the tree ---- */

/* Where the parser is in an open list or map. */
enum parser_place { BEFORE_FIRST, BEFORE_NEXT, AFTER_VALUE };

static int parse_key(struct parser *p)
{
	if (p->at == p->end || *p->at != '"')
		return fail(p, p->at == p->end ? "unexpected end" : "expected a string as key");
	if (parse_scalar(p) < 0)
		return -1;
	skip_space(p);
	if (p->at == p->end || *p->at != ':')
		return fail(p, p->at == p->end ? "unexpected end" : "expected a colon after the key");
	p->at++;
	skip_space(p);
	return 0;
}

static int parse_tree(struct parser *p)
{
	jdoc_id open[MAX_DEPTH];
	int depth = 0;
	enum parser_place place = BEFORE_NEXT;
	for (;;) {
		skip_space(p);
		if (p->at == p->end)
			return fail(p, "unexpected end");
		struct jdoc_node *in = depth ? &p->j->nodes[open[depth - 1]] : NULL;
		char close = in && in->type == JDOC_MAP ? '}' : ']';
		if (in && place != BEFORE_NEXT && *p->at == close) {
			p->at++;
			end_node(p, open[--depth]);
			place = AFTER_VALUE;
		} else if (in && place == AFTER_VALUE) {
			if (*p->at != ',')
				return fail(p, "expected a comma between two values");
			p->at++;
			place = BEFORE_NEXT;
			continue;
		} else {
			if (in)
				in->count++;
			if (in && in->type == JDOC_MAP && parse_key(p) < 0)
				return -1;
			if (p->at == p->end)
				return fail(p, "unexpected end");
			int read = p->direct && depth == 1 ? read_member(p, p->direct) : 0; /* `in` may have moved */
			if (read < 0)
				return -1;
			if (read == 0 && (*p->at == '{' || *p->at == '[')) {
				if (depth == MAX_DEPTH)
					return fail(p, "nested too deeply");
				open[depth] = add_node(p, *p->at == '{' ? JDOC_MAP : JDOC_LIST);
				if (open[depth++] == JDOC_NONE)
					return -1;
				p->at++;
				place = BEFORE_FIRST;
				continue;
			}
			if (read == 0 && parse_scalar(p) < 0)
				return -1;
			place = AFTER_VALUE;
		}
		if (depth == 0)
			return 0;
	}
}

int jdoc_parse(struct jdoc *j, const char *text, size_t len, struct ipf_error *err)
{
	return jdoc_parse_direct(j, text, len, NULL, err);
}

int jdoc_parse_direct(struct jdoc *j, const char *text, size_t len, struct jdoc_direct *direct, struct ipf_error *err)
{
	struct parser p = {.j = j, .text = text, .at = text, .end = text + len, .direct = direct, .err = err};
	if (direct) {
		buffer_clear(direct->text);
		direct->text_node = direct->rows_node = JDOC_NONE;
		direct->rows_count = 0;
	}
	j->text = text;
	j->count = 0;
	if (len >= UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "a JSON text of %zu bytes is too long: the maximum is 4 GiB", len);
	if (parse_tree(&p) == 0) {
		skip_space(&p);
		if (p.at == p.end)
			return 0;
		fail(&p, "unexpected text after the value");
	}
	j->count = 0;
	return -1;
}

void jdoc_release(struct jdoc *j)
{
	free(j->nodes);
	*j = (struct jdoc){0};
}

/* ---- access ---- */

static const struct jdoc_node *node_at(const struct jdoc *j, jdoc_id node)
{
	return node < j->count ? &j->nodes[node] : NULL;
}

/* The document stays const for its readers: this is the record of their reading. */
static void mark(const struct jdoc *j, jdoc_id node, enum jdoc_use use)
{
	if (j->watched && node < j->count && j->nodes[node].use < use)
		j->nodes[node].use = (uint8_t)use;
}

uint32_t jdoc_count(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	return n ? n->count : 0;
}

struct slice jdoc_raw(const struct jdoc *j, jdoc_id node)
{
	const struct jdoc_node *n = node_at(j, node);
	mark(j, node, JDOC_USED_WHOLE);
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
	mark(e->j, e->value, JDOC_USED);
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
		                     !memcmp(text, key.data, key.len)) {
			mark(j, at + 1, JDOC_USED);
			return at + 1;
		}
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

jdoc_id jdoc_at(const struct jdoc *j, jdoc_id list, uint32_t index)
{
	if (jdoc_type_of(j, list) != JDOC_LIST || index >= jdoc_count(j, list))
		return JDOC_NONE;
	jdoc_id at = list + 1;
	for (; index > 0; index--)
		at = j->nodes[at].next;
	mark(j, at, JDOC_USED);
	return at;
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
	const char *safe = end - at > 18 ? at + 18 : end; /* nothing overflows before it */
	for (at += negative; at < end; at++) {
		unsigned digit = (unsigned)*at - '0';
		if (digit > 9 || (at >= safe && sum > ((uint64_t)INT64_MAX - digit) / 10))
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
	/* strtod needs a NUL, which the text may lack; no number a program writes is longer */
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
