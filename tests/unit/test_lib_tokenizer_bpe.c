/* Compares merging of short words, long words in windows, and by the heap with a plain implementation of the
 * definition, on random vocabularies. */
#include "unit.h"

#include "tokenizer/bpe.h"
#include "tokenizer/bpe_long.h"
#include "tokenizer/bpe_merge.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/tokenizer_json.h"

struct toy {
	struct buffer json;
	char texts[400][200];
	size_t count;
	struct {
		char left[200], right[200];
	} merges[400];
	size_t merge_count;
};

static bool has(const struct toy *t, const char *text)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->texts[i], text) == 0)
			return true;
	return false;
}

/* For long tokens, mostly picks one of the last that were made. */
static const char *pick(const struct toy *t, size_t longest, uint64_t *seed)
{
	size_t last = t->count < 6 ? t->count : 6;
	return t->texts[longest > 30 && test_random(seed) % 4 ? t->count - 1 - test_random(seed) % last
	                                                      : test_random(seed) % t->count];
}

/* Merges of existing tokens, in an order that does not depend on how they were made. */
static void make_toy(struct toy *t, uint64_t *seed)
{
	size_t letters = 1 + test_random(seed) % 4, wanted = 1 + test_random(seed) % 90,
		   longest = test_random(seed) % 2 ? 30 : 190;
	t->count = t->merge_count = 0;
	for (size_t i = 0; i < letters; i++)
		snprintf(t->texts[t->count++], 200, "%c", (char)('a' + i));
	for (size_t tries = 0; tries < 500 && t->merge_count < wanted; tries++) {
		char whole[400];
		const char *left = pick(t, longest, seed), *right = pick(t, longest, seed);
		bool known = false;
		if (strlen(left) + strlen(right) > longest)
			continue;
		for (size_t i = 0; i < t->merge_count; i++)
			known = known || (strcmp(t->merges[i].left, left) == 0 && strcmp(t->merges[i].right, right) == 0);
		if (known)
			continue;
		memcpy(t->merges[t->merge_count].left, left, strlen(left) + 1);
		memcpy(t->merges[t->merge_count++].right, right, strlen(right) + 1);
		snprintf(whole, sizeof whole, "%s%s", left, right);
		if (!has(t, whole))
			memcpy(t->texts[t->count++], whole, 200);
	}
	for (size_t i = t->merge_count; i > 1 && longest == 30 && test_random(seed) % 4; i--) {
		size_t other = test_random(seed) % i;
		__typeof__(t->merges[0]) swap = t->merges[i - 1];
		t->merges[i - 1] = t->merges[other];
		t->merges[other] = swap;
	}
}

static void load_toy(const struct toy *t, bool bytes, struct compiled_block *block)
{
	struct buffer json = {0};
	struct ipf_error err = {0};
	buffer_text(&json, bytes ? "{\"pre_tokenizer\":{\"type\":\"ByteLevel\"}," : "{");
	buffer_text(&json, "\"model\":{\"type\":\"BPE\",\"vocab\":{");
	for (size_t i = 0; i < t->count; i++)
		buffer_format(&json, "%s\"%s\":%zu", i ? "," : "", t->texts[i], i);
	/* all bytes, so byte mode takes its fast path */
	for (unsigned b = 0, id = (unsigned)t->count; bytes && b < 256; b++) {
		char utf8[4];
		struct slice c = {utf8, utf8_put(utf8, byte_level_char((unsigned char)b))};
		if (c.len == 1 && *utf8 >= 'a' && *utf8 < 'a' + 4 && has(t, (char[]){*utf8, '\0'}))
			continue;
		buffer_text(&json, ",\"");
		if (c.len == 1 && (*utf8 == '"' || *utf8 == '\\'))
			buffer_byte(&json, '\\');
		buffer_slice(&json, c);
		buffer_format(&json, "\":%u", id++);
	}
	buffer_text(&json, "},\"merges\":[");
	for (size_t i = 0; i < t->merge_count; i++)
		buffer_format(&json, "%s[\"%s\",\"%s\"]", i ? "," : "", t->merges[i].left, t->merges[i].right);
	buffer_text(&json, "]}}");
	assert_false(json.failed);
	if (tokenizer_json_compile(block, buffer_all(&json),
	                           "0123456789012345678901234567890123456789012345678901234567890123", &err) < 0)
		fail_msg("%s: %s", err.text, json.data);
	buffer_release(&json);
}

