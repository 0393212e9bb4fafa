#include "json_schema/json_value.h"

#include "json_schema/decimal.h"
#include "text_hash.h"

struct slice json_characters(struct json_value text, struct buffer *room)
{
	const struct jdoc_node *node = &text.doc->nodes[text.at];
	if (!node->escaped)
		return (struct slice){text.doc->text + node->begin + 1, node->end - node->begin - 2};
	buffer_clear(room);
	jdoc_text(text.doc, text.at, room);
	return buffer_all(room);
}

bool json_texts_equal(struct json_value a, struct json_value b, struct buffer room[2])
{
	struct slice x = json_characters(a, &room[0]), y = json_characters(b, &room[1]);
	return x.len == y.len && (!x.len || memcmp(x.data, y.data, x.len) == 0);
}

jdoc_id json_member(struct json_value map, struct json_value key, struct buffer room[2])
{
	for (struct jdoc_each e = jdoc_each(map.doc, map.at); jdoc_step(&e);)
		if (json_texts_equal((struct json_value){map.doc, e.key}, key, room))
			return e.value;
	return JDOC_NONE;
}

static bool lists_equal(struct json_value a, struct json_value b, struct buffer room[2])
{
	struct jdoc_each x = jdoc_each(a.doc, a.at), y = jdoc_each(b.doc, b.at);
	while (jdoc_step(&x) && jdoc_step(&y))
		if (!json_values_equal((struct json_value){a.doc, x.value}, (struct json_value){b.doc, y.value}, room))
			return false;
	return true;
}

/* If a key comes twice, the first one counts. */
static bool maps_equal(struct json_value a, struct json_value b, struct buffer room[2])
{
	for (struct jdoc_each x = jdoc_each(a.doc, a.at); jdoc_step(&x);) {
		const struct json_value key = {a.doc, x.key};
		jdoc_id other = json_member(b, key, room);
		if (other != JDOC_NONE && json_member(a, key, room) != x.value)
			continue;
		if (other == JDOC_NONE ||
		    !json_values_equal((struct json_value){a.doc, x.value}, (struct json_value){b.doc, other}, room))
			return false;
	}
	return true;
}

bool json_values_equal(struct json_value a, struct json_value b, struct buffer room[2])
{
	enum jdoc_type type = jdoc_type_of(a.doc, a.at);
	struct slice x = jdoc_raw(a.doc, a.at), y = jdoc_raw(b.doc, b.at);
	if (type != jdoc_type_of(b.doc, b.at))
		return false;
	switch (type) {
	case JDOC_NULL:
		return true;
	case JDOC_BOOL:
		return slice_equal(x, y);
	case JDOC_NUMBER: {
		struct decimal left = decimal_of(x), right = decimal_of(y);
		return decimal_compare(&left, &right) == 0;
	}
	case JDOC_TEXT:
		return json_texts_equal(a, b, room);
	case JDOC_LIST:
	case JDOC_MAP:
		break;
	}
	if (jdoc_count(a.doc, a.at) != jdoc_count(b.doc, b.at))
		return false;
	return type == JDOC_LIST ? lists_equal(a, b, room) : maps_equal(a, b, room);
}

uint64_t json_value_hash(struct json_value value, struct buffer *room)
{
	enum jdoc_type type = jdoc_type_of(value.doc, value.at);
	const uint64_t prime = UINT64_C(0x100000001b3);
	uint64_t hash = (uint64_t)type + 1;
	if (type == JDOC_NUMBER) {
		struct decimal d = decimal_of(jdoc_raw(value.doc, value.at));
		return decimal_hash(&d, hash);
	}
	if (type == JDOC_TEXT)
		return text_hash(json_characters(value, room)) + hash;
	if (type == JDOC_BOOL)
		return hash * 31 + jdoc_raw(value.doc, value.at).len;
	for (struct jdoc_each e = jdoc_each(value.doc, value.at); jdoc_step(&e);) {
		uint64_t inner = json_value_hash((struct json_value){value.doc, e.value}, room);
		if (type == JDOC_MAP) /* in any order */
			hash += (text_hash_mixed(json_characters((struct json_value){value.doc, e.key}, room)) ^ inner) * prime;
		else
			hash = (hash ^ inner) * prime;
	}
	return hash;
}

/* ---- pointers ---- */

static void add_token(struct slice token, struct buffer *out)
{
	for (size_t i = 0; i < token.len; i++) {
		if (token.data[i] == '~' || token.data[i] == '/')
			buffer_text(out, token.data[i] == '~' ? "~0" : "~1");
		else
			buffer_byte(out, token.data[i]);
	}
}

/* Cuts the text appended since `begin` to `most` bytes, between characters. */
static void shorten(struct buffer *out, size_t begin, size_t most)
{
	if (out->failed || out->len - begin <= most)
		return;
	size_t len = begin + most;
	while (len > begin && ((unsigned char)out->data[len] & 0xc0) == 0x80)
		len--;
	out->len = len;
	buffer_text(out, "…");
}

void json_pointer(const struct jdoc *doc, jdoc_id node, size_t most, struct buffer *out)
{
	struct buffer room = {0};
	size_t begin = out->len;
	for (jdoc_id at = JDOC_ROOT; at != node && out->len - begin <= most;) {
		struct jdoc_each e = jdoc_each(doc, at);
		size_t index = 0;
		while (jdoc_step(&e) && doc->nodes[e.value].next <= node)
			index++;
		buffer_byte(out, '/');
		if (e.map)
			add_token(json_characters((struct json_value){doc, e.key}, &room), out);
		else
			buffer_format(out, "%zu", index);
		at = e.value <= node ? e.value : node; /* a key is where its value is */
	}
	out->failed |= room.failed;
	buffer_release(&room);
	shorten(out, begin, most);
}

static bool token_is(struct slice token, struct slice key)
{
	size_t k = 0;
	for (size_t i = 0; i < token.len; i++, k++) {
		char c = token.data[i];
		if (c == '~' && i + 1 < token.len)
			c = token.data[++i] == '1' ? '/' : '~';
		if (k >= key.len || key.data[k] != c)
			return false;
	}
	return k == key.len;
}

static jdoc_id step(const struct jdoc *doc, jdoc_id at, struct slice token, struct buffer *room)
{
	size_t index = 0;
	if (jdoc_type_of(doc, at) == JDOC_LIST) {
		for (size_t i = 0; i < token.len; i++) {
			if (token.data[i] < '0' || token.data[i] > '9' || index > UINT32_MAX)
				return JDOC_NONE;
			index = index * 10 + (size_t)(token.data[i] - '0');
		}
		return token.len && index < UINT32_MAX ? jdoc_at(doc, at, (uint32_t)index) : JDOC_NONE;
	}
	if (jdoc_type_of(doc, at) == JDOC_MAP)
		for (struct jdoc_each e = jdoc_each(doc, at); jdoc_step(&e);)
			if (token_is(token, json_characters((struct json_value){doc, e.key}, room)))
				return e.value;
	return JDOC_NONE;
}

jdoc_id json_pointed(const struct jdoc *doc, jdoc_id from, struct slice pointer)
{
	struct buffer room = {0};
	while (pointer.len && from != JDOC_NONE) {
		const char *begin = pointer.data + 1, *end = pointer.data + pointer.len,
				   *slash = memchr(begin, '/', (size_t)(end - begin));
		slash = slash ? slash : end;
		from = step(doc, from, (struct slice){begin, (size_t)(slash - begin)}, &room);
		pointer = (struct slice){slash, (size_t)(end - slash)};
	}
	buffer_release(&room);
	return from;
}
