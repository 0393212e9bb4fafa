#include "api/error_message.h"

#include "api/framing.h"
#include "utf8.h"

#include <string.h>
#include <strings.h>

#define MESSAGE_CHARACTERS 300

void error_message_plain(struct slice text, size_t limit, struct buffer *out)
{
	size_t shown = 0;
	bool gap = false;
	for (size_t i = 0, len; i < text.len; i += len) {
		unsigned char c = (unsigned char)text.data[i];
		len = utf8_character(text.data + i, text.len - i);
		len += !len; /* a byte that is not UTF-8 counts as a character */
		if (c <= ' ' || c == 0x7f) {
			gap = shown > 0;
			continue;
		}
		if (shown + gap >= limit)
			return;
		if (gap) {
			buffer_byte(out, ' ');
			shown++;
			gap = false;
		}
		buffer_append(out, text.data + i, len);
		shown++;
	}
}

#define TEXT_LOOKED_AT 200 /* bytes */
#define TEXT_BAD_SHARE 8   /* one byte of so many may be none of a text */

bool error_message_is_text(struct slice bytes)
{
	size_t bad = 0, i = 0, most = bytes.len < TEXT_LOOKED_AT ? bytes.len : TEXT_LOOKED_AT;
	while (i < most) {
		unsigned char c = (unsigned char)bytes.data[i];
		size_t len = utf8_character(bytes.data + i, bytes.len - i);
		bad += !len || (c < ' ' && !strchr("\t\n\r\x1b", c)) || c == 0;
		i += len + !len;
	}
	return bad * TEXT_BAD_SHARE <= most;
}

/* Appends the node's message; false if it has none. */
static bool find_message(const struct jdoc *doc, jdoc_id node, struct buffer *out)
{
	static const char *const names[] = {
		"message",  "error",     "detail",     "details",           "msg",    "error_message", "errorMessage",
		"errorMsg", "error_msg", "status_msg", "error_description", "errors", "err",           "base_resp",
		"reason",   "title",     "error_type", "errorType",         "type"};
	switch (jdoc_type_of(doc, node)) {
	case JDOC_TEXT: {
		struct buffer text = {0};
		size_t before = out->len;
		jdoc_text(doc, node, &text);
		error_message_plain(buffer_all(&text), MESSAGE_CHARACTERS, out);
		buffer_release(&text);
		return out->len > before;
	}
	case JDOC_MAP:
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (find_message(doc, jdoc_get(doc, node, names[i]), out))
				return true;
		return false;
	case JDOC_LIST:
		return find_message(doc, jdoc_at(doc, node, 0), out);
	default:
		return false;
	}
}

void error_message_of(const struct jdoc *doc, jdoc_id node, struct buffer *out)
{
	if (!find_message(doc, node, out))
		error_message_plain(jdoc_raw(doc, node), MESSAGE_CHARACTERS, out);
}

/* ---- objects reporting an error ---- */

static bool is_zero(const struct jdoc *doc, jdoc_id node)
{
	double number;
	return jdoc_text_is(doc, node, "0") || (jdoc_to_double(doc, node, &number) && number == 0);
}

/* An object whose code says nothing is wrong. */
static bool is_good_code(const struct jdoc *doc, jdoc_id map)
{
	static const char *const codes[] = {"code", "status_code", "error_code", "errcode"};
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (is_zero(doc, jdoc_get(doc, map, codes[i])))
			return true;
	return false;
}

static bool has_message(const struct jdoc *doc, jdoc_id map)
{
	return !jdoc_text_empty(doc, jdoc_get(doc, map, "message")) || !jdoc_text_empty(doc, jdoc_get(doc, map, "msg"));
}

