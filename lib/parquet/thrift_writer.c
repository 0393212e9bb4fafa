#include "parquet/thrift_writer.h"

#include <assert.h>

static void put_varint(struct buffer *out, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		buffer_byte(out, (char)(value | 0x80));
	buffer_byte(out, (char)value);
}

static void put_head(struct thrift_writer *w, int id, int type)
{
	if (id == 0)
		return;
	int *last = &w->last[w->depth - 1], delta = id - *last;
	assert(delta > 0 && delta < 16);
	buffer_byte(w->out, (char)(delta << 4 | type));
	*last = id;
}

void thrift_put_integer(struct thrift_writer *w, int id, int type, int64_t value)
{
	put_head(w, id, type);
	put_varint(w->out, (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

void thrift_put_bool(struct thrift_writer *w, int id, bool value)
{
	put_head(w, id, value ? THRIFT_TRUE : THRIFT_FALSE);
}

void thrift_put_binary(struct thrift_writer *w, int id, struct slice bytes)
{
	put_head(w, id, THRIFT_BINARY);
	put_varint(w->out, bytes.len);
	buffer_append(w->out, bytes.data, bytes.len);
}

void thrift_put_list(struct thrift_writer *w, int id, int element_type, size_t count)
{
	put_head(w, id, THRIFT_LIST);
	buffer_byte(w->out, (char)((count < 15 ? count : 15) << 4 | (unsigned)element_type));
	if (count >= 15)
		put_varint(w->out, count);
}

void thrift_put_struct(struct thrift_writer *w, int id)
{
	put_head(w, id, THRIFT_STRUCT);
	assert(w->depth < THRIFT_WRITER_DEPTH);
	w->last[w->depth++] = 0;
}

void thrift_end_struct(struct thrift_writer *w)
{
	buffer_byte(w->out, 0);
	w->depth--;
}
