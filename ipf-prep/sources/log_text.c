#include "sources/log_text.h"

#include "absent.h"
#include "cli/times.h"
#include "json/jout.h"

#include <string.h>

int64_t log_time(struct slice before, struct draft *d)
{
	for (size_t i = 0; i + 14 <= before.len; i++) {
		struct slice at = {before.data + i, before.len - i};
		struct ipf_error ignored = {0};
		int64_t ns;
		if (at.len >= 19 && at.data[4] == '-') {
			size_t len = 19;
			while (len < at.len && strchr(".0123456789", at.data[len]))
				len++;
			if (time_parse((struct slice){at.data, len}, &ns, &ignored) == 0)
				return ns;
		}
		ipf_error_clear(&ignored);
		if (at.data[2] == '-' &&
		    time_parse(draft_join(d, slice_of("2000-"), "", (struct slice){at.data, 14}), &ns, &ignored) == 0)
			return ns;
	}
	return IPF_ABSENT;
}

static void put_utf8(struct buffer *out, uint32_t c)
{
	if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buffer_byte(out, (char)c);
		return;
	}
	int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
	buffer_byte(out, (char)((0xff00 >> (more + 1) & 0xff) | (c >> 6 * more)));
	while (more-- > 0)
		buffer_byte(out, (char)(0x80 | (c >> 6 * more & 0x3f)));
}

static uint32_t hex_digits(const char **at, const char *end, int digits)
{
	uint32_t value = 0;
	for (; digits > 0 && *at < end; digits--, (*at)++) {
		const char *hex = memchr("0123456789abcdef0123456789ABCDEF", **at, 32);
		if (!hex)
			break;
		value = value * 16 + (uint32_t)((hex - "0123456789abcdef0123456789ABCDEF") % 16);
	}
	return value;
}

bool python_string(struct slice *text, struct buffer *out)
{
	const char *at = text->data, *end = text->data + text->len;
	if (at == end || (*at != '\'' && *at != '"'))
		return false;
	for (char quote = *at++; at < end && *at != quote;) {
		if (*at != '\\' || at + 1 >= end) {
			buffer_byte(out, *at++);
			continue;
		}
		static const char names[] = "ntrabfv", values[] = "\n\t\r\a\b\f\v";
		char c = at[1];
		const char *named = strchr(names, c);
		at += 2;
		if (c == 'x' || c == 'u' || c == 'U')
			put_utf8(out, hex_digits(&at, end, c == 'x' ? 2 : c == 'u' ? 4 : 8));
		else
			buffer_byte(out, named ? values[named - names] : c);
	}
	if (at >= end)
		return false;
	*text = (struct slice){at + 1, (size_t)(end - at - 1)};
	return true;
}

/* ---- Python values ---- */

#define DEPTH_MAX 64

struct python {
	struct slice rest; /* the unread part */
	struct jout json;
	struct buffer text; /* scratch space for a string */
	int depth;
};

static int read_value(struct python *p);

static void skip(struct python *p, size_t bytes)
{
	p->rest = (struct slice){p->rest.data + bytes, p->rest.len - bytes};
}

/* Skips this text if it comes next. */
static bool skip_text(struct python *p, const char *text)
{
	size_t len = strlen(text);
	if (p->rest.len < len || memcmp(p->rest.data, text, len) != 0)
		return false;
	skip(p, len);
	return true;
}

static char next_char(const struct python *p)
{
	return p->rest.len ? *p->rest.data : '\0';
}

static int read_string(struct python *p)
{
	buffer_clear(&p->text);
	if (!python_string(&p->rest, &p->text))
		return -1;
	jout_string(&p->json, p->text.data ? buffer_all(&p->text) : slice_of(""));
	p->json.out->failed |= p->text.failed;
	return 0;
}

/* The elements of a list or tuple up to `close`. */
static int read_list(struct python *p, char close)
{
	jout_begin_list(&p->json);
	while (next_char(p) != close)
		if (read_value(p) < 0 || (!skip_text(p, ", ") && !skip_text(p, ",") && next_char(p) != close))
			return -1;
	skip(p, 1);
	jout_end_list(&p->json);
	return 0;
}

