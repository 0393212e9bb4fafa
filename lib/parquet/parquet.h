/* A Parquet file as JSON Lines: each row is an object on a line.
 *
 *     struct parquet *parquet;
 *     if (parquet_open(&parquet, fd, size, "chat.parquet", &err) < 0) …
 *     while ((got = parquet_read(parquet, to, cap, &err)) > 0) …
 *     parquet_close(parquet);
 *
 * The file must be seekable; it is read by pread(2), so its position stays. Memory is bounded by its pages and its
 * longest row (page_file.h), not by its row groups. ipf-prep-formats(5) says how values are written.
 */
#ifndef IPF_PARQUET_H
#define IPF_PARQUET_H

#include "buffer.h"
#include "error.h"

#include <stdbool.h>
#include <stdint.h>

#define PARQUET_HEAD    5                   /* bytes by which a Parquet file is recognised */
#define PARQUET_ROW_MAX ((size_t)512 << 20) /* bytes of a row as JSON, unless --max-line says otherwise */

struct parquet;

/* Is this the beginning of a Parquet file? A text beginning with its four letters is not. */
bool parquet_begins(struct slice head);
/* Reads the footer. The name is for messages. The descriptor stays the caller's. 0; -1: IPF_CUT or IPF_INPUT if it is
 * cut, malformed or encrypted. */
int parquet_open(struct parquet **opened, int fd, int64_t size, const char *name, struct ipf_error *err);
/* Writes up to `cap` bytes of rows to `to`: how many, 0 at the end, -1. Rows before an error are given first. */
int64_t parquet_read(struct parquet *parquet, char *to, size_t cap, struct ipf_error *err);
/* How far it has come: from 0 to the size of the file. */
int64_t parquet_position(const struct parquet *parquet);
void parquet_close(struct parquet *parquet); /* NULL is fine */

#endif
