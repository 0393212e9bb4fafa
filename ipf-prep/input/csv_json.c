#include "input/csv_json.h"

#include "json/bytes8.h"
#include "json/jout.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

/* Is it ASCII needing no escapes? */
static bool is_plain(struct slice value)
{
	size_t at = 0;
	uint64_t marks = 0;
	for (; at + 8 <= value.len; at += 8) {
		uint64_t word = bytes8_load(value.data + at);
		marks |= bytes8_not_printable(word) | bytes8_equal(word, '"') | bytes8_equal(word, '\\');
	}
	for (; at < value.len; at++) {
		unsigned char c = (unsigned char)value.data[at];
		marks |= c < 0x20 || c >= 0x7f || c == '"' || c == '\\';
	}
	return marks == 0;
}

/* Appends a string of JSON; true if something in it is escaped. */
static bool put_string(struct buffer *text, struct slice value, bool plain)
{
	if (plain) {
		char *to = buffer_reserve(text, value.len + 2);
		if (!to)
			return false;
		*to = '"';
		memcpy(to + 1, value.data, value.len);
		to[value.len + 1] = '"';
		text->len += value.len + 2;
		return false;
	}
	size_t before = text->len;
	struct jout w = {.out = text};
	jout_string(&w, value);
	return text->len - before != value.len + 2;
}

int csv_json_begin(struct csv_json *c, const struct csv *csv)
{
	csv_json_release(c);
	c->name_ends = calloc(csv->column_count + 1, sizeof *c->name_ends);
	c->name_escaped = calloc(csv->column_count + 1, sizeof *c->name_escaped);
	if (!c->name_ends || !c->name_escaped)
		return -1;
	for (size_t i = 0; i < csv->column_count; i++) {
		c->name_escaped[i] = put_string(&c->text, slice_of(csv->columns[i]), false);
		c->name_ends[i] = c->text.len;
	}
	c->names_len = c->text.len;
	return c->text.failed ? -1 : 0;
}

static int grow_nodes(struct jdoc *json, size_t count, struct ipf_error *err)
{
	if (count <= json->cap)
		return 0;
	struct jdoc_node *nodes = count < JDOC_NONE / 2 ? reallocarray(json->nodes, count, sizeof *nodes) : NULL;
	if (!nodes)
		return ipf_error_memory(err);
	json->nodes = nodes;
	json->cap = (uint32_t)count;
	return 0;
}

int csv_json_row(struct csv_json *c, const struct csv *csv, struct jdoc *json, struct ipf_error *err)
{
	size_t good;
	struct buffer *text = &c->text;
	if (grow_nodes(json, 1 + 2 * csv->count, err) < 0)
		return -1;
	text->len = c->names_len;
	for (size_t i = 0; i < csv->count; i++) {
		struct jdoc_node *key = &json->nodes[1 + 2 * i], *value = key + 1;
		size_t name = i ? c->name_ends[i - 1] : 0, begin = text->len;
		bool plain = is_plain(csv->fields[i]);
		if (!plain && !utf8_valid(csv->fields[i].data, csv->fields[i].len, &good))
			return ipf_error_set(err, IPF_INPUT, "not UTF-8: byte 0x%02x in column %s",
			                     (unsigned char)csv->fields[i].data[good], csv->columns[i]);
		bool escaped = put_string(text, csv->fields[i], plain);
		*key = (struct jdoc_node){.begin = (uint32_t)name,
		                          .end = (uint32_t)c->name_ends[i],
		                          .next = (jdoc_id)(2 + 2 * i),
		                          .type = JDOC_TEXT,
		                          .escaped = c->name_escaped[i]};
		*value = (struct jdoc_node){.begin = (uint32_t)begin,
		                            .end = (uint32_t)text->len,
		                            .next = (jdoc_id)(3 + 2 * i),
		                            .type = JDOC_TEXT,
		                            .escaped = escaped};
	}
	if (text->failed)
		return ipf_error_memory(err);
	if (text->len > UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "a row of more than 4 GiB");
	json->nodes[0] = (struct jdoc_node){.begin = 0,
	                                    .end = (uint32_t)text->len,
	                                    .next = (jdoc_id)(1 + 2 * csv->count),
	                                    .count = (uint32_t)csv->count,
	                                    .type = JDOC_MAP};
	json->text = text->data;
	json->count = (uint32_t)(1 + 2 * csv->count);
	return 0;
}

void csv_json_release(struct csv_json *c)
{
	buffer_release(&c->text);
	free(c->name_ends);
	free(c->name_escaped);
	*c = (struct csv_json){0};
}
