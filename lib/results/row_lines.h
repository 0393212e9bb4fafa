/* The lines of rows, kept in a file without a name: values that only a few formats show of a request (the times of its
 * events, its texts, its id) have no room in struct row, which all rows have in memory at once.
 *
 *     struct row_lines *lines = row_lines_new(&err);
 *     where = row_lines_add(lines, line);                       // while reading
 *     if (row_lines_read(lines, where, &result)) …              // while rendering
 *     status = row_lines_check(lines, &err);                    // at the end: did all of it work?
 *     row_lines_free(lines);
 *
 * The file is in TMPDIR, or /tmp; it is as large as the lines, and disappears with the program.
 */
#ifndef IPF_ROW_LINES_H
#define IPF_ROW_LINES_H

#include "stream/result.h"

struct row_lines;

struct row_lines *row_lines_new(struct ipf_error *err); /* NULL: IPF_SYSTEM */
void row_lines_free(struct row_lines *lines);           /* NULL is fine */
/* Where the line is. A failure is kept for row_lines_check. */
int64_t row_lines_add(struct row_lines *lines, struct slice line);
/* The row of that line, valid until the next call; false: it cannot be read. */
bool row_lines_read(struct row_lines *lines, int64_t where, struct result *result);
/* The text of the line that was read last, without its end; valid until the next call. */
struct slice row_lines_text(const struct row_lines *lines);
/* Where the line after the one that was read last is. */
int64_t row_lines_next(const struct row_lines *lines);
/* -1: a line could not be written or read. */
int row_lines_check(const struct row_lines *lines, struct ipf_error *err);

#endif
