#include "sort/sort_runs.h"

#include "unnamed_file.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zstd.h>

#define BLOCK_BYTES ((size_t)64 << 10)
#define RUNS_MOST   32
#define LEVELS      8 /* more runs than any disk holds */
#define FAST        1 /* zstd's level: faster than disks */

struct run {
	off_t begin, end;
};

struct level {
	int fd; /* -1: not open yet */
	off_t end;
	struct run runs[RUNS_MOST];
	size_t count;
};

/* Before each block. */
struct block_head {
	uint32_t packed, bytes;
};

/* Reads a run. The record at hand is the one to be merged next. */
struct run_reader {
	int fd;
	struct run left;
	size_t age; /* runs of a smaller number were written before */
	struct buffer block;
	size_t position;
	const struct sorted_record *record;
	uint64_t prefix;
};

struct sort_runs {
	struct level levels[LEVELS];
	struct level *written; /* the level getting the current run */
	struct buffer block;   /* the current run's */
	struct buffer packed;  /* scratch */
	ZSTD_CCtx *compressor;
	ZSTD_DCtx *decompressor;
	struct run_reader readers[LEVELS * RUNS_MOST];
	struct run_reader *heap[LEVELS * RUNS_MOST]; /* the first has the first record */
	size_t reader_count, heap_count;
	bool taken; /* the record of the first was handed out */
};

int sort_runs_new(struct sort_runs **runs, struct ipf_error *err)
{
	struct sort_runs *r = calloc(1, sizeof *r);
	if (!r)
		return ipf_error_memory(err);
	for (size_t i = 0; i < LEVELS; i++)
		r->levels[i].fd = -1;
	r->compressor = ZSTD_createCCtx();
	r->decompressor = ZSTD_createDCtx();
	if (!r->compressor || !r->decompressor) {
		sort_runs_free(r);
		return ipf_error_memory(err);
	}
	*runs = r;
	return 0;
}

static void close_readers(struct sort_runs *r)
{
	for (size_t i = 0; i < r->reader_count; i++)
		buffer_release(&r->readers[i].block);
	memset(r->readers, 0, r->reader_count * sizeof *r->readers);
	r->reader_count = r->heap_count = 0;
	r->taken = false;
}

void sort_runs_free(struct sort_runs *r)
{
	if (!r)
		return;
	close_readers(r);
	for (size_t i = 0; i < LEVELS; i++)
		if (r->levels[i].fd >= 0)
			close(r->levels[i].fd);
	ZSTD_freeCCtx(r->compressor);
	ZSTD_freeDCtx(r->decompressor);
	buffer_release(&r->block);
	buffer_release(&r->packed);
	free(r);
}

/* ---- files ---- */

static int write_at(int fd, const char *data, size_t len, off_t at, struct ipf_error *err)
{
	while (len > 0) {
		ssize_t wrote = pwrite(fd, data, len, at);
		if (wrote < 0 && errno != EINTR)
			return unnamed_file_full(err);
		if (wrote > 0) {
			data += wrote;
			len -= (size_t)wrote;
			at += wrote;
		}
	}
	return 0;
}

static int read_at(int fd, char *data, size_t len, off_t at, struct ipf_error *err)
{
	while (len > 0) {
		ssize_t got = pread(fd, data, len, at);
		if (got == 0 || (got < 0 && errno != EINTR))
			return ipf_error_errno(err, got == 0 ? EIO : errno, unnamed_file_folder(), "cannot read temporary data");
		if (got > 0) {
			data += got;
			len -= (size_t)got;
			at += got;
		}
	}
	return 0;
}

static int write_block(struct sort_runs *r, struct ipf_error *err)
{
	struct block_head head = {.bytes = (uint32_t)r->block.len};
	size_t room = ZSTD_compressBound(r->block.len);
	buffer_clear(&r->packed);
	char *to = buffer_reserve(&r->packed, sizeof head + room);
	if (!to)
		return ipf_error_memory(err);
	size_t len = ZSTD_compressCCtx(r->compressor, to + sizeof head, room, r->block.data, r->block.len, FAST);
	if (ZSTD_isError(len))
		return ipf_error_memory(err); /* there is no other reason */
	head.packed = (uint32_t)len;
	memcpy(to, &head, sizeof head);
	struct level *level = r->written;
	if (write_at(level->fd, to, sizeof head + len, level->end, err) < 0)
		return -1;
	level->end += (off_t)(sizeof head + len);
	buffer_clear(&r->block);
	return 0;
}

static int read_block(struct sort_runs *r, struct run_reader *reader, struct ipf_error *err)
{
	struct block_head head;
	if (read_at(reader->fd, (char *)&head, sizeof head, reader->left.begin, err) < 0)
		return -1;
	buffer_clear(&r->packed);
	buffer_clear(&reader->block);
	char *packed = buffer_reserve(&r->packed, head.packed), *bytes = buffer_reserve(&reader->block, head.bytes);
	if (!packed || !bytes)
		return ipf_error_memory(err);
	if (read_at(reader->fd, packed, head.packed, reader->left.begin + (off_t)sizeof head, err) < 0)
		return -1;
	if (ZSTD_decompressDCtx(r->decompressor, bytes, head.bytes, packed, head.packed) != head.bytes)
		return ipf_error_errno(err, EIO, unnamed_file_folder(), "temporary data are damaged");
	reader->block.len = head.bytes;
	reader->position = 0;
	reader->left.begin += (off_t)(sizeof head + head.packed);
	return 0;
}

