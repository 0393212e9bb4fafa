/* The columns of a line for each request, the same in every format with one: the members of the row in ipf-results(5),
 * with the names of stage, target and error, and the tags as JSON.
 *
 *     struct request_columns columns;
 *     struct request_cells cells = {0};
 *     request_columns_init(&columns, REQUEST_CELLS);
 *     for each row of run->rows:
 *         struct request request = {.row = row};
 *         if (row_lines_read(run->lines, row->line, &request.result))
 *             for each columns.list[i]: struct request_value v = request_cell(&cells, run, &request, &columns.list[i]);
 *     request_cells_release(&cells);
 */
#ifndef REPORT_REQUEST_COLUMNS_H
#define REPORT_REQUEST_COLUMNS_H

#include "results/run_data.h"

enum request_type {
	REQUEST_ABSENT,
	REQUEST_INTEGER,
	REQUEST_BOOLEAN,
	REQUEST_TEXT,
	REQUEST_JSON,    /* a text that is JSON */
	REQUEST_INTEGERS /* a list, as such a text; `integer` is to be added to each */
};

enum request_extent {
	REQUEST_CELLS, /* members of one value, but no texts of answers */
	REQUEST_WHOLE  /* all members but the lists of events */
};

struct request_column {
	const char *name;
	enum request_type type;
	const struct field *field; /* the row's; NULL: computed by `own` */
	unsigned own;
};

struct request_columns {
	struct request_column list[FIELDS_MAX + 16];
	size_t count;
};

struct request {
	const struct row *row;
	struct result result;
};

struct request_value {
	enum request_type type; /* that of the column, or REQUEST_ABSENT */
	int64_t integer;
	bool boolean;
	struct slice text; /* as it was, with whatever characters; valid until the next cell */
};

struct request_cells {
	struct jdoc doc;
	struct buffer text;
};

void request_columns_init(struct request_columns *columns, enum request_extent extent);
/* Times of shards count from the start of the first one, as those of the windows do. */
struct request_value request_cell(struct request_cells *cells, const struct run_data *run,
                                  const struct request *request, const struct request_column *column);
void request_cells_release(struct request_cells *cells);

#endif
