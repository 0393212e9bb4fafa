#include "protobuf/protobuf.h"

#include "json/jout.h"
#include "utf8.h"

#include <inttypes.h>
#include <string.h>

/* At most this many fields the schema lacks are shown of a message: a hostile server must not make decoding
 * quadratic. */
#define UNKNOWN_MAX 32

struct protobuf_decoder {
	const struct protobuf_schema *p;
	struct jout w;
	struct ipf_error *err;
	int depth;
};

static int decode_message(struct protobuf_decoder *d, int type, struct slice message);

static int bad(struct protobuf_decoder *d, int type, const struct protobuf_field *f, const char *what)
{
	return ipf_error_set(d->err, IPF_INPUT, "%s%s%s: %s", protobuf_type_name(d->p, type), f ? "." : "",
	                     f ? f->name : "", what);
}

/* ---- values ---- */

static void put_key(struct jout *w, struct slice key)
{
	jout_string(w, key);
	buffer_byte(w->out, ':');
	w->comma = false;
}

static void put_uint(struct jout *w, uint64_t value)
{
	if (value <= INT64_MAX) {
		jout_int(w, (int64_t)value);
	} else {
		char text[24];
		int len = snprintf(text, sizeof text, "%" PRIu64, value);
		jout_value(w, (struct slice){text, (size_t)len});
	}
}

static double as_double(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

/* The shortest decimal reading back as this float: 0.1, not 0.10000000149011612. */
static double as_float(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float value;
	char text[32];
	double shortest = 0;
	memcpy(&value, &low, sizeof value);
	for (int precision = 6; precision <= 9; precision++) {
		snprintf(text, sizeof text, "%.*g", precision, (double)value);
		if (sscanf(text, "%lf", &shortest) == 1 && (float)shortest == value)
			return shortest;
	}
	return (double)value;
}

static int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (value & 1 ? UINT64_MAX : 0));
}

static void put_enum(struct protobuf_decoder *d, const struct protobuf_field *f, uint64_t value)
{
	const struct protobuf_enum *e = &d->p->enums[f->type];
	int64_t number = (int32_t)(uint32_t)value;
	for (size_t i = 0; i < e->count; i++)
		if (e->words[i].number == number) {
			jout_string0(&d->w, e->words[i].name);
			return;
		}
	jout_int(&d->w, number);
}

static void put_number(struct protobuf_decoder *d, const struct protobuf_field *f, enum protobuf_kind kind,
                       uint64_t value)
{
	switch (kind) {
	case PB_DOUBLE:
		jout_double(&d->w, as_double(value));
		break;
	case PB_FLOAT:
		jout_double(&d->w, as_float(value));
		break;
	case PB_BOOL:
		jout_bool(&d->w, value != 0);
		break;
	case PB_UINT64:
	case PB_FIXED64:
		put_uint(&d->w, value);
		break;
	case PB_UINT32:
	case PB_FIXED32:
		jout_int(&d->w, (int64_t)(uint32_t)value);
		break;
	case PB_INT32:
	case PB_SFIXED32:
		jout_int(&d->w, (int32_t)(uint32_t)value);
		break;
	case PB_SINT64:
		jout_int(&d->w, unzigzag(value));
		break;
	case PB_SINT32:
		jout_int(&d->w, (int32_t)unzigzag(value & UINT32_MAX));
		break;
	case PB_ENUM:
		put_enum(d, f, value);
		break;
	default:
		jout_int(&d->w, (int64_t)value);
		break;
	}
}

static int put_value(struct protobuf_decoder *d, int type, const struct protobuf_field *f, enum protobuf_kind kind,
                     const struct wire_field *at)
{
	if (at->type != protobuf_wire_type(kind))
		return bad(d, type, f, "its wire type differs from the description");
	if (kind == PB_MESSAGE)
		return decode_message(d, f->type, at->data);
	if (at->type == WIRE_LEN)
		jout_string(&d->w, at->data);
	else
		put_number(d, f, kind, at->value);
	return 0;
}

/* ---- lists and maps ---- */

/* The numbers of a packed list, or one element. */
static int put_elements(struct protobuf_decoder *d, int type, const struct protobuf_field *f,
                        const struct wire_field *at)
{
	enum wire_type wire = protobuf_wire_type(f->kind);
	size_t i = 0;
	uint64_t value;
	int got;
	if (at->type != WIRE_LEN || wire == WIRE_LEN)
		return put_value(d, type, f, f->kind, at);
	while ((got = wire_packed(at->data, &i, wire, &value)) > 0)
		put_number(d, f, f->kind, value);
	return got < 0 ? bad(d, type, f, "the packed list ends within a number") : 0;
}

