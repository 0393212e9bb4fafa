/* Record streams: a header line, body lines, a trailer line; NDJSON, zstd-compressed on disk. See ipf-stream in ipf(7).
 *
 *     {"ipf":"trace","version":1,"tool":"ipf-prep 0.1.0",…}
 *     {…}
 *     {"end":{"lines":1,"sha256":"…"}}
 *
 * The digest is SHA-256 over the body lines, each with its newline. A stream without a trailer was cut; its whole lines
 * are good. The typed readers and writers (trace.h, schedule.h, record.h, result.h) stand on these.
 *
 * Reading:
 *     if (stream_reader_open(&r, path, "trace", &err) < 0) …
 *     while ((got = stream_reader_next(r, &line, &err)) == 1) …   // line.data is good until the next call
 *     if (got < 0) …                                             // err.kind == IPF_CUT: all lines before were good
 *     stream_reader_close(r);
 */
#ifndef IPF_STREAM_H
#define IPF_STREAM_H

#include "buffer.h"
#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct stream_reader;
struct stream_writer;

/* Opens `path` (NULL or "-": standard input), plain or zstd by its first bytes, and reads the header. `kind` is what it
 * has to be ("trace", "schedule", "records", "results"). Errors: IPF_SYSTEM; IPF_INPUT for anything that is not such a
 * stream or of a newer major version; IPF_CUT where not even the header is whole. An empty input is IPF_CUT. */
int stream_reader_open(struct stream_reader **reader, const char *path, const char *kind, struct ipf_error *err);

/* The next body line, without its newline: 1; 0 after a trailer that agrees with what was read; -1 on error. After an
 * error (IPF_CUT: no trailer or a broken end; IPF_INPUT: trailer disagrees, data after it; IPF_SYSTEM) every further
 * call gives the same error. The error's text says how many good lines there were. */
int stream_reader_next(struct stream_reader *reader, struct slice *line, struct ipf_error *err);

/* Back to the first body line; -1 (IPF_SYSTEM) where the input is a pipe. */
int stream_reader_rewind(struct stream_reader *reader, struct ipf_error *err);

/* Can bytes be had at once? 0 when a call of stream_reader_next could block on the descriptor `*fd`, 1 when a line (or
 * the end) is buffered already. For programs that read live from a pipe and have other things to wait for. */
int stream_reader_ready(struct stream_reader *reader, int *fd);

json_t *stream_reader_header(const struct stream_reader *reader); /* borrowed */
json_t *stream_reader_trailer(
	const struct stream_reader *reader); /* the object in "end", borrowed; NULL before it was seen */
int64_t stream_reader_lines(const struct stream_reader *reader); /* body lines given out so far */
int64_t stream_reader_line(const struct stream_reader *reader);  /* line number in the file of the last one, from 1 */
const char *stream_reader_name(const struct stream_reader *reader); /* path, or "standard input" */
/* Lower-case hex digest of the body lines read; meaningful once stream_reader_next has answered 0 or IPF_CUT. */
const char *stream_reader_sha256(struct stream_reader *reader);
void stream_reader_close(struct stream_reader *reader); /* NULL is fine */

/* Opens `path` for writing (NULL or "-": standard output, plain; a name in .zst: compressed) and writes the header
 * (borrowed). An existing file is replaced. */
int stream_writer_open(struct stream_writer **writer, const char *path, json_t *header, struct ipf_error *err);
/* Of a stream that was just opened: what is equal in it lies far apart (megabytes; the texts of shared prefixes).
 * Compressed, it is looked for over 128 MiB, which is also what a reader then needs in memory. */
void stream_writer_long_distance(struct stream_writer *writer);
/* One body line (no newline in it). Buffered. -1: IPF_SYSTEM, or IPF_CLOSED when the reader went away. A failed buffer
 * is IPF_SYSTEM ("out of memory"). Once failed, stays failed. */
int stream_writer_line(struct stream_writer *writer, const struct buffer *line, struct ipf_error *err);
/* The same for lines that are short and many: the buffer to append one to (not cleared: others stand before it), then
 * its end. */
struct buffer *stream_writer_begin_line(struct stream_writer *writer);
int stream_writer_end_line(struct stream_writer *writer, struct ipf_error *err);
/* All that was written becomes readable by others now (a zstd block is closed). */
int stream_writer_flush(struct stream_writer *writer, struct ipf_error *err);
/* Trailer, flush, close: the stream is whole from then on. `extra` (taken over, may be NULL) adds members to the
 * trailer's "end" object: "from": digests of the inputs, known only now; "incomplete": why some of the input is
 * missing. Frees the writer also when it fails. */
int stream_writer_close(struct stream_writer *writer, json_t *extra, struct ipf_error *err);
/* Closes without a trailer (after an error); what was written stays. NULL is fine. */
void stream_writer_abandon(struct stream_writer *writer);
int64_t stream_writer_lines(const struct stream_writer *writer);

#endif
