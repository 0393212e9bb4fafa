/* Writes lines of CSV as in RFC 4180. The same calls write the line of names and the lines of values:
 *
 *     struct csv_writer csv = {.out = out, .header = true};
 *     for each line: csv_text(&csv, "model", model); csv_count(&csv, "requests", n); csv_line_end(&csv);
 *
 * An absent cell is empty.
 */
#ifndef REPORT_CSV_WRITER_H
#define REPORT_CSV_WRITER_H

#include "buffer.h"

#include <stdint.h>

struct csv_writer {
	struct buffer *out;
	bool header, comma; /* header: write names instead of values; comma: the line has a cell */
};

/* A text from anywhere: escaped as on a terminal, and behind an apostrophe if a spreadsheet would evaluate it. */
void csv_text(struct csv_writer *csv, const char *name, struct slice value);
/* As in JSON: at most six decimals, without trailing zeros; inf. NAN: empty. */
void csv_number(struct csv_writer *csv, const char *name, double value);
void csv_count(struct csv_writer *csv, const char *name, int64_t value); /* IPF_ABSENT: empty */
/* After the line of names, lines of values follow. */
void csv_line_end(struct csv_writer *csv);

#endif
