#include "parquet/page_file.h"

#include "memory.h"
#include "parquet/format.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

int page_memory_reserve(struct page_file *file, struct page_memory *memory, size_t need, struct ipf_error *err)
{
	if (need <= memory->cap)
		return 0;
	page_memory_release(file, memory);
	if (need > PAGES_MAX - file->held)
		return ipf_error_set(err, IPF_INPUT, "the pages of the columns take more than %zu GiB of memory",
		                     PAGES_MAX >> 30);
	if (!(memory->bytes = malloc(need)))
		return ipf_error_memory(err);
	memory->cap = need;
	file->held += need;
	return 0;
}

void page_memory_release(struct page_file *file, struct page_memory *memory)
{
	free(memory->bytes);
	file->held -= memory->cap;
	*memory = (struct page_memory){0};
}

int page_file_read(struct page_file *file, struct page_memory *to, int64_t offset, size_t len, struct ipf_error *err)
{
	if (page_memory_reserve(file, to, len + 1, err) < 0)
		return -1;
	for (size_t had = 0; had < len;) {
		ssize_t got = pread(file->fd, to->bytes + had, len - had, offset + (int64_t)had);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ipf_error_errno(err, errno, NULL, "cannot read");
		if (got == 0)
			return ipf_error_set(err, IPF_CUT, "the file became shorter while it was read");
		had += (size_t)got;
	}
	return 0;
}

static int unpack_snappy(struct slice packed, unsigned char *to, size_t len)
{
	size_t size = 0;
	return snappy_uncompressed_length(packed.data, packed.len, &size) == SNAPPY_OK && size == len &&
	               snappy_uncompress(packed.data, packed.len, (char *)to, &size) == SNAPPY_OK
	           ? 0
	           : -1;
}

static int unpack_zstd(struct page_file *file, struct slice packed, unsigned char *to, size_t len)
{
	if (!file->zstd && !(file->zstd = ZSTD_createDCtx()))
		return memory_note_failure(), -1;
	return ZSTD_decompressDCtx(file->zstd, to, len, packed.data, packed.len) == len ? 0 : -1;
}

static int unpack_gzip(struct slice packed, unsigned char *to, size_t len)
{
	struct archive *gzip = archive_read_new();
	struct archive_entry *entry;
	size_t had = 0;
	la_ssize_t got = 1;
	char more;
	errno = 0;
	int status = gzip ? archive_read_support_filter_gzip(gzip) : ARCHIVE_FATAL;
	if (status == ARCHIVE_OK && (status = archive_read_support_format_raw(gzip)) == ARCHIVE_OK &&
	    (status = archive_read_support_format_empty(gzip)) == ARCHIVE_OK &&
	    (status = archive_read_open_memory(gzip, packed.data, packed.len)) == ARCHIVE_OK)
		status = archive_read_next_header(gzip, &entry);
	bool good = (status == ARCHIVE_OK || status == ARCHIVE_EOF) && archive_filter_count(gzip) == 2;
	while (good && status == ARCHIVE_OK && had < len && got > 0) {
		got = archive_read_data(gzip, to + had, len - had);
		had += got > 0 ? (size_t)got : 0;
	}
	good = good && had == len && (status == ARCHIVE_EOF || archive_read_data(gzip, &more, 1) == 0);
	memory_note_errno(errno);
	archive_read_free(gzip);
	return good ? 0 : -1;
}

int page_file_decompress(struct page_file *file, int64_t codec, struct slice packed, unsigned char *to, size_t len,
                         struct ipf_error *err)
{
	static const char *const names[] = {"none", "Snappy", "GZIP", "LZO", "Brotli", "LZ4", "Zstandard", "LZ4_RAW"};
	int status = 0;
	if (codec < 0 || codec >= (int64_t)(sizeof names / sizeof *names))
		return ipf_error_set(err, IPF_INPUT, "its compression is of no known kind (%lld)", (long long)codec);
	if (len == 0 && packed.len == 0)
		return 0;
	switch ((enum codec)codec) {
	case CODEC_SNAPPY:
		status = unpack_snappy(packed, to, len);
		break;
	case CODEC_GZIP:
		status = unpack_gzip(packed, to, len);
		break;
	case CODEC_ZSTD:
		status = unpack_zstd(file, packed, to, len);
		break;
	default:
		return ipf_error_set(err, IPF_INPUT,
		                     "its compression %s is not supported; Snappy, Zstandard, GZIP and none are", names[codec]);
	}
	if (status == 0)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "cannot decompress (%s) to %zu bytes", names[codec], len);
}

void page_file_release(struct page_file *file)
{
	page_memory_release(file, &file->packed);
	ZSTD_freeDCtx(file->zstd);
	file->zstd = NULL;
}
