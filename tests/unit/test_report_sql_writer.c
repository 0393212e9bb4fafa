/* Statements for SQLite and PostgreSQL: no text ends its literal, rows are grouped, a value that is not finite is
 * NULL. */
#include "unit.h"

#include "formats/sql_writer.h"

#include <math.h>

/* Where the literal that begins `text` ends, with standard_conforming_strings on, or off: then a backslash takes the
 * next character with it. */
static size_t end_of(const char *text, bool conforming)
{
	size_t i = 1;
	for (; text[i]; i++) {
		if (!conforming && text[i] == '\\')
			i++;
		else if (text[i] == '\'' && text[i + 1] == '\'')
			i++;
		else if (text[i] == '\'')
			return i + 1;
	}
	return i + 1000; /* it does not end */
}

static void a_literal_ends_where_it_should(void **state)
{
	(void)state;
	static const char letters[] = "'\\'\\';-\n\r\0ab\x1b\"";
	uint64_t seed = test_seed("a_literal_ends_where_it_should");
	for (int round = 0; round < 20000; round++) {
		char text[12];
		size_t len = test_random(&seed) % sizeof text;
		struct buffer out = {0};
		for (size_t i = 0; i < len; i++)
			text[i] = letters[test_random(&seed) % (sizeof letters - 1)];
		sql_literal(&out, (struct slice){text, len});
		assert_int_equal(end_of(out.data, true), out.len);
		assert_int_equal(end_of(out.data, false), out.len);
		assert_null(strpbrk(out.data, "\n\r\x1b"));
		assert_int_equal(strlen(out.data), out.len);
		buffer_release(&out);
	}
}

static void texts_stay_what_they_are(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"", "''"},
		{"a", "'a'"},
		{"it's", "'it''s'"},
		{"C:\\dir\\x", "'C:\\dir\\x'"},
		{"naïve 名", "'naïve 名'"},
		{"\\", "'\\\\'"},
		{"\\'", "'\\\\'''"},
		{"\\\\'", "'\\\\'''"},
		{"a\nb", "'a\\nb'"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buffer out = {0};
		sql_literal(&out, slice_of(cases[i][0]));
		assert_string_equal(out.data, cases[i][1]);
		buffer_release(&out);
	}
}

static const struct sql_column columns[] = {{.name = "run", .type = SQL_TEXT},
                                            {.name = "value", .type = SQL_REAL, .note = "ms"},
                                            {.name = "good", .type = SQL_BOOLEAN}};
static const struct sql_table table = {.name = "t", .columns = columns, .count = 3, .key = 1};

static void rows_become_statements(void **state)
{
	(void)state;
	struct buffer out = {0};
	struct sql_writer w = {.out = &out};
	sql_create(&w, &table);
	sql_row(&w, &table);
	sql_text(&w, slice_of("a"));
	sql_real(&w, 0.1);
	sql_boolean(&w, true);
	sql_row_end(&w);
	sql_row(&w, &table);
	sql_text(&w, (struct slice){0});
	sql_real(&w, INFINITY);
	sql_boolean(&w, false);
	sql_row_end(&w);
	sql_rows_end(&w);
	assert_string_equal(out.data,
	                    "CREATE TABLE IF NOT EXISTS t (\n  run TEXT NOT NULL,\n  value DOUBLE PRECISION, -- ms\n"
	                    "  good BOOLEAN,\n  PRIMARY KEY (run)\n);\n"
	                    "INSERT INTO t (run, value, good) VALUES\n('a',0.1,TRUE),\n(NULL,NULL,FALSE)\n"
	                    "ON CONFLICT DO NOTHING;\n");
	buffer_release(&out);
}

static void statements_have_a_limited_length(void **state)
{
	(void)state;
	struct buffer out = {0};
	struct sql_writer w = {.out = &out};
	size_t longest = 0;
	for (int i = 0; i < 5000; i++) {
		sql_row(&w, &table);
		sql_text(&w, slice_of("the name of a run, or of something else that is longer than a number"));
		sql_real(&w, NAN);
		sql_boolean(&w, true);
		sql_row_end(&w);
	}
	sql_rows_end(&w);
	int statements = 0;
	for (const char *at = out.data, *end; (end = strchr(at, ';')); at = end + 1, statements++)
		longest = (size_t)(end - at) > longest ? (size_t)(end - at) : longest;
	assert_int_equal(statements, 10);
	assert_in_range(longest, 1000, 65 * 1024);
	buffer_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_literal_ends_where_it_should),
		cmocka_unit_test(texts_stay_what_they_are),
		cmocka_unit_test(rows_become_statements),
		cmocka_unit_test(statements_have_a_limited_length),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
