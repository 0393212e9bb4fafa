#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "unit.h"

static const char description[] =
	"{\"messages\":{"
	"\"All\":{\"d\":\"double = 1\",\"f\":\"float = 2\",\"i64\":\"int64 = 3\",\"u64\":\"uint64 = 4\",\"i32\":\"int32 = 5\",\"u32\":\"uint32 = 6\","
	"\"s64\":\"sint64 = 7\",\"s32\":\"sint32 = 8\",\"x64\":\"fixed64 = 9\",\"x32\":\"fixed32 = 10\",\"sx64\":\"sfixed64 = 11\","
	"\"sx32\":\"sfixed32 = 12\",\"b\":\"bool = 13\",\"s\":\"string = 14\",\"y\":\"bytes = 15\",\"e\":\"End = 16\",\"m\":\"All = 17\"},"
	"\"Lists\":{\"n\":\"repeated int32 = 4\",\"plain\":\"repeated int32 = 5 [packed=false]\",\"s\":\"repeated string = 6\",\"m\":\"repeated All = 7\","
	"\"map\":\"map<string, float> = 8\",\"by\":\"map<int32, All> = 9\",\"d\":\"repeated double = 10\",\"e\":\"repeated End = 11\"},"
	"\"Tensor\":{\"name\":\"string = 1\",\"datatype\":\"string = 2\"},"
	"\"Answer\":{\"outputs\":\"repeated Tensor = 5\",\"tensors\":\"tensors(outputs) = 6\"}},"
	"\"enums\":{\"End\":{\"GOES_ON\":0,\"STOP\":1,\"BACK\":-1}}}";

static struct protobuf_schema *p;
static struct buffer wire, json;
static struct jdoc scratch;
static struct ipf_error err;

static int set_up(void **state)
{
	json_t *value = json_loads(description, 0, NULL);
	(void)state;
	int got = protobuf_schema_new(&p, value, "mine.json", &err);
	json_decref(value);
	return got;
}

static int tear_down(void **state)
{
	(void)state;
	protobuf_schema_free(p);
	buffer_release(&wire);
	buffer_release(&json);
	jdoc_release(&scratch);
	return 0;
}

static int encode(const char *type, const char *text)
{
	ipf_error_clear(&err);
	buffer_clear(&wire);
	return protobuf_encode(p, protobuf_message_type(p, type), &scratch, slice_of(text), &wire, &err);
}

static int decode(const char *type, const char *hex)
{
	static unsigned char bytes[4096];
	size_t len = strlen(hex) / 2;
	for (size_t i = 0; i < len; i++)
		sscanf(hex + 2 * i, "%2hhx", &bytes[i]);
	ipf_error_clear(&err);
	buffer_clear(&json);
	/* a copy of the exact size, so a sanitizer detects reading past the end */
	char *exact = malloc(len ? len : 1);
	memcpy(exact, bytes, len);
	int got = protobuf_decode(p, protobuf_message_type(p, type), (struct slice){exact, len}, &json, &err);
	free(exact);
	return got;
}

/* Encodes, compares, decodes. */
static void is(const char *type, const char *text, const char *hex)
{
	char got[1024] = "";
	if (encode(type, text) < 0)
		fail_msg("%s: %s", text, err.text);
	for (size_t i = 0; i < wire.len && i < sizeof got / 2 - 1; i++)
		sprintf(got + 2 * i, "%02x", (unsigned char)wire.data[i]);
	assert_string_equal(got, hex);
	if (decode(type, hex) < 0)
		fail_msg("%s: %s", hex, err.text);
	assert_string_equal(json.data, text);
}

/* The examples of the format's specification, and the ends of each range. */
static void scalars_are_written_as_everywhere(void **state)
{
	(void)state;
	is("All", "{\"i64\":150}", "189601");
	is("All", "{\"s\":\"testing\"}", "720774657374696e67");
	is("All", "{\"i32\":-2}", "28feffffffffffffffff01");
	is("All", "{\"i32\":-2147483648}", "2880808080f8ffffffff01");
	is("All", "{\"i64\":-9223372036854775807}", "1881808080808080808001");
	is("All", "{\"u64\":18446744073709551615}", "20ffffffffffffffffff01");
	is("All", "{\"u32\":4294967295}", "30ffffffff0f");
	is("All", "{\"s32\":-1}", "4001");
	is("All", "{\"s32\":2147483647}", "40feffffff0f");
	is("All", "{\"s64\":-2}", "3803");
	is("All", "{\"x64\":1}", "490100000000000000");
	is("All", "{\"x32\":4294967295}", "55ffffffff");
	is("All", "{\"sx64\":-1}", "59ffffffffffffffff");
	is("All", "{\"sx32\":-2}", "65feffffff");
	is("All", "{\"d\":-0.1}", "099a9999999999b9bf");
	is("All", "{\"f\":0.1}", "15cdcccc3d");
	is("All", "{\"b\":true}", "6801");
	is("All", "{\"b\":false}", "6800");
	is("All", "{\"y\":\"\xc3\xa9\"}", "7a02c3a9");
	is("All", "{\"e\":\"STOP\"}", "800101");
	is("All", "{\"e\":\"BACK\"}", "8001ffffffffffffffffff01");
	is("All", "{\"e\":7}", "800107");
	is("All", "{\"m\":{\"m\":{}}}", "8a01038a0100");
	is("All", "{}", "");
}