bool error_message_reported(const struct jdoc *doc, jdoc_id value)
{
	switch (jdoc_type_of(doc, value)) {
	case JDOC_MAP:
		return jdoc_count(doc, value) > 0 && !(is_good_code(doc, value) && !has_message(doc, value));
	case JDOC_LIST:
		return jdoc_count(doc, value) > 0;
	case JDOC_TEXT:
		return !jdoc_text_empty(doc, value);
	case JDOC_NUMBER:
		return !is_zero(doc, value);
	default:
		return !jdoc_is_null(doc, value) && !slice_is(jdoc_raw(doc, value), "false");
	}
}

/* How a member tells of an error. */
enum telling {
	TELLS_TEXT,   /* its value is the message, or has it */
	TELLS_KIND,   /* its value is a kind or code, beside a message */
	TELLS_NUMBER, /* the same, of which only a number counts */
	TELLS_STATUS, /* an object with a status_code and a status_msg */
	TELLS_WORD,   /* the word "error", beside a message */
};

static const struct {
	const char *name;
	enum telling telling;
} telling_members[] = {
	{"error_message", TELLS_TEXT}, {"errorMessage", TELLS_TEXT}, {"error_msg", TELLS_TEXT}, {"errorMsg", TELLS_TEXT},
	{"error", TELLS_TEXT},         {"err", TELLS_TEXT},          {"errors", TELLS_TEXT},    {"base_resp", TELLS_STATUS},
	{"error_type", TELLS_KIND},    {"errorType", TELLS_KIND},    {"err_msg", TELLS_TEXT},   {"errmsg", TELLS_TEXT},
	{"error_code", TELLS_NUMBER},  {"errorCode", TELLS_NUMBER},  {"errcode", TELLS_NUMBER}, {"object", TELLS_WORD},
	{"type", TELLS_WORD},          {"status", TELLS_WORD},
};
#define TELLING (sizeof telling_members / sizeof *telling_members)

static bool tells(const struct jdoc *doc, jdoc_id value, enum telling telling)
{
	double number;
	switch (telling) {
	case TELLS_TEXT:
	case TELLS_KIND:
		return error_message_reported(doc, value);
	case TELLS_NUMBER:
		return jdoc_to_double(doc, value, &number) && number != 0;
	case TELLS_STATUS:
		return !jdoc_is_null(doc, jdoc_get(doc, value, "status_code")) &&
		       !is_zero(doc, jdoc_get(doc, value, "status_code"));
	case TELLS_WORD:
		return jdoc_text_is(doc, value, "error");
	}
	return false;
}

/* A value with a message of its own, in place of `true` or a number. */
static bool speaks(const struct jdoc *doc, jdoc_id value)
{
	enum jdoc_type type = jdoc_type_of(doc, value);
	return type == JDOC_TEXT || type == JDOC_MAP || type == JDOC_LIST;
}

/* One pass over the members, most of which begin with another letter. */
jdoc_id error_message_member(const struct jdoc *doc, jdoc_id object)
{
	size_t best = TELLING;
	jdoc_id found = JDOC_NONE;
	if (jdoc_type_of(doc, object) == JDOC_LIST)
		object = jdoc_at(doc, object, 0);
	if (jdoc_type_of(doc, object) != JDOC_MAP)
		return JDOC_NONE;
	for (struct jdoc_each e = jdoc_each(doc, object); jdoc_step(&e);) {
		struct slice key = jdoc_raw(doc, e.key);
		if (key.len < 5 || !strchr("ebots", key.data[1]) || jdoc_is_null(doc, e.value))
			continue;
		key = (struct slice){key.data + 1, key.len - 2};
		for (size_t i = 0; i < best; i++)
			if (slice_is(key, telling_members[i].name) && tells(doc, e.value, telling_members[i].telling)) {
				best = i;
				found = e.value;
			}
	}
	if (best == TELLING)
		return JDOC_NONE;
	enum telling telling = telling_members[best].telling;
	return (telling == TELLS_TEXT && speaks(doc, found)) || telling == TELLS_STATUS ? found : object;
}