/* The symbols of a whole word. */
static size_t symbols_of(const struct bpe *b, const char *word, size_t len, uint32_t *ids, uint32_t *starts)
{
	struct bpe_span span = {.word = word, .end = len, .ids = ids, .starts = starts};
	bpe_symbols(b, &span, true);
	return span.count;
}

/* The definition: while any pair has a rank, merge the pair with the lowest rank, of equals the leftmost. */
static size_t merge_plainly(const struct bpe *b, const char *word, size_t len, uint32_t *ids)
{
	size_t count = symbols_of(b, word, len, ids, NULL);
	for (;;) {
		uint32_t low = NO_RANK;
		size_t at = 0;
		for (size_t i = 0; i + 1 < count; i++) {
			uint32_t rank = bpe_rank(b, ids[i], ids[i + 1]);
			if (rank < low) {
				low = rank;
				at = i;
			}
		}
		if (low == NO_RANK)
			return count;
		ids[at] = b->merged[low];
		memmove(ids + at + 1, ids + at + 2, (count - at - 2) * sizeof *ids);
		count--;
	}
}

/* Random letters, a repeating pattern, or tokens with letters between them: long tokens then often cross the borders of
 * windows. */
static void random_word(const struct toy *t, char *word, size_t len, size_t letters, uint64_t *seed)
{
	size_t period = 1 + test_random(seed) % 40, kind = test_random(seed) % 3;
	for (size_t i = 0; i < len; i++) {
		const char *token = t->texts[test_random(seed) % t->count];
		if (kind == 0 && i >= period)
			word[i] = word[i - period];
		else
			word[i] = (char)('a' + (int)(test_random(seed) % letters));
		for (; kind == 1 && *token && i < len; token++)
			word[i++] = *token;
	}
}

static void check_word(const struct bpe *b, struct model *model, const char *word, size_t len)
{
	static uint32_t expected[4096], heap[4096], starts[4096];
	struct token_ids ids = {0};
	struct ipf_error err = {0};
	size_t want = merge_plainly(b, word, len, expected);
	assert_int_equal(model->encode(model, NULL, word, len, &ids, &err), 0);
	if (ids.count != want || (want && memcmp(ids.ids, expected, want * sizeof *expected) != 0))
		fail_msg("merged differently: \"%.*s\"", (int)len, word);
	ids.count = 0;
	assert_int_equal(bpe_encode_long(b, word, len, &ids, &err), 0);
	if (ids.count != want || (want && memcmp(ids.ids, expected, want * sizeof *expected) != 0))
		fail_msg("merged differently in windows: \"%.*s\"", (int)len, word);
	size_t count = bpe_merge_heap(b, heap, starts, symbols_of(b, word, len, heap, starts));
	if (count != want || memcmp(heap, expected, want * sizeof *expected) != 0)
		fail_msg("merged differently by the heap: \"%.*s\"", (int)len, word);
	for (size_t i = 1; i < count; i++)
		assert_true(starts[i] > starts[i - 1]);
	token_ids_release(&ids);
}

static void check_toys(bool bytes)
{
	uint64_t seed = test_seed(bytes ? "bytes" : "characters");
	struct toy *toy = calloc(1, sizeof *toy);
	const int rounds = few_or_many(20, 600);
	for (int round = 0; round < rounds; round++) {
		struct compiled_block block;
		struct vocabulary v;
		struct model *model;
		struct ipf_error err = {0};
		json_t *config = json_object();
		char word[3000];
		make_toy(toy, &seed);
		load_toy(toy, bytes, &block);
		compiled_vocabulary(&block, &v);
		assert_int_equal(bpe_new(&model, config, &block, &v, &err), 0);
		const struct bpe *b = (const struct bpe *)model;
		assert_int_equal(b->every_byte, bytes);
		for (int i = 0; i < 40; i++) {
			size_t len = 1 + test_random(&seed) % (i % 8 ? 60 : i % 16 ? 300 : 2999);
			random_word(toy, word, len, 1 + test_random(&seed) % 4, &seed);
			check_word(b, model, word, len);
		}
		model->free(model);
		json_decref(config);
		compiled_release(&block);
	}
	free(toy);
}

