#include "parquet/page_packer.h"

#include "parquet/thrift_writer.h"

enum { LEVEL = 3 };

static bool compress(struct page_packer *p)
{
	size_t room = ZSTD_compressBound(p->body.len);
	buffer_clear(&p->packed);
	char *to = p->body.failed ? NULL : buffer_reserve(&p->packed, room);
	if (!p->zstd)
		p->zstd = ZSTD_createCCtx();
	if (!to || !p->zstd)
		return false;
	size_t len = ZSTD_compressCCtx(p->zstd, to, room, p->body.len ? p->body.data : "", p->body.len, LEVEL);
	if (ZSTD_isError(len))
		return false;
	p->packed.len = len;
	return true;
}

static void put_header(const struct page_packer *p, enum page_kind kind, enum encoding encoding, int64_t values,
                       struct buffer *out)
{
	struct thrift_writer w = {.out = out};
	thrift_put_struct(&w, 0);
	thrift_put_integer(&w, 1, THRIFT_I32, kind);
	thrift_put_integer(&w, 2, THRIFT_I32, (int64_t)p->body.len);
	thrift_put_integer(&w, 3, THRIFT_I32, (int64_t)p->packed.len);
	thrift_put_struct(&w, kind == PAGE_DICTIONARY ? 7 : 5);
	thrift_put_integer(&w, 1, THRIFT_I32, values);
	thrift_put_integer(&w, 2, THRIFT_I32, encoding);
	if (kind == PAGE_DATA) { /* how levels are written */
		thrift_put_integer(&w, 3, THRIFT_I32, ENCODING_RLE);
		thrift_put_integer(&w, 4, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end_struct(&w);
	thrift_end_struct(&w);
}

size_t page_packer_put(struct page_packer *p, enum page_kind kind, enum encoding encoding, int64_t values,
                       struct buffer *out)
{
	size_t begin = out->len, plain;
	if (!compress(p)) {
		out->failed = true;
		return 0;
	}
	put_header(p, kind, encoding, values, out);
	plain = out->len - begin + p->body.len;
	buffer_slice(out, buffer_all(&p->packed));
	buffer_clear(&p->body);
	return plain;
}

void page_packer_release(struct page_packer *p)
{
	ZSTD_freeCCtx(p->zstd);
	buffer_release(&p->body);
	buffer_release(&p->packed);
	*p = (struct page_packer){0};
}
