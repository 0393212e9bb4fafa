/* An input file: plain or compressed; from disk, an archive, a pipe or standard input.
 *
 * gzip, zstd, xz, bzip2 and Parquet are recognised by their first bytes. Parquet is read as JSON Lines of its rows
 * (parquet/parquet.h); if it does not come from a plain file, it is copied to a temporary file first. The digest is of
 * the file's bytes before all this, as sha256sum(1) prints it.
 *
 *     struct input *input;
 *     if (input_open(&input, "chat.jsonl.zst", &err) < 0) …
 *     struct byte_window window = {.read = input_read, .data = input};
 *     …
 *     input_close(input);
 */
#ifndef PREP_INPUT_H
#define PREP_INPUT_H

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct input;

/* Opens a file: `path` may be "-" for standard input, or "ARCHIVE:NAME" for a file in an archive. `before` may be NULL,
 * or the previous input, which is closed; if both are in the same archive, reading continues from there. 0 or -1. */
int input_next(struct input **input, struct input *before, const char *path, struct ipf_error *err);
/* The same without a previous input. */
int input_open(struct input **input, const char *path, struct ipf_error *err);
/* Reads decompressed bytes, as byte_window.h wants it; `data` is the struct input. -1 is IPF_CUT if a compressed file
 * is cut or corrupt. */
int64_t input_read(void *data, char *to, size_t cap, struct ipf_error *err);
/* Looks at the first `want` decompressed bytes without consuming them: how many there are (fewer only at the end), or
 * -1. */
int64_t input_peek(struct input *input, size_t want, const char **bytes, struct ipf_error *err);
const char *input_name(const struct input *input); /* the path, or "standard input" */
int64_t input_bytes(const struct input *input);    /* read so far, before decompression; of Parquet a guess
                                                    * until its end */
int64_t input_size(const struct input *input);     /* a regular file's; IPF_ABSENT for others */

/* The input's entry in the "from" of the trailer: new, or NULL on error. If reading ended early (not `whole`), the rest
 * of a regular file is read for the digest; a pipe gets `"partial":true` instead of a digest, since how much of it was
 * read is not reproducible. */
json_t *input_provenance(struct input *input, bool whole, struct ipf_error *err);
/* Before the first read: no digest is computed. Its entry then is as that of a pipe read in part. */
void input_skip_digest(struct input *input);
void input_close(struct input *input); /* NULL is fine */

#endif