static void merges_characters(void **state)
{
	(void)state;
	check_toys(false);
}

static void merges_bytes(void **state)
{
	(void)state;
	check_toys(true);
}

static const char sha[] = "0123456789012345678901234567890123456789012345678901234567890123";

static size_t encode_with(const char *model_json, const char *word, uint32_t *to)
{
	struct compiled_block block;
	struct vocabulary v;
	struct model *model;
	struct ipf_error err = {0};
	struct token_ids ids = {0};
	struct buffer json = {0};
	buffer_format(&json, "{\"model\":%s}", model_json);
	if (tokenizer_json_compile(&block, buffer_all(&json), sha, &err) < 0)
		fail_msg("%s", err.text);
	compiled_vocabulary(&block, &v);
	json_t *config = json_loads(model_json, 0, NULL);
	assert_int_equal(bpe_new(&model, config, &block, &v, &err), 0);
	assert_int_equal(model->encode(model, NULL, word, strlen(word), &ids, &err), 0);
	memcpy(to, ids.ids, ids.count * sizeof *to);
	size_t count = ids.count;
	token_ids_release(&ids);
	model->free(model);
	json_decref(config);
	compiled_release(&block);
	buffer_release(&json);
	return count;
}

/* Expected results are those of the reference (tokenizers 0.23.3) for the same model. */
static void unknown_characters(void **state)
{
	uint32_t ids[16];
	(void)state;
	static const char plain[] =
		"{\"type\":\"BPE\",\"unk_token\":\"?\",\"fuse_unk\":%s,\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\"ab\":3},"
		"\"merges\":[\"a b\"]}";
	char json[300];
	snprintf(json, sizeof json, plain, "true");
	assert_int_equal(encode_with(json, "abxyzab", ids), 3);
	assert_memory_equal(ids, ((uint32_t[]){3, 0, 3}), 12);
	snprintf(json, sizeof json, plain, "false");
	assert_int_equal(encode_with(json, "abxyzab", ids), 5);
	assert_memory_equal(ids, ((uint32_t[]){3, 0, 0, 0, 3}), 20);
	/* without an unknown token, unknown characters are left out and those around them become neighbours */
	assert_int_equal(
		encode_with("{\"type\":\"BPE\",\"vocab\":{\"a\":1,\"b\":2,\"ab\":3},\"merges\":[\"a b\"]}", "axbx", ids), 1);
	assert_int_equal(ids[0], 3);
	/* bytes, if all bytes of a character have a token */
	assert_int_equal(
		encode_with(
			"{\"type\":\"BPE\",\"unk_token\":\"?\",\"byte_fallback\":true,\"vocab\":{\"?\":0,\"a\":1,\"<0xC3>\":2,"
			"\"<0xA9>\":3},"
			"\"merges\":[]}",
			"a\xc3\xa9\xc3\xa8\xc3\xa9", ids),
		6);
	/* the bytes come before the pending unknown token, as in the reference */
	assert_memory_equal(ids, ((uint32_t[]){1, 2, 3, 2, 3, 0}), 24);
}

/* No window begins inside a character whose bytes are tokens. */
static void bytes_in_long_words(void **state)
{
	static const char *const characters[] = {"a", "\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9d\x85\x97"};
	uint64_t seed = test_seed("bytes_in_long_words");
	struct buffer json = {0};
	(void)state;
	buffer_text(
		&json,
		"{\"type\":\"BPE\",\"ignore_merges\":true,\"byte_fallback\":true,\"merges\":[],\"vocab\":{\"\xc3\xa9\":256,"
		"\"a\":257");
	for (unsigned i = 0; i < 256; i++)
		buffer_format(&json, ",\"<0x%02X>\":%u", i, i);
	buffer_text(&json, "}}");
	for (int round = 0; round < 50; round++) {
		uint32_t ids[4000], wanted[4000];
		size_t count = 0;
		struct buffer word = {0};
		for (int i = 0; i < 20 + round * 10; i++) {
			const char *c = characters[test_random(&seed) % 4];
			buffer_text(&word, c);
			if (c == characters[0] || c == characters[1])
				wanted[count++] = c == characters[0] ? 257 : 256;
			else
				for (; *c; c++)
					wanted[count++] = (unsigned char)*c;
		}
		assert_int_equal(encode_with(json.data, word.data, ids), count);
		assert_memory_equal(ids, wanted, count * sizeof *ids);
		buffer_release(&word);
	}
	buffer_release(&json);
}

