/* Results of normalizers, pre-tokenizers and decoders for texts, compared with the reference; and their refusals. */
#include "unit.h"

#include "tokenizer/decoder.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pretokenizer.h"

static json_t *parse(const char *text)
{
	json_error_t where;
	json_t *config = json_loads(text, JSON_DECODE_ANY, &where);
	assert_non_null(config);
	return config;
}

static const char *const normalized[][3] = {
	{"{\"type\":\"NFC\"}", "e\xcc\x81\xcc\xa3 \xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa8",
     "\xe1\xba\xb9\xcc\x81 \xea\xb0\x81"},
	{"{\"type\":\"NFC\"}", "\xe1\x84\x80\xe1\x85\xa1\xe1\x86\xa7\xe1\x86\xa8",
     "\xea\xb0\x80\xe1\x86\xa7\xe1\x86\xa8"}, /* not a final */
	{"{\"type\":\"NFD\"}", "\xc3\xa9\xcc\xa3", "e\xcc\xa3\xcc\x81"},
	{"{\"type\":\"NFD\"}", "\xf0\x91\xa4\xb8", "\xf0\x91\xa4\xb8"}, /* newer than the reference's tables */
	{"{\"type\":\"NFKC\"}", "\xef\xac\x81 \xe2\x85\xa7 \xe3\x8b\xbf", "fi VIII \xe3\x8b\xbf"},
	{"{\"type\":\"NFKD\"}", "\xc2\xbd\xc3\xa9",
     "1\xe2\x81\x84"
     "2e\xcc\x81"},
	{"{\"type\":\"Lowercase\"}", "\xc4\xb0S\xe1\xba\x9e\xce\xa3\xe1\xb2\x89", "i\xcc\x87s\xc3\x9f\xcf\x83\xe1\xb2\x8a"},
	{"{\"type\":\"StripAccents\"}", "e\xcc\x81\xe0\xa2\x97", "e\xe0\xa2\x97"},
	{"{\"type\":\"Nmt\"}",
     "a\x01"
     "b\tc\xe2\x80\x8b",
     "ab c "},
	{"{\"type\":\"ByteLevel\"}", " \xc3\xa9", "\xc4\xa0\xc3\x83\xc2\xa9"},
	{"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", " \xe3\x80\x80x ", "x"},
	{"{\"type\":\"Strip\",\"strip_left\":false,\"strip_right\":true}", "  ", ""},
	{"{\"type\":\"Prepend\",\"prepend\":\"_\"}", "x", "_x"},
	{"{\"type\":\"Prepend\",\"prepend\":\"_\"}", "", ""},
	{"{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"-\"}", "ab", "-a-b-"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"x*\"},\"content\":\"-\"}", "axxb", "-a-b-"},
	{"{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,\"strip_accents\":null,"
     "\"lowercase\":true}",
     "\x01\xc3\x89\t\xe4\xb8\xad!", "e  \xe4\xb8\xad !"},
	{"{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"},{\"type\":\"StripAccents\"},"
     "{\"type\":\"Lowercase\"}]}",
     "\xc3\x89\xef\xac\x81", "efi"},
	{"{\"type\":\"Sequence\",\"normalizers\":[]}", "x", "x"},
};

static void test_normalizers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof normalized / sizeof *normalized; i++) {
		struct normalizer *n;
		struct ipf_error err = {0};
		struct buffer out = {0};
		json_t *config = parse(normalized[i][0]);
		buffer_text(&out, "kept:");
		assert_int_equal(normalizer_new(&n, config, &err), 0);
		int changed = n->apply(n, slice_of(normalized[i][1]), &out, &err);
		assert_int_equal(changed != 0, strcmp(normalized[i][1], normalized[i][2]) != 0);
		assert_string_equal(out.data + 5, changed ? normalized[i][2] : "");
		buffer_release(&out);
		n->free(n);
		json_decref(config);
	}
}

