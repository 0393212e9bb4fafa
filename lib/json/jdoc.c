#include "json/jdoc.h"

#include "json/bytes8.h"
#include "json/jinteger.h"
#include "json/jtext.h"

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

/* ---- what is read directly ---- */

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
	if (d->rows_count == d->rows_cap) {
		size_t cap = d->rows_cap ? d->rows_cap * 2 : 64;
		int64_t(*rows)[JDOC_ROW] = realloc(d->rows, cap * sizeof *rows);
		if (!rows)
			return NULL;
		d->rows = rows;
		d->rows_cap = cap;
	}
	return d->rows[d->rows_count++];
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
