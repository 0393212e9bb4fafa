#include "json/jdoc.h"

#include "json/bytes8.h"
#include "utf8.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 512

struct parser {
	struct jdoc *j;
	const char *text, *at, *end;
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

/* Skips to the next quote, backslash, control character or non-ASCII byte; eight bytes at a time. */
static const char *plain_run(const char *at, const char *end)
{
	while (at + 8 <= end) {
		uint64_t word = bytes8_load(at), marks = bytes8_escaped(word) | (word & BYTES8_HIGHS);
		if (marks)
			return at + bytes8_first(marks);
		at += 8;
	}
	while (at < end && (unsigned char)*at >= 0x20 && (unsigned char)*at < 0x80 && *at != '"' && *at != '\\')
		at++;
	return at;
}

/* From a backslash on, skips ASCII and the escapes \\", up to what is neither: another escape, the closing quote, a
 * control character or a non-ASCII byte. The body of a record is JSON inside JSON, and nearly all of its escapes are
 * these, one in seven bytes. Quotes are where backslashes were a byte before, or the run ends: no branch depends on an
 * escape. */
static const char *quoted_run(const char *at, const char *end)
{
	uint64_t pending = 0; /* the mark of the first byte: the last byte before it was a backslash */
	for (; end - at >= 8; at += 8) {
		uint64_t word = bytes8_load(at), backslash = bytes8_ascii_equal(word, '\\');
		uint64_t after = backslash << 8 | pending;
		uint64_t stop = (bytes8_ascii_equal(word, '"') ^ after) | bytes8_not_printable(word);
		if (stop) {
			unsigned first = bytes8_first(stop);
			return at + first - (after >> (8 * first + 7) & 1);
		}
		pending = backslash >> 56;
	}
	return at - (pending != 0);
}

static bool is_hex4(const char *at, const char *end)
{
	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
			return false;
	}
	return true;
}

static int parse_escape(struct parser *p)
{
	static const bool simple[256] = {['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
	                                 ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true};
	p->at++;
	if (p->at < p->end && simple[(unsigned char)*p->at]) {
		p->at++;
		return 0;
	}
	if (p->at < p->end && *p->at == 'u' && is_hex4(p->at + 1, p->end)) {
		p->at += 5;
		return 0;
	}
	return fail(p, "invalid escape in a string");
}

static int parse_not_ascii(struct parser *p)
{
	/* the whole run of non-ASCII bytes at once: scripts without spaces would otherwise cost a call per character */
	const char *run = p->at;
	while (run < p->end && (unsigned char)*run >= 0x80)
		run++;
	size_t good;
	bool valid = utf8_valid(p->at, (size_t)(run - p->at), &good);
	p->at += good;
	return valid ? 0 : fail(p, "invalid UTF-8");
}

/* p->at is at the opening quote; afterwards it is behind the closing one. */
static int parse_string(struct parser *p, bool *escaped)
{
	p->at++;
	for (;;) {
		p->at = plain_run(p->at, p->end);
		if (p->at < p->end && *p->at == '\\') {
			*escaped = true;
			p->at = quoted_run(p->at, p->end);
		}
		if (p->at == p->end)
			return fail(p, "unterminated string");
		unsigned char c = (unsigned char)*p->at;
		if (c == '"') {
			p->at++;
			return 0;
		}
		if (c == '\\') {
			if (parse_escape(p) < 0)
				return -1;
		} else if (c < 0x20) {
			return fail(p, "control character in a string");
		} else if (parse_not_ascii(p) < 0) {
			return -1;
		}
	}
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
			if (*p->at == '{' || *p->at == '[') {
				if (depth == MAX_DEPTH)
					return fail(p, "nested too deeply");
				open[depth] = add_node(p, *p->at == '{' ? JDOC_MAP : JDOC_LIST);
				if (open[depth++] == JDOC_NONE)
					return -1;
				p->at++;
				place = BEFORE_FIRST;
				continue;
			}
			if (parse_scalar(p) < 0)
				return -1;
			place = AFTER_VALUE;
		}
		if (depth == 0)
			return 0;
	}
}

int jdoc_parse(struct jdoc *j, const char *text, size_t len, struct ipf_error *err)
{
	struct parser p = {.j = j, .text = text, .at = text, .end = text + len, .err = err};
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
