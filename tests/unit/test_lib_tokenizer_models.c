/* Unigram, WordPiece, WordLevel and post-processors with vocabularies made here; regular expressions over all
 * characters. */
#include "unit.h"

#include "tokenizer/code_point.h"
#include "tokenizer/postprocess.h"
#include "tokenizer/regex.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/unicode.h"
#include "tokenizer/unigram_score.h"

#include <unistd.h>

static json_t *parse(const char *text)
{
	json_error_t where;
	json_t *config = json_loads(text, JSON_DECODE_ANY, &where);
	assert_non_null(config);
	return config;
}

/* Opens a tokenizer.json that is this text. */
static int open_text(struct tokenizer **t, const char *json, struct ipf_error *err)
{
	char path[] = "/tmp/ipf-test-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, json, strlen(json)), (ssize_t)strlen(json));
	close(fd);
	int status = tokenizer_open(t, path, err);
	unlink(path);
	return status;
}

#define FILE_OF(pre, model) "{\"version\":\"1.0\",\"added_tokens\":[],\"pre_tokenizer\":" pre ",\"model\":" model "}"
#define SMALL                                                                                                          \
	"[[\"<unk>\",0.0],[\"a\",0.0],[\"b\",0.0],[\"c\",0.0],[\"d\",0.0],[\"cd\",1.0],[\"ab\",2.0],[\"abc\",5.0],"        \
	"[\"abcd\",10.0],[\"<0xC3>\",-1],[\"<0xA9>\",-1]]"
#define UNIGRAM(unk, fallback)                                                                                         \
	FILE_OF("null", "{\"type\":\"Unigram\",\"unk_id\":" unk ",\"byte_fallback\":" fallback ",\"vocab\":" SMALL "}")
#define WORDPIECE(unk, longest)                                                                                        \
	FILE_OF("{\"type\":\"Whitespace\"}",                                                                               \
	        "{\"type\":\"WordPiece\",\"unk_token\":\"" unk "\",\"continuing_subword_prefix\":\"##\","                  \
	        "\"max_input_chars_per_word\":" longest                                                                    \
	        ",\"vocab\":{\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,\"unaff\":4,\"\xc3\xa9\":5,\"##\xc3\xa9\":6}}")
#define WORDLEVEL(unk)                                                                                                 \
	FILE_OF("{\"type\":\"Whitespace\"}",                                                                               \
	        "{\"type\":\"WordLevel\",\"unk_token\":\"" unk "\",\"vocab\":{\"[UNK]\":0,\"one\":1,\"two\":2}}")
/* The normalizer puts spaces around Chinese characters; they are not in the text. */
#define CHINESE_FIRST                                                                                                  \
	"{\"version\":\"1.0\",\"added_tokens\":[],\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"        \
	"\"handle_chinese_chars\":true,"                                                                                   \
	"\"strip_accents\":null,\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"Sequence\","                             \
	"\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},"                                                               \
	"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\",\"split\":true}]},"                    \
	"\"model\":{\"type\":\"WordLevel\","                                                                               \
	"\"unk_token\":\"[UNK]\",\"vocab\":{\"[UNK]\":0,\"_\xe4\xb8\xad\":1,\"\xe4\xb8\xad\":2,\"_a\":3,\"a\":4}}}"
#define BPE(members)                                                                                                   \
	FILE_OF("null", "{\"type\":\"BPE\"," members "\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}")

/* Byte 20 has no token: the character representing it is written as its bytes. */
#define BYTES_OF_BYTES                                                                                                 \
	FILE_OF("{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":false}",           \
	        "{\"type\":\"BPE\",\"byte_fallback\":true,\"vocab\":{\"a\":0,\"<0xC4>\":1,\"<0xA0>\":2},\"merges\":[]}")
