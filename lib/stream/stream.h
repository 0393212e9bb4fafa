/* The streams the programs exchange: a header line, body lines, a trailer line; NDJSON, zstd-compressed on disk. See
 * STREAMS in ipf(7).
 *
 *     {"ipf":"trace","version":1,"tool":"ipf-prep 0.1.0",…}
 *     {…}
 *     {"end":{"lines":1,"sha256":"…"}}
 *
 * The digest is SHA-256 over the body lines, each with its newline. A stream without a trailer was cut; its whole lines
 * are good. The typed readers and writers (trace.h, schedule.h, record.h, result.h) are built on these. provenance.h
 * makes headers.
 *
 * Reading:
 *     if (stream_reader_open(&r, path, "trace", &err) < 0) …
 *     while ((got = stream_reader_next(r, &line, &err)) == 1) …   // line.data is valid until the next call
 *     if (got < 0) …                                             // err.kind == IPF_CUT: all lines before were good
 *     stream_reader_close(r);
 *
 * Writing:
 *     if (stream_writer_open(&w, path, header, &err) < 0) …
 *     if (stream_writer_line(w, &line, &err) < 0) …
 *     if (stream_writer_close(w, NULL, &err) < 0) …              // the trailer; after an error stream_writer_abandon
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

/* The limits of a reader. A line is read into memory whole, and decompression remembers as much as the window of the
 * compressed data says, so both have a limit. The header and the trailer have a lower one, since a tree of their JSON
 * takes many times their size. */
#define STREAM_LINE_MAX     ((size_t)1 << 30)
#define STREAM_WINDOW_MAX   ((size_t)128 << 20)
#define STREAM_HEADER_MAX   ((size_t)16 << 20)
#define STREAM_LINE_LARGEST (((size_t)4 << 30) - 2) /* JSON texts are at most that long (json/jdoc.h) */

/* Sets the limits in bytes of all readers opened later: before threads are started. 0: the default. A window is a power
 * of two of at most 2 GiB; others are rounded up. */
void stream_limit_lines(size_t bytes);
void stream_limit_windows(size_t bytes);
/* The limit of lines that was set; 0: none. */
size_t stream_line_limit(void);

/* Opens `path` (NULL or "-": standard input), detects compression by the first bytes and reads the header. `kind` is
 * the expected kind: "trace", "schedule", "records" or "results"; NULL: any. -1: IPF_SYSTEM; IPF_INPUT for another
 * kind, a newer version or anything that is not a stream; IPF_CUT for an incomplete header or an empty input. A text
 * that does not begin with "{" is refused without looking for the end of the line. */
int stream_reader_open(struct stream_reader **reader, const char *path, const char *kind, struct ipf_error *err);

/* Opens an input that may be something else than a stream: detects compression and reads no further. Then either
 * stream_reader_begin reads the header and the reader is like one of stream_reader_open, or stream_reader_text returns
 * the bytes.
 *
 *     if (stream_reader_open_input(&r, path, &err) < 0 || stream_reader_peek(r, 4096, &text, &err) < 0) …
 *     if (looks_like_a_stream(text)) stream_reader_begin(r, "results", &err) …
 *     else while ((got = stream_reader_text(r, &text, &err)) == 1) …
 */
int stream_reader_open_input(struct stream_reader **reader, const char *path, struct ipf_error *err);
/* The decompressed beginning: `size` bytes or more, or all if there are fewer. Consumes nothing; valid until the next
 * call. */
int stream_reader_peek(struct stream_reader *reader, size_t size, struct slice *text, struct ipf_error *err);
int stream_reader_begin(struct stream_reader *reader, const char *kind, struct ipf_error *err);
/* 1: the next bytes, valid until the next call; 0: the end; -1. stream_reader_sha256 is then that of all these bytes.
 */
int stream_reader_text(struct stream_reader *reader, struct slice *text, struct ipf_error *err);
/* Appends the decompressed content of an input that is no stream. It stops soon after more than `most` bytes, so the
 * caller refuses a longer text. -1: also out of memory. */
int stream_text_read(const char *path, size_t most, struct buffer *text, struct ipf_error *err);

