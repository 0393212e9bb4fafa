/* The public functions on the tokenizers of tests/data/tokenizer, as far as the command-line test of `ipf-prep
 * tokenize` does not cover them. */
#include "unit.h"

#include "tokenizer/token_counter.h"
#include "tokenizer/tokenizer.h"

#include <sys/stat.h>
#include <unistd.h>

static char cache[] = "/tmp/ipf-test-cache-XXXXXX";

static const char *fixture(const char *name)
{
	static char path[4096];
	const char *tests = getenv("TESTS");
	snprintf(path, sizeof path, "%s/data/tokenizer/%s.json", tests ? tests : "tests", name);
	return path;
}

static int set_up(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(cache));
	return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
	char command[100];
	(void)state;
	snprintf(command, sizeof command, "rm -rf '%s'", cache);
	return system(command);
}

static struct tokenizer *open_fixture(const char *name)
{
	struct tokenizer *t;
	struct ipf_error err = {0};
	if (tokenizer_open(&t, fixture(name), &err) < 0)
		fail_msg("%s: %s", err.file, err.text);
	return t;
}

static void describes_itself(void **state)
{
	struct tokenizer *t = open_fixture("bytelevel");
	json_t *about = tokenizer_describe(t);
	(void)state;
	assert_string_equal(json_string_value(json_object_get(about, "name")), "bytelevel.json");
	assert_int_equal(json_string_length(json_object_get(about, "sha256")), 64);
	assert_true(json_is_true(json_object_get(about, "exact")));
	assert_int_equal(json_integer_value(json_object_get(about, "size")), tokenizer_vocabulary_size(t));
	json_decref(about);
	tokenizer_close(t);
}

