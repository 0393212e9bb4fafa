/* Compares the hand-written scanners with their regular expressions, run by PCRE2; and checks the character classes. */
#include "unit.h"

#include "stream/digest.h"
#include "stream/stream.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/scanner.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

/* A block with only the classes. */
static struct compiled_block block;
static struct character_classes classes;

static int set_up(void **state)
{
	struct compiled_builder b = {0};
	struct ipf_error err = {0};
	(void)state;
	character_classes_build(&b);
	assert_int_equal(compiled_build(&b, &block, &err), 0);
	character_classes_of(&classes, &block);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	compiled_release(&block);
	return 0;
}

/* The digest of one byte for each code point, as the reference's Oniguruma (Unicode 16) answers for \p{Lu}\p{Lt},
 * \p{Ll}, \p{Lm}\p{Lo}, \p{M}, \p{N}, \s, \p{P}, \p{S}. */
static void classes_are_those_of_the_reference(void **state)
{
	struct digest *d = digest_new();
	char hex[65];
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++) {
		unsigned char class = (unsigned char)class_of(&classes, c);
		digest_update(d, &class, 1);
	}
	digest_hex(d, hex);
	digest_free(d);
	assert_string_equal(hex, "26425451af5182aea7bdcf4981772d7d1bce28762e9ecd87cb646b27976ba371");
	assert_true(character_classes_are_ours(&block));
}

/* All kinds of characters an expression distinguishes, and special ones. All are older than the Unicode version of
 * PCRE2. */
static const char *const alphabet[] = {
	"a",
	"b",
	"z",
	"A",
	"B",
	"Z",
	"s",
	"S",
	"t",
	"r",
	"e",
	"v",
	"m",
	"l",
	"L",
	"d",
	"D",
	"'",
	"'",
	"'s",
	"'ll",
	"'RE",
	"'\xc5\xbf",
	"\xc5\xbf",
	" ",
	" ",
	" ",
	"\n",
	"\r",
	"\r\n",
	"\t",
	"\x0b",
	"\xc2\xa0",
	"\xe3\x80\x80",
	"\xe2\x80\x83",
	"\xc2\x85",
	"\xe2\x80\xa8",
	"1",
	"9",
	"\xd9\xa3",
	"\xc2\xbd",
	"\xe2\x85\xa7",
	"\xc3\xa9",
	"\xc3\x89",
	"\xc7\x85",
	"\xca\xb0",
	"\xc2\xaa",
	"\xe4\xb8\x80",
	"\xe9\xbe\xa5",
	"\xe9\xbe\xa6",
	"\xe3\x81\x82",
	"\xe3\x82\xa2",
	"\xe3\x83\xbc",
	"\xe3\x83\xbb",
	"\xe3\x82\xa0",
	"\xe3\x82\x9b",
	"\xe3\x82\x99",
	"\xe3\x81\x80",
	"\xe3\x80\x87",
	"\xcc\x81",
	"\xe0\xa4\xbe",
	"\xe2\x83\x9d",
	".",
	",",
	"/",
	"//",
	"_",
	"-",
	"(",
	"$",
	"+",
	"<",
	"^",
	"`",
	"|",
	"~",
	"@",
	"\xe2\x82\xac",
	"\xe3\x80\x82",
	"\xf0\x9f\x98\x80",
	"\xf0\x9d\x90\x80",
	"\xf0\x90\x90\x80",
	"\xf0\x90\x90\xa8",
	"\x01",
	"\x7f",
	"\xe2\x80\x8d",
	"\xc2\xad",
	"\xee\x80\x80",
	"\xf4\x8f\xbf\xbf",
	"\xd7\xa9",
	"\xd8\xa7",
	"\xe0\xb8\x81",
	"\xe0\xb8\xb3",
};

#define LETTERS (sizeof alphabet / sizeof *alphabet)

static pcre2_code *compile(const char *regex)
{
	int number;
	PCRE2_SIZE offset;
	pcre2_code *code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_UCP, &number, &offset,
	                                 NULL);
	assert_non_null(code);
	pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
	return code;
}

/* Cuts text[begin, end) where matches begin and end. */
static size_t split(pcre2_code *code, const char *text, size_t begin, size_t end, size_t *ends, size_t count)
{
	pcre2_match_data *match = pcre2_match_data_create_from_pattern(code, NULL);
	size_t at = begin;
	while (at < end && pcre2_match(code, (PCRE2_SPTR)text + begin, end - begin, at - begin, 0, match, NULL) > 0) {
		PCRE2_SIZE *found = pcre2_get_ovector_pointer(match);
		if (begin + found[0] > at)
			ends[count++] = begin + found[0];
		ends[count++] = at = begin + found[1];
	}
	if (at < end)
		ends[count++] = end;
	pcre2_match_data_free(match);
	return count;
}

/* Applies the expressions in turn, up to NULL, each to the pieces of the one before. */
static size_t split_chain(pcre2_code **codes, const char *text, size_t begin, size_t end, size_t *ends, size_t count)
{
	size_t *mine = malloc((end - begin + 1) * sizeof *mine), pieces = split(codes[0], text, begin, end, mine, 0);
	for (size_t i = 0; i < pieces; begin = mine[i++]) {
		if (!codes[1])
			ends[count++] = mine[i];
		else
			count = split_chain(codes + 1, text, begin, mine[i], ends, count);
	}
	free(mine);
	return count;
}

