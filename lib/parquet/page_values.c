#include "parquet/page_values.h"

#include <endian.h>

static int too_few(struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "it has fewer values than its levels say, or they are malformed");
}

/* ---- plain ------------------------------------------------------------------------------------------------------- */

static uint32_t little32(const unsigned char *at)
{
	uint32_t value;
	memcpy(&value, at, 4);
	return le32toh(value);
}

static uint64_t little64(const unsigned char *at)
{
	uint64_t value;
	memcpy(&value, at, 8);
	return le64toh(value);
}

/* Bytes of a value; 0: it is not of one length. */
static size_t width_of(const struct page_values *v)
{
	static const size_t widths[PHYSICAL_TYPES] = {
		[TYPE_INT32] = 4, [TYPE_INT64] = 8, [TYPE_INT96] = 12, [TYPE_FLOAT] = 4, [TYPE_DOUBLE] = 8};
	return v->type == TYPE_FIXED ? v->length : widths[v->type];
}

/* A value of one length. */
static void fixed_value(enum physical_type type, const unsigned char *at, size_t width, union parquet_value *to)
{
	uint32_t word;
	uint64_t wide;
	float narrow;
	switch (type) {
	case TYPE_INT32:
		to->integer = (int32_t)little32(at);
		break;
	case TYPE_INT64:
		to->integer = (int64_t)little64(at);
		break;
	case TYPE_FLOAT:
		word = little32(at);
		memcpy(&narrow, &word, 4);
		to->real = (double)narrow;
		break;
	case TYPE_DOUBLE:
		wide = little64(at);
		memcpy(&to->real, &wide, 8);
		break;
	default:
		to->bytes = (struct slice){(const char *)at, width};
	}
}

static int read_fixed(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	size_t width = width_of(v);
	if (count > (size_t)(v->end - v->at) / width)
		return too_few(err);
	for (size_t i = 0; i < count; i++, v->at += width)
		fixed_value(v->type, v->at, width, &to[i]);
	return 0;
}

static int read_bytes(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	for (size_t i = 0; i < count; i++) {
		size_t left = (size_t)(v->end - v->at), len = left >= 4 ? little32(v->at) : 0;
		if (left < 4 || len > left - 4)
			return too_few(err);
		to[i].bytes = (struct slice){(const char *)v->at + 4, len};
		v->at += 4 + len;
	}
	return 0;
}

/* ---- runs and dictionaries --------------------------------------------------------------------------------------- */

static int read_indexes(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	uint32_t indexes[VALUES_MAX];
	if (count && !v->dictionary)
		return ipf_error_set(err, IPF_INPUT, "its values are in a dictionary, and there is none");
	if (bit_runs_read(&v->runs, indexes, count) < count)
		return too_few(err);
	for (size_t i = 0; i < count; i++) {
		if (indexes[i] >= v->dictionary_count)
			return ipf_error_set(err, IPF_INPUT, "a value is number %u of a dictionary of %zu", indexes[i],
			                     v->dictionary_count);
		to[i].bytes = v->dictionary[indexes[i]];
	}
	return 0;
}

static int read_booleans(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	uint32_t bits[VALUES_MAX];
	if (bit_runs_read(&v->runs, bits, count) < count)
		return too_few(err);
	for (size_t i = 0; i < count; i++)
		to[i].integer = bits[i];
	return 0;
}

/* ---- differences ------------------------------------------------------------------------------------------------- */

static int read_delta(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	int64_t numbers[VALUES_MAX];
	if (delta_integers_read(&v->lengths, numbers, count) < count)
		return too_few(err);
	for (size_t i = 0; i < count; i++)
		to[i].integer = v->type == TYPE_INT32 ? (int32_t)(uint32_t)numbers[i] : numbers[i];
	return 0;
}

static int read_delta_length(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	int64_t lengths[VALUES_MAX];
	if (delta_integers_read(&v->lengths, lengths, count) < count)
		return too_few(err);
	for (size_t i = 0; i < count; i++) {
		if (lengths[i] < 0 || lengths[i] > v->end - v->at)
			return too_few(err);
		to[i].bytes = (struct slice){(const char *)v->at, (size_t)lengths[i]};
		v->at += lengths[i];
	}
	return 0;
}

