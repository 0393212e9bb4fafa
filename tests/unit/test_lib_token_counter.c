#include "tokenizer/token_counter.h"

#include "utf8.h"
#include "stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct token_counter *approx(void)
{
	struct ipf_error err = {0};
	struct token_counter *t;

	assert_int_equal(token_counter_open(&t, NULL, &err), 0);
	return t;
}

static void opens_by_name(void **state)
{
	struct ipf_error err = {0};
	struct token_counter *t;
	json_t *about;
	char *text;

	(void)state;
	assert_int_equal(token_counter_open(&t, "approx", &err), 0);
	about = token_counter_describe(t);
	text = json_dumps(about, JSON_COMPACT);
	assert_string_equal(text, "{\"name\":\"approx\",\"rule\":\"bytes/4\",\"exact\":false}");
	free(text);
	json_decref(about);
	token_counter_close(t);
	assert_int_equal(token_counter_open(&t, "llama.json", &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	assert_non_null(strstr(err.text, "\"llama.json\""));
	token_counter_close(NULL);
}

static void counts_four_bytes_a_token(void **state)
{
	struct token_counter *t = approx();

	(void)state;
	assert_int_equal(token_counter_count(t, "", 0), 0);
	assert_int_equal(token_counter_count(t, "a", 1), 1);
	assert_int_equal(token_counter_count(t, "abcd", 4), 1);
	assert_int_equal(token_counter_count(t, "abcde", 5), 2);
	assert_true(token_counter_count(t, NULL, SIZE_MAX) == (int64_t)(SIZE_MAX / 4 + 1));
	token_counter_close(t);
}

static void cuts_between_characters(void **state)
{
	struct token_counter *t = approx();

	(void)state;
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, 1), 4);
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, 2), 8);
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, 3), 8);
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, INT64_MAX), 8);
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, 0), 0);
	assert_int_equal(token_counter_cut(t, "abcdefgh", 8, -1), 0);
	assert_int_equal(token_counter_cut(t, "", 0, 5), 0);
	assert_int_equal(token_counter_cut(t, "abcé!", 6, 1), 3);           /* é is bytes 3 and 4 */
	assert_int_equal(token_counter_cut(t, "ab\xe2\x82\xac!", 6, 1), 2); /* the euro sign, three bytes */
	assert_int_equal(token_counter_cut(t, "a\xf0\x9f\x98\x80!", 6, 1), 1);
	assert_int_equal(token_counter_cut(t, "\xf0\x9f\x98\x80!", 5, 1), 4);
	assert_int_equal(token_counter_cut(t, "\x80\x80\x80\x80\x80\x80", 6, 1), 4); /* no UTF-8 at all */
	token_counter_close(t);
}

/* A cut text is UTF-8, has at most the requested tokens, and is the longest such beginning. */
static void cut_properties(void **state)
{
	static const char *const alphabet[] = {"a", " ", "é", "€", "漢", "😀", "\n"};
	uint64_t seed = 7;
	struct token_counter *t = approx();
	struct rng rng;

	(void)state;
	print_message("# cut_properties: seed %llu\n", (unsigned long long)seed);
	rng_init(&rng, seed, "tokens", 0);
	for (int i = 0; i < 5000; i++) {
		char text[256] = "";
		size_t letters = rng_below(&rng, 60), len, cut, next;
		int64_t count = (int64_t)rng_below(&rng, 70);
		while (letters--)
			strcat(text, alphabet[rng_below(&rng, sizeof alphabet / sizeof *alphabet)]);
		len = strlen(text);
		cut = token_counter_cut(t, text, len, count);
		assert_true(cut <= len);
		assert_true(utf8_valid(text, cut, NULL));
		assert_true(token_counter_count(t, text, cut) <= count);
		if (cut < len) {
			for (next = cut + 1; next < len && ((unsigned char)text[next] & 0xc0) == 0x80; next++)
				;
			assert_true(token_counter_count(t, text, next) > count);
		}
	}
	token_counter_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opens_by_name),
		cmocka_unit_test(counts_four_bytes_a_token),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(cut_properties),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