/* Is the beginning of the text still there? */
static void test_cut(void **state)
{
	static const struct {
		const char *config, *text;
		int changed;
	} cases[] = {
		{"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", " x", NORMALIZER_CUT},
		{"{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true}", "x ", 1},
		{"{\"type\":\"Nmt\"}", "\x01x", NORMALIZER_CUT},
		{"{\"type\":\"Nmt\"}", "\tx\x01", 1},
		{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" +\"},\"content\":\"-\"}", " x", 1},
		{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" +\"},\"content\":\"-\"}", "  x", NORMALIZER_CUT},
		{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\" +\"},\"content\":\"\"}", " x", NORMALIZER_CUT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct normalizer *n;
		struct ipf_error err = {0};
		struct buffer out = {0};
		json_t *config = parse(cases[i].config);
		assert_int_equal(normalizer_new(&n, config, &err), 0);
		assert_int_equal(n->apply(n, slice_of(cases[i].text), &out, &err), cases[i].changed);
		buffer_release(&out);
		n->free(n);
		json_decref(config);
	}
}

/* Thousands of marks in the worst order are sorted, and not by swapping neighbours. */
static void test_many_marks(void **state)
{
	json_t *config = parse("{\"type\":\"NFC\"}");
	struct normalizer *n;
	struct ipf_error err = {0};
	struct buffer text = {0}, out = {0};
	const size_t count = 200000;

	(void)state;
	buffer_byte(&text, 'x');
	for (size_t i = 0; i < count; i++)
		buffer_text(&text, "\xcc\x81\xcc\xa3"); /* above, below */
	assert_int_equal(normalizer_new(&n, config, &err), 0);
	assert_int_equal(n->apply(n, buffer_all(&text), &out, &err), 1);
	assert_int_equal(out.len, text.len);
	for (size_t i = 0; i < count; i++) {
		assert_memory_equal(out.data + 1 + 2 * i, "\xcc\xa3", 2);
		assert_memory_equal(out.data + 1 + 2 * (count + i), "\xcc\x81", 2);
	}
	buffer_release(&text);
	buffer_release(&out);
	n->free(n);
	json_decref(config);
}

#define SPLIT(pattern, behavior, invert)                                                                               \
	"{\"type\":\"Split\",\"pattern\":" pattern ",\"behavior\":\"" behavior "\",\"invert\":" invert "}"
#define DASH "{\"String\":\"-\"}"

static const char *const pieces[][3] = {
	{SPLIT(DASH, "Removed", "false"), "the-final--countdown-", "the|final|countdown|"},
	{SPLIT(DASH, "Isolated", "false"), "the-final--countdown-", "the|-|final|-|-|countdown|-|"},
	{SPLIT(DASH, "MergedWithPrevious", "false"), "the-final--countdown-", "the-|final-|-|countdown-|"},
	{SPLIT(DASH, "MergedWithNext", "false"), "the-final--countdown-", "the|-final|-|-countdown|-|"},
	{SPLIT(DASH, "Contiguous", "false"), "the-final--countdown-", "the|-|final|--|countdown|-|"},
	{SPLIT(DASH, "Removed", "true"), "a-b--c", "-|-|-|"},
	{SPLIT("{\"Regex\":\"a(?i)b|c\"}", "Isolated", "false"), "aCaBC", "aC|aB|C|"},
	{SPLIT("{\"Regex\":\"[a-f&&[^b]]+\"}", "Isolated", "false"), "abcdef", "a|b|cdef|"},
	{SPLIT("{\"Regex\":\"a{2}+\"}", "Isolated", "false"), "aaaab", "aaaa|b|"},
	{SPLIT("{\"Regex\":\"\"}", "Isolated", "false"), "ab", "a|b|"},
	{"{\"type\":\"Digits\",\"individual_digits\":true}", "a12", "a|1|2|"},
	{"{\"type\":\"Digits\",\"individual_digits\":false}", "a12", "a|12|"},
	{"{\"type\":\"Punctuation\",\"behavior\":\"Isolated\"}", "a+b\xe2\x80\xa6", "a|+|b|\xe2\x80\xa6|"},
	{"{\"type\":\"Whitespace\"}", "a_1 +-\xe3\x80\x80\xe4\xb8\xad", "a_1|+-|\xe4\xb8\xad|"},
	{"{\"type\":\"WhitespaceSplit\"}", " a +b ", "a|+b|"},
	{"{\"type\":\"BertPreTokenizer\"}", " a+b c", "a|+|b|c|"},
	{"{\"type\":\"CharDelimiterSplit\",\"delimiter\":\"e\"}", "eaeeb", "a|b|"},
	{"{\"type\":\"UnicodeScripts\"}", " \xe3\x81\x82\xe4\xb8\xad a\xce\xb1", "\xe3\x81\x82\xe4\xb8\xad |a|\xce\xb1|"},
	{"{\"type\":\"FixedLength\",\"length\":2}", "a\xc3\xa9z", "a\xc3\xa9|z|"},
	{"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\",\"split\":true}", "a b _c",
     "_a|_b|_|_c|"},
	{"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\",\"split\":false}", "a b", "a_b|"},
	{"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"add_prefix_space\":true}", "a b", "_a|_b|"},
	{"{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", "a b",
     "\xc4\xa0"
     "a|\xc4\xa0"
     "b|"},
	{"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Metaspace\","
     "\"replacement\":\"_\",\"prepend_scheme\":\"first\"}]}",
     "a b", "_a|b|"},
	{"{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"WhitespaceSplit\"},{\"type\":\"Metaspace\","
     "\"replacement\":\"_\",\"prepend_scheme\":\"first\"}]}",
     " a b", "a|b|"}, /* the beginning was removed */
};

static void test_pretokenizers(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
		struct pretokenizer *p;
		struct ipf_error err = {0};
		struct text_pieces out = {.count = 0};
		struct buffer joined = {0};
		json_t *config = parse(pieces[i][0]);
		assert_int_equal(pretokenizer_new(&p, config, &err), 0);
		out.head = 1;
		assert_int_equal(p->split(p, slice_of(pieces[i][1]), &out, &err), 0);
		for (size_t k = 0; k < out.count; k++) {
			buffer_slice(&joined, text_pieces_at(&out, k));
			buffer_byte(&joined, '|');
		}
		assert_string_equal(joined.data, pieces[i][2]);
		buffer_release(&joined);
		text_pieces_release(&out);
		p->free(p);
		json_decref(config);
	}
}