/* The first word is the one at the beginning of the text, not the first that is left. */
#define FIRST_WORD                                                                                                     \
	FILE_OF("{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Whitespace\"},{\"type\":\"Punctuation\","           \
	        "\"behavior\":\"Removed\"},"                                                                               \
	        "{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"first\","                              \
	        "\"split\":true}]}",                                                                                       \
	        "{\"type\":\"BPE\",\"vocab\":{\"_\":0,\"b\":1,\"!\":2},\"merges\":[]}")
/* Spaces belong to one added token only: the second of two pairs of them is empty. */
#define ADDED_SPACES                                                                                                   \
	"{\"version\":\"1.0\",\"added_tokens\":[{\"id\":2,\"content\":\"  \",\"single_word\":false,\"lstrip\":true,"       \
	"\"rstrip\":true,\"normalized\":false,"                                                                            \
	"\"special\":false}],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1},\"merges\":[]}}"

/* ids with a space before each; NULL: an error that says `why` */
static const struct {
	const char *file, *text, *ids, *why;
} cases[] = {
	{UNIGRAM("0", "false"), "abcdacdxx", " 8 1 5 0", NULL},
	{UNIGRAM("0", "false"), "x<unk>y<unk>a", " 0 1", NULL},
	{UNIGRAM("0", "false"), "<unk>", " 0", NULL},
	{UNIGRAM("0", "true"),
     "a\xc3\xa9"
     "b",
     " 1 9 10 2", NULL},
	{UNIGRAM("0", "true"), "\xc3\xa9z", " 0", NULL}, /* one unknown, and z has no byte */
	{UNIGRAM("null", "false"), "abc", " 7", NULL},
	{UNIGRAM("null", "false"), "abz", NULL, "unknown character in the text, and the model has no unk_id"},
	{WORDPIECE("[UNK]", "100"), "unaffable", " 4 3", NULL},
	{WORDPIECE("[UNK]", "100"), "unable unabled", " 1 3 0", NULL},
	{WORDPIECE("[UNK]", "2"), "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\xc3\xa9", " 5 6 0", NULL},
	{WORDPIECE("none", "100"), "unaff", " 4", NULL},
	{WORDPIECE("none", "100"), "x", NULL, "\"none\" is not in the vocabulary"},
	{WORDLEVEL("[UNK]"), "one two three", " 1 2 0", NULL},
	{BYTES_OF_BYTES, "a a", " 0 1 2 0", NULL},
	{FIRST_WORD, "b !b", " 0 1 1", NULL},
	{FIRST_WORD, "! b b", " 1 1", NULL},
	{ADDED_SPACES, "a     b  ", " 0 2 1 2", NULL},
	{BPE(""), "a<b", " 2", NULL}, /* without an unknown token, unknown characters are left out before anything merges */
	{BPE("\"byte_fallback\":true,"),
     "a\xe4\xb8\xad"
     "b",
     " 2", NULL},
	{CHINESE_FIRST,
     "\xe4\xb8\xad"
     "a",
     " 1 4", NULL},
	{CHINESE_FIRST, "\xe4\xb8\xad\xe4\xb8\xad a", " 1 2 4", NULL},
	{CHINESE_FIRST, " \xe4\xb8\xad", " 2", NULL},
	{CHINESE_FIRST, "\x01\xe4\xb8\xad", " 2", NULL},
	{CHINESE_FIRST, "a\xe4\xb8\xad", " 3 2", NULL},
	{WORDLEVEL("none"), "three", NULL, "\"none\" is not in the vocabulary"},
};

static void test_models(void **state)
{
	(void)state;
	setenv("XDG_CACHE_HOME", "/nonexistent", 1);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct tokenizer *t;
		struct ipf_error err = {0};
		struct token_ids ids = {0};
		struct buffer shown = {0};
		assert_int_equal(open_text(&t, cases[i].file, &err), 0);
		struct tokenizer_scratch *s = tokenizer_scratch_new(t);
		int status = tokenizer_encode(t, s, slice_of(cases[i].text), 0, &ids, &err);
		assert_int_equal(status, cases[i].why ? -1 : 0);
		if (cases[i].why) {
			assert_non_null(strstr(err.text, cases[i].why));
		} else {
			for (size_t k = 0; k < ids.count; k++)
				buffer_format(&shown, " %u", ids.ids[k]);
			assert_string_equal(shown.data, cases[i].ids);
		}
		buffer_release(&shown);
		token_ids_release(&ids);
		tokenizer_scratch_free(s);
		tokenizer_close(t);
	}
}

