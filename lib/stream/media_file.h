/* The media file of a trace: its images, audio and video, which the lines of the trace name instead of containing them,
 * so a trace stays small and the memory of ipf-fire does not follow its bodies. See ipf-trace(5).
 *
 * The file begins with MEDIA_FILE_HEAD; after it come the base64 texts of the media, one after another. A request names
 * one by a mark, "{ipf-media:BEGIN+LENGTH}" in bytes of the file, which stands alone in a JSON string or behind the
 * "base64," of a data URL in it. In a form it stands alone in a part, and means the bytes themselves.
 *
 *     media_mark(range, &text);                                   // writes a mark
 *     while (media_next_mark(text, from, &mark)) from = mark.end; // finds them
 */
#ifndef IPF_MEDIA_FILE_H
#define IPF_MEDIA_FILE_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

#define MEDIA_FILE_SUFFIX ".media" /* behind the name of the trace */
#define MEDIA_FILE_HEAD   "{\"ipf\":\"media\",\"version\":1}\n"

/* Bytes of a media file. */
struct media_range {
	int64_t begin, len;
};

/* A mark in a text of JSON: the range it names, and its place. */
struct media_mark {
	struct media_range range;
	bool decoded; /* between LF and CR: the bytes the base64 text encodes */
	size_t begin, end;
};

void media_mark(struct media_range range, struct buffer *text);
/* The first mark at or after `from`; false: there is none. */
bool media_next_mark(struct slice text, size_t from, struct media_mark *mark);

/* Escapes the braces of what would be marks at or after `from` in the JSON text: texts of data and of servers are none.
 */
void media_hide_marks(struct buffer *text, size_t from);

/* Opens the file to be read. *bytes is its size. -1: err names the file; it cannot be read, or is no media file. */
int media_file_open(const char *path, int64_t *bytes, struct ipf_error *err);

/* Writes a media file. */
struct media_writer;
int media_writer_open(struct media_writer **writer, const char *path, struct ipf_error *err);
/* Writes bytes in base64, once: a medium written before has the same range. -1: the file cannot be written, or out of
 * memory. */
int media_writer_add(struct media_writer *w, struct slice bytes, struct media_range *range, struct ipf_error *err);
/* Closes the file, and frees the writer. -1: earlier bytes were not kept. */
int media_writer_close(struct media_writer *w, struct ipf_error *err);

#endif
