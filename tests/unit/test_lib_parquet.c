#include "parquet/bit_runs.h"
#include "parquet/delta_integers.h"
#include "parquet/page_header.h"
#include "parquet/parquet.h"
#include "parquet/value_json.h"

#include "unit.h"

#include <stdlib.h>

/* Bytes of a literal, in memory of exactly that length. */
#define BYTES(literal) ((struct slice){exact("" literal, sizeof literal - 1), sizeof literal - 1})

static char *kept[64];
static size_t kept_count;

static const char *exact(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	assert_true(kept_count < sizeof kept / sizeof *kept);
	memcpy(copy, text, len);
	return kept[kept_count++] = copy;
}

static int let_go(void **state)
{
	(void)state;
	while (kept_count)
		free(kept[--kept_count]);
	return 0;
}

/* ---- Thrift ------------------------------------------------------------------------------------------------------ */

static struct thrift thrift_of(struct slice bytes)
{
	const unsigned char *at = (const unsigned char *)bytes.data;
	return (struct thrift){.at = at, .end = at + bytes.len};
}

static void fields_are_read_or_skipped(void **state)
{
	(void)state;
	/* 1: -3, 2: true, 4: "ab", 5: [1, 2], 20 (by its whole number): 300 */
	struct thrift t = thrift_of(BYTES("\x16\x05\x11\x28\x02"
	                                  "ab\x19\x25\x02\x04\x06\x28\xd8\x04\x00"));
	struct thrift_field f = {0};
	assert_true(thrift_next(&t, &f));
	assert_int_equal(f.id, 1);
	assert_int_equal(thrift_integer(&t, f.type), -3);
	assert_true(thrift_next(&t, &f) && f.id == 2);
	assert_true(thrift_bool(&t, f.type));
	assert_true(thrift_next(&t, &f) && f.id == 4);
	assert_true(slice_is(thrift_binary(&t, f.type), "ab"));
	assert_true(thrift_next(&t, &f) && f.id == 5);
	assert_int_equal(thrift_list(&t, f.type, THRIFT_I32), 2);
	assert_int_equal(thrift_integer(&t, THRIFT_I32), 1);
	assert_int_equal(thrift_integer(&t, THRIFT_I32), 2);
	assert_true(thrift_next(&t, &f) && f.id == 20);
	assert_int_equal(thrift_integer(&t, f.type), 300);
	assert_false(thrift_next(&t, &f));
	assert_int_equal(t.fault, THRIFT_GOOD);
	assert_ptr_equal(t.at, t.end);
}

/* A struct of one field, which is skipped. */
static void skips(struct slice bytes, enum thrift_fault fault)
{
	struct thrift t = thrift_of(bytes);
	for (struct thrift_field f = {0}; thrift_next(&t, &f);)
		thrift_skip(&t, f.type);
	assert_int_equal(t.fault, fault);
}

static void unknown_fields_are_skipped(void **state)
{
	char deep[201];
	(void)state;
	skips(BYTES("\x00"), THRIFT_GOOD);
	skips(BYTES("\x13\x01\x17\x01\x02\x03\x04\x05\x06\x07\x08\x12\x14\x02\x00"), THRIFT_GOOD);
	skips(BYTES("\x19\x31\x01\x02\x01\x1a\x18\x01x\x1c\x00\x00"), THRIFT_GOOD);
	skips(BYTES("\x1b\x00\x1b\x02\x85\x01x\x02\x01y\x04\x00"), THRIFT_GOOD); /* {}, {"x": 1, "y": 2} */
	skips(BYTES(""), THRIFT_CUT);
	skips(BYTES("\x16"), THRIFT_CUT);
	skips(BYTES("\x16\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00"), THRIFT_WRONG);
	skips(BYTES("\x18\x05"
	            "abc\x00"),
	      THRIFT_CUT);
	skips(BYTES("\x19\xf5\xff\xff\xff\xff\x0f\x00"), THRIFT_CUT);
	skips(BYTES("\x1b\xff\xff\xff\xff\x0f\x55\x00"), THRIFT_CUT);
	skips(BYTES("\x17\x01\x02\x00"), THRIFT_CUT);
	skips(BYTES("\x1d\x00"), THRIFT_WRONG);
	skips(BYTES("\x19\x1d\x00\x00"), THRIFT_WRONG);
	memset(deep, 0x1c, 200);
	skips((struct slice){deep, 200}, THRIFT_WRONG);
	memset(deep, 0x19, 200); /* a list of one list of one list … */
	skips((struct slice){deep, 200}, THRIFT_WRONG);
}