static void test_refusals(void **state)
{
	static const char *const files[][2] = {
		{FILE_OF("null", "{\"type\":\"Foo\",\"vocab\":{\"a\":0}}"), "unknown type \"Foo\""},
		{FILE_OF("{\"type\":\"Foo\"}", "{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}}"),
	     "pre_tokenizer: unknown type \"Foo\""},
		{FILE_OF("null", "{\"type\":\"Unigram\",\"unk_id\":11,\"vocab\":" SMALL "}"),
	     "unk_id: expected an id of the vocabulary"},
		{FILE_OF("null", "{\"type\":\"WordPiece\",\"unk_token\":\"a\",\"vocab\":{\"a\":0}}"),
	     "continuing_subword_prefix: expected a string"},
		{FILE_OF("null",
	             "{\"type\":\"BPE\",\"byte_fallback\":true,\"end_of_word_suffix\":\"/\",\"vocab\":{\"<0x41>\":0},"
	             "\"merges\":[]}"),
	     "byte_fallback is not supported together with end_of_word_suffix"},
		{BPE("\"unk_token\":5,"), "model.unk_token: expected a string"},
		{BPE("\"dropout\":\"x\","), "model.dropout: expected a number"},
		{BPE("\"dropout\":0.5,"), "model.dropout: random encoding is not supported"},
		{FILE_OF("null", "{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,\"b\":1,\"a\":2}}"),
	     "model.vocab: \"a\" occurs twice"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		struct tokenizer *t;
		struct ipf_error err = {0};
		assert_int_equal(open_text(&t, files[i][0], &err), -1);
		assert_null(t);
		if (!strstr(err.text, files[i][1]))
			fail_msg("%s", err.text);
	}
}

/* Viterbi finds the best of all ways to cut a short text. */
static double best_of(const char *text, size_t len, const json_t *vocabulary)
{
	double best = len ? -1e9 : 0;
	const json_t *entry;
	size_t i;
	json_array_foreach(vocabulary, i, entry)
	{
		const char *token = json_string_value(json_array_get(entry, 0));
		size_t n = strlen(token);
		if (n > len || memcmp(token, text, n) != 0)
			continue;
		double score = json_number_value(json_array_get(entry, 1)) + best_of(text + n, len - n, vocabulary);
		if (score > best)
			best = score;
	}
	return best;
}

/* The reference identifies special tokens by their text, which may be the normalized form of another token. */
static void test_special_texts(void **state)
{
#define ADDED(id, text, special)                                                                                       \
	"{\"id\":" id ",\"content\":\"" text "\",\"special\":" special                                                     \
	",\"normalized\":true,\"single_word\":false,\"lstrip\":false,\"rstrip\":false}"
	static const char json[] = "{\"version\":\"1.0\",\"normalizer\":{\"type\":\"Lowercase\"},"
							   "\"added_tokens\":[" ADDED("3", "xy", "true") "," ADDED("4", "XY", "false") "," ADDED(
								   "5", "Z",
								   "true") "],\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"a\",\"vocab\":{\"a\":0,"
										   "\"b\":1,\"c\":2}}}";
	static const uint32_t ids[] = {0, 3, 1, 4, 2, 5};
	struct tokenizer *t;
	struct ipf_error err = {0};
	struct buffer text = {0};
	(void)state;
	assert_int_equal(open_text(&t, json, &err), 0);
	assert_int_equal(tokenizer_decode(t, ids, 6, TOKENIZER_SKIP_SPECIAL, &text, &err), 0);
	assert_string_equal(text.data, "a b c z");
	buffer_release(&text);
	tokenizer_close(t);
}

/* Numbers as the reference reads them: its JSON reader rounds twice. */
static void test_scores(void **state)
{
	static const struct {
		const char *text;
		double score;
	} numbers[] = {
		{"-1.0", -1.0},
		{"-0.1", -0.1},
		{"0.30000000000000004", 0.30000000000000004},
		{"-12345678901234567890.5", -1.2345678901234567e+19},
		{"-123456789012345678901234.5e-5", -1.2345678901234568e+18},
		{"-1e-320", -1e-320},
		{"-4.9e-324", -5e-324},
		{"-2.5e-310", -2.5e-310},
		{"-1.7976931348623157e308", -1.7976931348623157e+308},
		{"-1e22", -1e+22},
		{"-1e23", -1e+23},
		{"-1.234567890123456789012345", -1.2345678901234567},
		{"-0.00000000000000000000000012345678901234567", -1.2345678901234568e-25},
		{"1844674407370955161.5", 1.8446744073709553e+18},
		{"1844674407370955161.59", 1.8446744073709553e+18},
		{"18446744073709551615", 1.8446744073709552e+19},
		{"18446744073709551616", 1.8446744073709552e+19},
		{"-9223372036854775809", -9.223372036854776e+18},
		{"-1E+2", -100.0},
		{"-1e-400", -0.0},
		{"-0.0", -0.0},
		{"5e-1", 0.5},
		{"-3", -3.0},
		{"-1e-30", -9.999999999999999e-31},
		{"-7.123e-25", -7.123e-25},
		{"-184467440737095516150.5", -1.844674407370955e+20},
		{"-9.385958677423489e-21", -9.385958677423487e-21},
		{"-9.014274576114835e-20", -9.014274576114837e-20},
		{"-2.3308445025757262e-07", -2.3308445025757265e-07},
		{"-9.522444552911937e-20", -9.522444552911936e-20},
		{"-1.2088995980580641", -1.208899598058064},
		{"-9364405.867994597", -9364405.867994595},
		{"-3.933536230698396e-19", -3.9335362306983963e-19},
		{"-4.143139993007743e-10", -4.1431399930077427e-10},
		{"-920086434932721.9", -920086434932722.0},
		{"-9.571162814602269e-21", -9.571162814602267e-21},
		{"-941013.5113054549", -941013.5113054548},
		{"-4.1442451883910534e-21", -4.144245188391054e-21},
		{"-4.5814680009972443e-20", -4.581468000997244e-20},
		{"-8.045694845140354e-10", -8.045694845140353e-10},
	};
	double score;
	(void)state;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		assert_true(unigram_score_read(slice_of(numbers[i].text), &score));
		if (score != numbers[i].score)
			fail_msg("%s: %.17g", numbers[i].text, score);
	}
	assert_false(unigram_score_read(slice_of("1e309"), &score));
	assert_false(unigram_score_read(slice_of("-1e99999999999"), &score));
}

