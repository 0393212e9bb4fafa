#include "protobuf/protobuf_schema.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const protobuf_scalars[PB_SCALARS] = {
	"double",  "float",   "int64",    "uint64",   "int32", "uint32", "sint64", "sint32",
	"fixed64", "fixed32", "sfixed64", "sfixed32", "bool",  "string", "bytes",
};

/* ---- looking up ---- */

const struct protobuf_field *protobuf_by_number(const struct protobuf_schema *p, int type, uint32_t number)
{
	const struct protobuf_type *t = &p->types[type];
	for (size_t i = 0; i < t->count; i++)
		if (t->fields[i].number == number)
			return &t->fields[i];
	return NULL;
}

const struct protobuf_field *protobuf_by_name(const struct protobuf_schema *p, int type, const char *name, size_t len)
{
	const struct protobuf_type *t = &p->types[type];
	for (size_t i = 0; i < t->count; i++)
		if (!strncmp(t->fields[i].name, name, len) && !t->fields[i].name[len])
			return &t->fields[i];
	return NULL;
}

const char *protobuf_type_name(const struct protobuf_schema *p, int type)
{
	return p->types[type].name;
}

bool protobuf_field_shape(const struct protobuf_schema *p, int type, const char *name, struct protobuf_shape *shape)
{
	const struct protobuf_field *f = protobuf_by_name(p, type, name, strlen(name));
	if (f)
		*shape = (struct protobuf_shape){
			.message = f->kind == PB_MESSAGE ? f->type : -1, .repeated = f->repeated, .map = f->map};
	return f != NULL;
}

int protobuf_message_type(const struct protobuf_schema *p, const char *name)
{
	for (size_t i = 0; i < p->types_count; i++)
		if (!strcmp(p->types[i].name, name))
			return (int)i;
	return -1;
}

enum wire_type protobuf_wire_type(enum protobuf_kind kind)
{
	switch (kind) {
	case PB_DOUBLE:
	case PB_FIXED64:
	case PB_SFIXED64:
		return WIRE_I64;
	case PB_FLOAT:
	case PB_FIXED32:
	case PB_SFIXED32:
		return WIRE_I32;
	case PB_INT64:
	case PB_UINT64:
	case PB_INT32:
	case PB_UINT32:
	case PB_SINT64:
	case PB_SINT32:
	case PB_BOOL:
	case PB_ENUM:
		return WIRE_VARINT;
	case PB_STRING:
	case PB_BYTES:
	case PB_MESSAGE:
	case PB_TENSORS:
		break;
	}
	return WIRE_LEN;
}

/* ---- parsing a field: "repeated string = 4" ---- */

struct schema_compiler {
	struct protobuf_schema *p;
	const char *file;
	struct ipf_error *err;
};

static int field_error(struct schema_compiler *c, const struct protobuf_type *type, const char *name,
                       const char *wanted, json_t *got)
{
	char *text = got ? json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
	ipf_error_at(c->err, IPF_INPUT, c->file, 0, "grpc.messages.%s.%s: expected %s, got %.80s", type->name, name, wanted,
	             text ? text : "nothing");
	free(text);
	return -1;
}

static int scalar(const char *text, size_t len)
{
	for (int i = 0; i < PB_SCALARS; i++)
		if (strlen(protobuf_scalars[i]) == len && !strncmp(protobuf_scalars[i], text, len))
			return i;
	return -1;
}

/* Finds a type by its name: a scalar, an enum or a message. */
static bool find_type(const struct protobuf_schema *p, struct protobuf_field *f, const char *text, size_t len)
{
	int found = scalar(text, len);
	f->type = -1;
	f->kind = (enum protobuf_kind)found;
	for (size_t i = 0; found < 0 && i < p->enums_count; i++)
		if (strlen(p->enums[i].name) == len && !strncmp(p->enums[i].name, text, len)) {
			f->kind = PB_ENUM;
			f->type = found = (int)i;
		}
	for (size_t i = 0; found < 0 && i < p->types_count; i++)
		if (strlen(p->types[i].name) == len && !strncmp(p->types[i].name, text, len)) {
			f->kind = PB_MESSAGE;
			f->type = found = (int)i;
		}
	return found >= 0;
}

static bool keys_a_map(enum protobuf_kind kind)
{
	return kind != PB_DOUBLE && kind != PB_FLOAT && kind != PB_BYTES && kind < PB_SCALARS;
}

