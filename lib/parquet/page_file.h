/* The bytes of a Parquet file: read at their offsets, decompressed, and kept in memory bounded for all columns
 * together.
 *
 *     struct page_file file = {.fd = fd, .end = size - 8 - footer_bytes};
 *     if (page_file_read(&file, &memory, offset, len, &err) < 0) …
 *     page_file_release(&file);
 *
 * Errors have no place: the caller knows the column (column_reader.h).
 */
#ifndef IPF_PAGE_FILE_H
#define IPF_PAGE_FILE_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

#define PAGE_MAX  ((size_t)512 << 20) /* bytes of a page, as it is in the file and decompressed */
#define PAGES_MAX ((size_t)4 << 30)   /* bytes of all held of a file */

/* Counted memory. */
struct page_memory {
	unsigned char *bytes;
	size_t cap;
};

struct page_file {
	int fd;
	int64_t end; /* the end of the pages in the file */
	size_t held;
	struct page_memory packed; /* a page before it is decompressed; for any column */
	void *zstd;                /* its state */
};

/* Makes room for `need` bytes; the old bytes are lost. 0; -1: more than PAGES_MAX (IPF_INPUT), or out of memory. */
int page_memory_reserve(struct page_file *file, struct page_memory *memory, size_t need, struct ipf_error *err);
void page_memory_release(struct page_file *file, struct page_memory *memory);
/* Reads bytes at an offset, all of them. 0; -1: the file is shorter (IPF_CUT), or cannot be read. */
int page_file_read(struct page_file *file, struct page_memory *to, int64_t offset, size_t len, struct ipf_error *err);
/* Decompresses bytes to exactly `len` bytes. `codec` is Parquet's number of the compression. 0; -1: it is not
 * supported, or the bytes are malformed (IPF_INPUT). */
int page_file_decompress(struct page_file *file, int64_t codec, struct slice packed, unsigned char *to, size_t len,
                         struct ipf_error *err);
void page_file_release(struct page_file *file);

#endif
