#include "protobuf/protobuf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct protobuf_encoder {
	const struct protobuf_schema *p;
	const struct jdoc *doc;
	struct buffer *out;
	struct ipf_error *err;
	int depth;
};

static int expected(struct protobuf_encoder *e, int type, const struct protobuf_field *f, jdoc_id node,
                    const char *wanted)
{
	char key[160];
	snprintf(key, sizeof key, "%.70s.%.70s", protobuf_type_name(e->p, type), f->name);
	return jdoc_expected(e->doc, node, key, wanted, e->err);
}

static bool to_uint(const struct jdoc *doc, jdoc_id node, uint64_t *value)
{
	struct slice raw = jdoc_raw(doc, node);
	char text[24], *end;
	if (jdoc_type_of(doc, node) != JDOC_NUMBER || raw.len >= sizeof text || raw.data[0] == '-')
		return false;
	memcpy(text, raw.data, raw.len);
	text[raw.len] = '\0';
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !*end && !errno;
}

/* The bits of an integer of this kind; false: not an integer, or out of range. */
static bool integer(const struct jdoc *doc, jdoc_id node, enum protobuf_kind kind, uint64_t *value)
{
	int64_t number = 0;
	bool wide = kind == PB_UINT64 || kind == PB_FIXED64;
	if (wide)
		return to_uint(doc, node, value);
	if (!jdoc_to_int(doc, node, &number))
		return false;
	*value = (uint64_t)number;
	switch (kind) {
	case PB_UINT32:
	case PB_FIXED32:
		return number >= 0 && number <= UINT32_MAX;
	case PB_SINT64:
		*value = wire_zigzag(number);
		return true;
	case PB_SINT32:
		*value = wire_zigzag(number);
		break;
	case PB_INT64:
	case PB_SFIXED64:
		return true;
	default:
		break;
	}
	return number >= INT32_MIN && number <= INT32_MAX;
}

static bool floating(const struct jdoc *doc, jdoc_id node, enum protobuf_kind kind, uint64_t *value)
{
	double number;
	if (!jdoc_to_double(doc, node, &number))
		return false;
	float single = (float)number;
	uint32_t bits;
	if (kind == PB_DOUBLE) {
		memcpy(value, &number, sizeof number);
	} else {
		memcpy(&bits, &single, sizeof bits);
		*value = bits;
	}
	return true;
}

/* An enum, by word or by number. */
static bool enumerated(const struct protobuf_encoder *e, const struct protobuf_field *f, jdoc_id node, uint64_t *value)
{
	const struct protobuf_enum *known = &e->p->enums[f->type];
	for (size_t i = 0; i < known->count; i++)
		if (jdoc_text_is(e->doc, node, known->words[i].name)) {
			*value = (uint64_t)known->words[i].number;
			return true;
		}
	return integer(e->doc, node, PB_INT32, value);
}

static int encode_message(struct protobuf_encoder *e, int type, jdoc_id map);

/* The bits of a scalar other than a text; -1: err. */
static int number_of(struct protobuf_encoder *e, int type, const struct protobuf_field *f, enum protobuf_kind kind,
                     jdoc_id node, uint64_t *value)
{
	char wanted[96];
	bool good;
	if (kind == PB_BOOL) {
		good = jdoc_type_of(e->doc, node) == JDOC_BOOL;
		*value = good && slice_is(jdoc_raw(e->doc, node), "true");
	} else if (kind == PB_ENUM) {
		good = enumerated(e, f, node, value);
	} else {
		good = kind == PB_DOUBLE || kind == PB_FLOAT ? floating(e->doc, node, kind, value)
		                                             : integer(e->doc, node, kind, value);
	}
	if (good)
		return 0;
	snprintf(wanted, sizeof wanted, "%s of type %.60s", kind == PB_ENUM ? "a word or number" : "a value",
	         kind == PB_ENUM ? e->p->enums[f->type].name : protobuf_scalars[kind]);
	return expected(e, type, f, node, wanted);
}

static void put_number(struct buffer *out, enum wire_type wire, uint64_t value)
{
	if (wire == WIRE_VARINT)
		wire_varint(out, value);
	else
		wire_fixed(out, value, wire == WIRE_I64 ? 8 : 4);
}

/* Appends one value with its tag. */
static int encode_value(struct protobuf_encoder *e, int type, const struct protobuf_field *f, enum protobuf_kind kind,
                        uint32_t number, jdoc_id node)
{
	enum wire_type wire = protobuf_wire_type(kind);
	uint64_t value;
	if (wire != WIRE_LEN) {
		if (number_of(e, type, f, kind, node, &value) < 0)
			return -1;
		wire_tag(e->out, number, wire);
		put_number(e->out, wire, value);
		return 0;
	}
	enum jdoc_type wanted = kind == PB_MESSAGE ? JDOC_MAP : JDOC_TEXT;
	if (kind == PB_TENSORS || jdoc_type_of(e->doc, node) != wanted)
		return expected(e, type, f, node,
		                kind == PB_TENSORS   ? "nothing: this field can only be received"
		                : wanted == JDOC_MAP ? "an object"
		                                     : "a string");
	wire_tag(e->out, number, WIRE_LEN);
	size_t from = e->out->len;
	if (kind != PB_MESSAGE)
		jdoc_text(e->doc, node, e->out);
	else if (encode_message(e, f->type, node) < 0)
		return -1;
	wire_close(e->out, from);
	return 0;
}