static int put_entry(struct protobuf_decoder *d, int type, const struct protobuf_field *f, struct slice entry)
{
	const struct protobuf_field key_field = {.name = f->name, .kind = f->map_key, .type = -1};
	struct wire_field at, key = {0}, value = {0};
	size_t i = 0;
	int got;
	while ((got = wire_next(entry, &i, &at)) > 0) {
		if (at.number == 1)
			key = at;
		else if (at.number == 2)
			value = at;
	}
	if (got < 0 || (key.number && key.type != protobuf_wire_type(f->map_key)))
		return bad(d, type, f, "malformed map entry");
	if (f->map_key == PB_STRING) {
		put_key(&d->w, key.data);
	} else {
		struct buffer text = {0};
		struct protobuf_decoder inner = {.p = d->p, .w = {.out = &text}, .err = d->err};
		put_number(&inner, &key_field, f->map_key, key.value);
		put_key(&d->w, buffer_all(&text));
		buffer_release(&text);
	}
	if (!value.number) { /* an absent value is the default, and only in a map must a default be written */
		value = (struct wire_field){.number = 2, .type = protobuf_wire_type(f->kind)};
		value.data = slice_of("");
	}
	return put_value(d, type, f, f->kind, &value);
}

/* All elements of the field; the first is at `from`. */
static int put_all(struct protobuf_decoder *d, int type, const struct protobuf_field *f, struct slice message,
                   size_t from)
{
	struct wire_field at;
	if (f->map)
		jout_begin_map(&d->w);
	else
		jout_begin_list(&d->w);
	while (wire_next(message, &from, &at) > 0) {
		if (at.number != f->number)
			continue;
		if (f->map && at.type != WIRE_LEN)
			return bad(d, type, f, "its wire type differs from the description");
		if ((f->map ? put_entry(d, type, f, at.data) : put_elements(d, type, f, &at)) < 0)
			return -1;
	}
	if (f->map)
		jout_end_map(&d->w);
	else
		jout_end_list(&d->w);
	return 0;
}

/* ---- tensors ---- */

struct tensor {
	struct slice name, datatype;
};

/* The text of a string field in a message; empty if absent. */
static struct slice text_in(const struct protobuf_decoder *d, int type, const char *name, struct slice message)
{
	const struct protobuf_field *f = protobuf_by_name(d->p, type, name, strlen(name));
	struct wire_field at;
	struct slice text = slice_of("");
	for (size_t i = 0; wire_next(message, &i, &at) > 0;)
		if (at.number == f->number && at.type == WIRE_LEN)
			text = at.data;
	return text;
}

/* The description of the next tensor; advances *from. False: there are no more. */
static bool tensor_at(const struct protobuf_decoder *d, const struct protobuf_field *of, struct slice message,
                      size_t *from, struct tensor *tensor)
{
	struct wire_field at;
	while (wire_next(message, from, &at) > 0)
		if (at.number == of->number && at.type == WIRE_LEN) {
			tensor->name = text_in(d, of->type, "name", at.data);
			tensor->datatype = text_in(d, of->type, "datatype", at.data);
			return true;
		}
	return false;
}

static const struct datatype {
	const char *name;
	enum protobuf_kind kind;
	size_t bytes;
} datatypes[] = {
	{"BOOL", PB_BOOL, 1},     {"INT8", PB_INT32, 1},   {"INT16", PB_INT32, 2},   {"INT32", PB_INT32, 4},
	{"INT64", PB_INT64, 8},   {"UINT8", PB_UINT32, 1}, {"UINT16", PB_UINT32, 2}, {"UINT32", PB_UINT32, 4},
	{"UINT64", PB_UINT64, 8}, {"FP32", PB_FLOAT, 4},   {"FP64", PB_DOUBLE, 8},
};

static uint64_t little_endian(const char *bytes, size_t count)
{
	uint64_t value = 0;
	for (size_t i = 0; i < count; i++)
		value |= (uint64_t)(unsigned char)bytes[i] << (8 * i);
	return value;
}