/* Parses "map<KEY, TYPE>", "tensors(FIELD)" or the name of a type. Returns the end of it, or NULL. */
static const char *parse_type(const struct protobuf_schema *p, struct protobuf_field *f, const char *text)
{
	size_t len;
	if (!strncmp(text, "map<", 4)) {
		text += 4;
		len = strcspn(text, ",");
		int key = scalar(text, len);
		if (!text[len] || key < 0 || !keys_a_map((enum protobuf_kind)key))
			return NULL;
		text += len + 1 + strspn(text + len + 1, " ");
		len = strcspn(text, ">");
		f->map = true;
		f->map_key = (enum protobuf_kind)key;
		return text[len] && find_type(p, f, text, len) ? text + len + 1 : NULL;
	}
	if (!strncmp(text, "tensors(", 8)) {
		len = strcspn(text + 8, ")");
		f->kind = PB_TENSORS;
		f->of = strndup(text + 8, len);
		return text[8 + len] ? text + 8 + len + 1 : NULL;
	}
	len = strcspn(text, " ");
	return find_type(p, f, text, len) ? text + len : NULL;
}

static const char *skip_word(const char *text, const char *word)
{
	size_t len = strlen(word);
	return strncmp(text, word, len) ? text : text + len;
}

static bool parse_field(const struct protobuf_schema *p, struct protobuf_field *f, const char *text)
{
	const char *begin = skip_word(text, "repeated ");
	char *rest;
	f->repeated = begin != text;
	begin = skip_word(begin, "optional ");
	const char *end = parse_type(p, f, begin);
	if (!end || strncmp(end, " = ", 3) != 0 || !isdigit((unsigned char)end[3]))
		return false;
	f->type_name = strndup(begin, (size_t)(end - begin));
	unsigned long number = strtoul(end + 3, &rest, 10);
	f->number = number > 0x1fffffff ? 0 : (uint32_t)number;
	f->packed = f->repeated && protobuf_wire_type(f->kind) != WIRE_LEN && strcmp(rest, " [packed=false]") != 0;
	return f->number && f->type_name && (!*rest || !strcmp(rest, " [packed=false]")) && !(f->map && f->repeated);
}

/* The field a "tensors(FIELD)" names must be a repeated message with the tensors' names and data types. */
static int check_tensors(struct schema_compiler *c, const struct protobuf_type *t, int type)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct protobuf_field *f = &t->fields[i], *of, *name, *datatype;
		if (f->kind != PB_TENSORS)
			continue;
		of = f->of ? protobuf_by_name(c->p, type, f->of, strlen(f->of)) : NULL;
		bool message = of && of->kind == PB_MESSAGE && of->repeated;
		name = message ? protobuf_by_name(c->p, of->type, "name", 4) : NULL;
		datatype = message ? protobuf_by_name(c->p, of->type, "datatype", 8) : NULL;
		if (!name || !datatype || name->kind != PB_STRING || datatype->kind != PB_STRING)
			return ipf_error_at(c->err, IPF_INPUT, c->file, 0,
			                    "grpc.messages.%s.%s: expected the name of a repeated message "
			                    "with string fields name and datatype, got \"%s\"",
			                    t->name, f->name, f->of ? f->of : "");
	}
	return 0;
}

/* ---- compiling a description ---- */

static int add_enums(struct schema_compiler *c, json_t *enums)
{
	const char *name, *word;
	json_t *words, *number;
	c->p->enums = calloc(json_object_size(enums) + 1, sizeof *c->p->enums);
	if (!c->p->enums)
		return ipf_error_memory(c->err);
	json_object_foreach(enums, name, words)
	{
		struct protobuf_enum *e = &c->p->enums[c->p->enums_count++];
		e->name = strdup(name);
		e->words = calloc(json_object_size(words) + 1, sizeof *e->words);
		if (!e->name || !e->words)
			return ipf_error_memory(c->err);
		if (!json_is_object(words))
			return ipf_error_at(c->err, IPF_INPUT, c->file, 0, "grpc.enums.%s: expected an object of numbers", name);
		json_object_foreach(words, word, number)
		{
			if (!json_is_integer(number))
				return ipf_error_at(c->err, IPF_INPUT, c->file, 0, "grpc.enums.%s.%s: expected an integer", name, word);
			e->words[e->count] = (struct protobuf_word){.name = strdup(word), .number = json_integer_value(number)};
			if (!e->words[e->count++].name)
				return ipf_error_memory(c->err);
		}
	}
	return 0;
}

