#include "text/synthetic_text.h"

#include "unit.h"
#include "text/word_lists.h"

#include <ctype.h>

#define BLOCK 2048

static void words_fit(void **state)
{
	(void)state;
	for (int c = 0; c < WORD_CLASSES; c++) {
		size_t words = 0;
		for (const char *at = word_lists[c]; *at; words++) {
			size_t len = strcspn(at, " ");
			assert_in_range(len, 1, WORD_MAX);
			for (size_t i = 0; i < len; i++)
				assert_true(isalpha((unsigned char)at[i]) || at[i] == '-');
			at += len + (at[len] == ' ');
		}
		assert_in_range(words, 10, 400);
	}
}

static void exactly_as_long(void **state)
{
	(void)state;
	struct buffer text = {0};
	for (size_t len = 1; len < 3000; len++) {
		struct rng rng;
		rng_init(&rng, 7, "test", len);
		buffer_clear(&text);
		synthetic_text_prose(&rng, len, &text);
		assert_int_equal(text.len, len);
		for (size_t i = 0; i < len; i++)
			if (!isalpha((unsigned char)text.data[i]) && !strchr(" ,.-", text.data[i]))
				fail_msg("byte 0x%02x in a text of %zu", (unsigned char)text.data[i], len);
		if (len > 1)
			assert_true(isupper((unsigned char)text.data[0]));
		assert_true(text.data[len - 1] == '.' || (text.data[len - 1] == ' ' && text.data[len - 2] == '.'));
		assert_null(strstr(text.data, "  "));
	}
	buffer_release(&text);
}

static void appends(void **state)
{
	(void)state;
	struct buffer text = {0};
	struct rng rng;
	rng_init(&rng, 1, "test", 0);
	buffer_text(&text, "before ");
	synthetic_text_prose(&rng, 100, &text);
	assert_int_equal(text.len, 107);
	assert_memory_equal(text.data, "before ", 7);
	buffer_release(&text);
}

/* A block with another length is a beginning of the same text; other ids and other salts give other texts. */
static void blocks(void **state)
{
	(void)state;
	struct buffer whole = {0}, part = {0}, other = {0};
	for (uint64_t id = 0; id < 200; id++) {
		uint64_t big = id * UINT64_C(0x100000001);
		buffer_clear(&whole);
		synthetic_text_block(big, BLOCK, NULL, BLOCK, &whole);
		assert_int_equal(whole.len, BLOCK);
		for (size_t len = 0; len <= BLOCK; len += 511) {
			buffer_clear(&part);
			synthetic_text_block(big, BLOCK, NULL, len, &part);
			assert_int_equal(part.len, len);
			assert_memory_equal(part.data, whole.data, len);
		}
		buffer_clear(&other);
		synthetic_text_block(big + 1, BLOCK, NULL, BLOCK, &other);
		assert_memory_not_equal(other.data, whole.data, 64);
		buffer_clear(&other);
		synthetic_text_block(big + (UINT64_C(1) << 32), BLOCK, NULL, BLOCK, &other);
		assert_memory_not_equal(other.data, whole.data, 64);
		buffer_clear(&other);
		synthetic_text_block(big, BLOCK, "salt", BLOCK, &other);
		assert_memory_not_equal(other.data, whole.data, 64);
	}
	buffer_release(&whole);
	buffer_release(&part);
	buffer_release(&other);
}

/* The text of a hash is part of the interface: traces made on other days and machines have to share it. */
static void stands_for_ever(void **state)
{
	(void)state;
	struct buffer text = {0};
	synthetic_text_block(0, BLOCK, NULL, 64, &text);
	assert_string_equal(text.data, "Steep, Sadly the slender shell recognised Rita within every cand");
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_fit), cmocka_unit_test(exactly_as_long), cmocka_unit_test(appends),
		cmocka_unit_test(blocks),    cmocka_unit_test(stands_for_ever),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