static void test_viterbi(void **state)
{
	uint64_t random = test_seed("viterbi");
	json_t *vocabulary = parse(SMALL);
	struct tokenizer *t;
	struct ipf_error err = {0};

	(void)state;
	assert_int_equal(open_text(&t, UNIGRAM("0", "false"), &err), 0);
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	for (int round = 0; round < 500; round++) {
		char text[12];
		size_t len = 1 + test_random(&random) % sizeof text;
		struct token_ids ids = {0};
		double sum = 0;
		for (size_t i = 0; i < len; i++)
			text[i] = "abcd"[test_random(&random) % 4];
		assert_int_equal(tokenizer_encode(t, s, (struct slice){text, len}, 0, &ids, &err), 0);
		for (size_t i = 0; i < ids.count; i++)
			sum += json_number_value(json_array_get(json_array_get(vocabulary, ids.ids[i]), 1));
		assert_true(sum == best_of(text, len, vocabulary));
		token_ids_release(&ids);
	}
	tokenizer_scratch_free(s);
	tokenizer_close(t);
	json_decref(vocabulary);
}

#define TEMPLATE(pieces)                                                                                               \
	"{\"type\":\"TemplateProcessing\",\"single\":[" pieces                                                             \
	"],\"pair\":[],\"special_tokens\":{\"<s>\":{\"id\":\"<s>\",\"ids\":[1,7],\"tokens\":[]}}}"