/* Each value is the beginning of the one before and a rest. */
static int read_delta_bytes(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	int64_t prefixes[VALUES_MAX];
	size_t total = 0, before = v->last_len;
	if (count == 0)
		return 0;
	if (delta_integers_read(&v->prefixes, prefixes, count) < count || read_delta_length(v, to, count, err) < 0)
		return too_few(err);
	for (size_t i = 0; i < count; i++) {
		if (prefixes[i] < 0 || (size_t)prefixes[i] > before)
			return ipf_error_set(err, IPF_INPUT, "a value repeats %lld bytes of one that has %zu",
			                     (long long)prefixes[i], before);
		before = (size_t)prefixes[i] + to[i].bytes.len;
		total += before;
		if (total > PAGE_MAX)
			return ipf_error_set(err, IPF_INPUT, "%d of its values take more than %zu MiB", VALUES_MAX, PAGE_MAX >> 20);
	}
	if (page_memory_reserve(v->file, &v->made, total + 1, err) < 0)
		return -1;
	const unsigned char *last = v->last.bytes;
	unsigned char *at = v->made.bytes;
	for (size_t i = 0; i < count; i++) {
		size_t prefix = (size_t)prefixes[i], rest = to[i].bytes.len;
		if (prefix)
			memcpy(at, last, prefix);
		memcpy(at + prefix, to[i].bytes.data, rest);
		to[i].bytes = (struct slice){(const char *)at, prefix + rest};
		last = at;
		at += prefix + rest;
	}
	v->last_len = to[count - 1].bytes.len;
	if (page_memory_reserve(v->file, &v->last, v->last_len + 1, err) < 0)
		return -1;
	memcpy(v->last.bytes, last, v->last_len);
	for (size_t i = 0; i < count && v->type == TYPE_FIXED; i++)
		if (to[i].bytes.len != v->length)
			return ipf_error_set(err, IPF_INPUT, "a value has %zu bytes instead of %zu", to[i].bytes.len, v->length);
	return 0;
}

/* ---- streams of bytes -------------------------------------------------------------------------------------------- */