/* The length of a name (with dots) or whole number at the beginning; 0: none. */
static size_t name_length(struct slice text)
{
	size_t len = 0;
	for (; len < text.len; len++) {
		char c = text.data[len], lower = (char)(c | 32);
		if (!(lower >= 'a' && lower <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '.')
			break;
	}
	return len;
}

/* The key of an entry and its separator from the value: a string or number and a colon, a name and =. Arguments without
 * a name get an empty key. */
static int read_key(struct python *p, char close)
{
	size_t len = name_length(p->rest);
	bool quoted = next_char(p) == '\'' || next_char(p) == '"', call = close != '}';
	if (quoted && !call) {
		if (read_string(p) < 0 || !skip_text(p, ": "))
			return -1;
	} else if (len > 0 && len < p->rest.len && p->rest.data[len] == (call ? '=' : ':')) {
		jout_string(&p->json, (struct slice){p->rest.data, len});
		skip(p, len + 1);
		skip_text(p, " ");
	} else if (call) {
		jout_string(&p->json, slice_of(""));
	} else {
		return -1;
	}
	buffer_byte(p->json.out, ':');
	p->json.comma = false;
	return 0;
}

/* The entries of a dict or the arguments of a call up to `close`; NUL: to the end. */
static int read_map(struct python *p, char close)
{
	jout_begin_map(&p->json);
	while (next_char(p) != close)
		if (read_key(p, close) < 0 || read_value(p) < 0 || (!skip_text(p, ", ") && next_char(p) != close))
			return -1;
	skip(p, close != '\0');
	jout_end_map(&p->json);
	return 0;
}

/* A number, a name, a call, or an object's text, as <…>. */
static int read_plain(struct python *p)
{
	struct slice text = p->rest;
	if (next_char(p) == '<') {
		const char *end = memchr(text.data, '>', text.len);
		if (!end)
			return -1;
		skip(p, (size_t)(end + 1 - text.data));
		jout_null(&p->json);
		return 0;
	}
	size_t len = next_char(p) == '-';
	bool number = len < text.len && text.data[len] >= '0' && text.data[len] <= '9';
	while (number && len < text.len && strchr("0123456789.eE+-", text.data[len]))
		len++;
	len += number ? 0 : name_length((struct slice){text.data + len, text.len - len});
	if (len == 0)
		return -1;
	skip(p, len);
	text.len = len;
	if (skip_text(p, "("))
		return read_map(p, ')');
	if (number)
		jout_value(&p->json, text);
	else if (slice_is(text, "True") || slice_is(text, "False"))
		jout_bool(&p->json, slice_is(text, "True"));
	else
		jout_null(&p->json);
	return 0;
}

static int read_whole(struct python *p)
{
	switch (next_char(p)) {
	case '\'':
	case '"':
		return read_string(p);
	case '[':
		skip(p, 1);
		return read_list(p, ']');
	case '(':
		skip(p, 1);
		return read_list(p, ')');
	case '{':
		skip(p, 1);
		return read_map(p, '}');
	default:
		return read_plain(p);
	}
}

/* A value, of which the middle may have been cut out: 'begin' ... 'end'. */
static int read_value(struct python *p)
{
	size_t start = p->json.out->len;
	bool comma = p->json.comma;
	int status = ++p->depth > DEPTH_MAX ? -1 : read_whole(p);
	if (status == 0 && skip_text(p, " ... ")) {
		status = read_whole(p);
		p->json.out->len = start < p->json.out->len ? start : p->json.out->len;
		p->json.comma = comma;
		jout_null(&p->json);
	}
	p->depth--;
	return status;
}

int python_to_json(struct slice arguments, struct buffer *out)
{
	struct python p = {.rest = arguments, .json = {.out = out}};
	int status = read_map(&p, '\0');
	buffer_release(&p.text);
	return status == 0 && p.rest.len == 0 ? 0 : -1;
}
