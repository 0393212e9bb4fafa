#include "publish/otlp_attributes.h"

#include "absent.h"
#include "json/jdoc.h"
#include "protobuf/protobuf_wire.h"
#include "utf8.h"

#include <math.h>
#include <string.h>

enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE = 2 };
enum { VALUE_TEXT = 1, VALUE_BOOL = 2, VALUE_INT = 3, VALUE_DOUBLE = 4, VALUE_LIST = 5 };
enum { LIST_VALUES = 1 };

/* An open attribute: wire_close both, the value first. */
struct open_attribute {
	size_t attribute, value;
};

static struct open_attribute open_attribute(struct buffer *out, uint32_t number, const char *key)
{
	struct open_attribute a = {.attribute = wire_open(out, number)};
	wire_string(out, KEY_VALUE_KEY, slice_of(key));
	a.value = wire_open(out, KEY_VALUE_VALUE);
	return a;
}

static void close_attribute(struct buffer *out, struct open_attribute a)
{
	wire_close(out, a.value);
	wire_close(out, a.attribute);
}

static struct slice cut(struct slice text)
{
	if (text.len > OTLP_TEXT)
		utf8_valid(text.data, OTLP_TEXT, &text.len);
	return text;
}

void otlp_put_text(struct buffer *out, uint32_t number, const char *key, struct slice text)
{
	if (!text.data)
		return;
	struct open_attribute a = open_attribute(out, number, key);
	wire_string(out, VALUE_TEXT, cut(text));
	close_attribute(out, a);
}

void otlp_json_text(struct slice json, struct buffer *out)
{
	struct jdoc doc = {0};
	struct ipf_error ignored = {0};
	size_t from = out->len;
	if (!json.data)
		return;
	if (json.len >= 2 && !memchr(json.data, '\\', json.len)) { /* nearly all: no tree for plain text */
		buffer_slice(out, cut((struct slice){json.data + 1, json.len - 2}));
		return;
	}
	if (jdoc_parse(&doc, json.data, json.len, &ignored) == 0)
		jdoc_text(&doc, JDOC_ROOT, out);
	jdoc_release(&doc);
	if (!out->failed && out->len > from)
		out->len = from + cut((struct slice){out->data + from, out->len - from}).len;
}

void otlp_put_json_text(struct buffer *out, uint32_t number, const char *key, struct slice json)
{
	if (!json.data)
		return;
	struct open_attribute a = open_attribute(out, number, key);
	size_t text = wire_open(out, VALUE_TEXT);
	otlp_json_text(json, out);
	wire_close(out, text);
	close_attribute(out, a);
}

void otlp_put_json_list(struct buffer *out, uint32_t number, const char *key, struct slice json)
{
	if (!json.data)
		return;
	struct open_attribute a = open_attribute(out, number, key);
	size_t list = wire_open(out, VALUE_LIST), value = wire_open(out, LIST_VALUES), text = wire_open(out, VALUE_TEXT);
	otlp_json_text(json, out);
	wire_close(out, text);
	wire_close(out, value);
	wire_close(out, list);
	close_attribute(out, a);
}

void otlp_put_int(struct buffer *out, uint32_t number, const char *key, int64_t value)
{
	if (value == IPF_ABSENT)
		return;
	struct open_attribute a = open_attribute(out, number, key);
	wire_uint(out, VALUE_INT, (uint64_t)value);
	close_attribute(out, a);
}

void otlp_put_double(struct buffer *out, uint32_t number, const char *key, double value)
{
	if (isnan(value))
		return;
	struct open_attribute a = open_attribute(out, number, key);
	wire_double(out, VALUE_DOUBLE, value);
	close_attribute(out, a);
}

void otlp_put_true(struct buffer *out, uint32_t number, const char *key)
{
	struct open_attribute a = open_attribute(out, number, key);
	wire_uint(out, VALUE_BOOL, 1);
	close_attribute(out, a);
}