/* Each token is followed by a bar. */
static const char *const decoded[][3] = {
	{"{\"type\":\"ByteLevel\"}",
     "\xc4\xa0"
     "a|\xc3\x83|\xc2\xa9|\xc3\x83|",
     " a\xc3\xa9\xef\xbf\xbd|"},
	{"{\"type\":\"ByteFallback\"}", "<0xC3>|<0xA9>|a|<0xC3>|<0xC3>|", "\xc3\xa9|a|\xef\xbf\xbd|\xef\xbf\xbd|"},
	{"{\"type\":\"Fuse\"}", "a|b|", "ab|"},
	{"{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true}", "do|##n't|stop|!|##x|", "do|n't| stop|!|x|"},
	{"{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":false}", "##a|##b|c|", "##a|b| c|"},
	{"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"always\"}", "_a_|_b|", "a| b|"},
	{"{\"type\":\"Metaspace\",\"replacement\":\"_\",\"prepend_scheme\":\"never\"}", "_a|_b|", " a| b|"},
	{"{\"type\":\"BPEDecoder\",\"suffix\":\"</w>\"}", "a</w>|b</w>|", "a |b|"},
	{"{\"type\":\"Strip\",\"content\":\"_\",\"start\":2,\"stop\":1}", "___a__|b|", "_a_|b|"},
	{"{\"type\":\"Replace\",\"pattern\":{\"String\":\"_\"},\"content\":\" \"}", "_a_|", " a |"},
	{"{\"type\":\"CTC\",\"pad_token\":\"<p>\",\"word_delimiter_token\":\"_\",\"cleanup\":true}", "<p>|h|h|<p>|i|_|_|",
     "h|i| |"},
	{"{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Fuse\"},{\"type\":\"Strip\",\"content\":\" \",\"start\":1,"
     "\"stop\":0}]}",
     " a| b|", "a b|"},
};

static void test_decoders(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof decoded / sizeof *decoded; i++) {
		struct decoder *d;
		struct ipf_error err = {0};
		struct text_pieces tokens = {.count = 0}, out = {.count = 0};
		struct buffer joined = {0};
		json_t *config = parse(decoded[i][0]);
		for (const char *at = decoded[i][1], *bar; (bar = strchr(at, '|')) != NULL; at = bar + 1)
			text_pieces_add(&tokens, at, (size_t)(bar - at));
		assert_int_equal(decoder_new(&d, config, &err), 0);
		assert_int_equal(d->apply(d, &tokens, &out, &err), 0);
		for (size_t k = 0; k < out.count; k++) {
			buffer_slice(&joined, text_pieces_at(&out, k));
			buffer_byte(&joined, '|');
		}
		assert_string_equal(joined.data, decoded[i][2]);
		buffer_release(&joined);
		text_pieces_release(&tokens);
		text_pieces_release(&out);
		d->free(d);
		json_decref(config);
	}
}

static const char *const refused[][2] = {
	{"{\"type\":\"Foo\"}", "unknown type \"Foo\""},
	{"[]", "expected an object with a \"type\""},
	{"{\"type\":\"Replace\",\"pattern\":{\"Glob\":\"*\"},\"content\":\"\"}", "pattern: expected"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\X\"},\"content\":\"\"}", "byte 0: escape is not supported"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a(?~b)\"},\"content\":\"\"}",
     "byte 1: kind of group is not supported"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(?i:ss)\"},\"content\":\"\"}", "characters that fold to several"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"(a\"},\"content\":\"\"}", "missing ) of a group"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"[a\"},\"content\":\"\"}", "missing ] of a class"},
	{"{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"\\\\p{Nonesuch}\"},\"content\":\"\"}", "regex \"\\p{Nonesuch}\""},
};

static void test_refusals(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct normalizer *n = NULL;
		struct decoder *d = NULL;
		struct ipf_error err = {0};
		json_t *config = parse(refused[i][0]);
		assert_int_equal(normalizer_new(&n, config, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, refused[i][1]));
		assert_ptr_equal(strstr(err.text, i < 2 ? "normalizer: " : err.text), err.text);
		ipf_error_clear(&err);
		assert_int_equal(decoder_new(&d, config, &err), -1);
		assert_non_null(strstr(err.text, refused[i][1]));
		json_decref(config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_normalizers),   cmocka_unit_test(test_cut),      cmocka_unit_test(test_many_marks),
		cmocka_unit_test(test_pretokenizers), cmocka_unit_test(test_decoders), cmocka_unit_test(test_refusals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
