#include "parquet/thrift.h"

#define DEPTH_MAX 64 /* depth of skipped values */

static void fault(struct thrift *t, enum thrift_fault what)
{
	if (!t->fault)
		t->fault = what;
	t->at = t->end;
}

static unsigned char next_byte(struct thrift *t)
{
	if (t->at < t->end)
		return *t->at++;
	fault(t, THRIFT_CUT);
	return 0;
}

static uint64_t varint(struct thrift *t)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 70; shift += 7) {
		unsigned char byte = next_byte(t);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	fault(t, THRIFT_WRONG);
	return 0;
}

static int64_t zigzag(struct thrift *t)
{
	uint64_t value = varint(t);
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

bool thrift_next(struct thrift *t, struct thrift_field *f)
{
	unsigned char byte = next_byte(t);
	if (byte == 0) /* the end, or a fault */
		return false;
	int64_t delta = byte >> 4, before = f->id;
	f->type = byte & 15;
	f->id = delta ? before + delta : zigzag(t);
	if (f->id < INT16_MIN || f->id > INT16_MAX || f->type == 0 || f->type > THRIFT_STRUCT)
		fault(t, THRIFT_WRONG);
	return !t->fault;
}

int64_t thrift_integer(struct thrift *t, int type)
{
	if (type == THRIFT_BYTE)
		return (int8_t)next_byte(t);
	if (type >= THRIFT_I16 && type <= THRIFT_I64)
		return zigzag(t);
	fault(t, THRIFT_WRONG);
	return 0;
}

bool thrift_bool(struct thrift *t, int type)
{
	if (type != THRIFT_TRUE && type != THRIFT_FALSE)
		fault(t, THRIFT_WRONG);
	return type == THRIFT_TRUE && !t->fault;
}

struct slice thrift_binary(struct thrift *t, int type)
{
	uint64_t len = type == THRIFT_BINARY ? varint(t) : 0;
	const char *bytes = (const char *)t->at;
	if (type != THRIFT_BINARY)
		fault(t, THRIFT_WRONG);
	else if (len > (size_t)(t->end - t->at))
		fault(t, THRIFT_CUT);
	if (t->fault)
		return (struct slice){"", 0};
	t->at += len;
	return (struct slice){bytes, (size_t)len};
}

/* The head of a list or a set. */
static size_t list_head(struct thrift *t, int *element_type)
{
	unsigned char byte = next_byte(t);
	uint64_t count = byte >> 4 == 15 ? varint(t) : byte >> 4;
	*element_type = byte & 15;
	if (count > (size_t)(t->end - t->at))
		fault(t, THRIFT_CUT);
	return t->fault ? 0 : (size_t)count;
}

size_t thrift_list(struct thrift *t, int type, int element_type)
{
	int got;
	if (type != THRIFT_LIST)
		fault(t, THRIFT_WRONG);
	size_t count = list_head(t, &got);
	if (count && got != element_type)
		fault(t, THRIFT_WRONG);
	return t->fault ? 0 : count;
}

void thrift_struct(struct thrift *t, int type)
{
	if (type != THRIFT_STRUCT)
		fault(t, THRIFT_WRONG);
}

static void skip(struct thrift *t, int type, int depth);

static void skip_elements(struct thrift *t, size_t count, int type, int depth)
{
	/* a bool is in the type of a field, but a byte in a list */
	for (size_t i = 0; i < count && !t->fault; i++)
		skip(t, type == THRIFT_TRUE || type == THRIFT_FALSE ? THRIFT_BYTE : type, depth);
}

static void skip_map(struct thrift *t, int depth)
{
	uint64_t count = varint(t);
	if (!count)
		return;
	unsigned char types = next_byte(t);
	if (count > (size_t)(t->end - t->at))
		fault(t, THRIFT_CUT);
	for (uint64_t i = 0; i < count && !t->fault; i++) {
		skip_elements(t, 1, types >> 4, depth);
		skip_elements(t, 1, types & 15, depth);
	}
}

static void skip(struct thrift *t, int type, int depth)
{
	int element_type;
	size_t count;
	if (depth > DEPTH_MAX)
		fault(t, THRIFT_WRONG);
	switch (type) {
	case THRIFT_TRUE:
	case THRIFT_FALSE:
		break;
	case THRIFT_BYTE:
		next_byte(t);
		break;
	case THRIFT_I16:
	case THRIFT_I32:
	case THRIFT_I64:
		varint(t);
		break;
	case THRIFT_DOUBLE:
		if (t->end - t->at < 8)
			fault(t, THRIFT_CUT);
		else
			t->at += 8;
		break;
	case THRIFT_BINARY:
		thrift_binary(t, type);
		break;
	case THRIFT_LIST:
	case THRIFT_SET:
		count = list_head(t, &element_type);
		skip_elements(t, count, element_type, depth + 1);
		break;
	case THRIFT_MAP:
		skip_map(t, depth + 1);
		break;
	case THRIFT_STRUCT:
		for (struct thrift_field f = {0}; thrift_next(t, &f);)
			skip(t, f.type, depth + 1);
		break;
	default:
		fault(t, THRIFT_WRONG);
	}
}

void thrift_skip(struct thrift *t, int type)
{
	skip(t, type, 0);
}
