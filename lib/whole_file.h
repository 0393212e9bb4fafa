/* Reads a whole file into memory, up to a limit: the file of an option may be a pipe without an end, or a device.
 *
 *     struct buffer text = {0};
 *     if (whole_file_read(path, (struct whole_file){"a model of ipf-prep fit", (size_t)64 << 20}, &text, &err) < 0) …
 *     buffer_release(&text);
 */
#ifndef IPF_WHOLE_FILE_H
#define IPF_WHOLE_FILE_H

#include "buffer.h"
#include "error.h"

struct whole_file {
	const char *expected; /* the kind of file: "expected …, got a file of more than 64 MiB" */
	size_t most;          /* bytes: a multiple of 1 MiB */
};

/* Appends the content, which then ends in NUL. -1: IPF_INPUT if it is too long; IPF_SYSTEM; both with the path. */
int whole_file_read(const char *path, struct whole_file file, struct buffer *text, struct ipf_error *err);
/* The same for a descriptor, which stays open. */
int whole_file_read_fd(int fd, const char *path, struct whole_file file, struct buffer *text, struct ipf_error *err);

#endif
