#include "scrape/exposition.h"

#include "safe_text.h"
#include "utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct exposition {
	exposition_handler *handler;
	void *data;
	struct buffer line; /* the beginning of an incomplete line; in it, escapes are resolved in place */
	bool too_long;      /* the line being skipped */
	bool ended;         /* # EOF */
	struct buffer family;
	enum exposition_type type; /* the family's */
	struct exposition_label labels[EXPOSITION_LABELS_MAX];
	int64_t lines, good, bad;
	char first_bad[300];
};

struct exposition *exposition_new(exposition_handler *handler, void *data)
{
	struct exposition *e = calloc(1, sizeof *e);
	if (e) {
		e->handler = handler;
		e->data = data;
	}
	return e;
}

void exposition_free(struct exposition *e)
{
	if (!e)
		return;
	buffer_release(&e->line);
	buffer_release(&e->family);
	free(e);
}

int64_t exposition_bad_lines(const struct exposition *e)
{
	return e->bad;
}

struct slice exposition_label(const struct exposition_series *series, const char *name)
{
	for (size_t i = 0; i < series->labels_count; i++)
		if (slice_is(series->labels[i].name, name))
			return series->labels[i].value;
	return (struct slice){0};
}

bool exposition_number(struct slice text, double *value)
{
	char copy[64], *end;
	const char *word = copy;
	if (text.len == 0 || text.len >= sizeof copy || memchr(text.data, '\0', text.len))
		return false;
	memcpy(copy, text.data, text.len);
	copy[text.len] = '\0';
	word += *word == '+' || *word == '-';
	if (strcasecmp(word, "inf") == 0 || strcasecmp(word, "infinity") == 0)
		*value = *copy == '-' ? -INFINITY : INFINITY;
	else if (strcasecmp(word, "nan") == 0)
		*value = NAN;
	else if (copy[strspn(copy, "+-.0123456789eE")])
		return false;
	else {
		*value = strtod(copy, &end);
		return end != copy && !*end;
	}
	return true;
}

/* ---- one line ---- */

