/* Compresses pages with Zstandard and writes them behind their headers.
 *
 *     struct page_packer packer = {0};
 *     buffer_append(&packer.body, …);
 *     plain_bytes += page_packer_put(&packer, PAGE_DATA, ENCODING_PLAIN, values, &pages);
 *     page_packer_release(&packer);
 *
 * If memory runs out, the buffer written to has failed.
 */
#ifndef IPF_PAGE_PACKER_H
#define IPF_PAGE_PACKER_H

#include "buffer.h"
#include "parquet/format.h"

#include <stdint.h>
#include <zstd.h>

struct page_packer {
	ZSTD_CCtx *zstd;
	struct buffer body; /* the next page, before compression */
	struct buffer packed;
};

/* Writes the page in `body`, of `values` values with null ones, and empties it. `kind` is PAGE_DATA or PAGE_DICTIONARY.
 * Returns its bytes before compression, with the header. */
size_t page_packer_put(struct page_packer *p, enum page_kind kind, enum encoding encoding, int64_t values,
                       struct buffer *out);
void page_packer_release(struct page_packer *p);

#endif
