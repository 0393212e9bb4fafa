/* The values of a page, decoded in parts.
 *
 *     struct page_values values = {.type = TYPE_INT64, .file = &file};
 *     if (page_values_begin(&values, ENCODING_PLAIN, bytes, &err) < 0) …
 *     if (page_values_read(&values, to, 512, &err) < 0) …   // bytes are valid until the next read
 *     page_values_release(&values);
 *
 * Values of a dictionary are its entries: those in `dictionary` at their indexes.
 */
#ifndef PREP_PAGE_VALUES_H
#define PREP_PAGE_VALUES_H

#include "parquet/bit_runs.h"
#include "parquet/delta_integers.h"
#include "parquet/page_file.h"
#include "parquet/value_json.h"

#define VALUES_MAX 512 /* read at once */

enum encoding {
	ENCODING_PLAIN = 0,
	ENCODING_PLAIN_DICTIONARY = 2,
	ENCODING_RLE = 3,
	ENCODING_BIT_PACKED = 4,
	ENCODING_DELTA = 5,
	ENCODING_DELTA_LENGTH = 6,
	ENCODING_DELTA_BYTES = 7,
	ENCODING_DICTIONARY = 8,
	ENCODING_SPLIT = 9
};

struct page_values {
	enum physical_type type;
	size_t length; /* for a value of TYPE_FIXED and TYPE_INT96 */
	struct page_file *file;
	const struct slice *dictionary;
	size_t dictionary_count;

	enum encoding encoding;
	const unsigned char *at, *end;
	struct bit_runs runs;
	struct delta_integers lengths, prefixes;
	size_t split_at, split_count;
	struct page_memory made; /* bytes of joined values */
	struct page_memory last; /* the value before */
	size_t last_len;
};

/* 0; -1: this type has no such encoding, or it is not supported, or the bytes are malformed (IPF_INPUT). */
int page_values_begin(struct page_values *v, int64_t encoding, struct slice bytes, struct ipf_error *err);
/* Reads `count` values, at most VALUES_MAX. 0; -1: there are fewer, or they are malformed (IPF_INPUT). */
int page_values_read(struct page_values *v, union parquet_value *to, size_t count, struct ipf_error *err);
void page_values_release(struct page_values *v);

#endif
