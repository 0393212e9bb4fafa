#include "sources/json_outline.h"

#include <string.h>

#define DEPTH_MAX   512
#define DEPTH_PROSE 8 /* no text begins with so many brackets */

enum expected { VALUE, VALUE_OR_END, KEY, KEY_OR_END, AFTER };
enum outcome { GOES_ON, WHOLE, CUT, BROKEN };

struct scan {
	struct json_outline *outline;
	const char *text;
	size_t len, at;
	char open[DEPTH_MAX]; /* the brackets around */
	size_t depth;
	enum expected expected;
	bool object; /* a key of an object was seen */
	bool first_done;
	struct slice key; /* the next value's */
};

/* ---- tokens ---- */

static void skip_space(struct scan *s)
{
	while (s->at < s->len && strchr(" \t\r\n", s->text[s->at]) && s->text[s->at])
		s->at++;
}

/* From the opening quote to behind the closing one. */
static enum outcome scan_string(struct scan *s, struct slice *inner)
{
	size_t first = ++s->at;
	for (; s->at < s->len; s->at++) {
		char c = s->text[s->at];
		if (c == '\n')
			return BROKEN;
		if (c == '\\') {
			s->at++;
		} else if (c == '"') {
			*inner = (struct slice){s->text + first, s->at++ - first};
			return GOES_ON;
		}
	}
	return CUT;
}

static bool is_number(const char *text, size_t len)
{
	size_t at = len > 0 && text[0] == '-', digits = at;
	while (at < len && text[at] >= '0' && text[at] <= '9')
		at++;
	return at > digits && strspn(text + at, "0123456789.eE+-") >= len - at && strchr("0123456789", text[len - 1]);
}

/* A number, true, false or null. */
static enum outcome scan_scalar(struct scan *s)
{
	static const char *const literals[] = {"true", "false", "null"};
	size_t first = s->at, len;
	while (s->at < s->len && !strchr(" \t\r\n,]}:\"[{", s->text[s->at]))
		s->at++;
	len = s->at - first;
	for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
		if (strlen(literals[i]) == len && memcmp(literals[i], s->text + first, len) == 0)
			return GOES_ON;
	if (len > 0 && is_number(s->text + first, len))
		return GOES_ON;
	if (s->at < s->len) {
		s->at = first;
		return BROKEN;
	}
	return CUT;
}

/* ---- the first record ---- */

static size_t record_depth(const struct scan *s)
{
	return s->outline->in_list;
}

/* A value begins: is it the first record? */
static void note_value(struct scan *s, char c)
{
	struct json_outline *o = s->outline;
	if (s->depth == 0 && c == '[' && o->record == JSON_RECORD_NONE && !o->in_list) {
		o->in_list = true;
		return;
	}
	if (o->record == JSON_RECORD_NONE && s->depth == record_depth(s)) {
		o->record = c == '{'   ? JSON_RECORD_OBJECT
		            : c == '[' ? JSON_RECORD_LIST
		            : c == '"' ? JSON_RECORD_TEXT
		                       : JSON_RECORD_OTHER;
		return;
	}
	bool in_list_of_member = s->depth == record_depth(s) + 2 && s->open[s->depth - 1] == '[';
	if (!s->first_done && !o->list.data && c == '{' && in_list_of_member)
		o->list = s->key;
}

static void note_key(struct scan *s, struct slice key)
{
	s->object = true;
	if (s->first_done || s->depth != record_depth(s) + 1)
		return;
	quoted_names_add(&s->outline->members, key);
	s->key = key;
}

/* ---- the grammar ---- */

static enum outcome push(struct scan *s, char c)
{
	if (s->depth == DEPTH_MAX)
		return BROKEN;
	s->open[s->depth++] = c;
	s->expected = c == '{' ? KEY_OR_END : VALUE_OR_END;
	s->at++;
	return GOES_ON;
}

static enum outcome pop(struct scan *s)
{
	s->depth--;
	s->at++;
	s->expected = AFTER;
	s->first_done |= s->depth == record_depth(s) && s->outline->record != JSON_RECORD_NONE;
	return s->depth == 0 ? WHOLE : GOES_ON;
}

static enum outcome scan_key(struct scan *s)
{
	struct slice key;
	enum outcome got = s->text[s->at] == '"' ? scan_string(s, &key) : BROKEN;
	if (got != GOES_ON)
		return got;
	skip_space(s);
	if (s->at == s->len)
		return CUT;
	if (s->text[s->at] != ':')
		return BROKEN;
	s->at++;
	note_key(s, key);
	s->expected = VALUE;
	return GOES_ON;
}

static enum outcome scan_value(struct scan *s)
{
	struct slice ignored;
	char c = s->text[s->at];
	note_value(s, c);
	if (c == '{' || c == '[')
		return push(s, c);
	s->expected = AFTER;
	enum outcome got = c == '"' ? scan_string(s, &ignored) : scan_scalar(s);
	return got == GOES_ON && s->depth == 0 ? WHOLE : got;
}

static enum outcome step(struct scan *s)
{
	skip_space(s);
	if (s->at == s->len)
		return CUT;
	char c = s->text[s->at], open = s->depth ? s->open[s->depth - 1] : 0;
	if ((c == ']' && open == '[' && s->expected != VALUE) ||
	    (c == '}' && open == '{' && s->expected != KEY && s->expected != VALUE))
		return pop(s);
	if (s->expected == AFTER) {
		if (c != ',')
			return BROKEN;
		s->at++;
		s->expected = open == '{' ? KEY : VALUE;
		return GOES_ON;
	}
	return s->expected == KEY || s->expected == KEY_OR_END ? scan_key(s) : scan_value(s);
}

/* Does nothing but the end or another value follow? */
static bool ends_well(struct scan *s)
{
	skip_space(s);
	return s->at == s->len || s->text[s->at] == '{' || s->text[s->at] == '[';
}

static int64_t line_of(const struct scan *s)
{
	int64_t line = 1;
	for (size_t i = 0; i < s->at && i < s->len; i++)
		line += s->text[i] == '\n';
	return line;
}

void json_outline_read(struct json_outline *outline, struct slice head)
{
	static const char bom[] = "\xef\xbb\xbf";
	*outline = (struct json_outline){0};
	struct scan s = {.outline = outline, .text = head.data, .len = head.len};
	if (s.len >= 3 && memcmp(s.text, bom, 3) == 0)
		s.at = 3;
	skip_space(&s);
	if (s.at == s.len || (s.text[s.at] != '{' && s.text[s.at] != '['))
		return;
	enum outcome got;
	size_t deepest = 0;
	while ((got = step(&s)) == GOES_ON)
		deepest = s.depth > deepest ? s.depth : deepest;
	bool well = got == CUT || (got == WHOLE && ends_well(&s));
	outline->is_json = well || s.object || deepest >= DEPTH_PROSE;
	outline->too_deep = got == BROKEN && s.depth == DEPTH_MAX;
	outline->broken_line = well ? 0 : line_of(&s);
}

void json_outline_release(struct json_outline *outline)
{
	quoted_names_release(&outline->members);
}
