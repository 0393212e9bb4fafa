/* Groups, quantifiers, escapes. */
#include "tokenizer/regex_translate.h"

#include "tokenizer/character_set.h"
#include "tokenizer/code_point.h"
#include "tokenizer/regex_class.h"
#include "tokenizer/regex_translator.h"

#include <stdio.h>
#include <string.h>

#define DEEPEST 200

static int alternatives(struct translator *t, bool in_group);

/* ---- literals ---- */

/* If case is ignored, the reference lets "ss" match ß, and ß match "ss". */
static bool folds_with_others(uint32_t before, uint32_t c)
{
	static const char pairs[][3] = {"ss", "st", "ff", "fi", "fl"};
	if (c == 0xdf || c == 0x149 || c == 0x1f0 || c == 0x390 || c == 0x3b0 || c == 0x587 ||
	    (c >= 0x1e96 && c <= 0x1e9e) || (c >= 0x1f50 && c <= 0x1ffc) || (c >= 0xfb00 && c <= 0xfb17) || c == 0x130)
		return true;
	if (c == 0x3b9 || (c >= 0x300 && c <= 0x345) || c == 0x2bc || c == 0x2be || (c >= 0x565 && c <= 0x582))
		return before != 0;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
		if ((before | 32) == (uint32_t)pairs[i][0] && (c | 32) == (uint32_t)pairs[i][1])
			return true;
	return false;
}