/* ---- reading: a heap of runs ---- */

static bool comes_before(const struct run_reader *a, const struct run_reader *b)
{
	if (a->prefix != b->prefix)
		return a->prefix < b->prefix;
	int order = sorted_record_compare(a->record, b->record);
	return order ? order < 0 : a->age < b->age;
}

static void sift_down(struct sort_runs *r, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < r->heap_count; i = child) {
		if (child + 1 < r->heap_count && comes_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (comes_before(r->heap[i], r->heap[child]))
			return;
		struct run_reader *moved = r->heap[i];
		r->heap[i] = r->heap[child];
		r->heap[child] = moved;
	}
}

/* Goes to the next record of a run: 1, 0 at its end, -1. */
static int step(struct sort_runs *r, struct run_reader *reader, struct ipf_error *err)
{
	if (reader->position == reader->block.len) {
		if (reader->left.begin == reader->left.end)
			return 0;
		if (read_block(r, reader, err) < 0)
			return -1;
	}
	reader->record = (const struct sorted_record *)(const void *)(reader->block.data + reader->position);
	reader->position += sorted_record_size(reader->record->key_len, reader->record->len);
	reader->prefix = sorted_record_prefix(reader->record);
	return 1;
}

static int open_runs(struct sort_runs *r, const struct level *level, struct ipf_error *err)
{
	for (size_t i = 0; i < level->count; i++) {
		struct run_reader *reader = &r->readers[r->reader_count];
		*reader = (struct run_reader){.fd = level->fd, .left = level->runs[i], .age = r->reader_count++};
		int got = step(r, reader, err);
		if (got < 0)
			return -1;
		if (got > 0)
			r->heap[r->heap_count++] = reader;
	}
	for (size_t i = r->heap_count / 2; i-- > 0;)
		sift_down(r, i);
	return 0;
}

/* Higher levels have the older runs. */
int sort_runs_read(struct sort_runs *r, struct ipf_error *err)
{
	close_readers(r);
	buffer_release(&r->block);
	for (size_t i = LEVELS; i-- > 0;)
		if (open_runs(r, &r->levels[i], err) < 0)
			return -1;
	return 0;
}

int sort_runs_next(struct sort_runs *r, const struct sorted_record **record, struct ipf_error *err)
{
	if (r->heap_count == 0)
		return 0;
	if (r->taken) {
		int got = step(r, r->heap[0], err);
		if (got < 0)
			return -1;
		if (got == 0)
			r->heap[0] = r->heap[--r->heap_count];
		sift_down(r, 0);
		r->taken = false;
	}
	if (r->heap_count == 0)
		return 0;
	*record = r->heap[0]->record;
	r->taken = true;
	return 1;
}

/* ---- writing ---- */

static int begin_run(struct sort_runs *r, struct level *level, struct ipf_error *err)
{
	if (level->fd < 0 && (level->fd = unnamed_file_open(err)) < 0)
		return -1;
	level->runs[level->count].begin = level->end;
	r->written = level;
	return 0;
}

/* Merges the runs of a level into one of the next, which has room. */
static int merge_level(struct sort_runs *r, size_t i, struct ipf_error *err)
{
	struct level *level = &r->levels[i];
	const struct sorted_record *record;
	int got;
	if (open_runs(r, level, err) < 0 || begin_run(r, level + 1, err) < 0)
		return -1;
	while ((got = sort_runs_next(r, &record, err)) > 0)
		if (sort_runs_add(r, record, err) < 0)
			return -1;
	close_readers(r);
	if (got < 0 || sort_runs_end(r, err) < 0)
		return -1;
	level->count = 0;
	level->end = 0;
	return ftruncate(level->fd, 0) == 0
	           ? 0
	           : ipf_error_errno(err, errno, unnamed_file_folder(), "cannot empty a temporary file");
}

int sort_runs_begin(struct sort_runs *r, struct ipf_error *err)
{
	size_t full = 0;
	while (full + 1 < LEVELS && r->levels[full].count == RUNS_MOST)
		full++;
	while (full-- > 0)
		if (merge_level(r, full, err) < 0)
			return -1;
	return begin_run(r, &r->levels[0], err);
}

int sort_runs_add(struct sort_runs *r, const struct sorted_record *record, struct ipf_error *err)
{
	buffer_append(&r->block, record, sorted_record_size(record->key_len, record->len));
	if (r->block.failed)
		return ipf_error_memory(err);
	return r->block.len < BLOCK_BYTES ? 0 : write_block(r, err);
}

int sort_runs_end(struct sort_runs *r, struct ipf_error *err)
{
	struct level *level = r->written;
	if (r->block.len > 0 && write_block(r, err) < 0)
		return -1;
	level->runs[level->count++].end = level->end;
	return 0;
}
