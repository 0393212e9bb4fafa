#include "input/csv.h"

#include "chunked_text.h"

/* The rows of a text: the line, then the fields in square brackets; errors in angle brackets. */
static void rows(const char *text, size_t most, struct buffer *out)
{
	struct chunked_text chunks = {.text = text, .len = strlen(text), .most = most};
	struct byte_window window = {.read = read_chunks, .data = &chunks};
	struct csv csv = {0};
	struct ipf_error err = {0};
	int got;
	buffer_clear(out);
	csv_begin(&csv, &window);
	while ((got = csv_next(&csv, &err)) != 0) {
		buffer_format(out, "%lld", (long long)csv.line);
		if (got < 0)
			buffer_format(out, "<%s>", err.text);
		for (size_t i = 0; got > 0 && i < csv.count; i++)
			buffer_format(out, "[%.*s]", (int)csv.fields[i].len, csv.fields[i].data);
		ipf_error_clear(&err);
	}
	csv_release(&csv);
	byte_window_release(&window);
}

static void gives(const char *text, const char *expected)
{
	struct buffer out = {0};
	for (size_t most = 1; most < 30; most++) {
		rows(text, most, &out);
		assert_string_equal(out.data ? out.data : "", expected);
	}
	buffer_release(&out);
}

static void plain_rows(void **state)
{
	(void)state;
	gives("", "");
	gives("a,b\r\nc,d\r\ne,f", "1[a][b]2[c][d]3[e][f]");
	gives("a,b\n\nc,\n,\n", "1[a][b]3[c][]4[][]");
	gives("a\n", "1[a]");
	gives("\r\n\n", "");
	gives(" a , b \n", "1[ a ][ b ]");
}

static void quoted_rows(void **state)
{
	(void)state;
	gives("\"a,b\",c\n", "1[a,b][c]");
	gives("\"a \"\"b\"\"\",\"\"\n", "1[a \"b\"][]");
	gives("\"a\nb\",c\nd,e\n", "1[a\nb][c]3[d][e]");
}

static void broken_rows(void **state)
{
	(void)state;
	gives("\"a\"b,c\nd,e\n", "1<text after a closing quote: \"b\">2[d][e]");
	gives("a,b\n\"c,d\n", "1[a][b]2<a quoted field has no closing quote>");
	/* only its line is lost */
	gives("\"a,b\nc,d\ne,f\n", "1<a quoted field has no closing quote>2[c][d]3[e][f]");
}

static void columns_by_name(void **state)
{
	(void)state;
	static const char text[] = "\xef\xbb\xbfTIMESTAMP,\"NumImages\",ContextTokens\r\n1,2,3\r\n";
	struct chunked_text chunks = {.text = text, .len = strlen(text), .most = 5};
	struct byte_window window = {.read = read_chunks, .data = &chunks};
	struct csv csv = {0};
	struct ipf_error err = {0};
	csv_begin(&csv, &window);
	assert_int_equal(csv_header(&csv, &err), 1);
	assert_int_equal(csv_column(&csv, "TIMESTAMP"), 0);
	assert_int_equal(csv_column(&csv, "ContextTokens"), 2);
	assert_int_equal(csv_column(&csv, "contexttokens"), -1);
	assert_int_equal(csv_next(&csv, &err), 1);
	assert_int_equal(csv.line, 2);
	assert_true(slice_is(csv.fields[2], "3"));
	csv_release(&csv);
	byte_window_release(&window);
}

static void the_header_tells_the_separator(void **state)
{
	(void)state;
	static const struct {
		const char *text, *first, *second, *value;
	} tables[] = {{"a,b\n1,2\n", "a", "b", "2"},
	              {"a;b\n1;2,5\n", "a", "b", "2,5"},
	              {"\r\n\na\tb\n1\t2;3\n", "a", "b", "2;3"},
	              {"a|b\n1|\"2|3\"\n", "a", "b", "2|3"},
	              {"\"a;;\",b\n1,2\n", "a;;", "b", "2"},
	              {"\xef\xbb\xbf\"a\";b\n1;2\n", "a", "b", "2"}};
	for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
		for (size_t most = 1; most < 20; most++) {
			struct chunked_text chunks = {.text = tables[i].text, .len = strlen(tables[i].text), .most = most};
			struct byte_window window = {.read = read_chunks, .data = &chunks};
			struct csv csv = {0};
			struct ipf_error err = {0};
			csv_begin(&csv, &window);
			assert_int_equal(csv_header(&csv, &err), 1);
			assert_int_equal(csv.column_count, 2);
			assert_string_equal(csv.columns[0], tables[i].first);
			assert_string_equal(csv.columns[1], tables[i].second);
			assert_int_equal(csv_next(&csv, &err), 1);
			assert_int_equal(csv.fields[1].len, strlen(tables[i].value));
			assert_memory_equal(csv.fields[1].data, tables[i].value, csv.fields[1].len);
			csv_release(&csv);
			byte_window_release(&window);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_rows),
		cmocka_unit_test(quoted_rows),
		cmocka_unit_test(broken_rows),
		cmocka_unit_test(columns_by_name),
		cmocka_unit_test(the_header_tells_the_separator),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