/* A code that is not one of success. */
static bool is_bad_code(const struct jdoc *doc, jdoc_id code)
{
	static const char *const good[] = {"200", "ok", "OK", "success", "Success", "SUCCESS"};
	double number;
	if (jdoc_to_double(doc, code, &number))
		return number != 0 && !(number >= 200 && number < 300);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (jdoc_text_is(doc, code, good[i]))
			return false;
	return !jdoc_text_empty(doc, code) && !is_zero(doc, code);
}

bool error_message_likely(const struct jdoc *doc, jdoc_id object)
{
	static const char *const codes[] = {"code", "status_code", "statusCode"};
	if (!jdoc_text_empty(doc, jdoc_get(doc, object, "detail")) && jdoc_count(doc, object) == 1)
		return true;
	if (!has_message(doc, object))
		return false;
	for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
		if (is_bad_code(doc, jdoc_get(doc, object, codes[i])))
			return true;
	double status;
	bool refused = jdoc_to_double(doc, jdoc_get(doc, object, "status"), &status) && status >= 400;
	return refused || slice_is(jdoc_raw(doc, jdoc_get(doc, object, "success")), "false");
}

/* ---- bodies ---- */

/* The text between <title> and </title>. */
static struct slice page_title(struct slice page)
{
	size_t from = 0;
	for (size_t i = 0; i + 8 <= page.len; i++) {
		if (!from && !strncasecmp(page.data + i, "<title>", 7))
			from = i + 7;
		else if (from && !strncasecmp(page.data + i, "</title>", 8))
			return (struct slice){page.data + from, i - from};
	}
	return page;
}

/* The message of one event; `sure`: only of one that reports an error. */
static void message_of_event(struct jdoc *doc, const struct framing_event *event, bool sure, struct buffer *out)
{
	struct ipf_error ignored = {0};
	struct slice data = framing_trim(event->data);
	bool named = slice_is(event->name, "error");
	if (!data.len || slice_is(data, "[DONE]"))
		return;
	if (jdoc_parse(doc, data.data, data.len, &ignored) < 0) {
		if (named || !(sure || strchr("{[", *data.data)))
			error_message_plain(data, MESSAGE_CHARACTERS, out);
		return;
	}
	jdoc_id member = error_message_member(doc, JDOC_ROOT);
	if (!sure || named || member != JDOC_NONE || error_message_likely(doc, JDOC_ROOT))
		find_message(doc, member != JDOC_NONE ? member : JDOC_ROOT, out);
}

/* The message of the first of server-sent events, or of objects one after the other, that reports an error, else of the
 * first with one. */
static bool message_of_events(struct jdoc *doc, struct slice body, enum framing_kind kind, struct buffer *out)
{
	struct framing f = {0};
	struct framing_event event;
	size_t before = out->len;
	for (int sure = 1; sure >= 0 && out->len == before; sure--) {
		framing_begin(&f, kind, body);
		while (out->len == before && framing_next(&f, &event))
			message_of_event(doc, &event, sure, out);
	}
	framing_release(&f);
	return out->len > before;
}

void error_message_of_body(struct jdoc *doc, struct slice body, struct buffer *out)
{
	struct ipf_error ignored = {0};
	struct slice text = framing_trim(body);
	if (!text.len)
		return;
	if (strchr("{[\"", *text.data) && jdoc_parse(doc, text.data, text.len, &ignored) == 0)
		error_message_of(doc, JDOC_ROOT, out);
	else if (framing_begins_like_events(text) && message_of_events(doc, text, FRAMING_SSE, out))
		return;
	else if (*text.data == '{' && message_of_events(doc, text, FRAMING_JSON_SEQUENCE, out))
		return;
	else if (!error_message_is_text(text))
		buffer_format(out, "%zu bytes other than text", body.len);
	else
		error_message_plain(*text.data == '<' ? page_title(text) : text, MESSAGE_CHARACTERS, out);
}
