#include "parquet/column_reader.h"

#include "parquet/page_header.h"

#include <endian.h>

#define HEADER_FIRST ((int64_t)1 << 10) /* bytes read of a page's header at first, and at most */
#define HEADER_MAX   ((int64_t)4 << 20)
#define BEGIN        4 /* the file begins with its kind */

int column_reader_wrong(const struct column_reader *c, struct ipf_error *err, enum ipf_error_kind kind, const char *why)
{
	if (c->page == 0)
		return ipf_error_set(err, kind, "column %s, row group %zu: %s", c->column->path, c->group, why);
	return ipf_error_set(err, kind, "column %s, row group %zu, page %lld: %s", c->column->path, c->group,
	                     (long long)c->page, why);
}

/* ---- pages ------------------------------------------------------------------------------------------------------- */

/* Reads the header of the page at c->at and goes behind it. */
static int read_header(struct column_reader *c, struct page_header *h, struct ipf_error *err)
{
	int64_t there = c->end - c->at;
	struct thrift t = {.fault = THRIFT_CUT};
	for (int64_t want = HEADER_FIRST; t.fault == THRIFT_CUT; want *= 8) {
		int64_t len = want < there ? want : there;
		if (page_file_read(c->file, &c->file->packed, c->at, (size_t)len, err) < 0)
			return -1;
		t = (struct thrift){.at = c->file->packed.bytes, .end = c->file->packed.bytes + len};
		page_header_read(&t, h);
		if (t.fault == THRIFT_WRONG || (t.fault && (len == there || want >= HEADER_MAX)))
			return ipf_error_set(err, IPF_INPUT, "the header of the page is malformed");
	}
	c->at += t.at - c->file->packed.bytes;
	if (h->bytes < 0 || h->bytes > c->end - c->at)
		return ipf_error_set(err, IPF_INPUT, "the page has %lld bytes, and %lld are left of its column",
		                     (long long)h->bytes, (long long)(c->end - c->at));
	if ((size_t)h->bytes > PAGE_MAX || h->size < 0 || (size_t)h->size > PAGE_MAX)
		return ipf_error_set(err, IPF_INPUT, "the page has %lld bytes; at most %zu MiB are read",
		                     (long long)(h->size < h->bytes ? h->bytes : h->size), PAGE_MAX >> 20);
	return 0;
}

/* Reads the bytes of a page, of which the first `plain` are never compressed, and goes behind them. */
static int read_page(struct column_reader *c, const struct page_header *h, struct page_memory *to, size_t plain,
                     struct ipf_error *err)
{
	size_t bytes = (size_t)h->bytes, size = (size_t)h->size;
	bool packed = c->codec != 0 && !h->plain;
	if (!packed && bytes != size)
		return ipf_error_set(err, IPF_INPUT, "the page is not compressed and has %zu bytes, not %zu", bytes, size);
	if (page_file_read(c->file, packed ? &c->file->packed : to, c->at, bytes, err) < 0)
		return -1;
	c->at += h->bytes;
	if (!packed)
		return 0;
	if (page_memory_reserve(c->file, to, size + 1, err) < 0)
		return -1;
	memcpy(to->bytes, c->file->packed.bytes, plain);
	struct slice rest = {(const char *)c->file->packed.bytes + plain, bytes - plain};
	return page_file_decompress(c->file, c->codec, rest, to->bytes + plain, size - plain, err);
}

/* ---- dictionaries ------------------------------------------------------------------------------------------------ */

/* Writes the values of the dictionary as JSON; the lengths are in the array. */
static int write_dictionary(struct column_reader *c, struct slice bytes, struct slice *texts, struct ipf_error *err)
{
	struct page_values values = {.type = c->column->type, .length = c->column->length, .file = c->file};
	union parquet_value part[VALUES_MAX];
	if (page_values_begin(&values, ENCODING_PLAIN, bytes, err) < 0)
		return -1;
	for (size_t i = 0; i < c->dictionary_count; i += VALUES_MAX) {
		size_t count = c->dictionary_count - i < VALUES_MAX ? c->dictionary_count - i : VALUES_MAX;
		if (page_values_read(&values, part, count, err) < 0)
			return -1;
		for (size_t k = 0; k < count; k++) {
			size_t before = c->text.len;
			value_json(&c->column->value, part[k], &c->text);
			texts[i + k].len = c->text.len - before;
		}
	}
	return c->text.failed ? ipf_error_memory(err) : 0;
}