/* Reads the next body line, without its newline. 1: a line; 0: the end, after a trailer that agrees with the lines; -1:
 * IPF_CUT (no trailer, or a damaged end), IPF_INPUT (the trailer disagrees, data follow it, a line is too long or a
 * longer one does not begin with "{"), IPF_SYSTEM. The text
 * says how many lines were good. Every further call returns the same error. */
int stream_reader_next(struct stream_reader *reader, struct slice *line, struct ipf_error *err);

/* Goes back to the first body line. -1: IPF_SYSTEM, the input is not a regular file. */
int stream_reader_rewind(struct stream_reader *reader, struct ipf_error *err);

/* Whether stream_reader_next can return at once. 1: a line or the end is buffered; 0: it may block on the descriptor
 * *fd, which the caller can poll. For programs that read from a pipe and have other things to wait for. */
int stream_reader_ready(struct stream_reader *reader, int *fd);

json_t *stream_reader_header(const struct stream_reader *reader); /* borrowed */
/* The object in "end", borrowed; NULL before the trailer was read. */
json_t *stream_reader_trailer(const struct stream_reader *reader);
int64_t stream_reader_lines(const struct stream_reader *reader);    /* body lines returned so far */
int64_t stream_reader_line(const struct stream_reader *reader);     /* the last line's number in the file, from 1 */
const char *stream_reader_name(const struct stream_reader *reader); /* the path, or "standard input" */
/* The SHA-256 of the body lines in lower-case hex; valid once stream_reader_next has returned 0 or IPF_CUT. */
const char *stream_reader_sha256(struct stream_reader *reader);
void stream_reader_close(struct stream_reader *reader); /* NULL is fine */

/* Opens `path` for writing and writes the header, which is borrowed. NULL or "-" is standard output, uncompressed; a
 * name ending in .zst is compressed. An existing file is replaced. `header` NULL: the lines of another format, which
 * get neither header nor trailer. */
int stream_writer_open(struct stream_writer **writer, const char *path, json_t *header, struct ipf_error *err);
/* The same, but a file holding a stream of the kind `kept` is not emptied: -1, IPF_USAGE (stream_keep.h). The header is
 * written at once, so another program wanting to write the file sees it. */
int stream_writer_open_keeping(struct stream_writer **writer, const char *path, json_t *header, const char *kept,
                               struct ipf_error *err);
/* Lets the compression find repetitions up to 128 MiB apart, for streams in which long texts (shared prefixes) repeat
 * at a distance. A reader then needs as much memory. Call it right after opening. */
void stream_writer_long_distance(struct stream_writer *writer);
/* Writes a body line, given without a newline; buffered. -1: IPF_SYSTEM, also for a failed buffer, or IPF_CLOSED when
 * the reader closed the output. Every further call then fails. */
int stream_writer_line(struct stream_writer *writer, const struct buffer *line, struct ipf_error *err);
/* The same without a copy, for many lines: append the line to the buffer the first returns, and nothing else (earlier
 * lines precede it), then call the last. Within a line too large to be held, call the second from time to time, which
 * empties the buffer if there is enough in it. */
struct buffer *stream_writer_begin_line(struct stream_writer *writer);
int stream_writer_within_line(struct stream_writer *writer, struct ipf_error *err);
int stream_writer_end_line(struct stream_writer *writer, struct ipf_error *err);
/* Makes all lines so far readable by others: closes the zstd block. */
int stream_writer_flush(struct stream_writer *writer, struct ipf_error *err);
/* Writes the trailer, flushes and closes: the stream is then whole. `extra` (taken over, may be NULL) adds members to
 * the trailer's "end" object: "from", digests of the inputs, which are known only now; "incomplete", why some of the
 * input is missing. Frees the writer even if it fails. */
int stream_writer_close(struct stream_writer *writer, json_t *extra, struct ipf_error *err);
/* Closes without a trailer, after an error; the lines so far stay in the file. NULL is fine. */
void stream_writer_abandon(struct stream_writer *writer);
int64_t stream_writer_lines(const struct stream_writer *writer); /* body lines so far */

#endif