static void lists_and_maps_too(void **state)
{
	char text[600] = "{\"s\":\"", hex[1200] = "7290"
											  "02";
	(void)state;
	is("Lists", "{\"n\":[3,270,86942]}", "2206038e029ea705");
	is("Lists", "{\"plain\":[1,2]}", "28012802");
	is("Lists", "{\"s\":[\"a\",\"\",\"bc\"]}",
	   "3201613200"
	   "32026263");
	is("Lists", "{\"m\":[{\"i32\":1},{}]}", "3a0228013a00");
	is("Lists", "{\"map\":{\"a\":1,\"b\":-2}}",
	   "42080a0161150000803f"
	   "42080a016215000000c0");
	is("Lists", "{\"by\":{\"5\":{\"i32\":1}}}", "4a06080512022801");
	is("Lists", "{\"d\":[1]}", "5208000000000000f03f");
	is("Lists", "{\"e\":[\"GOES_ON\",\"STOP\"]}", "5a020001");
	/* an empty list and null are not encoded */
	assert_int_equal(encode("Lists", "{\"n\":[],\"s\":[],\"map\":null}"), 0);
	assert_int_equal(wire.len, 0);
	/* numbers may be packed or not, in several pieces, with other fields in between */
	assert_int_equal(decode("Lists", "2001"
	                                 "320161"
	                                 "22020203"
	                                 "2004"),
	                 0);
	assert_string_equal(json.data, "{\"n\":[1,2,3,4],\"s\":[\"a\"]}");
	assert_int_equal(decode("Lists", "2a020102"), 0);
	assert_string_equal(json.data, "{\"plain\":[1,2]}");
	/* the last value of a field that is not repeated; map entries without a value and without a key */
	assert_int_equal(decode("All", "28012802"), 0);
	assert_string_equal(json.data, "{\"i32\":2}");
	assert_int_equal(decode("Lists", "42030a0161"
	                                 "4205150000803f"),
	                 0);
	assert_string_equal(json.data, "{\"map\":{\"a\":0,\"\":1}}");
	/* a length of two bytes */
	for (size_t i = 0; i < 272; i++) {
		strcat(text, "x");
		strcat(hex, "78");
	}
	strcat(text, "\"}");
	is("All", text, hex);
}