static void errors_leave_nothing_behind(void **state)
{
	struct tokenizer *t = open_fixture("bytelevel");
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	struct token_ids ids = {0};
	struct ipf_error err = {0};
	struct tokenizer *none;
	(void)state;
	assert_int_equal(tokenizer_encode(t, s, slice_of("one"), 0, &ids, &err), 0);
	size_t before = ids.count;
	assert_true(before > 0);
	assert_int_equal(tokenizer_encode(t, s, slice_of("two \xc3("), 0, &ids, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, "byte 4"));
	assert_int_equal(ids.count, before);
	ipf_error_clear(&err);
	assert_int_equal(tokenizer_count(t, s, slice_of("\xff"), 0, &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(tokenizer_open(&none, "/nowhere/tokenizer.json", &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.file, "/nowhere/tokenizer.json");
	assert_null(none);
	tokenizer_close(NULL);
	tokenizer_scratch_free(NULL);
	token_ids_release(&ids);
	tokenizer_scratch_free(s);
	tokenizer_close(t);
}

static const char *const words[] = {"one",   " two",     " three", "\n", "  ",       "é",   "人人",     "<|end|>",
                                    "don't", " 1234567", "word",   "ßß", "👍🏽", "[x]", "e\xcc\x81"};

static size_t random_text(char *text, size_t room, uint64_t *seed)
{
	size_t len = 0;
	for (size_t n = test_random(seed) % 60; n; n--) {
		const char *word = words[test_random(seed) % (sizeof words / sizeof *words)];
		if (len + strlen(word) >= room)
			break;
		memcpy(text + len, word, strlen(word));
		len += strlen(word);
	}
	text[len] = '\0';
	return len;
}

#define TEXTS 3000

/* Many threads with one tokenizer give the same as one text after another. */
static void many_at_once(void **state)
{
	uint64_t seed = test_seed("many at once");
	static char texts[TEXTS][512];
	static struct slice slices[TEXTS];
	static struct token_ids many[TEXTS];
	static int64_t counts[TEXTS];
	struct ipf_error err = {0};
	struct tokenizer *t = open_fixture("bytelevel");
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	struct token_ids ids = {0};
	(void)state;
	for (int i = 0; i < TEXTS; i++)
		slices[i] = (struct slice){texts[i], random_text(texts[i], sizeof texts[i], &seed)};
	struct tokenizer_batch batch = {.texts = slices, .count = TEXTS, .flags = TOKENIZER_SPECIAL, .threads = 4};
	assert_int_equal(tokenizer_encode_many(t, &batch, many, &err), 0);
	batch.threads = 0;
	assert_int_equal(tokenizer_count_many(t, &batch, counts, &err), 0);
	for (int i = 0; i < TEXTS; i++) {
		ids.count = 0;
		assert_int_equal(tokenizer_encode(t, s, slices[i], TOKENIZER_SPECIAL, &ids, &err), 0);
		assert_int_equal(many[i].count, ids.count);
		if (ids.count)
			assert_memory_equal(many[i].ids, ids.ids, ids.count * sizeof *ids.ids);
		assert_int_equal(counts[i], ids.count);
	}
	/* the error is that of the first invalid text */
	slices[2000] = slice_of("bad \xff");
	slices[700] = slice_of("ba\xff");
	batch.flags = 0;
	batch.threads = 4;
	assert_int_equal(tokenizer_count_many(t, &batch, counts, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	batch.count = 0;
	assert_int_equal(tokenizer_count_many(t, &batch, counts, &err), 0);
	for (int i = 0; i < TEXTS; i++)
		token_ids_release(&many[i]);
	token_ids_release(&ids);
	tokenizer_scratch_free(s);
	tokenizer_close(t);
}

/* A scratch caches words: the results must not depend on earlier texts. */
static void remembering_changes_nothing(void **state)
{
	static const char *const names[] = {"bytelevel", "gpt2", "llama", "gemma"};
	uint64_t seed = test_seed("remembering");
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		struct tokenizer *t = open_fixture(names[n]);
		struct tokenizer_scratch *old = tokenizer_scratch_new(t);
		for (int i = 0; i < 400; i++) {
			char text[512];
			size_t len = random_text(text, sizeof text, &seed);
			struct tokenizer_scratch *fresh = tokenizer_scratch_new(t);
			struct token_ids a = {0}, b = {0};
			struct ipf_error err = {0};
			assert_int_equal(tokenizer_encode(t, old, (struct slice){text, len}, 0, &a, &err), 0);
			assert_int_equal(tokenizer_encode(t, fresh, (struct slice){text, len}, 0, &b, &err), 0);
			if (a.count != b.count || (a.count && memcmp(a.ids, b.ids, a.count * sizeof *a.ids) != 0))
				fail_msg("%s: \"%s\"", names[n], text);
			assert_int_equal(tokenizer_count(t, old, (struct slice){text, len}, 0, &err), a.count);
			token_ids_release(&a);
			token_ids_release(&b);
			tokenizer_scratch_free(fresh);
		}
		tokenizer_scratch_free(old);
		tokenizer_close(t);
	}
}

static void cuts_at_tokens(void **state)
{
	static const char *const names[] = {"bytelevel", "gpt2", "llama", "gemma"};
	uint64_t seed = test_seed("cuts");
	struct token_counter *t;
	struct ipf_error err = {0};
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		int exact = 0, tried = 0;
		assert_int_equal(token_counter_open(&t, fixture(names[n]), &err), 0);
		assert_true(token_counter_is_exact(t));
		for (int i = 0; i < 200; i++) {
			char text[512];
			size_t len = random_text(text, sizeof text, &seed);
			int64_t whole = token_counter_count(t, text, len), want = (int64_t)(test_random(&seed) % 40);
			size_t cut = token_counter_cut(t, text, len, want);
			assert_true(cut <= len);
			assert_true(token_counter_count(t, text, cut) <= want);
			assert_true(cut == len || ((unsigned char)text[cut] & 0xc0) != 0x80);
			if (whole <= want)
				assert_int_equal(cut, len);
			if (whole > want && want > 0) {
				tried++;
				exact += token_counter_count(t, text, cut) == want;
			}
		}
		/* fewer tokens come from a character with several tokens, or if no beginning of the text has that many */
		assert_true(exact * 10 > tried * 8);
		token_counter_close(t);
	}
	assert_int_equal(token_counter_open(&t, NULL, &err), 0);
	assert_false(token_counter_is_exact(t));
	token_counter_close(t);
}

static void counts_what_is_not_utf8(void **state)
{
	struct token_counter *t;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(token_counter_open(&t, fixture("bytelevel"), &err), 0);
	static const struct {
		const char *bad, *replaced;
	} cases[] = {
		{"a\xff"
	     "b",
	     "a\xef\xbf\xbd"
	     "b"},
		{"a\xe4\xb8"
	     "b",
	     "a\xef\xbf\xbd"
	     "b"}, /* the beginning of a character becomes one U+FFFD */
		{"\xf0\x9f\x91", "\xef\xbf\xbd"},
		{"\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* each byte beginning no character becomes one */
		{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(token_counter_count(t, cases[i].bad, strlen(cases[i].bad)),
		                 token_counter_count(t, cases[i].replaced, strlen(cases[i].replaced)));
	assert_int_equal(token_counter_cut(t, "a\xff\xff\xff", 4, 1), 1);
	token_counter_close(t);
}

static struct tokenizer *open_json(const char *json)
{
	struct tokenizer *t;
	struct ipf_error err = {0};
	if (tokenizer_open_json(&t, slice_of(json), &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* The first tokens decode to the text up to their end, unless that is inside a character. */
static void ends_are_where_decoding_says(void **state)
{
	static const char *const names[] = {"bytelevel", "gpt2", "llama", "gemma"};
	uint64_t seed = test_seed("ends");
	struct ipf_error err = {0};
	size_t seen = 0;
	(void)state;
	for (size_t n = 0; n < 4; n++) {
		struct tokenizer *t = open_fixture(names[n]);
		struct tokenizer_scratch *s = tokenizer_scratch_new(t);
		for (int i = 0; i < 300; i++) {
			char text[512];
			size_t len = random_text(text, sizeof text, &seed), ends[512 + 1], before = 0;
			struct token_ids ids = {0};
			struct buffer decoded = {0};
			assert_int_equal(tokenizer_encode(t, s, (struct slice){text, len}, 0, &ids, &err), 0);
			assert_int_equal(tokenizer_token_ends(t, &ids, (struct slice){text, len}, ends, &err), 0);
			assert_int_equal(tokenizer_decode(t, ids.ids, ids.count, 0, &decoded, &err), 0);
			bool same = decoded.len == len && memcmp(decoded.data ? decoded.data : "", text, len) == 0;
			for (size_t k = 0; k < ids.count; k++) {
				assert_true(ends[k] >= before && ends[k] <= len);
				before = ends[k];
				buffer_clear(&decoded);
				assert_int_equal(tokenizer_decode(t, ids.ids, k + 1, 0, &decoded, &err), 0);
				if (!same || (decoded.data && strstr(decoded.data, "\xef\xbf\xbd")))
					continue;
				seen++;
				if (decoded.len != ends[k])
					fail_msg("%s: \"%.*s\": token %zu ends at %zu, not %zu", names[n], (int)len, text, k, ends[k],
					         decoded.len);
			}
			assert_true(ids.count == 0 || ends[ids.count - 1] == len);
			buffer_release(&decoded);
			token_ids_release(&ids);
		}
		tokenizer_scratch_free(s);
		tokenizer_close(t);
	}
	assert_true(seen > 1000);
}

/* Tokens that differ from the text share the part between the tokens around them, which are found. */
static void ends_of_changed_texts(void **state)
{
	static const char json[] =
		"{\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,\"handle_chinese_chars\":true,"
		"\"strip_accents\":null,"
		"\"lowercase\":true},\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
		"\"decoder\":{\"type\":\"WordPiece\",\"prefix\":\"##\",\"cleanup\":true},"
		"\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":\"##\","
		"\"max_input_chars_per_word\":100,\"vocab\":{\"[UNK]\":0,\"un\":1,\"##der\":2,\"ete\":3,\",\":4,\"the\":5}}}";
	static const char text[] = "  UNder  xyz the \xc3\xa9t\xc3\xa9, the ";
	static const size_t expected[] = {4, 7, 12, 16, 22, 23, sizeof text - 1};
	struct tokenizer *t = open_json(json);
	struct ipf_error err = {0};
	struct token_ids ids = {0};
	size_t ends[7];
	(void)state;
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	assert_int_equal(tokenizer_encode(t, s, slice_of(text), 0, &ids, &err), 0);
	assert_int_equal(ids.count, 7);
	assert_int_equal(tokenizer_token_ends(t, &ids, slice_of(text), ends, &err), 0);
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(ends[i], expected[i]);
	token_ids_release(&ids);
	tokenizer_scratch_free(s);
	tokenizer_close(t);
}

static void counts_in_parts(void **state)
{
	uint64_t seed = test_seed("parts");
	struct token_counter *t;
	struct ipf_error err = {0};
	int64_t few[2];
	(void)state;
	assert_int_equal(token_counter_open(&t, fixture("gpt2"), &err), 0);
	for (int i = 0; i < 200; i++) {
		char text[512] = "";
		size_t len = random_text(text, sizeof text, &seed), ends[9];
		int64_t counts[9], before = 0;
		if (i % 3 == 0 && len > 0)
			text[len / 2] = (char)0xff;
		for (size_t k = 0; k < 9; k++)
			ends[k] = len * (k + 1) / 9;
		int64_t all = token_counter_count_prefixes(t, (struct slice){text, len}, ends, 9, counts, &err);
		assert_int_equal(all, token_counter_count(t, text, len));
		for (size_t k = 0; k < 9; before = counts[k++])
			assert_true(counts[k] >= before);
		assert_int_equal(counts[8], all);
	}
	token_counter_close(t);
	assert_int_equal(token_counter_open(&t, NULL, &err), 0);
	assert_int_equal(token_counter_count_prefixes(t, slice_of("aaaaaaaaa"), (size_t[]){5, 9}, 2, few, &err), 3);
	assert_int_equal(few[0], 2);
	assert_int_equal(few[1], 3);
	token_counter_close(t);
}

/* A failure of counting does not end the program, and is reported. */
static void failures_of_counting_are_kept(void **state)
{
	static const char json[] =
		"{\"model\":{\"type\":\"Unigram\",\"unk_id\":null,\"vocab\":[[\"a\",-1.0],[\"b\",-2.0]]}}";
	char path[sizeof cache + 20];
	struct token_counter *t;
	struct ipf_error err = {0};
	int64_t counts[1];
	(void)state;
	snprintf(path, sizeof path, "%s/unigram.json", cache);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(json, f) >= 0 && fclose(f) == 0);
	assert_int_equal(token_counter_open(&t, path, &err), 0);
	assert_int_equal(token_counter_count(t, "abba", 4), 4);
	assert_int_equal(token_counter_check(t, &err), 0);
	assert_int_equal(token_counter_count_prefixes(t, slice_of("ab-c"), (size_t[]){4}, 1, counts, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	ipf_error_clear(&err);
	assert_int_equal(token_counter_check(t, &err), 0);
	assert_int_equal(token_counter_count(t, "abcabcabc", 9), 3);
	assert_int_equal(token_counter_check(t, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, "unknown character"));
	ipf_error_clear(&err);
	assert_int_equal(token_counter_count(t, "ab", 2), 2);
	assert_int_equal(token_counter_cut(t, "abcabcabc", 9, 2), 8);
	assert_int_equal(token_counter_check(t, &err), -1);
	token_counter_close(t);
}

static void expect(struct tokenizer *t, const char *text, const char *ids_expected)
{
	struct tokenizer_scratch *s = tokenizer_scratch_new(t);
	struct token_ids ids = {0};
	struct ipf_error err = {0};
	struct buffer got = {0};
	assert_int_equal(tokenizer_encode(t, s, slice_of(text), 0, &ids, &err), 0);
	for (size_t i = 0; i < ids.count; i++)
		buffer_format(&got, "%s%u", i ? " " : "", ids.ids[i]);
	assert_string_equal(got.data ? got.data : "", ids_expected);
	buffer_release(&got);
	token_ids_release(&ids);
	tokenizer_scratch_free(s);
}

/* Ids in the file do not count: a token gets the vocabulary's id or the next free one, as in the reference. */
static void added_tokens_get_their_ids(void **state)
{
	struct tokenizer *t = open_json(
		"{\"added_tokens\":[{\"id\":77,\"content\":\"<b>\"},{\"id\":5,\"content\":\"a\",\"normalized\":false},"
		"{\"id\":9,\"content\":\"<bb>\"},{\"id\":9,\"content\":\"\"}],"
		"\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"c\":10},\"merges\":[]}}");
	(void)state;
	expect(t, "<b>ab<bb>c<b", "3 0 1 4 10 1");
	assert_int_equal(tokenizer_vocabulary_size(t), 11);
	tokenizer_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(describes_itself),
		cmocka_unit_test(errors_leave_nothing_behind),
		cmocka_unit_test(many_at_once),
		cmocka_unit_test(remembering_changes_nothing),
		cmocka_unit_test(cuts_at_tokens),
		cmocka_unit_test(counts_what_is_not_utf8),
		cmocka_unit_test(ends_are_where_decoding_says),
		cmocka_unit_test(ends_of_changed_texts),
		cmocka_unit_test(counts_in_parts),
		cmocka_unit_test(failures_of_counting_are_kept),
		cmocka_unit_test(added_tokens_get_their_ids),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
