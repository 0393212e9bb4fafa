#include "parquet/column_writer.h"

#include "parquet/bit_runs.h"

#include <endian.h>

#define PAGE_BYTES       ((size_t)256 << 10) /* a page ends when its values have so many */
#define DICTIONARY_BYTES ((size_t)256 << 10)
#define BOUND_BYTES      64 /* a longer text is in no statistics */

enum { LIST_EMPTY = 1, LIST_VALUE = 2 }; /* definition levels; 0 is null, and a value that is in no list has 1 */

enum physical_type column_type(const struct parquet_column *column)
{
	static const enum physical_type types[] = {[PARQUET_BOOLEAN] = TYPE_BOOLEAN,
	                                           [PARQUET_INTEGER] = TYPE_INT64,
	                                           [PARQUET_TIME] = TYPE_INT64,
	                                           [PARQUET_TEXT] = TYPE_BYTE_ARRAY,
	                                           [PARQUET_JSON] = TYPE_BYTE_ARRAY};
	return types[column->kind];
}

static bool is_text(const struct column_writer *c)
{
	return column_type(c->column) == TYPE_BYTE_ARRAY;
}

void column_writer_init(struct column_writer *c, const struct parquet_column *column, struct page_packer *packer)
{
	*c = (struct column_writer){
		.column = column, .packer = packer, .def = {.width = column->list ? 2 : 1}, .rep = {.width = 1}};
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

static void put_levels(struct run_writer *levels, struct buffer *body)
{
	run_writer_end(levels);
	uint32_t len = htole32((uint32_t)levels->out.len);
	buffer_append(body, &len, sizeof len);
	buffer_slice(body, buffer_all(&levels->out));
	body->failed |= levels->out.failed;
	run_writer_clear(levels);
}

/* The bytes of the value at `at`. */
static struct slice value_at(const struct column_writer *c, size_t at)
{
	const char *value = c->values.data + at;
	uint32_t len;
	if (!is_text(c))
		return (struct slice){value, sizeof(int64_t)};
	memcpy(&len, value, sizeof len);
	return (struct slice){value, sizeof len + le32toh(len)};
}

/* Is a dictionary worth its bytes? Not if most values of the page are new, or if it becomes long. */
static bool pays(const struct column_writer *c, uint32_t count_before)
{
	return c->dictionary.plain.len <= DICTIONARY_BYTES &&
	       2 * (int64_t)(c->dictionary.count - count_before) <= c->present;
}

/* Puts the values of the page into the dictionary, and lists their indexes. False: they do not pay. */
static bool look_up(struct column_writer *c, struct buffer *indexes)
{
	struct value_dictionary *d = &c->dictionary;
	size_t plain = d->plain.len;
	uint32_t count = d->count, index;
	for (size_t at = 0; at < c->values.len && pays(c, count);) {
		struct slice value = value_at(c, at);
		if (!value_dictionary_index(d, value, &index))
			return false;
		buffer_append(indexes, &index, sizeof index);
		at += value.len;
	}
	if (pays(c, count))
		return true;
	d->plain.len = plain; /* its other values are not looked up any more */
	d->count = count;
	return false;
}

static bool put_indexes(struct column_writer *c, struct buffer *body)
{
	struct buffer indexes = {0};
	uint32_t index;
	bool done = look_up(c, &indexes);
	struct run_writer runs = {.width = c->dictionary.count > 1 ? bit_width(c->dictionary.count - 1) : 1};
	for (size_t at = 0; done && at < indexes.len; at += sizeof index) {
		memcpy(&index, indexes.data + at, sizeof index);
		run_writer_put(&runs, index, 1);
	}
	if (done) {
		run_writer_end(&runs);
		buffer_byte(body, (char)runs.width);
		buffer_slice(body, buffer_all(&runs.out));
	}
	body->failed |= runs.out.failed || indexes.failed || c->dictionary.plain.failed;
	buffer_release(&indexes);
	buffer_release(&runs.out);
	return done;
}

static void put_plain(const struct column_writer *c, struct buffer *body)
{
	if (c->column->kind != PARQUET_BOOLEAN) {
		buffer_slice(body, buffer_all(&c->values));
		return;
	}
	for (size_t at = 0; at < c->values.len; at += 8) {
		unsigned bits = 0;
		for (size_t i = at; i < at + 8 && i < c->values.len; i++)
			bits |= (unsigned)c->values.data[i] << (i - at);
		buffer_byte(body, (char)bits);
	}
}

static void end_page(struct column_writer *c)
{
	struct buffer *body = &c->packer->body;
	if (c->entries == 0)
		return;
	buffer_clear(body);
	if (c->column->list)
		put_levels(&c->rep, body);
	put_levels(&c->def, body);
	bool tried = !c->plain && c->column->kind != PARQUET_BOOLEAN && c->present > 0 && !c->values.failed;
	bool indexed = tried && put_indexes(c, body);
	if (!indexed)
		put_plain(c, body);
	c->indexes |= indexed;
	c->plain |= !indexed && c->present > 0;
	body->failed |= c->values.failed;
	c->plain_bytes += page_packer_put(c->packer, PAGE_DATA, indexed ? ENCODING_DICTIONARY : ENCODING_PLAIN, c->entries,
	                                  &c->pages);
	c->all_entries += c->entries;
	c->all_present += c->present;
	c->entries = c->present = 0;
	buffer_clear(&c->values);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void put_entries(struct column_writer *c, uint32_t def, uint32_t rep, int64_t count)
{
	run_writer_put(&c->def, def, (uint64_t)count);
	if (c->column->list)
		run_writer_put(&c->rep, rep, (uint64_t)count);
	c->entries += count;
}

void column_writer_reach(struct column_writer *c, int64_t row)
{
	if (c->rows < row) {
		put_entries(c, 0, 0, row - c->rows);
		c->rows = row;
	}
	if (c->values.len >= PAGE_BYTES && c->list_left == 0)
		end_page(c);
}

static void put_present(struct column_writer *c)
{
	put_entries(c, c->column->list ? LIST_VALUE : 1, c->further, 1);
	c->present++;
	if (c->column->list)
		c->list_left--;
	else
		c->rows++;
	c->further = c->list_left > 0;
}

void column_writer_list(struct column_writer *c, size_t count)
{
	if (count == 0)
		put_entries(c, LIST_EMPTY, 0, 1);
	c->list_left = count;
	c->rows++;
}

void column_writer_integer(struct column_writer *c, int64_t value)
{
	bool first = c->all_present + c->present == 0;
	int64_t plain = (int64_t)htole64((uint64_t)value);
	if (first || value < c->least)
		c->least = value;
	if (first || value > c->most)
		c->most = value;
	put_present(c);
	if (c->column->kind == PARQUET_BOOLEAN)
		buffer_byte(&c->values, (char)value);
	else
		buffer_append(&c->values, &plain, sizeof plain);
}

/* As Parquet orders texts: by their bytes. */
static int compare(struct slice a, struct slice b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.data, b.data, len) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void set_text(struct buffer *to, struct slice value)
{
	buffer_clear(to);
	buffer_slice(to, value);
}

void column_writer_text(struct column_writer *c, struct slice value)
{
	bool first = c->all_present + c->present == 0;
	uint32_t len = htole32((uint32_t)value.len);
	if (first || compare(value, buffer_all(&c->first_text)) < 0)
		set_text(&c->first_text, value);
	if (first || compare(value, buffer_all(&c->last_text)) > 0)
		set_text(&c->last_text, value);
	put_present(c);
	buffer_append(&c->values, &len, sizeof len);
	buffer_slice(&c->values, value);
}

/* ---- the chunk --------------------------------------------------------------------------------------------------- */

static void put_bound(const struct column_writer *c, int id, int64_t integer, const struct buffer *text,
                      struct thrift_writer *w)
{
	int64_t plain = (int64_t)htole64((uint64_t)integer);
	struct slice bound = {(const char *)&plain, c->column->kind == PARQUET_BOOLEAN ? 1 : sizeof plain};
	if (is_text(c))
		bound = buffer_all(text);
	if (bound.len <= BOUND_BYTES)
		thrift_put_binary(w, id, bound);
}

static void put_statistics(const struct column_writer *c, struct thrift_writer *w)
{
	thrift_put_struct(w, 12);
	thrift_put_integer(w, 3, THRIFT_I64, c->all_entries - c->all_present);
	if (c->all_present > 0) {
		put_bound(c, 5, c->most, &c->last_text, w);
		put_bound(c, 6, c->least, &c->first_text, w);
	}
	thrift_end_struct(w);
}

static void put_path(const struct column_writer *c, struct thrift_writer *w)
{
	thrift_put_list(w, 3, THRIFT_BINARY, c->column->list ? 3 : 1);
	thrift_put_binary(w, 0, slice_of(c->column->name));
	if (c->column->list) {
		thrift_put_binary(w, 0, slice_of(PARQUET_LIST_GROUP));
		thrift_put_binary(w, 0, slice_of(PARQUET_LIST_ELEMENT));
	}
}

/* `dictionary`: the bytes of its page, which comes first. */
static void put_description(const struct column_writer *c, int64_t offset, size_t dictionary, struct thrift_writer *w)
{
	thrift_put_struct(w, 0);
	thrift_put_integer(w, 2, THRIFT_I64, 0); /* required, and of no use */
	thrift_put_struct(w, 3);
	thrift_put_integer(w, 1, THRIFT_I32, column_type(c->column));
	thrift_put_list(w, 2, THRIFT_I32, c->indexes ? 3 : 2);
	thrift_put_integer(w, 0, THRIFT_I32, ENCODING_RLE);
	thrift_put_integer(w, 0, THRIFT_I32, ENCODING_PLAIN);
	if (c->indexes)
		thrift_put_integer(w, 0, THRIFT_I32, ENCODING_DICTIONARY);
	put_path(c, w);
	thrift_put_integer(w, 4, THRIFT_I32, CODEC_ZSTD);
	thrift_put_integer(w, 5, THRIFT_I64, c->all_entries);
	thrift_put_integer(w, 6, THRIFT_I64, (int64_t)c->plain_bytes);
	thrift_put_integer(w, 7, THRIFT_I64, (int64_t)(dictionary + c->pages.len));
	thrift_put_integer(w, 9, THRIFT_I64, offset + (int64_t)dictionary);
	if (dictionary)
		thrift_put_integer(w, 11, THRIFT_I64, offset);
	put_statistics(c, w);
	thrift_end_struct(w);
	thrift_end_struct(w);
}

static void begin_anew(struct column_writer *c)
{
	c->rows = 0;
	buffer_clear(&c->pages);
	c->plain_bytes = 0;
	c->all_entries = c->all_present = 0;
	value_dictionary_clear(&c->dictionary);
	c->indexes = c->plain = false;
}

size_t column_writer_flush(struct column_writer *c, int64_t offset, struct buffer *out, struct thrift_writer *footer)
{
	size_t begin = out->len;
	end_page(c);
	if (c->indexes) {
		buffer_slice(&c->packer->body, buffer_all(&c->dictionary.plain));
		c->plain_bytes += page_packer_put(c->packer, PAGE_DICTIONARY, ENCODING_PLAIN, (int64_t)c->dictionary.count,
		                                  out);
	}
	put_description(c, offset, out->len - begin, footer);
	buffer_slice(out, buffer_all(&c->pages));
	out->failed |= c->pages.failed || c->first_text.failed || c->last_text.failed;
	size_t plain = c->plain_bytes;
	begin_anew(c);
	return plain;
}

void column_writer_release(struct column_writer *c)
{
	struct buffer *buffers[] = {&c->def.out, &c->rep.out, &c->values, &c->pages, &c->first_text, &c->last_text};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
	value_dictionary_release(&c->dictionary);
}
