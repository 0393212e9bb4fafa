/* The header of a page: its kind, and its numbers of bytes and values. Nothing of it is checked.
 *
 *     struct thrift t = {.at = bytes, .end = bytes + len};
 *     page_header_read(&t, &header);
 *     if (t.fault == THRIFT_CUT) …   // more bytes are needed
 *
 * Specification: github.com/apache/parquet-format, src/main/thrift/parquet.thrift (PageHeader).
 */
#ifndef IPF_PAGE_HEADER_H
#define IPF_PAGE_HEADER_H

#include "parquet/format.h"
#include "parquet/thrift.h"

struct page_header {
	int64_t kind;
	int64_t bytes;  /* in the file, without the header */
	int64_t size;   /* decompressed */
	int64_t values; /* with null ones */
	int64_t encoding, def_encoding, rep_encoding;
	int64_t def_bytes, rep_bytes; /* for PAGE_DATA_V2 */
	bool plain;                   /* for PAGE_DATA_V2: its values are not compressed */
};

void page_header_read(struct thrift *t, struct page_header *header);

#endif