/* Texts, each preceded by its length in 32 bits. */
static bool put_texts(struct protobuf_decoder *d, struct slice raw)
{
	size_t at = 0;
	while (raw.len - at >= 4) {
		size_t len = (size_t)little_endian(raw.data + at, 4);
		at += 4;
		if (len > raw.len - at)
			return false;
		jout_string(&d->w, (struct slice){raw.data + at, len});
		at += len;
	}
	return at == raw.len;
}

static bool put_tensor(struct protobuf_decoder *d, const struct tensor *t, struct slice raw)
{
	const struct datatype *type = datatypes, *end = datatypes + sizeof datatypes / sizeof *datatypes;
	bool good = true;
	jout_begin_list(&d->w);
	while (type < end && !slice_is(t->datatype, type->name))
		type++;
	if (slice_is(t->datatype, "BYTES")) {
		good = put_texts(d, raw);
	} else if (type < end) { /* half floats are not shown */
		good = raw.len % type->bytes == 0;
		for (size_t at = 0; good && at < raw.len; at += type->bytes) {
			uint64_t value = little_endian(raw.data + at, type->bytes);
			unsigned unused = (unsigned)(64 - 8 * type->bytes);
			if (type->kind == PB_INT32 || type->kind == PB_INT64) /* extend the sign */
				value = (uint64_t)((int64_t)(value << unused) >> unused);
			put_number(d, NULL, type->kind, value);
		}
	}
	jout_end_list(&d->w);
	return good;
}

static int put_tensors(struct protobuf_decoder *d, int type, const struct protobuf_field *f, struct slice message,
                       size_t from)
{
	const struct protobuf_field *of = protobuf_by_name(d->p, type, f->of, strlen(f->of));
	struct wire_field at;
	struct tensor tensor;
	size_t described = 0;
	jout_begin_map(&d->w);
	while (wire_next(message, &from, &at) > 0) {
		if (at.number != f->number)
			continue;
		if (at.type != WIRE_LEN || !tensor_at(d, of, message, &described, &tensor))
			return bad(d, type, f, "tensor contents without a description");
		put_key(&d->w, tensor.name);
		if (!put_tensor(d, &tensor, at.data))
			return bad(d, type, f, "the tensor contents do not match their datatype");
	}
	jout_end_map(&d->w);
	return 0;
}

/* ---- fields the schema lacks ---- */

static bool looks_like_text(struct slice data)
{
	for (size_t i = 0; i < data.len; i++)
		if ((unsigned char)data.data[i] < ' ' && data.data[i] != '\n' && data.data[i] != '\t' && data.data[i] != '\r')
			return false;
	return utf8_valid(data.data, data.len, NULL);
}

static bool looks_like_message(struct slice data)
{
	struct wire_field at;
	size_t i = 0;
	int got;
	while ((got = wire_next(data, &i, &at)) > 0)
		;
	return got == 0 && data.len > 0;
}

static void put_unknown(struct protobuf_decoder *d, const struct wire_field *at);

static void put_unknown_message(struct protobuf_decoder *d, struct slice message)
{
	struct wire_field at;
	char key[16];
	int shown = 0;
	jout_begin_map(&d->w);
	for (size_t i = 0; shown < UNKNOWN_MAX && wire_next(message, &i, &at) > 0; shown++) {
		snprintf(key, sizeof key, "%u", at.number);
		jout_key(&d->w, key);
		put_unknown(d, &at);
	}
	jout_end_map(&d->w);
}

static void put_unknown(struct protobuf_decoder *d, const struct wire_field *at)
{
	switch (at->type) {
	case WIRE_VARINT:
		put_uint(&d->w, at->value);
		break;
	case WIRE_I64:
		jout_double(&d->w, as_double(at->value));
		break;
	case WIRE_I32:
		jout_double(&d->w, as_float(at->value));
		break;
	case WIRE_LEN:
		if (looks_like_text(at->data) || !looks_like_message(at->data) || d->depth >= PROTOBUF_DEPTH) {
			jout_string(&d->w, at->data);
		} else {
			d->depth++;
			put_unknown_message(d, at->data);
			d->depth--;
		}
	}
}

/* ---- a message ---- */

/* The last occurrence of a field that is not repeated counts. */
static struct wire_field last_of(struct slice message, size_t from, uint32_t number)
{
	struct wire_field at, last = {0};
	while (wire_next(message, &from, &at) > 0)
		if (at.number == number)
			last = at;
	return last;
}