#define TOKEN_A "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}"
#define TOKEN_S "{\"SpecialToken\":{\"id\":\"<s>\",\"type_id\":0}}"
#define BERT    "{\"type\":\"BertProcessing\",\"sep\":[\"[SEP]\",102],\"cls\":[\"[CLS]\",101]}"

static void test_postprocessors(void **state)
{
	static const struct {
		const char *config, *shown; /* before | after, or the error */
	} wanted[] = {
		{"null", " |"},
		{"{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":false}", " |"},
		{TEMPLATE(TOKEN_S "," TOKEN_A "," TOKEN_S), " 1 7 | 1 7"},
		{BERT, " 101 | 102"},
		{"{\"type\":\"Sequence\",\"processors\":[" BERT "," TEMPLATE(TOKEN_S "," TOKEN_A) "]}", " 1 7 101 | 102"},
		{TEMPLATE(TOKEN_S), "the text once ($A)"},
		{TEMPLATE(TOKEN_A "," TOKEN_A), "the text once ($A)"},
		{TEMPLATE(TOKEN_A ",{\"SpecialToken\":{\"id\":\"</s>\",\"type_id\":0}}"),
	     "\"</s>\" is not among its special_tokens"},
		{"{\"type\":\"Sequence\",\"processors\":[" TEMPLATE(TOKEN_S "," TOKEN_A) "," BERT "]}",
	     "BertProcessing after a TemplateProcessing"},
		{"{\"type\":\"Foo\"}", "unknown type \"Foo\""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct postprocess post;
		struct ipf_error err = {0};
		struct buffer shown = {0};
		json_t *config = parse(wanted[i].config);
		if (postprocess_new(&post, config, &err) < 0) {
			assert_non_null(strstr(err.text, wanted[i].shown));
		} else {
			for (size_t k = 0; k < post.before.count; k++)
				buffer_format(&shown, " %u", post.before.ids[k]);
			buffer_text(&shown, " |");
			for (size_t k = 0; k < post.after.count; k++)
				buffer_format(&shown, " %u", post.after.ids[k]);
			assert_string_equal(shown.data, wanted[i].shown);
			postprocess_release(&post);
		}
		buffer_release(&shown);
		json_decref(config);
	}
}

/* ---- regular expressions
 * ----------------------------------------------------------------------------------------------------------- */

/* A property matches the characters of Unicode 16, whatever version PCRE2 and utf8proc have. */
static void matches_exactly(const char *pattern, uint32_t categories, const char *all)
{
	struct regex *re;
	struct regex_walk walk;
	struct ipf_error err = {0};
	size_t start = 0, end = 0, len = strlen(all + 1) + 1;
	int found;

	if (regex_new(&re, slice_of(pattern), false, &err) < 0)
		fail_msg("%s", err.text);
	regex_walk_begin(&walk, re, (struct slice){all, len});
	found = regex_walk_next(&walk, &start, &end, &err);
	for (const char *at = all; at < all + len;) {
		size_t here = (size_t)(at - all);
		uint32_t c = utf8_next(&at);
		while (found == 1 && end <= here)
			found = regex_walk_next(&walk, &start, &end, &err);
		bool matched = found == 1 && start <= here;
		if (matched != (CATEGORY_IN(unicode_category(c), categories) != 0))
			fail_msg("%s: U+%04X", pattern, c);
	}
	regex_walk_end(&walk);
	regex_free(re);
}

static void test_properties(void **state)
{
	struct buffer all = {0};
	(void)state;
	for (uint32_t c = 0; c < 0x110000; c++)
		if (c < 0xd800 || c >= 0xe000) {
			char *to = buffer_reserve(&all, 4);
			assert_non_null(to);
			all.len += utf8_put(to, c);
		}
	buffer_byte(&all, '\0');
	matches_exactly("\\p{L}+", CATEGORIES_L, all.data);
	matches_exactly("\\p{N}", CATEGORIES_N, all.data);
	matches_exactly("[\\p{M}]+", CATEGORIES_M, all.data);
	matches_exactly("[^\\p{L}\\p{N}]+", ~(CATEGORIES_L | CATEGORIES_N), all.data);
	matches_exactly("\\p{P}|\\p{S}", CATEGORIES_P | CATEGORIES_S, all.data);
	matches_exactly("\\p{Lu}+", CATEGORY_BIT(LU), all.data);
	matches_exactly("\\p{Mn}+", CATEGORY_BIT(MN), all.data);
	matches_exactly("\\P{Cn}+", ~CATEGORY_BIT(CN), all.data);
	matches_exactly("[\\p{L}&&[^\\p{Ll}]]+", CATEGORIES_L & ~CATEGORY_BIT(LL), all.data);
	buffer_release(&all);
}

/* Superscripts and fractions of Latin-1 are in \w, but not in [\w]. */
static void test_word_characters(void **state)
{
	static const char *const patterns[][2] = {{"\\w+", "1-3 "},     {"\\p{Word}+", "1-3 "}, {"[\\w]+", ""},
	                                          {"[\\p{Word}]+", ""}, {"[^\\w\\s]+", "0-4 "}, {"[\\W]+", "0-4 "}};
	(void)state;
	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
		struct regex *re;
		struct regex_walk walk;
		struct ipf_error err = {0};
		struct buffer shown = {0};
		size_t start, end;
		assert_int_equal(regex_new(&re, slice_of(patterns[i][0]), false, &err), 0);
		regex_walk_begin(&walk, re, slice_of(".\xc2\xbd."));
		buffer_text(&shown, "");
		while (regex_walk_next(&walk, &start, &end, &err) == 1)
			buffer_format(&shown, "%zu-%zu ", start, end);
		regex_walk_end(&walk);
		assert_string_equal(shown.data, patterns[i][1]);
		regex_free(re);
		buffer_release(&shown);
	}
}