static int add_fields(struct schema_compiler *c, int type, json_t *fields)
{
	struct protobuf_type *t = &c->p->types[type];
	const char *name;
	json_t *spec;
	if (json_object_size(fields) > PROTOBUF_FIELDS)
		return ipf_error_at(c->err, IPF_INPUT, c->file, 0,
		                    "grpc.messages.%s: expected at most %d fields, got %zu: describe only those that are used",
		                    t->name, PROTOBUF_FIELDS, json_object_size(fields));
	t->fields = calloc(json_object_size(fields) + 1, sizeof *t->fields);
	if (!t->fields)
		return ipf_error_memory(c->err);
	json_object_foreach(fields, name, spec)
	{
		struct protobuf_field *f = &t->fields[t->count++];
		f->name = strdup(name);
		if (!f->name)
			return ipf_error_memory(c->err);
		if (!json_is_string(spec) || !parse_field(c->p, f, json_string_value(spec)))
			return field_error(c, t, name, "a known type and a number, such as \"repeated string = 4\"", spec);
		for (size_t i = 0; i + 1 < t->count; i++)
			if (t->fields[i].number == f->number)
				return field_error(c, t, name, "a field number that no other field has", spec);
	}
	return 0;
}

static int add_types(struct schema_compiler *c, json_t *messages)
{
	struct protobuf_schema *p = c->p;
	const char *name;
	json_t *fields;
	int type = 0;
	if (!json_is_object(messages) || !json_object_size(messages))
		return ipf_error_at(c->err, IPF_INPUT, c->file, 0, "grpc.messages: expected an object of message types");
	p->types = calloc(json_object_size(messages), sizeof *p->types);
	if (!p->types)
		return ipf_error_memory(c->err);
	/* all names first, since fields refer to any of the types */
	json_object_foreach(messages, name, fields)
	{
		p->types[p->types_count].name = strdup(name);
		if (!p->types[p->types_count++].name)
			return ipf_error_memory(c->err);
		if (!json_is_object(fields))
			return ipf_error_at(c->err, IPF_INPUT, c->file, 0, "grpc.messages.%s: expected an object of fields", name);
	}
	json_object_foreach(messages, name, fields) if (add_fields(c, type++, fields) < 0) return -1;
	for (type = 0; type < (int)p->types_count; type++)
		if (check_tensors(c, &p->types[type], type) < 0)
			return -1;
	return 0;
}

int protobuf_schema_new(struct protobuf_schema **schema, json_t *description, const char *file, struct ipf_error *err)
{
	struct schema_compiler c = {.p = calloc(1, sizeof(struct protobuf_schema)), .file = file, .err = err};
	*schema = NULL;
	if (!c.p)
		return ipf_error_memory(err);
	if (add_enums(&c, json_object_get(description, "enums")) < 0 ||
	    add_types(&c, json_object_get(description, "messages")) < 0) {
		protobuf_schema_free(c.p);
		return -1;
	}
	*schema = c.p;
	return 0;
}

void protobuf_schema_free(struct protobuf_schema *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->types_count; i++) {
		for (size_t k = 0; k < p->types[i].count; k++) {
			free(p->types[i].fields[k].name);
			free(p->types[i].fields[k].of);
			free(p->types[i].fields[k].type_name);
		}
		free(p->types[i].fields);
		free(p->types[i].name);
	}
	for (size_t i = 0; i < p->enums_count; i++) {
		for (size_t k = 0; k < p->enums[i].count; k++)
			free(p->enums[i].words[k].name);
		free(p->enums[i].words);
		free(p->enums[i].name);
	}
	free(p->types);
	free(p->enums);
	free(p);
}

/* ---- showing a place ---- */

void protobuf_field_path(const struct protobuf_schema *p, int type, const char *pointer, struct buffer *out)
{
	const struct protobuf_field *f = NULL;
	bool first = true, inside_map = false;
	for (; *pointer; pointer += 1 + strcspn(pointer + 1, "/")) {
		size_t len = strcspn(pointer + 1, "/");
		bool element = f && (inside_map || f->repeated) && pointer[1] == '*' && len == 1;
		if (element || inside_map || (f && f->kind == PB_TENSORS)) {
			inside_map = false;
			continue;
		}
		if (f)
			type = f->kind == PB_MESSAGE ? f->type : -1;
		f = type < 0 ? NULL : protobuf_by_name(p, type, pointer + 1, len);
		if (!f) {
			buffer_text(out, first ? "not described" : ", not described");
			return;
		}
		buffer_format(out, first ? "%u" : ".%u", f->number);
		inside_map = f->map;
		first = false;
	}
	if (f)
		buffer_format(out, " %s%s", f->repeated ? "repeated " : "", f->type_name);
}