static void compare(scan_function *scan, const char *const *regexes, size_t steps)
{
	uint64_t seed = test_seed(regexes[0]);
	pcre2_code *codes[4] = {0};
	size_t expected[1024], ends[1024];
	for (size_t i = 0; i < steps; i++)
		codes[i] = compile(regexes[i]);
	for (int round = 0; round < 20000; round++) {
		char text[512];
		size_t len = 0, letters = 1 + test_random(&seed) % (round % 8 ? 12 : 60),
			   few = round % 3 ? LETTERS : 1 + test_random(&seed) % 6;
		size_t offset = test_random(&seed) % LETTERS;
		for (size_t i = 0; i < letters; i++) {
			const char *c = alphabet[(offset + test_random(&seed) % few) % LETTERS];
			memcpy(text + len, c, strlen(c));
			len += strlen(c);
		}
		text[len] = '\0';
		size_t want = split_chain(codes, text, 0, len, expected, 0);
		/* little room, so it has to resume in the middle */
		size_t count = 0, room = 1 + test_random(&seed) % 5;
		while (count == 0 || ends[count - 1] < len)
			count += scan(&classes, text, count ? ends[count - 1] : 0, len, ends + count, room);
		if (count != want || memcmp(ends, expected, count * sizeof *ends) != 0)
			fail_msg("cut differently: \"%s\"", text);
	}
	for (size_t i = 0; i < steps; i++)
		pcre2_code_free(codes[i]);
}

static void compare_one(scan_function *scan, const char *regex)
{
	compare(scan, &regex, 1);
}

static void gpt2(void **state)
{
	(void)state;
	compare_one(scan_gpt2, scan_regex_gpt2);
}

static void gpt2_behind_digits(void **state)
{
	static const char *const chain[] = {"\\p{N}", scan_regex_gpt2};
	(void)state;
	compare(scan_gpt2_digit, chain, 2);
}

static void cl100k(void **state)
{
	(void)state;
	compare_one(scan_cl100k, scan_regex_cl100k);
}

static void qwen(void **state)
{
	(void)state;
	compare_one(scan_qwen, scan_regex_qwen);
}

static void o200k(void **state)
{
	(void)state;
	compare_one(scan_o200k, scan_regex_o200k);
}

static void tekken(void **state)
{
	(void)state;
	compare_one(scan_tekken, scan_regex_tekken);
}

static void deepseek(void **state)
{
	(void)state;
	compare(scan_deepseek, scan_regex_deepseek, 3);
}

static json_t *parse(const char *text)
{
	json_t *value = json_loads(text, 0, NULL);
	assert_non_null(value);
	return value;
}

static void knows_only_what_it_has_proven(void **state)
{
	static const struct {
		const char *config;
		scan_function *scan;
	} cases[] = {
		{"{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":true}", scan_gpt2},
		{"{\"type\":\"ByteLevel\",\"add_prefix_space\":false}", scan_gpt2},
		{"{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", NULL},
		{"{\"type\":\"ByteLevel\"}", NULL},
		{"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":true},"
	     "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}",
	     scan_gpt2_digit},
		{"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Digits\",\"individual_digits\":false},"
	     "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}]}",
	     NULL},
		{"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\p{N}{1,3}\"},"
	     "\"behavior\":\"Isolated\"},"
	     "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}",
	     NULL},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *config = parse(cases[i].config);
		assert_ptr_equal(scanner_for_chain(config), cases[i].scan);
		json_decref(config);
	}
	/* the behavior matters: removed words are gone */
	static const struct {
		const char *behavior;
		int invert;
		scan_function *scan;
	} kept[] = {
		{"Isolated", 0, scan_o200k}, {"Removed", 1, scan_o200k}, {"Removed", 0, NULL}, {"MergedWithNext", 0, NULL}};
	for (size_t i = 0; i < 4; i++) {
		json_t *config = json_pack("{s:s, s:[{s:s, s:{s:s}, s:s, s:b}, {s:s, s:b, s:b}]}", "type", "Sequence",
		                           "pretokenizers", "type", "Split", "pattern", "Regex", scan_regex_o200k, "behavior",
		                           kept[i].behavior, "invert", kept[i].invert, "type", "ByteLevel", "add_prefix_space",
		                           0, "use_regex", 0);
		assert_ptr_equal(scanner_for_chain(config), kept[i].scan);
		json_decref(config);
	}
}

static void bytes_have_characters(void **state)
{
	struct buffer back = {0};
	(void)state;
	assert_int_equal(byte_level_char(' '), 0x120);
	assert_int_equal(byte_level_char('\n'), 0x10a);
	assert_int_equal(byte_level_char('!'), '!');
	assert_int_equal(byte_level_char(0x7f), 0x121);
	assert_int_equal(byte_level_char(0xa0), 0x142);
	assert_int_equal(byte_level_char(0xad), 0x143);
	for (int i = 0; i < 256; i++) {
		char utf8[4];
		buffer_clear(&back);
		assert_true(byte_level_bytes(utf8, utf8_put(utf8, byte_level_char((unsigned char)i)), &back));
		assert_int_equal(back.len, 1);
		assert_int_equal((unsigned char)back.data[0], i);
	}
	buffer_clear(&back);
	assert_false(byte_level_bytes("\xc5\x84", 2, &back)); /* U+0144 */
	assert_false(byte_level_bytes(" ", 1, &back));
	assert_false(byte_level_bytes("a b", 3, &back));
	assert_int_equal(back.len, 0);
	assert_true(byte_level_bytes("a\xc4\xa0"
	                             "b",
	                             4, &back));
	assert_string_equal(back.data, "a b");
	buffer_release(&back);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_those_of_the_reference),
		cmocka_unit_test(gpt2),
		cmocka_unit_test(gpt2_behind_digits),
		cmocka_unit_test(cl100k),
		cmocka_unit_test(qwen),
		cmocka_unit_test(o200k),
		cmocka_unit_test(tekken),
		cmocka_unit_test(deepseek),
		cmocka_unit_test(knows_only_what_it_has_proven),
		cmocka_unit_test(bytes_have_characters),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