static void affixes(void **state)
{
	uint32_t ids[16];
	(void)state;
	static const char json[] =
		"{\"type\":\"BPE\",\"continuing_subword_prefix\":\"#\",\"end_of_word_suffix\":\"/\",\"vocab\":{\"a\":0,"
		"\"#b\":1,\"#c/\":2,"
		"\"#bc/\":3,\"abc/\":4,\"a/\":5,\"#b/\":6,\"ab/\":7},\"merges\":[\"#b #c/\",\"a #bc/\",\"a #b/\"]}";
	assert_int_equal(encode_with(json, "abc", ids), 1);
	assert_int_equal(ids[0], 4);
	assert_int_equal(encode_with(json, "a", ids), 1);
	assert_int_equal(ids[0], 5);
	assert_int_equal(encode_with(json, "ab", ids), 1);
	assert_int_equal(ids[0], 7);
	assert_int_equal(encode_with(json, "abb", ids), 3);
	assert_memory_equal(ids, ((uint32_t[]){0, 1, 6}), 12);
}

static void whole_words(void **state)
{
	uint32_t ids[16];
	(void)state;
	/* "abc" is a token that no merge makes */
	static const char json[] =
		"{\"type\":\"BPE\",\"ignore_merges\":%s,\"vocab\":{\"a\":0,\"b\":1,\"c\":2,\"ab\":3,\"abc\":4},"
		"\"merges\":[\"a b\"]}";
	char text[300];
	snprintf(text, sizeof text, json, "false");
	assert_int_equal(encode_with(text, "abc", ids), 2);
	assert_memory_equal(ids, ((uint32_t[]){3, 2}), 8);
	snprintf(text, sizeof text, json, "true");
	assert_int_equal(encode_with(text, "abc", ids), 1);
	assert_int_equal(ids[0], 4);
}

static void refuses(const char *json, const char *why)
{
	struct compiled_block block = {0};
	struct ipf_error err = {0};
	if (tokenizer_json_compile(&block, slice_of(json), sha, &err) == 0) {
		compiled_release(&block);
		fail_msg("accepted: %s", json);
	}
	assert_int_equal(err.kind, IPF_INPUT);
	if (!strstr(err.text, why))
		fail_msg("\"%s\" does not say \"%s\"", err.text, why);
}

static void refuses_by_name(void **state)
{
	(void)state;
	refuses("{}", "no \"model\"");
	refuses("[]", "no \"model\"");
	refuses("{\"version\":\"2.0\",\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", "version");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{},\"merges\":[]}}", "model.vocab: expected at least one token");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":[],\"merges\":[]}}", "model.vocab: expected an object");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":-1},\"merges\":[]}}", "model.vocab: expected ids");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":4000000},\"merges\":[]}}", "4000000");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1,\"b\":1},\"merges\":[]}}", "id 1 occurs twice");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1}}}", "model.merges: expected a list");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[\"a b\"]}}",
	        "\"b\" is not in the vocabulary");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[\"a a\"]}}",
	        "\"aa\" is not in the vocabulary");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[\"a a a\"]}}",
	        "entry 0: expected two tokens");
	refuses("{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[[\"a\"]]}}", "entry 0: expected two tokens");
	refuses("{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", "entry 0: expected [token, score]");
	refuses("{\"added_tokens\":[{}],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},\"merges\":[]}}", "added_tokens");
	refuses("{\"added_tokens\":[{\"content\":\"x\",\"lstrip\":1}],\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":1},"
	        "\"merges\":[]}}",
	        "lstrip");
	refuses("{\"model\":{\"type\":\"BPE\",\"dropout\":0.5,\"vocab\":{\"a\":1},\"merges\":[]}}", "dropout");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(merges_characters),   cmocka_unit_test(merges_bytes), cmocka_unit_test(unknown_characters),
		cmocka_unit_test(bytes_in_long_words), cmocka_unit_test(affixes),      cmocka_unit_test(whole_words),
		cmocka_unit_test(refuses_by_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