static int read_dictionary(struct column_reader *c, const struct page_header *h, struct ipf_error *err)
{
	size_t width = c->column->type == TYPE_FIXED || c->column->type == TYPE_INT96 ? c->column->length : 4;
	if (c->has_dictionary || c->column->type == TYPE_BOOLEAN)
		return ipf_error_set(err, IPF_INPUT, "an unexpected dictionary");
	if ((size_t)h->size > DICTIONARY_MAX)
		return ipf_error_set(err, IPF_INPUT, "the dictionary has %lld bytes; at most %zu MiB are read",
		                     (long long)h->size, DICTIONARY_MAX >> 20);
	if (h->encoding != ENCODING_PLAIN && h->encoding != ENCODING_PLAIN_DICTIONARY)
		return ipf_error_set(err, IPF_INPUT, "the encoding of its dictionary is not supported");
	if (h->values < 0 || (size_t)h->values > (size_t)h->size / width)
		return ipf_error_set(err, IPF_INPUT, "the dictionary of %lld bytes cannot have %lld values", (long long)h->size,
		                     (long long)h->values);
	c->dictionary_count = (size_t)h->values;
	buffer_clear(&c->text);
	if (read_page(c, h, &c->dictionary_page, 0, err) < 0 ||
	    page_memory_reserve(c->file, &c->dictionary, (c->dictionary_count + 1) * sizeof(struct slice), err) < 0)
		return -1;
	struct slice *texts = (void *)c->dictionary.bytes, page = {(const char *)c->dictionary_page.bytes, (size_t)h->size};
	if (write_dictionary(c, page, texts, err) < 0)
		return -1;
	const char *at = c->text.data;
	for (size_t i = 0; i < c->dictionary_count; at += texts[i++].len)
		texts[i].data = at;
	page_memory_release(c->file, &c->dictionary_page);
	if (c->text.cap - c->text_held > PAGES_MAX - c->file->held)
		return ipf_error_set(err, IPF_INPUT, "the dictionary takes too much memory as JSON");
	c->file->held += c->text.cap - c->text_held;
	c->text_held = c->text.cap;
	c->has_dictionary = true;
	return 0;
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

/* Takes levels from the front of a page, as pages of the first version have them. */
static int take_levels(struct bit_runs *runs, unsigned most, int64_t encoding, size_t count, struct slice *bytes)
{
	unsigned width = bit_width(most);
	size_t head = 0, len = 0;
	if (most == 0) {
		bit_runs_begin(runs, (struct slice){bytes->data, 0}, 0);
		return 0;
	}
	if (encoding == ENCODING_RLE) {
		uint32_t word = 0;
		head = 4;
		if (bytes->len >= head)
			memcpy(&word, bytes->data, head);
		len = le32toh(word);
	} else if (encoding == ENCODING_BIT_PACKED) {
		len = (count * width + 7) / 8;
	} else {
		return -1;
	}
	if (head > bytes->len || len > bytes->len - head)
		return -1;
	struct slice levels = {bytes->data + head, len};
	*bytes = (struct slice){levels.data + len, bytes->len - head - len};
	if (encoding == ENCODING_RLE)
		bit_runs_begin(runs, levels, width);
	else
		bit_runs_begin_packed(runs, levels, width, true);
	return 0;
}

static int begin_values(struct column_reader *c, const struct page_header *h, struct slice bytes, struct ipf_error *err)
{
	c->left = h->values;
	c->values_left -= h->values;
	c->is_text = h->encoding == ENCODING_DICTIONARY || h->encoding == ENCODING_PLAIN_DICTIONARY;
	c->values.dictionary = c->has_dictionary ? (const void *)c->dictionary.bytes : NULL;
	c->values.dictionary_count = c->has_dictionary ? c->dictionary_count : 0;
	return page_values_begin(&c->values, h->encoding, bytes, err);
}

static int read_data(struct column_reader *c, const struct page_header *h, struct ipf_error *err)
{
	if (read_page(c, h, &c->bytes, 0, err) < 0)
		return -1;
	struct slice bytes = {(const char *)c->bytes.bytes, (size_t)h->size};
	if (take_levels(&c->rep, c->column->rep, h->rep_encoding, (size_t)h->values, &bytes) < 0 ||
	    take_levels(&c->def, c->column->def, h->def_encoding, (size_t)h->values, &bytes) < 0)
		return ipf_error_set(err, IPF_INPUT, "the levels of the page are malformed");
	return begin_values(c, h, bytes, err);
}

static int read_data_v2(struct column_reader *c, const struct page_header *h, struct ipf_error *err)
{
	int64_t most = h->bytes < h->size ? h->bytes : h->size;
	if (h->rep_bytes < 0 || h->def_bytes < 0 || h->rep_bytes > most || h->def_bytes > most - h->rep_bytes)
		return ipf_error_set(err, IPF_INPUT, "the levels of the page are malformed");
	size_t rep = (size_t)h->rep_bytes, def = (size_t)h->def_bytes;
	if (read_page(c, h, &c->bytes, rep + def, err) < 0)
		return -1;
	const char *bytes = (const char *)c->bytes.bytes;
	bit_runs_begin(&c->rep, (struct slice){bytes, rep}, bit_width(c->column->rep));
	bit_runs_begin(&c->def, (struct slice){bytes + rep, def}, bit_width(c->column->def));
	return begin_values(c, h, (struct slice){bytes + rep + def, (size_t)h->size - rep - def}, err);
}

/* Goes to the next page with values: 1, 0 at the end, -1. */
static int next_page(struct column_reader *c, struct ipf_error *err)
{
	while (c->left == 0 && c->values_left > 0) {
		struct page_header h;
		int status = 0;
		c->page++;
		if (c->at >= c->end)
			return ipf_error_set(err, IPF_INPUT, "the pages end before the last %lld values of the column",
			                     (long long)c->values_left);
		if (read_header(c, &h, err) < 0)
			return -1;
		if ((h.kind == PAGE_DATA || h.kind == PAGE_DATA_V2) && (h.values < 0 || h.values > c->values_left))
			return ipf_error_set(err, IPF_INPUT, "the page has %lld values, and %lld are left of its column",
			                     (long long)h.values, (long long)c->values_left);
		if (h.kind == PAGE_DICTIONARY)
			status = read_dictionary(c, &h, err);
		else if (h.kind == PAGE_DATA)
			status = read_data(c, &h, err);
		else if (h.kind == PAGE_DATA_V2)
			status = read_data_v2(c, &h, err);
		else
			c->at += h.bytes; /* an index, or a kind coming later */
		if (status < 0)
			return -1;
	}
	return c->left > 0;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static int read_levels(struct bit_runs *runs, uint8_t *to, size_t count, unsigned most, struct ipf_error *err)
{
	uint8_t highest = 0;
	if (bit_runs_levels(runs, to, count) < count)
		return ipf_error_set(err, IPF_INPUT, "the page has fewer levels than values");
	for (size_t i = 0; i < count; i++)
		highest = to[i] > highest ? to[i] : highest;
	if (highest > most)
		return ipf_error_set(err, IPF_INPUT, "a level is %u, and the highest possible is %u", highest, most);
	return 0;
}

static int decode(struct column_reader *c, struct ipf_error *err)
{
	int got = next_page(c, err);
	if (got <= 0)
		return got;
	size_t count = c->left < VALUES_MAX ? (size_t)c->left : VALUES_MAX, there = 0;
	if (read_levels(&c->rep, c->reps, count, c->column->rep, err) < 0 ||
	    read_levels(&c->def, c->defs, count, c->column->def, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		there += c->defs[i] == c->column->def;
	if (page_values_read(&c->values, c->decoded, there, err) < 0)
		return -1;
	c->count = count;
	c->entry = c->value = 0;
	c->left -= (int64_t)count;
	return 1;
}

int column_reader_more(struct column_reader *c, struct ipf_error *err)
{
	struct ipf_error why = {0};
	int got = decode(c, &why);
	if (got < 0 && why.kind == IPF_SYSTEM)
		*err = why;
	else if (got < 0)
		column_reader_wrong(c, err, why.kind, why.text);
	return got;
}

void column_reader_take(struct column_reader *c, struct buffer *out)
{
	if (c->defs[c->entry++] != c->column->def)
		buffer_append(out, "null", 4);
	else if (c->is_text)
		buffer_slice(out, c->decoded[c->value++].bytes);
	else
		value_json(&c->column->value, c->decoded[c->value++], out);
}

int column_reader_begin(struct column_reader *c, const struct column_chunk *chunk, size_t group, struct ipf_error *err)
{
	int64_t from = chunk->dictionary_page > 0 && chunk->dictionary_page < chunk->data_page ? chunk->dictionary_page
	                                                                                       : chunk->data_page;
	c->group = group;
	c->page = c->left = 0;
	c->count = c->entry = c->value = 0;
	c->has_dictionary = false;
	c->values.type = c->column->type;
	c->values.length = c->column->length;
	c->values.file = c->file;
	if (chunk->encrypted)
		return column_reader_wrong(c, err, IPF_INPUT, "it is encrypted, which is not supported");
	if (chunk->elsewhere)
		return column_reader_wrong(c, err, IPF_INPUT, "it is in another file, which is not supported");
	if (!chunk->described || chunk->type != (int64_t)c->column->type)
		return column_reader_wrong(c, err, IPF_INPUT, "its type is not the schema's");
	c->values_left = chunk->values;
	if (chunk->values == 0) /* its offsets may be 0 as well */
		return 0;
	if (from < BEGIN || from > c->file->end || chunk->bytes < 0 || chunk->bytes > c->file->end - from ||
	    chunk->values < 0)
		return column_reader_wrong(c, err, IPF_INPUT, "it is said to be outside of the file");
	c->at = from;
	c->end = from + chunk->bytes;
	c->codec = chunk->codec;
	return 0;
}

void column_reader_release(struct column_reader *c)
{
	if (c->values.file)
		page_values_release(&c->values);
	page_memory_release(c->file, &c->bytes);
	page_memory_release(c->file, &c->dictionary_page);
	page_memory_release(c->file, &c->dictionary);
	c->file->held -= c->text_held;
	buffer_release(&c->text);
}