static void a_member_that_does_not_fit_is_named(void **state)
{
	static const struct {
		const char *type, *json, *told;
	} all[] = {
		{"All", "{\"i32\":2147483648}", "All.i32: expected a value of type int32, got 2147483648"},
		{"All", "{\"u32\":-1}", "All.u32: expected a value of type uint32, got -1"},
		{"All", "{\"u64\":-1}", "All.u64: expected a value of type uint64, got -1"},
		{"All", "{\"i64\":1.5}", "All.i64: expected a value of type int64, got 1.5"},
		{"All", "{\"b\":1}", "All.b: expected a value of type bool, got 1"},
		{"All", "{\"s\":1}", "All.s: expected a string, got 1"},
		{"All", "{\"m\":\"x\"}", "All.m: expected an object, got \"x\""},
		{"All", "{\"e\":\"GO\"}", "All.e: expected a word or number of type End, got \"GO\""},
		{"All", "{\"d\":\"1\"}", "All.d: expected a value of type double, got \"1\""},
		{"All", "{\"z\":1}", "All: the description has no field \"z\""},
		{"All", "{\"m\":{\"m\":{\"z\":1}}}", "All: the description has no field \"z\""},
		{"All", "[]", "All: expected an object"},
		{"Lists", "{\"n\":1}", "Lists.n: expected a list, got 1"},
		{"Lists", "{\"n\":[\"1\"]}", "Lists.n: expected a value of type int32, got \"1\""},
		{"Lists", "{\"map\":[]}", "Lists.map: expected an object, got []"},
		{"Lists", "{\"by\":{\"x\":{}}}", "Lists.by: expected a number, got \"x\""},
		{"Answer", "{\"tensors\":{}}", "Answer.tensors: expected nothing: this field can only be received, got {}"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		assert_int_equal(encode(all[i].type, all[i].json), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_string_equal(err.text, all[i].told);
	}
}

static void bytes_that_are_no_message(void **state)
{
	static const struct {
		const char *type, *hex, *told;
	} all[] = {
		{"All", "18", "All: malformed message"},                       /* no value */
		{"All", "1896", "All: malformed message"},                     /* a varint without an end */
		{"All", "18ffffffffffffffffff02", "All: malformed message"},   /* more than 64 bits */
		{"All", "18ffffffffffffffffffff01", "All: malformed message"}, /* more than ten bytes */
		{"All", "7207616263", "All: malformed message"},               /* longer than the message */
		{"All", "72ffffffffffffffffff01", "All: malformed message"},
		{"All", "49000000", "All: malformed message"},
		{"All", "5500", "All: malformed message"},
		{"All", "00", "All: malformed message"},       /* field 0 */
		{"All", "1b", "All: malformed message"},       /* a group */
		{"All", "8a010118", "All: malformed message"}, /* in a nested message */
		{"All", "1a0101", "All.i64: its wire type differs from the description"},
		{"All", "7001", "All.s: its wire type differs from the description"},
		{"Lists", "220180", "Lists.n: the packed list ends within a number"},
		{"Lists", "520101", "Lists.d: the packed list ends within a number"},
		{"Lists", "4001", "Lists.map: its wire type differs from the description"},
		{"Lists", "420108", "Lists.map: malformed map entry"},
		{"Answer", "320101", "Answer.tensors: tensor contents without a description"},
		{"Answer", "2a0a0a0174120542595445533203020000",
	     "Answer.tensors: the tensor contents do not match their datatype"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		if (decode(all[i].type, all[i].hex) == 0)
			fail_msg("%s: understood as %s", all[i].hex, json.data);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_string_equal(err.text, all[i].told);
	}
	/* seventy nested messages */
	buffer_clear(&wire);
	for (int i = 0; i < 70; i++) {
		struct buffer outer = {0};
		buffer_append(&outer, "\x8a\x01", 2);
		if (wire.len > 127)
			buffer_byte(&outer, (char)(unsigned char)((wire.len & 0x7f) | 0x80));
		buffer_byte(&outer, (char)(wire.len > 127 ? wire.len >> 7 : wire.len));
		buffer_slice(&outer, buffer_all(&wire));
		buffer_release(&wire);
		wire = outer;
	}
	ipf_error_clear(&err);
	assert_int_equal(protobuf_decode(p, protobuf_message_type(p, "All"), buffer_all(&wire), &json, &err), -1);
	assert_string_equal(err.text, "All: messages are nested too deeply");
}

/* Under their names, wherever their descriptions are. */
static void tensors_are_lists(void **state)
{
	(void)state;
	/* contents first: an INT32 of -3 and 1; then two texts */
	assert_int_equal(decode("Answer", "3208fdffffff01000000"
	                                  "320e"
	                                  "02000000c3a9"
	                                  "0400000061626364"
	                                  "2a0a0a016e1205494e543332"
	                                  "2a0a0a017412054259544553"),
	                 0);
	assert_string_equal(
		json.data, "{\"tensors\":{\"n\":[-3,1],\"t\":[\"\xc3\xa9\",\"abcd\"]},"
				   "\"outputs\":[{\"name\":\"n\",\"datatype\":\"INT32\"},{\"name\":\"t\",\"datatype\":\"BYTES\"}]}");
	/* a text that is not UTF-8 still gives valid JSON */
	assert_int_equal(decode("Answer", "2a0a0a017412054259544553"
	                                  "320501000000ff"),
	                 0);
	assert_non_null(strstr(json.data, "{\"t\":[\"\xef\xbf\xbd\"]}"));
}

/* An unknown field is shown under its number, as its most likely type. */
static void fields_without_description_are_shown(void **state)
{
	struct buffer said = {0};
	(void)state;
	assert_int_equal(decode("Tensor", "0a0161"
	                                  "9a0602"
	                                  "6869"
	                                  "a006ac02"
	                                  "aa0603"
	                                  "089601"
	                                  "c50600000040"
	                                  "c9060000000000000840"),
	                 0);
	assert_string_equal(json.data,
	                    "{\"name\":\"a\",\"99\":\"hi\",\"100\":300,\"101\":{\"1\":150},\"104\":2,\"105\":3}");
	protobuf_dump((struct slice){"\x0a\x01"
	                             "a\x1a\x03\x08\x96\x01\x25\x00\x00\x00\x40\xff",
	                             14},
	              2, &said);
	assert_string_equal(
		said.data,
		"  1 1 bytes \"a\"\n  3 3 bytes\n    1 varint 150\n  4 32 bits 1073741824, as a float 2\n  1 malformed bytes\n");
	buffer_release(&said);
}

static void place(const char *type, const char *pointer, const char *expected)
{
	struct buffer said = {0};
	protobuf_field_path(p, protobuf_message_type(p, type), pointer, &said);
	assert_string_equal(said.data, expected);
	buffer_release(&said);
}

static void places_have_numbers(void **state)
{
	(void)state;
	place("All", "/m/m/s", "17.17.14 string");
	place("All", "/e", "16 End");
	place("All", "/zz", "not described");
	place("All", "/m/9", "17, not described");
	place("Lists", "/m/*/i32", "7.5 int32");
	place("Lists", "/n/*", "4 repeated int32");
	place("Lists", "/map/temperature", "8 map<string, float>");
	place("Lists", "/by/7/i32", "9.5 int32");
	place("Answer", "/tensors/text/*", "6 tensors(outputs)");
}

/* A description with one wrong field or member. */
static void told(const char *text, const char *expected)
{
	struct protobuf_schema *made = NULL;
	json_t *value = json_loads(text, 0, NULL);
	ipf_error_clear(&err);
	assert_int_equal(protobuf_schema_new(&made, value, "mine.json", &err), -1);
	assert_null(made);
	assert_string_equal(err.file, "mine.json");
	assert_string_equal(err.text, expected);
	json_decref(value);
}

static void descriptions_are_checked(void **state)
{
	static const char *const bad[] = {
		"string",
		"string = 0",
		"string = x",
		"string=1",
		"strin = 1",
		"string = 1 ",
		"string = 536870912",
		"string = 1 [packed=true]",
		"repeated map<string, string> = 1",
		"map<string> = 1",
		"map<M, string> = 1",
		"map<float, string> = 1",
		"map<string, string = 1",
		"repeated repeated string = 1",
		"string = -1",
		"tensors(x = 1",
		"",
	};
	char text[200], expected[300];
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		snprintf(text, sizeof text, "{\"messages\":{\"M\":{\"a\":\"%s\"}}}", bad[i]);
		snprintf(expected, sizeof expected,
		         "grpc.messages.M.a: expected a known type and a number, such as \"repeated string = 4\", got \"%s\"",
		         bad[i]);
		told(text, expected);
	}
	told("{\"messages\":{\"M\":{\"a\":1}}}",
	     "grpc.messages.M.a: expected a known type and a number, such as \"repeated string = 4\", got 1");
	told("{\"messages\":{\"M\":{\"a\":\"string = 1\",\"b\":\"bool = 1\"}}}",
	     "grpc.messages.M.b: expected a field number that no other field has, got \"bool = 1\"");
	told("{\"messages\":{\"M\":[]}}", "grpc.messages.M: expected an object of fields");
	told("{\"messages\":{}}", "grpc.messages: expected an object of message types");
	told("{}", "grpc.messages: expected an object of message types");
	told("{\"messages\":{\"M\":{}},\"enums\":{\"E\":1}}", "grpc.enums.E: expected an object of numbers");
	told("{\"messages\":{\"M\":{}},\"enums\":{\"E\":{\"A\":\"1\"}}}", "grpc.enums.E.A: expected an integer");
	told("{\"messages\":{\"M\":{\"t\":\"tensors(o) = 1\"}}}",
	     "grpc.messages.M.t: expected the name of a repeated message with string fields name and datatype, got \"o\"");
	told("{\"messages\":{\"M\":{\"o\":\"repeated M = 2\",\"t\":\"tensors(o) = 1\"}}}",
	     "grpc.messages.M.t: expected the name of a repeated message with string fields name and datatype, got \"o\"");
	assert_int_equal(protobuf_message_type(p, "Other"), -1);
}

/* ---- frames ---- */

static void frames_are_cut(void **state)
{
	const char body[] = "\0\0\0\0\3abc\1\0\0\0\0\0\0\0\1\0";
	struct slice all = {body, sizeof body - 1}, message;
	bool compressed;
	size_t next;
	char prefix[GRPC_PREFIX];
	(void)state;
	assert_int_equal(grpc_frame(all, 0, &compressed, &message, &next), 1);
	assert_true(slice_is(message, "abc") && !compressed && next == 8);
	assert_int_equal(grpc_frame(all, 8, &compressed, &message, &next), 1);
	assert_true(message.len == 0 && compressed && next == 13);
	assert_int_equal(grpc_frame(all, 13, &compressed, &message, &next), 0); /* 256 bytes, all missing */
	assert_int_equal(grpc_frame(all, all.len, &compressed, &message, &next), 0);
	assert_int_equal(grpc_frame(slice_of("<html>"), 0, &compressed, &message, &next), -1);
	grpc_prefix(0x01020304, prefix);
	assert_memory_equal(prefix, "\0\1\2\3\4", 5);
}

static void statuses_have_names(void **state)
{
	struct buffer text = {0};
	(void)state;
	assert_string_equal(grpc_status_name(0), "OK");
	assert_string_equal(grpc_status_name(4), "DEADLINE_EXCEEDED");
	assert_string_equal(grpc_status_name(16), "UNAUTHENTICATED");
	assert_null(grpc_status_name(17));
	assert_null(grpc_status_name(-1));
	grpc_message_decode(slice_of("100%25 gone,%0asorry %C3%A9 %zz %4"), &text);
	assert_string_equal(text.data, "100% gone,\nsorry \xc3\xa9 %zz %4");
	buffer_release(&text);
}

/* ---- random messages ---- */

static void any_number(struct buffer *out, uint64_t *state, bool negative)
{
	uint64_t value = test_random(state) >> (33 + test_random(state) % 31);
	buffer_format(out, "%s%llu", negative && value && test_random(state) % 2 ? "-" : "", (unsigned long long)value);
}

static void any_all(struct buffer *out, uint64_t *state, int depth)
{
	static const char *const names[] = {"i64", "i32", "s64", "s32", "sx64", "sx32", "u64", "u32", "x64", "x32"};
	bool first = true;
	buffer_byte(out, '{');
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (test_random(state) % 3 == 0) {
			buffer_format(out, "%s\"%s\":", first ? "" : ",", names[i]);
			any_number(out, state, i < 6);
			first = false;
		}
	if (test_random(state) % 2) {
		buffer_format(out, "%s\"s\":\"", first ? "" : ",");
		for (uint64_t n = test_random(state) % 200; n; n--)
			buffer_text(out, n % 5 ? "a" : "\xe4\xb8\x89");
		buffer_text(out, "\"");
		first = false;
	}
	if (depth < 8 && test_random(state) % 2) {
		buffer_format(out, "%s\"m\":", first ? "" : ",");
		any_all(out, state, depth + 1);
	}
	buffer_byte(out, '}');
}

/* Decoding a message gives the encoded values; part of a message is never read past its end. */
static void written_messages_are_read(void **state)
{
	uint64_t seed = test_seed("written_messages_are_read");
	struct buffer text = {0};
	(void)state;
	for (int i = 0; i < 2000; i++) {
		buffer_clear(&text);
		any_all(&text, &seed, 0);
		if (encode("All", text.data) < 0)
			fail_msg("%s: %s", text.data, err.text);
		buffer_clear(&json);
		if (protobuf_decode(p, protobuf_message_type(p, "All"), buffer_all(&wire), &json, &err) < 0)
			fail_msg("%s: %s", text.data, err.text);
		assert_string_equal(json.data, text.data);
		size_t len = wire.len ? (size_t)(test_random(&seed) % wire.len) : 0;
		char *part = malloc(len ? len : 1);
		memcpy(part, wire.data ? wire.data : "", len);
		protobuf_decode(p, protobuf_message_type(p, "All"), (struct slice){part, len}, &json, &err);
		free(part);
	}
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(scalars_are_written_as_everywhere),
		cmocka_unit_test(lists_and_maps_too),
		cmocka_unit_test(a_member_that_does_not_fit_is_named),
		cmocka_unit_test(bytes_that_are_no_message),
		cmocka_unit_test(tensors_are_lists),
		cmocka_unit_test(fields_without_description_are_shown),
		cmocka_unit_test(places_have_numbers),
		cmocka_unit_test(descriptions_are_checked),
		cmocka_unit_test(frames_are_cut),
		cmocka_unit_test(statuses_have_names),
		cmocka_unit_test(written_messages_are_read),
	};
	return cmocka_run_group_tests_name("lib/protobuf", tests, set_up, tear_down);
}