static void test_walk(void **state)
{
	struct regex *re;
	struct regex_walk walk;
	struct ipf_error err = {0};
	struct buffer shown = {0};
	size_t start, end;

	(void)state;
	assert_int_equal(regex_new(&re, slice_of("x*"), false, &err), 0);
	regex_walk_begin(&walk, re, slice_of("axx\xc3\xa9"));
	while (regex_walk_next(&walk, &start, &end, &err) == 1)
		buffer_format(&shown, "%zu-%zu ", start, end);
	regex_walk_end(&walk);
	assert_string_equal(shown.data, "0-0 1-3 5-5 "); /* no empty match right after a match */
	regex_free(re);
	buffer_release(&shown);
}

/* A match that backtracks deeply gets the memory it needs. */
static void test_deep(void **state)
{
	struct regex *re;
	struct regex_walk walk;
	struct ipf_error err = {0};
	struct buffer text = {0};
	size_t start, end;

	(void)state;
	for (int i = 0; i < 200000; i++)
		buffer_text(&text, "ab");
	assert_int_equal(regex_new(&re, slice_of("(?:a|b)+c|(?:ab|a|b)+"), false, &err), 0);
	regex_walk_begin(&walk, re, buffer_all(&text));
	assert_int_equal(regex_walk_next(&walk, &start, &end, &err), 1);
	assert_int_equal(start, 0);
	assert_int_equal(end, text.len);
	regex_walk_end(&walk);
	regex_free(re);
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_models),   cmocka_unit_test(test_special_texts),  cmocka_unit_test(test_scores),
		cmocka_unit_test(test_viterbi),  cmocka_unit_test(test_postprocessors), cmocka_unit_test(test_properties),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_walk),           cmocka_unit_test(test_word_characters),
		cmocka_unit_test(test_deep),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
