/* Files of the writer, read back by the reader. */
#include "parquet/parquet.h"
#include "parquet/parquet_writer.h"

#include "parquet/bit_runs.h"
#include "parquet/footer.h"
#include "parquet/run_writer.h"
#include "parquet/value_dictionary.h"
#include "unit.h"

#include <endian.h>
#include <unistd.h>

enum { FLAG, NUMBER, TIME, NAME, TAGS, LIST, NAMES, COLUMNS };
static const struct parquet_column columns[COLUMNS] = {
	[FLAG] = {"flag", PARQUET_BOOLEAN, false}, [NUMBER] = {"number", PARQUET_INTEGER, false},
	[TIME] = {"time", PARQUET_TIME, false},    [NAME] = {"name", PARQUET_TEXT, false},
	[TAGS] = {"tags", PARQUET_JSON, false},    [LIST] = {"list", PARQUET_INTEGER, true},
	[NAMES] = {"names", PARQUET_TEXT, true},
};

/* Writes the file from time to time, as a program does that must not keep it. */
struct target {
	struct parquet_writer *w;
	struct buffer out;
	FILE *file;
	size_t most; /* bytes that were kept */
};

static void spill(struct target *to)
{
	assert_false(to->out.failed);
	to->most = to->out.len > to->most ? to->out.len : to->most;
	assert_int_equal(fwrite(to->out.data ? to->out.data : "", 1, to->out.len, to->file), to->out.len);
	buffer_clear(&to->out);
}

static void begin(struct target *to)
{
	*to = (struct target){.file = tmpfile()};
	assert_non_null(to->file);
	to->w = parquet_writer_new(columns, COLUMNS, &to->out);
	assert_non_null(to->w);
}

static void end(struct target *to)
{
	parquet_writer_end(to->w, NULL, 0);
	spill(to);
	parquet_writer_free(to->w);
	buffer_release(&to->out);
	assert_int_equal(fflush(to->file), 0);
}

/* All rows as JSON Lines; closes the file. */
static struct buffer rows_of(struct target *to)
{
	struct buffer rows = {0};
	struct ipf_error err = {0};
	struct parquet *parquet;
	int64_t got;
	static char part[1 << 16];
	assert_int_equal(parquet_open(&parquet, fileno(to->file), ftello(to->file), "written", &err), 0);
	while ((got = parquet_read(parquet, part, sizeof part, &err)) > 0)
		buffer_append(&rows, part, (size_t)got);
	assert_string_equal(err.text, "");
	assert_int_equal(got, 0);
	parquet_close(parquet);
	fclose(to->file);
	return rows;
}

static void rows_are(struct target *to, const char *expected)
{
	struct buffer rows = rows_of(to);
	assert_string_equal(rows.data ? rows.data : "", expected);
	buffer_release(&rows);
}

static void text(struct target *to, size_t column, const char *value)
{
	parquet_writer_text(to->w, column, slice_of(value));
}

/* ---- types and null values --------------------------------------------------------------------------------------- */

static void a_file_without_rows_has_columns(void **state)
{
	struct target to;
	(void)state;
	begin(&to);
	end(&to);
	rows_are(&to, "");
}

#define NULLS "\"time\":null,\"name\":null,\"tags\":null,\"list\":null,\"names\":null}\n"

static void each_type_is_read_back(void **state)
{
	struct target to;
	(void)state;
	begin(&to);
	parquet_writer_boolean(to.w, FLAG, true);
	parquet_writer_integer(to.w, NUMBER, INT64_MIN);
	parquet_writer_integer(to.w, TIME, INT64_C(1700000000123456789));
	text(&to, NAME, "a\"\n\xc3\xa9");
	text(&to, TAGS, "{\"k\":[1,null]}");
	parquet_writer_list(to.w, LIST, 2);
	parquet_writer_integer(to.w, LIST, INT64_MAX);
	parquet_writer_integer(to.w, LIST, -1);
	parquet_writer_list(to.w, NAMES, 1);
	text(&to, NAMES, "");
	parquet_writer_end_row(to.w);
	parquet_writer_end_row(to.w);
	parquet_writer_boolean(to.w, FLAG, false);
	parquet_writer_integer(to.w, NUMBER, INT64_MAX);
	parquet_writer_list(to.w, LIST, 0);
	parquet_writer_list(to.w, NAMES, 0);
	parquet_writer_text(to.w, NAME, (struct slice){"a\0b", 3});
	parquet_writer_end_row(to.w);
	end(&to);
	rows_are(&to, "{\"flag\":true,\"number\":-9223372036854775808,\"time\":\"2023-11-14 22:13:20.123456789+00\","
	              "\"name\":\"a\\\"\\n\xc3\xa9\",\"tags\":{\"k\":[1,null]},\"list\":[9223372036854775807,-1],"
	              "\"names\":[\"\"]}\n"
	              "{\"flag\":null,\"number\":null," NULLS
	              "{\"flag\":false,\"number\":9223372036854775807,\"time\":null,\"name\":\"a\\u0000b\",\"tags\":null,"
	              "\"list\":[],\"names\":[]}\n");
}