static void other_types_are_faults(void **state)
{
	(void)state;
	struct thrift t = thrift_of(BYTES("\x01\x02"));
	assert_int_equal(thrift_integer(&t, THRIFT_BINARY), 0);
	assert_int_equal(t.fault, THRIFT_WRONG);
	assert_int_equal(thrift_integer(&t, THRIFT_I32), 0); /* after a fault */
	t = thrift_of(BYTES("\x25\x02\x04"));
	assert_int_equal(thrift_list(&t, THRIFT_LIST, THRIFT_STRUCT), 0);
	assert_int_equal(t.fault, THRIFT_WRONG);
	t = thrift_of(BYTES("\x02"));
	assert_false(thrift_bool(&t, THRIFT_I32));
	assert_int_equal(t.fault, THRIFT_WRONG);
	t = thrift_of(BYTES("\x02zz"));
	assert_int_equal(thrift_binary(&t, THRIFT_I32).len, 0);
	assert_int_equal(t.fault, THRIFT_WRONG);
	t = thrift_of(BYTES("\x02"));
	thrift_struct(&t, THRIFT_LIST);
	assert_int_equal(t.fault, THRIFT_WRONG);
}

/* ---- small integers ---------------------------------------------------------------------------------------------- */

/* The values, read `most` at a time, and as levels if they are small. */
static void runs_are(struct slice bytes, unsigned width, const char *expected)
{
	for (size_t most = 1; most < 30; most++) {
		struct bit_runs wide, narrow;
		struct buffer text = {0};
		uint32_t values[32];
		uint8_t levels[32];
		size_t got;
		bit_runs_begin(&wide, bytes, width);
		bit_runs_begin(&narrow, bytes, width);
		while ((got = bit_runs_read(&wide, values, most)) > 0) {
			if (width <= 8) {
				assert_int_equal(bit_runs_levels(&narrow, levels, most), got);
				for (size_t i = 0; i < got; i++)
					assert_int_equal(levels[i], values[i]);
			}
			for (size_t i = 0; i < got; i++)
				buffer_format(&text, "%s%u", text.len ? " " : "", values[i]);
			if (got < most)
				break;
		}
		assert_string_equal(text.data ? text.data : "", expected);
		buffer_release(&text);
	}
}

static void runs_repeat_or_pack(void **state)
{
	(void)state;
	runs_are(BYTES(""), 3, "");
	runs_are(BYTES("\x08\x05"), 3, "5 5 5 5");
	runs_are(BYTES("\x03\x88\xc6\xfa"), 3, "0 1 2 3 4 5 6 7"); /* the example of the specification */
	runs_are(BYTES("\x03\x88\xc6\xfa\x04\x01"), 3, "0 1 2 3 4 5 6 7 1 1");
	runs_are(BYTES("\x00\x07\x02\x06"), 3, "6");     /* a run of none */
	runs_are(BYTES("\x05\x88\xc6"), 3, "0 1 2 3 4"); /* a cut group */
	runs_are(BYTES("\x04\x01\x02\x03"), 20, "197121 197121");
	runs_are(BYTES("\x02\xff\xff\xff\xff"), 32, "4294967295");
	runs_are(BYTES("\x02\x01\x02"), 20, ""); /* a cut value */
	runs_are(BYTES("\x80\x80\x80\x80\x80\x80\x80\x01\x05"), 3, "");
	assert_int_equal(bit_width(0), 0);
	assert_int_equal(bit_width(1), 1);
	assert_int_equal(bit_width(4), 3);
}

static void runs_may_need_no_bytes_or_have_no_heads(void **state)
{
	struct bit_runs r;
	uint32_t values[9] = {7, 7, 7};
	uint8_t levels[9] = {7, 7, 7};
	(void)state;
	bit_runs_begin(&r, BYTES(""), 0);
	assert_int_equal(bit_runs_read(&r, values, 3), 3);
	assert_int_equal(bit_runs_levels(&r, levels, 3), 3);
	assert_int_equal(values[0] + values[1] + values[2] + levels[0] + levels[2], 0);
	bit_runs_begin_packed(&r, BYTES("\x05\x39\x77"), 3, true); /* the example of the specification */
	assert_int_equal(bit_runs_levels(&r, levels, 9), 8);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(levels[i], i);
	bit_runs_begin_packed(&r, BYTES("\x05\x80"), 1, false);
	assert_int_equal(bit_runs_read(&r, values, 9), 9);
	assert_int_equal(values[0] * 4 + values[1] * 2 + values[2], 5);
}