static int literal(struct translator *t, const char *at, uint32_t c)
{
	char utf8[4];
	if (t->ignore_case && folds_with_others(t->previous, c))
		return translator_refuse(t, at, "ignoring case is not supported for characters that fold to several");
	t->previous = c;
	if (c < 0x80 && !((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9'))
		buffer_format(t->out, "\\x{%x}", c);
	else
		buffer_append(t->out, utf8, utf8_put(utf8, c));
	return 0;
}

/* ---- escapes ---- */

static int word_boundary(struct translator *t, bool negated)
{
	struct character_set word = {0};
	struct buffer w = {0};
	int status = -1;
	if (character_set_escape(&word, 'w', false) == 0 && character_set_write(t, t->at, &word, &w) == 0 && !w.failed) {
		const char *s = w.data, *before = negated ? "=" : "!", *after = negated ? "!" : "=";
		/* (?<=W)(?!W) or (?<!W)(?=W); negated, both sides agree. */
		buffer_format(t->out, "(?:(?<=%s)(?%s%s)|(?<!%s)(?%s%s))", s, before, s, s, after, s);
		status = 0;
	}
	buffer_release(&word.items);
	buffer_release(&w);
	return status;
}

static int set_escape(struct translator *t, const char *at, char letter)
{
	struct character_set set = {0};
	int status = -1;
	if (letter == 'p' || letter == 'P')
		status = character_set_property(t, &set, letter == 'P', false);
	else
		status = character_set_escape(&set, letter, false);
	if (status == 0)
		status = character_set_write(t, at, &set, t->out);
	buffer_release(&set.items);
	return status;
}

/* \k<name>, \k'name' and \1: PCRE2 has them too. */
static int reference(struct translator *t, const char *at)
{
	char close = translator_sees(t, "<") ? '>' : '\'';
	const char *name = t->at + 1, *end = t->at < t->end ? memchr(name, close, (size_t)(t->end - name)) : NULL;
	if (!end || end == name || !(translator_sees(t, "<") || translator_sees(t, "'")))
		return translator_refuse(t, at, "\\k: expected a name");
	for (const char *c = name; c < end; c++)
		if (*c == '+' || *c == '-')
			return translator_refuse(t, at, "\\k: levels and relative numbers are not supported");
	buffer_append(t->out, "\\k<", 3);
	buffer_append(t->out, name, (size_t)(end - name));
	buffer_byte(t->out, '>');
	t->at = end + 1;
	return 0;
}

static int escape(struct translator *t, const char *at)
{
	static const char simple[] = "n\nt\tr\rf\fv\va\ae\033";
	if (t->at == t->end)
		return translator_refuse(t, at, "backslash at the end");
	unsigned char c = (unsigned char)*t->at;
	if (c >= 0x80)
		return literal(t, at, utf8_next(&t->at));
	t->at++;
	for (size_t i = 0; simple[i]; i += 2)
		if (c == (unsigned char)simple[i])
			return literal(t, at, (unsigned char)simple[i + 1]);
	if (c >= '1' && c <= '9') {
		buffer_format(t->out, "\\g{%d}", c - '0');
		return t->at < t->end && *t->at >= '0' && *t->at <= '9'
		           ? translator_refuse(t, at, "references above \\9 are not supported")
		           : 0;
	}
	if (c == 'x' || c == 'u' || c == '0') {
		int32_t value = translator_number(t, (char)c);
		return value < 0 ? translator_refuse(t, at, "expected a character code") : literal(t, at, (uint32_t)value);
	}
	t->previous = 0;
	if (c && strchr("dDwWsShHpP", c))
		return set_escape(t, at, (char)c);
	switch (c) {
	case 'b':
	case 'B':
		return word_boundary(t, c == 'B');
	case 'A':
	case 'z':
	case 'Z':
		buffer_format(t->out, "\\%c", c);
		return 0;
	case 'R':
		buffer_text(t->out, "(?>\\r\\n|[\\n-\\r\\x{85}\\x{2028}\\x{2029}])");
		return 0;
	case 'N':
		buffer_text(t->out, "[^\\n]");
		return 0;
	case 'O':
		buffer_text(t->out, "[\\x{0}-\\x{10ffff}]");
		return 0;
	case 'k':
		return reference(t, at);
	default:
		break;
	}
	if (c && strchr("gGKXyYcCM", c))
		return translator_refuse(t, at, "escape is not supported");
	return literal(t, at, c);
}

/* ---- groups ---- */

static int close_group(struct translator *t, const char *at)
{
	if (alternatives(t, true) < 0)
		return -1;
	if (t->at == t->end)
		return translator_refuse(t, at, "missing ) of a group");
	t->at++;
	buffer_byte(t->out, ')');
	return 0;
}

static void open_options(struct translator *t)
{
	buffer_text(t->out, t->ignore_case ? "(?i" : "(?");
	if (t->dot_all)
		buffer_byte(t->out, 's');
	if (!t->ignore_case || !t->dot_all)
		buffer_byte(t->out, '-');
	if (!t->ignore_case)
		buffer_byte(t->out, 'i');
	if (!t->dot_all)
		buffer_byte(t->out, 's');
	buffer_byte(t->out, ':');
}

/* (?imx-imx) holds to the end of its group, across all alternatives that follow; (?imx-imx:…) inside the parentheses.
 */
static int options(struct translator *t, const char *at)
{
	struct translator before = *t;
	bool on = true;
	for (; t->at < t->end && *t->at != ')' && *t->at != ':'; t->at++) {
		switch (*t->at) {
		case '-':
			on = false;
			break;
		case 'i':
			t->ignore_case = on;
			break;
		case 'm':
			t->dot_all = on;
			break;
		case 'x':
			t->extended = on;
			break;
		default:
			return translator_refuse(t, at, "kind of group is not supported");
		}
	}
	if (t->at == t->end)
		return translator_refuse(t, at, "missing ) of a group");
	bool isolated = *t->at++ == ')';
	open_options(t);
	int status = isolated ? alternatives(t, true) : close_group(t, at);
	if (isolated)
		buffer_byte(t->out, ')');
	t->ignore_case = before.ignore_case;
	t->extended = before.extended;
	t->dot_all = before.dot_all;
	return status;
}

static int group(struct translator *t, const char *at)
{
	static const char *const kinds[] = {"?:", "?=", "?!", "?>", "?<=", "?<!"};
	int status = 0;

	if (++t->depth > DEEPEST)
		return translator_refuse(t, at, "groups nested too deep");
	t->previous = 0;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!translator_sees(t, kinds[i]))
			continue;
		t->at += strlen(kinds[i]);
		buffer_byte(t->out, '(');
		buffer_text(t->out, kinds[i]);
		status = close_group(t, at);
		goto out;
	}
	if (translator_sees(t, "?#")) {
		const char *end = memchr(t->at, ')', (size_t)(t->end - t->at));
		if (!end)
			status = translator_refuse(t, at, "missing ) of a comment");
		t->at = end ? end + 1 : t->end;
		goto out;
	}
	if (translator_sees(t, "?<") || translator_sees(t, "?'")) {
		char close = t->at[1] == '<' ? '>' : '\'';
		const char *name = t->at + 2, *end = memchr(name, close, (size_t)(t->end - name));
		if (!end || end == name) {
			status = translator_refuse(t, at, "expected a group name");
			goto out;
		}
		buffer_append(t->out, "(?<", 3);
		buffer_append(t->out, name, (size_t)(end - name));
		buffer_byte(t->out, '>');
		t->at = end + 1;
		status = close_group(t, at);
	} else if (translator_sees(t, "?")) {
		t->at++;
		status = options(t, at);
	} else {
		buffer_byte(t->out, '(');
		status = close_group(t, at);
	}
out:
	t->depth--;
	t->previous = 0;
	return status;
}

/* ---- quantifiers ---- */

struct quantifier {
	char text[40];
	bool interval, fixed;
};

/* {n}, {n,}, {,m}, {n,m}; any other brace is a literal. */
static bool interval(struct translator *t, struct quantifier *q)
{
	const char *from = t->at++;
	int32_t least = translator_digits(t, 10, 6), most = least;
	bool comma = translator_sees(t, ",");
	if (comma) {
		t->at++;
		most = translator_digits(t, 10, 6);
	}
	if (!translator_sees(t, "}") || (least < 0 && most < 0)) {
		t->at = from;
		return false;
	}
	t->at++;
	q->interval = true;
	q->fixed = !comma;
	if (comma && most < 0)
		snprintf(q->text, sizeof q->text, "{%d,}", least);
	else
		snprintf(q->text, sizeof q->text, "{%d,%d}", least < 0 ? 0 : least, most);
	return true;
}

static bool quantifier(struct translator *t, struct quantifier *q)
{
	*q = (struct quantifier){0};
	if (t->at == t->end)
		return false;
	if (*t->at == '{')
		return interval(t, q);
	if (!strchr("*+?", *t->at) || !*t->at)
		return false;
	q->text[0] = *t->at++;
	return true;
}

static void wrap(struct translator *t, size_t atom)
{
	if (!buffer_reserve(t->out, 4))
		return;
	memmove(t->out->data + atom + 3, t->out->data + atom, t->out->len - atom);
	memcpy(t->out->data + atom, "(?:", 3);
	t->out->len += 3;
	buffer_byte(t->out, ')');
}

/* `atom`: where in the output the repeated item begins. Only *, + and ? can be possessive; {n}? is an optional {n}. */
static int quantifiers(struct translator *t, size_t atom, const char *at)
{
	struct quantifier q;
	for (int n = 0; quantifier(t, &q); n++) {
		if (atom == t->out->len)
			return translator_refuse(t, at, "nothing to repeat");
		if (n == 20)
			return translator_refuse(t, at, "too many quantifiers");
		if (n)
			wrap(t, atom);
		t->previous = 0;
		buffer_text(t->out, q.text);
		if (translator_sees(t, "?") && !q.fixed) {
			buffer_byte(t->out, '?');
			t->at++;
		} else if (translator_sees(t, "+") && !q.interval) {
			buffer_byte(t->out, '+');
			t->at++;
		}
	}
	return 0;
}

static bool skipped(struct translator *t)
{
	if (!t->extended)
		return false;
	if (*t->at && strchr(" \t\r\n\f\v", *t->at)) {
		t->at++;
		return true;
	}
	if (*t->at != '#')
		return false;
	while (t->at < t->end && *t->at != '\n')
		t->at++;
	return true;
}

static int term(struct translator *t)
{
	const char *at = t->at;
	size_t atom = t->out->len;
	int status = 0;

	switch (*t->at) {
	case '(':
		t->at++;
		status = group(t, at);
		break;
	case '[':
		t->at++;
		t->previous = 0;
		status = regex_class_translate(t);
		break;
	case '\\':
		t->at++;
		status = escape(t, at);
		break;
	case '.':
	case '^':
	case '$':
		t->previous = 0;
		buffer_byte(t->out, *t->at++);
		break;
	case '*':
	case '+':
	case '?':
		return translator_refuse(t, at, "nothing to repeat");
	default:
		status = literal(t, at, utf8_next(&t->at));
	}
	return status < 0 ? -1 : quantifiers(t, atom, at);
}

/* Translates up to the ')' that closes the group, or to the end. */
static int alternatives(struct translator *t, bool in_group)
{
	while (t->at < t->end) {
		if (*t->at == ')') {
			if (in_group)
				return 0;
			return translator_refuse(t, t->at, "unmatched )");
		}
		if (*t->at == '|') {
			t->previous = 0;
			buffer_byte(t->out, *t->at++);
		} else if (!skipped(t) && term(t) < 0) {
			return -1;
		}
	}
	return 0;
}

int regex_translate(struct slice pattern, struct buffer *out, struct ipf_error *err)
{
	struct translator t = {
		.begin = pattern.data, .at = pattern.data, .end = pattern.data + pattern.len, .out = out, .err = err};
	if (alternatives(&t, false) < 0)
		return ipf_error_memory(err);
	return out->failed ? ipf_error_memory(err) : 0;
}
