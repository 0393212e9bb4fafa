#include "formats/sql_writer.h"

#include "clock.h"
#include "safe_text.h"

#include <math.h>

enum { ROWS_MOST = 500, STATEMENT_BYTES = 64 * 1024 };

static const char *const types[] = {
	[SQL_TEXT] = "TEXT",
	[SQL_INTEGER] = "BIGINT",
	[SQL_REAL] = "DOUBLE PRECISION",
	[SQL_BOOLEAN] = "BOOLEAN",
	[SQL_TIME] = "TIMESTAMP WITH TIME ZONE",
};

void sql_create(struct sql_writer *w, const struct sql_table *table)
{
	buffer_format(w->out, "CREATE TABLE IF NOT EXISTS %s (\n", table->name);
	for (size_t i = 0; i < table->count; i++) {
		const struct sql_column *c = &table->columns[i];
		buffer_format(w->out, "  %s %s%s,%s%s\n", c->name, types[c->type], i < table->key ? " NOT NULL" : "",
		              c->note ? " -- " : "", c->note ? c->note : "");
	}
	buffer_text(w->out, "  PRIMARY KEY (");
	for (size_t i = 0; i < table->key; i++)
		buffer_format(w->out, "%s%s", i ? ", " : "", table->columns[i].name);
	buffer_text(w->out, ")\n);\n");
}

void sql_delete(struct sql_writer *w, const struct sql_table *table, struct slice first)
{
	const char *key = table->columns[0].name;
	buffer_format(w->out, "DELETE FROM %s WHERE %s = ", table->name, key);
	sql_literal(w->out, first);
	buffer_format(w->out, " AND (%s IS NOT NULL", key);
	for (size_t i = 1; i < table->count; i++)
		buffer_format(w->out, " OR %s IS NULL", table->columns[i].name);
	buffer_text(w->out, ");\n");
}

void sql_rows_end(struct sql_writer *w)
{
	if (w->table)
		buffer_text(w->out, "\nON CONFLICT DO NOTHING;\n");
	w->table = NULL;
	w->stopped |= !report_output_spill(w->to, w->out);
}

void sql_row(struct sql_writer *w, const struct sql_table *table)
{
	if (w->table != table || w->rows == ROWS_MOST || w->out->len - w->begin > STATEMENT_BYTES) {
		sql_rows_end(w);
		w->table = table;
		w->rows = 0;
		w->begin = w->out->len;
		buffer_format(w->out, "INSERT INTO %s (", table->name);
		for (size_t i = 0; i < table->count; i++)
			buffer_format(w->out, "%s%s", i ? ", " : "", table->columns[i].name);
		buffer_text(w->out, ") VALUES\n(");
	} else {
		buffer_text(w->out, ",\n(");
	}
	w->rows++;
	w->comma = false;
}

void sql_row_end(struct sql_writer *w)
{
	buffer_byte(w->out, ')');
}

static void separate(struct sql_writer *w)
{
	if (w->comma)
		buffer_byte(w->out, ',');
	w->comma = true;
}

void sql_null(struct sql_writer *w)
{
	separate(w);
	buffer_text(w->out, "NULL");
}

void sql_integer(struct sql_writer *w, int64_t value)
{
	separate(w);
	buffer_format(w->out, "%lld", (long long)value);
}

void sql_real(struct sql_writer *w, double value)
{
	if (!isfinite(value)) {
		sql_null(w);
		return;
	}
	separate(w);
	buffer_format(w->out, "%.15g", value);
}

void sql_boolean(struct sql_writer *w, bool value)
{
	separate(w);
	buffer_text(w->out, value ? "TRUE" : "FALSE");
}

/* With standard_conforming_strings off, a backslash changes the meaning of the character after it. An odd number of
 * them in front of a quote would then end the literal in another place, so it is made even. */
void sql_literal(struct buffer *out, struct slice text)
{
	struct buffer safe = {0};
	size_t backslashes = 0;
	safe_text_append(&safe, text);
	out->failed |= safe.failed;
	buffer_byte(out, '\'');
	for (size_t i = 0; i <= safe.len; i++) {
		char c = i < safe.len ? safe.data[i] : '\'';
		if (c == '\'' && backslashes % 2)
			buffer_byte(out, '\\');
		backslashes = c == '\\' ? backslashes + 1 : 0;
		if (c == '\'' && i < safe.len)
			buffer_byte(out, '\'');
		buffer_byte(out, c);
	}
	buffer_release(&safe);
}

void sql_text(struct sql_writer *w, struct slice text)
{
	if (!text.data) {
		sql_null(w);
		return;
	}
	separate(w);
	sql_literal(w->out, text);
}

void sql_time(struct sql_writer *w, int64_t unix_ns)
{
	char text[32];
	clock_format(unix_ns, text);
	separate(w);
	buffer_format(w->out, "'%s'", text);
}
