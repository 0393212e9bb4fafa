/* The values of a page, decoded in parts.
 *
 *     struct page_values values = {.type = TYPE_INT64, .file = &file};
 *     if (page_values_begin(&values, ENCODING_PLAIN, bytes, &err) < 0) …
 *     if (page_values_read(&values, to, 512, &err) < 0) …   // bytes are valid until the next read
 *     page_values_release(&values);
 *
 * Values of a dictionary are its entries: those in `dictionary` at their indexes.
 */
#ifndef IPF_PAGE_VALUES_H
#define IPF_PAGE_VALUES_H

#include "parquet/bit_runs.h"
#include "parquet/delta_integers.h"
#include "parquet/page_file.h"
#include "parquet/value_json.h"

#define VALUES_MAX 512 /* read at once */

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