/* The rest of the line. */
struct cursor {
	char *at, *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static void skip_space(struct cursor *c)
{
	while (c->at < c->end && is_space(*c->at))
		c->at++;
}

static bool skip(struct cursor *c, char wanted)
{
	if (c->at == c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

static struct slice until_space(struct cursor *c)
{
	struct slice word = {c->at, 0};
	while (c->at < c->end && !is_space(*c->at))
		c->at++;
	word.len = (size_t)(c->at - word.data);
	return word;
}

static bool is_name_byte(char c, bool first, bool colon)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':') ||
	       (!first && c >= '0' && c <= '9');
}

static bool plain_name(struct cursor *c, bool colon, struct slice *name)
{
	*name = (struct slice){c->at, 0};
	while (c->at < c->end && is_name_byte(*c->at, c->at == name->data, colon))
		c->at++;
	name->len = (size_t)(c->at - name->data);
	return name->len > 0;
}

/* A text in quotes; \\, \" and \n are resolved in place, other backslashes stay. */
static bool quoted(struct cursor *c, struct slice *text)
{
	if (!skip(c, '"'))
		return false;
	char *to = c->at;
	*text = (struct slice){to, 0};
	for (; c->at < c->end && *c->at != '"'; c->at++) {
		if (*c->at == '\\' && c->at + 1 < c->end && strchr("\\\"n", c->at[1]) && c->at[1]) {
			c->at++;
			*to++ = *c->at == 'n' ? '\n' : *c->at;
		} else {
			*to++ = *c->at;
		}
	}
	text->len = (size_t)(to - text->data);
	return skip(c, '"');
}

/* The labels in braces. With quoted names, the name of the metric is the one without a value. */
static bool read_labels(struct exposition *e, struct cursor *c, struct exposition_series *s)
{
	for (;;) {
		struct slice name, value;
		skip_space(c);
		if (skip(c, '}'))
			return true;
		bool in_quotes = c->at < c->end && *c->at == '"';
		if (in_quotes ? !quoted(c, &name) : !plain_name(c, false, &name))
			return false;
		skip_space(c);
		if (skip(c, '=')) {
			skip_space(c);
			if (s->labels_count == EXPOSITION_LABELS_MAX || !quoted(c, &value))
				return false;
			e->labels[s->labels_count++] = (struct exposition_label){name, value};
		} else if (in_quotes && !s->name.data && s->labels_count == 0) {
			s->name = name;
		} else {
			return false;
		}
		skip_space(c);
		if (!skip(c, ',') && (c->at == c->end || *c->at != '}'))
			return false;
	}
}

/* The timestamp and the exemplar that may follow the value. */
static bool read_rest(struct cursor *c)
{
	double ignored;
	skip_space(c);
	if (c->at < c->end && *c->at != '#' && !exposition_number(until_space(c), &ignored))
		return false;
	skip_space(c);
	if (c->at == c->end)
		return true;
	if (!skip(c, '#') || c->at == c->end || !is_space(*c->at))
		return false;
	skip_space(c);
	return c->at < c->end && *c->at == '{';
}

/* NULL, or the fault. */
static const char *read_series(struct exposition *e, struct cursor *c, struct exposition_series *s)
{
	if (*c->at != '{' && !plain_name(c, true, &s->name))
		return "expected the name of a metric";
	skip_space(c);
	if (skip(c, '{') && !read_labels(e, c, s))
		return "expected labels";
	if (!s->name.data || s->name.len == 0)
		return "expected the name of a metric";
	skip_space(c);
	if (!exposition_number(until_space(c), &s->value))
		return "expected a value";
	return read_rest(c) ? NULL : "expected the end of the line";
}

static bool ends_with(struct slice text, size_t prefix, const char *suffix)
{
	return slice_is((struct slice){text.data + prefix, text.len - prefix}, suffix);
}

/* Whether the series is one of those a family of this name and type consists of. */
static bool in_family(const struct exposition *e, struct slice name)
{
	static const char *const suffixes[] = {"", "_total", "_bucket", "_count", "_sum", "_created", "_info"};
	size_t len = e->family.len;
	if (len == 0 || name.len < len || memcmp(name.data, e->family.data, len) != 0)
		return false;
	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (ends_with(name, len, suffixes[i]))
			return true;
	return false;
}

static void read_type(struct exposition *e, struct cursor *c)
{
	static const struct {
		const char *name;
		enum exposition_type type;
	} types[] = {{"counter", EXPOSITION_COUNTER},     {"gauge", EXPOSITION_GAUGE},
	             {"histogram", EXPOSITION_HISTOGRAM}, {"summary", EXPOSITION_SUMMARY},
	             {"stateset", EXPOSITION_GAUGE},      {"info", EXPOSITION_GAUGE},
	             {"gaugehistogram", EXPOSITION_GAUGE}};
	struct slice name, type;
	skip_space(c);
	buffer_clear(&e->family);
	if (c->at < c->end && *c->at == '"' ? !quoted(c, &name) : !plain_name(c, true, &name))
		return;
	skip_space(c);
	type = until_space(c);
	e->type = EXPOSITION_UNTYPED;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (slice_is(type, types[i].name))
			e->type = types[i].type;
	buffer_slice(&e->family, name);
}

static void read_comment(struct exposition *e, struct cursor *c)
{
	c->at++;
	if (c->at < c->end && !is_space(*c->at))
		return;
	skip_space(c);
	struct slice word = until_space(c);
	if (slice_is(word, "TYPE"))
		read_type(e, c);
	else if (slice_is(word, "EOF") && c->at == c->end)
		e->ended = true;
}

static void refuse(struct exposition *e, struct slice line, const char *why)
{
	e->bad++;
	if (!*e->first_bad)
		snprintf(e->first_bad, sizeof e->first_bad, "line %lld: %s, got \"%s\"", (long long)e->lines, why,
		         shown_slice((struct slice){line.data, line.len < 80 ? line.len : 80}).text);
}

static void read_line(struct exposition *e, char *line, size_t len)
{
	struct exposition_series s = {.labels = e->labels};
	struct cursor c = {line, line + len};
	char seen[80];
	size_t seen_len = len < sizeof seen ? len : sizeof seen;
	e->lines++;
	skip_space(&c);
	if (c.at == c.end)
		return;
	memcpy(seen, line, seen_len); /* resolving escapes changes the line */
	const char *wrong = NULL;
	if (e->ended)
		wrong = "expected nothing after # EOF";
	else if (!utf8_valid(line, len, NULL))
		wrong = "expected UTF-8";
	else if (*c.at == '#')
		return read_comment(e, &c);
	else
		wrong = read_series(e, &c, &s);
	if (wrong)
		return refuse(e, (struct slice){seen, seen_len}, wrong);
	s.type = in_family(e, s.name) ? e->type : EXPOSITION_UNTYPED;
	e->good++;
	e->handler(e->data, &s);
}

/* ---- lines ---- */

static void end_line(struct exposition *e)
{
	struct buffer *line = &e->line;
	if (e->too_long) {
		e->lines++;
		refuse(e, buffer_all(line), "expected a shorter line");
	} else if (line->len) {
		read_line(e, line->data, line->len - (line->data[line->len - 1] == '\r'));
	} else {
		e->lines++;
	}
	e->too_long = false;
	if (!line->failed)
		buffer_clear(line);
}

void exposition_feed(struct exposition *e, const char *bytes, size_t len)
{
	while (len && !e->line.failed) {
		const char *newline = memchr(bytes, '\n', len);
		size_t part = newline ? (size_t)(newline - bytes) : len;
		e->too_long |= part > EXPOSITION_LINE_MAX - e->line.len;
		if (!e->too_long)
			buffer_append(&e->line, bytes, part);
		if (newline)
			end_line(e);
		part += newline != NULL;
		bytes += part;
		len -= part;
	}
}

int exposition_finish(struct exposition *e, struct ipf_error *err)
{
	if (e->line.len || e->too_long)
		end_line(e);
	if (e->line.failed || e->family.failed)
		return ipf_error_memory(err);
	if (e->good == 0 && e->bad > 0)
		return ipf_error_set(err, IPF_INPUT, "no metrics: %s", e->first_bad);
	if (e->good == 0 && !e->ended)
		return ipf_error_set(err, IPF_INPUT, "no metrics: the answer has no line with a value");
	return 0;
}