static void delta_is(struct slice bytes, const char *expected)
{
	for (size_t most = 1; most < 40; most++) {
		struct delta_integers d;
		struct buffer text = {0};
		int64_t values[40];
		size_t got = 0;
		if (delta_integers_begin(&d, bytes) < 0)
			buffer_text(&text, "malformed");
		else
			while ((got = delta_integers_read(&d, values, most)) > 0)
				for (size_t i = 0; i < got; i++)
					buffer_format(&text, "%s%lld", text.len ? " " : "", (long long)values[i]);
		assert_string_equal(text.data ? text.data : "", expected);
		buffer_release(&text);
	}
}

static void differences_are_summed(void **state)
{
	struct delta_integers d;
	struct slice rest = {0};
	(void)state;
	delta_is(BYTES("\x80\x01\x04\x00\x00"), "");
	delta_is(BYTES("\x80\x01\x04\x01\x0d"), "-7");
	delta_is(BYTES("\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00"), "1 2 3 4 5"); /* the examples of the specification */
	delta_is(BYTES("\x80\x01\x04\x08\x0e\x03\x02\x00\x00\x00\xc0\x3f\x00\x00\x00\x00\x00\x00"), "7 5 3 1 2 3 4 5");
	delta_is(BYTES("\x80\x01\x04\x08\x0e\x03\x02\xff\xff\xff\xc0\x3f"), "7 5 3 1 2 3 4 5"); /* not padded */
	delta_is(BYTES("\x80\x01\x04\x03\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01\x00\x00\x00\x00"),
	         "-9223372036854775808 9223372036854775807 9223372036854775806"); /* they wrap */
	delta_is(BYTES("\x80\x01\x04\x02\x00\x00\x40\x00\x00\x00\x01\x02\x03\x04\x05\x06\x07\x08"), "0 578437695752307201");
	delta_is(BYTES("\x80\x01\x04\x08\x0e\x03\x02\x00\x00\x00\xc0"), "7"); /* cut */
	delta_is(BYTES("\x80\x01\x04\x08\x0e\x03\x41\x00\x00\x00\xc0\x3f"), "7");
	delta_is(BYTES("\x80\x01\x04\x08\x0e\x03\x02"), "7");
	delta_is(BYTES("\x64\x01\x08\x0e"), "malformed");
	delta_is(BYTES("\x80\x01\x00\x08\x0e"), "malformed");
	delta_is(BYTES("\x80\x01\x03\x08\x0e"), "malformed");
	delta_is(BYTES("\x00\x01\x08\x0e"), "malformed");
	delta_is(BYTES("\x80\x01\x04"), "malformed");
	assert_int_equal(delta_integers_begin(&d, BYTES("\x80\x01\x04\x05\x02\x02\x00\x00\x00\x00rest")), 0);
	assert_int_equal(delta_integers_skip(&d, &rest), 0);
	assert_true(rest.len == 4 && memcmp(rest.data, "rest", 4) == 0);
	assert_int_equal(delta_integers_begin(&d, BYTES("\x80\x01\x04\x05\x02\x02\x20\x00\x00\x00")), 0);
	assert_int_equal(delta_integers_skip(&d, &rest), -1);
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void value_is(const struct schema_element *e, union parquet_value value, const char *expected)
{
	struct buffer out = {0};
	struct value_type type = value_type_of(e);
	value_json(&type, value, &out);
	assert_string_equal(out.data, expected);
	buffer_release(&out);
}

static void whole_is(enum physical_type type, enum annotation note, int64_t value, const char *expected)
{
	value_is(&(struct schema_element){.type = (int64_t)type, .note = note, .digits = 6, .scale = 2},
	         (union parquet_value){.integer = value}, expected);
}

static void bytes_are(enum annotation note, struct slice value, const char *expected)
{
	value_is(&(struct schema_element){.type = TYPE_BYTE_ARRAY, .note = note, .scale = 3},
	         (union parquet_value){.bytes = value}, expected);
}

static void numbers(void **state)
{
	(void)state;
	whole_is(TYPE_BOOLEAN, NOTE_NONE, 1, "true");
	whole_is(TYPE_INT64, NOTE_NONE, INT64_MIN, "-9223372036854775808");
	whole_is(TYPE_INT64, NOTE_UNSIGNED, -1, "18446744073709551615");
	whole_is(TYPE_INT32, NOTE_UNSIGNED, -1, "4294967295");
	whole_is(TYPE_INT32, NOTE_DECIMAL, -7, "-0.07");
	whole_is(TYPE_INT64, NOTE_DECIMAL, INT64_MIN, "-92233720368547758.08");
	whole_is(TYPE_INT64, NOTE_DECIMAL, 0, "0.00");
	bytes_are(NOTE_DECIMAL, BYTES("\x01\x00"), "0.256");
	bytes_are(NOTE_DECIMAL, BYTES("\xff"), "-0.001");
	bytes_are(NOTE_DECIMAL, BYTES(""), "0.000");
	bytes_are(NOTE_DECIMAL, BYTES("\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "-170141183460469231731687303715884105.728");
	bytes_are(NOTE_DECIMAL, BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe"),
	          "-0.002");
	bytes_are(NOTE_DECIMAL, BYTES("\x00\x80\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), "null");
	const struct schema_element half = {.type = TYPE_FIXED, .type_length = 2, .note = NOTE_FLOAT16};
	value_is(&half, (union parquet_value){.bytes = BYTES("\x00\x3e")}, "1.5");
	value_is(&half, (union parquet_value){.bytes = BYTES("\xff\xfb")}, "-65504");
	value_is(&half, (union parquet_value){.bytes = BYTES("\x00\x7c")}, "null");
	value_is(&half, (union parquet_value){.bytes = BYTES("\x01\x00")}, "5.9604644775390625e-08");
	value_is(&(struct schema_element){.type = TYPE_DOUBLE}, (union parquet_value){.real = 0.1}, "0.1");
	value_is(&(struct schema_element){.type = TYPE_FLOAT}, (union parquet_value){.real = (double)0.1f},
	         "0.10000000149011612");
}

static void dates_and_times(void **state)
{
	(void)state;
	whole_is(TYPE_INT32, NOTE_DATE, 0, "\"1970-01-01\"");
	whole_is(TYPE_INT32, NOTE_DATE, -1, "\"1969-12-31\"");
	whole_is(TYPE_INT32, NOTE_DATE, 11016, "\"2000-02-29\"");
	whole_is(TYPE_INT32, NOTE_DATE, 47540, "\"2100-02-28\"");
	whole_is(TYPE_INT32, NOTE_DATE, 47541, "\"2100-03-01\"");
	whole_is(TYPE_INT32, NOTE_DATE, -719162, "\"0001-01-01\"");
	whole_is(TYPE_INT32, NOTE_DATE, -719163, "\"0001-12-31 (BC)\"");
	whole_is(TYPE_INT32, NOTE_DATE, 2932897, "\"10000-01-01\"");
	whole_is(TYPE_INT32, NOTE_DATE, INT32_MIN, "\"5877642-06-23 (BC)\"");
	whole_is(TYPE_INT64, NOTE_TIMESTAMP, 1, "\"1970-01-01 00:00:00.000001\"");
	whole_is(TYPE_INT64, NOTE_TIMESTAMP, -100000, "\"1969-12-31 23:59:59.9\"");
	whole_is(TYPE_INT64, NOTE_TIMESTAMP, INT64_MIN, "\"290309-12-21 (BC) 19:59:05.224192\"");
	whole_is(TYPE_INT64, NOTE_TIME, 86399999999, "\"23:59:59.999999\"");
	whole_is(TYPE_INT64, NOTE_TIME, 86400000000, "\"24:00:00\"");
	whole_is(TYPE_INT64, NOTE_TIME, -1, "\"23:59:59.999999\"");
	whole_is(TYPE_INT32, NOTE_TIMESTAMP, 5, "5"); /* not of a possible type */
	value_is(&(struct schema_element){.type = TYPE_INT64, .note = NOTE_TIMESTAMP, .digits = 3, .utc = true},
	         (union parquet_value){.integer = INT64_MAX}, "\"292278994-08-17 07:12:55.807+00\"");
	value_is(&(struct schema_element){.type = TYPE_INT64, .note = NOTE_TIMESTAMP, .digits = 4},
	         (union parquet_value){.integer = 5}, "5");
	value_is(&(struct schema_element){.type = TYPE_INT96},
	         (union parquet_value){.bytes = BYTES("\x01\0\0\0\0\0\0\0\x8c\x3d\x25\0")},
	         "\"1970-01-01 00:00:00.000000001\"");
}

static void texts_and_bytes(void **state)
{
	(void)state;
	bytes_are(NOTE_STRING, BYTES("a\"\n\xc3\xa9"), "\"a\\\"\\n\xc3\xa9\"");
	bytes_are(NOTE_NONE, BYTES("plain \xc3\xa9\n"), "\"plain \xc3\xa9\\n\"");
	bytes_are(NOTE_NONE, BYTES("\x01x"), "\"\\\\x01x\"");
	bytes_are(NOTE_NONE, BYTES("\xff\\'\"x"), "\"\\\\xFF\\\\x5C\\\\x27\\\\x22x\"");
	bytes_are(NOTE_JSON, BYTES("{\"a\":\r\n1}"), "{\"a\":  1}");
	bytes_are(NOTE_JSON, BYTES("{\"a\":1}}"), "\"{\\\"a\\\":1}}\"");
	bytes_are(NOTE_JSON, BYTES(""), "\"\"");
	value_is(&(struct schema_element){.type = TYPE_FIXED, .type_length = 16, .note = NOTE_UUID},
	         (union parquet_value){.bytes = BYTES("\x01\x23\x45\x67\x89\xab\xcd\xef\x01\x23\x45\x67\x89\xab\xcd\xef")},
	         "\"01234567-89ab-cdef-0123-456789abcdef\"");
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void a_file_is_known_by_its_first_bytes(void **state)
{
	(void)state;
	assert_true(parquet_begins(BYTES("PAR1\x15")));
	assert_true(parquet_begins(BYTES("PAR1\0")));
	assert_true(parquet_begins(BYTES("PARE\x15")));
	assert_false(parquet_begins(BYTES("PAR1")));
	assert_false(parquet_begins(BYTES("PAR1 is")));
	assert_false(parquet_begins(BYTES("PAR1\n\x15")));
}

/* The header of a dictionary's page has a bool for its third field, that of a data page a number. */
static void headers_of_pages(void **state)
{
	struct page_header h;
	(void)state;
	struct thrift t = thrift_of(BYTES("\x15\x04\x15\x10\x15\x0c\x4c\x15\x06\x15\x04\x11\x00\x00"));
	page_header_read(&t, &h);
	assert_int_equal(t.fault, THRIFT_GOOD);
	assert_true(h.kind == PAGE_DICTIONARY && h.size == 8 && h.bytes == 6 && h.values == 3 && h.encoding == 2);
	t = thrift_of(BYTES("\x15\x06\x15\x10\x15\x10\x5c\x15\x06\x15\x02\x15\x04\x15\x10\x15\x0a\x15\x0c\x12\x00\x00"));
	page_header_read(&t, &h);
	assert_int_equal(t.fault, THRIFT_GOOD);
	assert_true(h.kind == PAGE_DATA_V2 && h.values == 3 && h.encoding == 8 && h.def_bytes == 5 && h.rep_bytes == 6 &&
	            h.plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fields_are_read_or_skipped, let_go),
		cmocka_unit_test_teardown(unknown_fields_are_skipped, let_go),
		cmocka_unit_test_teardown(other_types_are_faults, let_go),
		cmocka_unit_test_teardown(runs_repeat_or_pack, let_go),
		cmocka_unit_test_teardown(runs_may_need_no_bytes_or_have_no_heads, let_go),
		cmocka_unit_test_teardown(differences_are_summed, let_go),
		cmocka_unit_test_teardown(numbers, let_go),
		cmocka_unit_test_teardown(dates_and_times, let_go),
		cmocka_unit_test_teardown(texts_and_bytes, let_go),
		cmocka_unit_test_teardown(a_file_is_known_by_its_first_bytes, let_go),
		cmocka_unit_test_teardown(headers_of_pages, let_go),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
