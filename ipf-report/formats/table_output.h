/* The tables of `ipf-report export parquet`, a file each, and what they have in common.
 *
 *     struct table_output t = {.report = report, .out = out, …};
 *     if (table_begin(&t, columns, count)) …
 *     for (int64_t i = 0; table_request(&t, i, &request); i++) {
 *         parquet_writer_integer(t.w, 0, …);
 *         table_end_row(&t);
 *     }
 *
 * table_end_row() sets the column `run`, the digest of the results. Times of shards count
 * from the start of the first one, as those of the windows do.
 *
 * A new table is a function in the list below, and a paragraph in ipf-exports(5).
 */
#ifndef REPORT_TABLE_OUTPUT_H
#define REPORT_TABLE_OUTPUT_H

#include "formats/request_columns.h"
#include "json_report/report.h"
#include "parquet/parquet_writer.h"

#define TABLES(TABLE)                                                                                                  \
	TABLE(requests)                                                                                                    \
	TABLE(events)                                                                                                      \
	TABLE(windows)

struct table_output {
	const struct report *report;
	struct buffer *out;
	struct parquet_writer *w; /* NULL until table_begin */
	struct slice run;         /* digest; absent: not known */
	bool stopped;             /* nothing more can be written */
};

#define TABLE_DECLARE(name_) void table_##name_(struct table_output *t);
TABLES(TABLE_DECLARE)

/* The first columns of every table. */
enum { TABLE_RUN, TABLE_NUMBER, TABLE_UTC, TABLE_COLUMNS };
/* `number_`: the name of the number of the row, or of the request. */
#define TABLE_FIRST_COLUMNS(number_)                                                                                   \
	[TABLE_RUN] = {"run", PARQUET_TEXT, false}, [TABLE_NUMBER] = {number_, PARQUET_INTEGER, false},                    \
	[TABLE_UTC] = {"t_utc", PARQUET_TIME, false}

/* False: out of memory. */
bool table_begin(struct table_output *t, const struct parquet_column *columns, size_t count);
/* Reads the request with this number, from 0 by stage and start. False: there is none, or nothing more can be written.
 */
bool table_request(struct table_output *t, int64_t number, struct request *request);
/* A value that may be IPF_ABSENT. */
void table_integer(struct table_output *t, size_t column, int64_t value);
/* A time on the clock of a part as times of the table count; IPF_ABSENT if it is, or out of range. */
int64_t table_time(const struct table_output *t, int part, int64_t time_ns);
/* The date of a time on the clock of a part; absent if it is not known, or --reproducible. */
void table_date(struct table_output *t, int part, int64_t time_ns);
void table_end_row(struct table_output *t);

#endif