static int encode_packed(struct protobuf_encoder *e, int type, const struct protobuf_field *f, jdoc_id list)
{
	uint64_t value;
	if (!jdoc_count(e->doc, list))
		return 0;
	wire_tag(e->out, f->number, WIRE_LEN);
	size_t from = e->out->len;
	for (struct jdoc_each each = jdoc_each(e->doc, list); jdoc_step(&each);) {
		if (number_of(e, type, f, f->kind, each.value, &value) < 0)
			return -1;
		put_number(e->out, protobuf_wire_type(f->kind), value);
	}
	wire_close(e->out, from);
	return 0;
}

static int encode_key(struct protobuf_encoder *e, int type, const struct protobuf_field *f, jdoc_id key)
{
	if (f->map_key == PB_STRING)
		return encode_value(e, type, f, PB_STRING, 1, key);
	/* a key of JSON is a text always */
	struct jdoc number = {0};
	struct ipf_error ignored = {0};
	struct slice raw = jdoc_raw(e->doc, key);
	const struct jdoc *whole = e->doc;
	int result = -1;
	if (raw.len > 2 && jdoc_parse(&number, raw.data + 1, raw.len - 2, &ignored) == 0) {
		e->doc = &number;
		result = encode_value(e, type, f, f->map_key, 1, JDOC_ROOT);
		e->doc = whole;
	} else {
		expected(e, type, f, key, "a number");
	}
	jdoc_release(&number);
	return result;
}

static int encode_map(struct protobuf_encoder *e, int type, const struct protobuf_field *f, jdoc_id map)
{
	if (jdoc_type_of(e->doc, map) != JDOC_MAP)
		return expected(e, type, f, map, "an object");
	for (struct jdoc_each each = jdoc_each(e->doc, map); jdoc_step(&each);) {
		wire_tag(e->out, f->number, WIRE_LEN);
		size_t from = e->out->len;
		if (encode_key(e, type, f, each.key) < 0 || encode_value(e, type, f, f->kind, 2, each.value) < 0)
			return -1;
		wire_close(e->out, from);
	}
	return 0;
}

static int encode_field(struct protobuf_encoder *e, int type, const struct protobuf_field *f, jdoc_id node)
{
	if (jdoc_is_null(e->doc, node))
		return 0;
	if (f->map)
		return encode_map(e, type, f, node);
	if (!f->repeated)
		return encode_value(e, type, f, f->kind, f->number, node);
	if (jdoc_type_of(e->doc, node) != JDOC_LIST)
		return expected(e, type, f, node, "a list");
	if (f->packed)
		return encode_packed(e, type, f, node);
	for (struct jdoc_each each = jdoc_each(e->doc, node); jdoc_step(&each);)
		if (encode_value(e, type, f, f->kind, f->number, each.value) < 0)
			return -1;
	return 0;
}

static int encode_message(struct protobuf_encoder *e, int type, jdoc_id map)
{
	if (++e->depth > PROTOBUF_DEPTH)
		return ipf_error_set(e->err, IPF_INPUT, "%s: messages are nested too deeply", protobuf_type_name(e->p, type));
	for (struct jdoc_each each = jdoc_each(e->doc, map); jdoc_step(&each);) {
		struct slice raw = jdoc_raw(e->doc, each.key);
		const struct protobuf_field *f = protobuf_by_name(e->p, type, raw.data + 1, raw.len - 2);
		if (!f)
			return ipf_error_set(e->err, IPF_INPUT, "%s: the description has no field %.*s",
			                     protobuf_type_name(e->p, type), (int)(raw.len > 80 ? 80 : raw.len), raw.data);
		if (encode_field(e, type, f, each.value) < 0)
			return -1;
	}
	e->depth--;
	return 0;
}

int protobuf_encode(const struct protobuf_schema *p, int type, struct jdoc *scratch, struct slice json,
                    struct buffer *out, struct ipf_error *err)
{
	struct protobuf_encoder e = {.p = p, .doc = scratch, .out = out, .err = err};
	if (jdoc_parse(scratch, json.data, json.len, err) < 0)
		return -1;
	if (jdoc_type_of(scratch, JDOC_ROOT) != JDOC_MAP)
		return ipf_error_set(err, IPF_INPUT, "%s: expected an object", protobuf_type_name(p, type));
	if (encode_message(&e, type, JDOC_ROOT) < 0)
		return -1;
	return out->failed ? ipf_error_memory(err) : 0;
}