/* ---- random tables ----------------------------------------------------------------------------------------------- */

/* A value of `distinct` many, or NULL. */
static void random_row(struct target *to, struct buffer *expected, uint64_t *seed, unsigned distinct)
{
	uint64_t r = test_random(seed);
	long long number = (long long)(test_random(seed) % distinct);
	bool known[COLUMNS];
	char name[64];
	for (int i = 0; i < COLUMNS; i++)
		known[i] = (r >> i & 1) || (r >> 20 & 7) == 0;
	snprintf(name, sizeof name, "name-%lld", number);
	buffer_format(expected, "{\"flag\":%s", known[FLAG] ? number % 2 ? "true" : "false" : "null");
	if (known[FLAG])
		parquet_writer_boolean(to->w, FLAG, number % 2);
	buffer_text(expected, ",\"number\":");
	if (known[NUMBER]) {
		parquet_writer_integer(to->w, NUMBER, number);
		buffer_format(expected, "%lld", number);
	} else {
		buffer_text(expected, "null");
	}
	buffer_format(expected, known[NAME] ? ",\"time\":null,\"name\":\"%s\"" : ",\"time\":null,\"name\":null", name);
	if (known[NAME])
		text(to, NAME, name);
	buffer_text(expected, known[LIST] ? ",\"tags\":null,\"list\":[" : ",\"tags\":null,\"list\":null");
	size_t count = r >> 30 & 3;
	if (known[LIST])
		parquet_writer_list(to->w, LIST, count);
	for (size_t i = 0; known[LIST] && i < count; i++) {
		buffer_format(expected, "%s%lld", i ? "," : "", number + (long long)i);
		parquet_writer_integer(to->w, LIST, number + (long long)i);
	}
	buffer_text(expected, known[LIST] ? "],\"names\":null}\n" : ",\"names\":null}\n");
	parquet_writer_end_row(to->w);
}

static void random_tables_are_read_back(void **state)
{
	static const unsigned distinct[] = {1, 2, 3, 200, 5000, 1000000};
	uint64_t seed = test_seed("random_tables_are_read_back");
	(void)state;
	for (size_t d = 0; d < sizeof distinct / sizeof *distinct; d++)
		for (int rows = 1; rows < 200000; rows = rows * 7 + 1) {
			struct target to;
			struct buffer expected = {0};
			begin(&to);
			for (int i = 0; i < rows; i++) {
				random_row(&to, &expected, &seed, distinct[d]);
				spill(&to);
			}
			end(&to);
			rows_are(&to, expected.data);
			buffer_release(&expected);
		}
}

/* ---- dictionaries, row groups, statistics ------------------------------------------------------------------------ */

/* The footer of the file, which stays open; its bytes are the caller's. */
static char *read_footer(struct target *to, struct footer *footer)
{
	struct ipf_error err = {0};
	uint32_t len;
	off_t size = ftello(to->file);
	assert_int_equal(pread(fileno(to->file), &len, sizeof len, size - 8), sizeof len);
	len = le32toh(len);
	char *bytes = malloc(len);
	assert_non_null(bytes);
	assert_int_equal(pread(fileno(to->file), bytes, len, size - 8 - (off_t)len), len);
	assert_int_equal(footer_parse(footer, (struct slice){bytes, len}, "written", &err), 0);
	return bytes;
}

static bool has_dictionary(struct target *to, size_t column)
{
	struct footer footer;
	char *bytes = read_footer(to, &footer);
	bool has = footer.groups[0].chunks[column].dictionary_page > 0;
	footer_release(&footer);
	free(bytes);
	return has;
}

static void write_numbers(struct target *to, int rows, int distinct)
{
	begin(to);
	for (int i = 0; i < rows; i++) {
		parquet_writer_integer(to->w, NUMBER, (int64_t)i % distinct);
		parquet_writer_end_row(to->w);
	}
	end(to);
}

static void repeated_values_have_a_dictionary(void **state)
{
	struct target to;
	(void)state;
	write_numbers(&to, 1000, 10);
	assert_true(has_dictionary(&to, NUMBER));
	assert_false(has_dictionary(&to, NAME)); /* all are null */
	fclose(to.file);
	write_numbers(&to, 1000, 1000);
	assert_false(has_dictionary(&to, NUMBER));
	fclose(to.file);
}

/* The first pages have a dictionary, the later ones do not: each text is new. */
static void a_dictionary_is_given_up_when_it_grows(void **state)
{
	struct target to;
	struct buffer expected = {0};
	char name[128];
	(void)state;
	begin(&to);
	for (int i = 0; i < 60000; i++) {
		snprintf(name, sizeof name, "a name of some length, so that pages are full sooner %d", i < 20000 ? i % 7 : i);
		text(&to, NAME, name);
		parquet_writer_end_row(to.w);
		buffer_format(&expected,
		              "{\"flag\":null,\"number\":null,\"time\":null,\"name\":\"%s\",\"tags\":null,"
		              "\"list\":null,\"names\":null}\n",
		              name);
	}
	end(&to);
	assert_true(has_dictionary(&to, NAME));
	rows_are(&to, expected.data);
	buffer_release(&expected);
}