static int read_split(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	size_t width = width_of(v);
	if (count > v->split_count - v->split_at)
		return too_few(err);
	if (page_memory_reserve(v->file, &v->made, VALUES_MAX * width, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		unsigned char *value = v->made.bytes + i * width;
		for (size_t k = 0; k < width; k++)
			value[k] = v->at[k * v->split_count + v->split_at + i];
		fixed_value(v->type, value, width, &to[i]);
	}
	v->split_at += count;
	return 0;
}

/* ---- beginning --------------------------------------------------------------------------------------------------- */

static int begin_dictionary(struct page_values *v, struct slice bytes, struct ipf_error *err)
{
	unsigned width = bytes.len ? (unsigned char)bytes.data[0] : 0;
	if (width > 32)
		return ipf_error_set(err, IPF_INPUT, "indexes into the dictionary have %u bits", width);
	size_t head = bytes.len ? 1 : 0;
	bit_runs_begin(&v->runs, (struct slice){bytes.data + head, bytes.len - head}, width);
	return 0;
}

/* Booleans as runs follow their length. */
static int begin_booleans(struct page_values *v, struct slice bytes, struct ipf_error *err)
{
	uint32_t len = bytes.len >= 4 ? little32(v->at) : 0;
	if (bytes.len >= 4 && len > bytes.len - 4)
		return too_few(err);
	bit_runs_begin(&v->runs, (struct slice){bytes.data + (bytes.len >= 4 ? 4 : 0), len}, 1);
	return 0;
}

/* An encoding beginning with the lengths, or the lengths of the prefixes and then those of the rest. */
static int begin_lengths(struct page_values *v, struct slice bytes, struct ipf_error *err)
{
	struct delta_integers skipped;
	v->last_len = 0;
	if (v->encoding == ENCODING_DELTA_BYTES &&
	    (delta_integers_begin(&v->prefixes, bytes) < 0 || delta_integers_begin(&skipped, bytes) < 0 ||
	     delta_integers_skip(&skipped, &bytes) < 0))
		return too_few(err);
	if (delta_integers_begin(&v->lengths, bytes) < 0 || delta_integers_begin(&skipped, bytes) < 0 ||
	    delta_integers_skip(&skipped, &bytes) < 0)
		return too_few(err);
	v->at = (const unsigned char *)bytes.data;
	return 0;
}

static int begin(struct page_values *v, struct slice bytes, struct ipf_error *err)
{
	switch (v->encoding) {
	case ENCODING_PLAIN:
		if (v->type == TYPE_BOOLEAN)
			bit_runs_begin_packed(&v->runs, bytes, 1, false);
		return 0;
	case ENCODING_PLAIN_DICTIONARY:
	case ENCODING_DICTIONARY:
		return begin_dictionary(v, bytes, err);
	case ENCODING_RLE:
		return begin_booleans(v, bytes, err);
	case ENCODING_DELTA:
		return bytes.len && delta_integers_begin(&v->lengths, bytes) < 0 ? too_few(err) : 0;
	case ENCODING_SPLIT:
		v->split_at = 0;
		v->split_count = bytes.len / width_of(v);
		return 0;
	default:
		return bytes.len ? begin_lengths(v, bytes, err) : 0;
	}
}

/* Has the type this encoding? */
static bool is_possible(enum physical_type type, int64_t encoding)
{
	bool whole = type == TYPE_INT32 || type == TYPE_INT64;
	switch (encoding) {
	case ENCODING_PLAIN:
		return true;
	case ENCODING_PLAIN_DICTIONARY:
	case ENCODING_DICTIONARY:
	case ENCODING_RLE:
		return (encoding == ENCODING_RLE) == (type == TYPE_BOOLEAN);
	case ENCODING_DELTA:
		return whole;
	case ENCODING_DELTA_LENGTH:
		return type == TYPE_BYTE_ARRAY;
	case ENCODING_DELTA_BYTES:
		return type == TYPE_BYTE_ARRAY || type == TYPE_FIXED;
	case ENCODING_SPLIT:
		return whole || type == TYPE_FLOAT || type == TYPE_DOUBLE || type == TYPE_FIXED;
	default:
		return false;
	}
}

int page_values_begin(struct page_values *v, int64_t encoding, struct slice bytes, struct ipf_error *err)
{
	static const char *const names[] = {"PLAIN",
	                                    "GROUP_VAR_INT",
	                                    "PLAIN_DICTIONARY",
	                                    "RLE",
	                                    "BIT_PACKED",
	                                    "DELTA_BINARY_PACKED",
	                                    "DELTA_LENGTH_BYTE_ARRAY",
	                                    "DELTA_BYTE_ARRAY",
	                                    "RLE_DICTIONARY",
	                                    "BYTE_STREAM_SPLIT",
	                                    "ALP"};
	if (!is_possible(v->type, encoding)) {
		bool known = encoding >= 0 && encoding < (int64_t)(sizeof names / sizeof *names);
		return ipf_error_set(err, IPF_INPUT, "the encoding %s of its values is not supported for their type",
		                     known ? names[encoding] : "of no known name");
	}
	v->encoding = (enum encoding)encoding;
	v->at = (const unsigned char *)bytes.data;
	v->end = v->at + bytes.len;
	v->lengths = v->prefixes = (struct delta_integers){0};
	v->runs = (struct bit_runs){0};
	return begin(v, bytes, err);
}

int page_values_read(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err)
{
	switch (v->encoding) {
	case ENCODING_PLAIN:
		return v->type == TYPE_BOOLEAN      ? read_booleans(v, to, count, err)
		       : v->type == TYPE_BYTE_ARRAY ? read_bytes(v, to, count, err)
		                                    : read_fixed(v, to, count, err);
	case ENCODING_PLAIN_DICTIONARY:
	case ENCODING_DICTIONARY:
		return read_indexes(v, to, count, err);
	case ENCODING_RLE:
		return read_booleans(v, to, count, err);
	case ENCODING_DELTA:
		return read_delta(v, to, count, err);
	case ENCODING_DELTA_LENGTH:
		return read_delta_length(v, to, count, err);
	case ENCODING_DELTA_BYTES:
		return read_delta_bytes(v, to, count, err);
	default:
		return read_split(v, to, count, err);
	}
}

void page_values_release(struct page_values *v)
{
	page_memory_release(v->file, &v->made);
	page_memory_release(v->file, &v->last);
}