static int put_field(struct protobuf_decoder *d, int type, const struct protobuf_field *f, struct slice message,
                     size_t from)
{
	put_key(&d->w, slice_of(f->name));
	if (f->kind == PB_TENSORS)
		return put_tensors(d, type, f, message, from);
	if (f->repeated || f->map)
		return put_all(d, type, f, message, from);
	struct wire_field last = last_of(message, from, f->number);
	return put_value(d, type, f, f->kind, &last);
}

static bool note_unknown(uint32_t seen[UNKNOWN_MAX], size_t *count, uint32_t number)
{
	for (size_t i = 0; i < *count; i++)
		if (seen[i] == number)
			return false;
	if (*count == UNKNOWN_MAX)
		return false;
	seen[(*count)++] = number;
	return true;
}

/* Writes the fields in the order of their first occurrences. */
static int decode_message(struct protobuf_decoder *d, int type, struct slice message)
{
	const struct protobuf_field *fields = d->p->types[type].fields, *f;
	uint64_t seen = 0;
	uint32_t unknown[UNKNOWN_MAX];
	size_t unknown_count = 0, from = 0;
	struct wire_field at;
	int got;
	if (++d->depth > PROTOBUF_DEPTH)
		return bad(d, type, NULL, "messages are nested too deeply");
	/* check all of it first: nothing is shown of a malformed message */
	while ((got = wire_next(message, &from, &at)) > 0)
		;
	if (got < 0)
		return bad(d, type, NULL, "malformed message");
	jout_begin_map(&d->w);
	for (size_t begin = from = 0; wire_next(message, &from, &at) > 0; begin = from) {
		f = protobuf_by_number(d->p, type, at.number);
		if (!f && note_unknown(unknown, &unknown_count, at.number)) {
			char key[16];
			snprintf(key, sizeof key, "%u", at.number);
			jout_key(&d->w, key);
			put_unknown(d, &at);
		}
		if (!f || seen >> (f - fields) & 1)
			continue;
		seen |= UINT64_C(1) << (f - fields);
		if (put_field(d, type, f, message, begin) < 0)
			return -1;
	}
	jout_end_map(&d->w);
	d->depth--;
	return 0;
}

int protobuf_decode(const struct protobuf_schema *p, int type, struct slice message, struct buffer *out,
                    struct ipf_error *err)
{
	struct protobuf_decoder d = {.p = p, .w = {.out = out}, .err = err};
	if (decode_message(&d, type, message) < 0)
		return -1;
	return out->failed ? ipf_error_memory(err) : 0;
}

/* ---- without a schema ---- */

static void dump_line(const struct wire_field *at, int indent, struct buffer *out)
{
	struct jout w = {.out = out};
	buffer_format(out, "%*s%u", indent, "", at->number);
	switch (at->type) {
	case WIRE_VARINT:
		buffer_format(out, " varint %" PRIu64, at->value);
		break;
	case WIRE_I64:
		buffer_format(out, " 64 bits %" PRIu64 ", as a double %g", at->value, as_double(at->value));
		break;
	case WIRE_I32:
		buffer_format(out, " 32 bits %" PRIu64 ", as a float %g", at->value, as_float(at->value));
		break;
	case WIRE_LEN:
		buffer_format(out, " %zu bytes", at->data.len);
		if (looks_like_text(at->data) || !looks_like_message(at->data)) {
			buffer_byte(out, ' ');
			jout_string(&w, at->data.len > 200 ? (struct slice){at->data.data, 200} : at->data);
		}
	}
	buffer_byte(out, '\n');
}

void protobuf_dump(struct slice message, int indent, struct buffer *out)
{
	struct wire_field at;
	size_t i = 0, begin = 0;
	int got, lines = 0;
	while ((got = wire_next(message, &i, &at)) > 0 && lines++ < UNKNOWN_MAX) {
		dump_line(&at, indent, out);
		if (at.type == WIRE_LEN && !looks_like_text(at.data) && looks_like_message(at.data) &&
		    indent < 2 * PROTOBUF_DEPTH)
			protobuf_dump(at.data, indent + 2, out);
		begin = i;
	}
	if (got < 0)
		buffer_format(out, "%*s%zu malformed bytes\n", indent, "", message.len - begin);
	else if (got > 0)
		buffer_format(out, "%*sand more\n", indent, "");
}