static void a_long_file_has_row_groups_of_bounded_size(void **state)
{
	struct target to;
	struct footer footer;
	struct buffer expected = {0};
	char name[1024];
	(void)state;
	memset(name, 'x', sizeof name);
	name[sizeof name - 1] = '\0';
	begin(&to);
	for (int i = 0; i < 80000; i++) {
		int number = snprintf(name, 9, "%08d", i);
		name[number] = 'x';
		text(&to, NAME, name);
		parquet_writer_end_row(to.w);
		spill(&to);
		buffer_format(&expected,
		              "{\"flag\":null,\"number\":null,\"time\":null,\"name\":\"%s\",\"tags\":null,"
		              "\"list\":null,\"names\":null}\n",
		              name);
	}
	end(&to);
	char *bytes = read_footer(&to, &footer);
	assert_int_equal(footer.group_count, 3);
	assert_true(footer.groups[0].rows > 30000 && footer.groups[0].rows < 36000);
	assert_int_equal(footer.groups[0].rows + footer.groups[1].rows + footer.groups[2].rows, 80000);
	assert_int_equal(footer.rows, 80000);
	assert_true(to.most < (size_t)36 << 20);
	footer_release(&footer);
	free(bytes);
	rows_are(&to, expected.data);
	buffer_release(&expected);
}

/* A column without values costs next to nothing in any number of rows. */
static void null_columns_are_short(void **state)
{
	struct target to;
	(void)state;
	begin(&to);
	for (int i = 0; i < 3000000; i++) {
		parquet_writer_end_row(to.w);
		if (i % 100000 == 0)
			spill(&to);
	}
	end(&to);
	assert_true(ftello(to.file) < 6000);
	struct footer footer;
	char *bytes = read_footer(&to, &footer);
	assert_int_equal(footer.group_count, 3);
	assert_int_equal(footer.rows, 3000000);
	footer_release(&footer);
	free(bytes);
	fclose(to.file);
}

/* ---- parts ------------------------------------------------------------------------------------------------------- */

static void runs_are_read_back(void **state)
{
	uint64_t seed = test_seed("runs_are_read_back");
	static uint32_t put[5000], got[5000];
	(void)state;
	for (int round = 0; round < few_or_many(300, 5000); round++) {
		struct run_writer w = {.width = 1 + (unsigned)(test_random(&seed) % 32)};
		struct bit_runs r;
		size_t count = 0, most = 1 + test_random(&seed) % 4000;
		while (count < most) {
			uint32_t value = (uint32_t)(test_random(&seed) & ((UINT64_C(1) << w.width) - 1));
			size_t length = 1 + test_random(&seed) % (test_random(&seed) % 3 ? 3 : 900);
			run_writer_put(&w, value, length);
			for (size_t i = 0; i < length; i++)
				put[count++] = value;
		}
		run_writer_end(&w);
		bit_runs_begin(&r, buffer_all(&w.out), w.width);
		assert_int_equal(bit_runs_read(&r, got, count), count);
		assert_memory_equal(got, put, count * sizeof *got);
		buffer_release(&w.out);
	}
}

static void equal_values_have_one_number(void **state)
{
	struct value_dictionary d = {0};
	uint32_t index;
	char name[32];
	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 3000; i++) {
			int len = snprintf(name, sizeof name, "%u", i % 1000);
			assert_true(value_dictionary_index(&d, (struct slice){name, (size_t)len}, &index));
			assert_int_equal(index, i % 1000);
		}
		assert_int_equal(d.count, 1000);
		assert_int_equal(d.plain.len, 2890);
		value_dictionary_clear(&d);
	}
	value_dictionary_release(&d);
}

static void a_failed_buffer_fails_the_file(void **state)
{
	struct target to;
	(void)state;
	begin(&to);
	text(&to, NAME, "a");
	parquet_writer_end_row(to.w);
	to.out.failed = true;
	parquet_writer_end(to.w, NULL, 0);
	assert_true(to.out.failed);
	parquet_writer_free(to.w);
	parquet_writer_free(NULL);
	buffer_release(&to.out);
	fclose(to.file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_without_rows_has_columns),
		cmocka_unit_test(each_type_is_read_back),
		cmocka_unit_test(random_tables_are_read_back),
		cmocka_unit_test(repeated_values_have_a_dictionary),
		cmocka_unit_test(a_dictionary_is_given_up_when_it_grows),
		cmocka_unit_test(a_long_file_has_row_groups_of_bounded_size),
		cmocka_unit_test(null_columns_are_short),
		cmocka_unit_test(runs_are_read_back),
		cmocka_unit_test(equal_values_have_one_number),
		cmocka_unit_test(a_failed_buffer_fails_the_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
