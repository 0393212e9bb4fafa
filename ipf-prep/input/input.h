/* The files that are converted: plain or compressed, from disk, a pipe or standard input.
 *
 * gzip, zstd, xz and bzip2 are known by their first bytes. The digest is of the bytes as they stand in the file, so
 * that it is what sha256sum(1) says.
 */
#ifndef PREP_INPUT_H
#define PREP_INPUT_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

/* `path` "-" is standard input; "ARCHIVE:NAME" a file in an archive. `before` may be NULL, or the input before this
 * one, which is closed: an archive is gone on with. */
int input_next(struct input **input, struct input *before, const char *path, struct ipf_error *err);
/* The same with nothing before. */
int input_open(struct input **input, const char *path, struct ipf_error *err);
/* Uncompressed bytes; the shape of byte_window.h's read (`data` is the struct input). IPF_CUT where a compressed file
 * is cut or broken. */
int64_t input_read(void *data, char *to, size_t cap, struct ipf_error *err);
/* Looks at the first `want` bytes without taking them: how many there are (fewer only at the end), -1 on error. */
int64_t input_peek(struct input *input, size_t want, const char **bytes, struct ipf_error *err);
const char *input_name(const struct input *input); /* the path, or "standard input" */
int64_t input_bytes(const struct input *input);    /* read so far, as they stand in the file */
int64_t input_size(const struct input *input);     /* of a regular file; IPF_ABSENT */

/* The input's entry in a trailer's "from". Where reading ended early (not `whole`), the rest of a regular file is read
 * for the digest; a pipe then has no digest but `"partial":true`, since how much of it was taken in is chance. New;
 * NULL on error. */
json_t *input_provenance(struct input *input, bool whole, struct ipf_error *err);
void input_close(struct input *input); /* NULL is fine */

#endif
