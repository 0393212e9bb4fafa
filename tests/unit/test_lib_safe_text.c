/* safe_text.h: characters a terminal obeys, reorders or hides become visible. */
#include "error.h"
#include "safe_text.h"
#include "unit.h"
#include "utf8.h"

#include <utf8proc.h>

static void is_shown(const char *text, size_t len, const char *expected)
{
	struct buffer out = {0};
	char small[256];
	buffer_text(&out, "");
	safe_text_append(&out, (struct slice){text, len});
	assert_string_equal(out.data, expected);
	assert_int_equal(safe_text(small, sizeof small, (struct slice){text, len}), strlen(expected));
	assert_string_equal(small, expected);
	assert_int_equal(safe_text_is_safe((struct slice){text, len}), strcmp(text, expected) == 0);
	buffer_clear(&out); /* escaping twice changes nothing */
	safe_text_append(&out, slice_of(small));
	assert_string_equal(out.data, expected);
	buffer_release(&out);
}

#define SHOWN(text_, expected_) is_shown(text_, sizeof(text_) - 1, expected_)

static void test_escapes(void **state)
{
	(void)state;
	SHOWN("", "");
	SHOWN("Grüße, 東京 ❤️ \\x1b", "Grüße, 東京 ❤️ \\x1b");
	SHOWN("a\tb\nc\rd", "a\\tb\\nc\\rd");
	SHOWN("\x1b[31m\x07\x7f", "\\x1b[31m\\x07\\x7f");
	SHOWN("a\0b", "a\\x00b");
	SHOWN("\xc2\x9b"
	      "31m\xc2\x80",
	      "\\u009b31m\\u0080");
	SHOWN("\x9b"
	      "31m",
	      "\\x9b31m"); /* C1 as a raw byte */
	SHOWN("\u202eevil\u2066x\u200f\u061c", "\\u202eevil\\u2066x\\u200f\\u061c");
	SHOWN("a\u200b\u2028\u2029\ufeff", "a\\u200b\\u2028\\u2029\\ufeff");
	SHOWN("\U000e0041\U000e0100\U0010ffff", "\\U000e0041\\U000e0100\\U0010ffff");
	SHOWN("\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80", "\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");
	SHOWN("cut \xe2\x82", "cut \\xe2\\x82");
}

/* All characters of the categories the header promises, by another table. */
static void test_categories(void **state)
{
	(void)state;
	for (utf8proc_int32_t c = 1; c <= 0x10ffff; c++) {
		unsigned char bytes[4];
		if (c >= 0xd800 && c <= 0xdfff)
			continue;
		size_t len = (size_t)utf8proc_encode_char(c, bytes);
		bool safe = safe_text_is_safe((struct slice){(char *)bytes, len});
		switch (utf8proc_category(c)) {
		case UTF8PROC_CATEGORY_CC:
		case UTF8PROC_CATEGORY_CF:
		case UTF8PROC_CATEGORY_ZL:
		case UTF8PROC_CATEGORY_ZP:
			if (safe)
				fail_msg("U+%04X is not escaped", (unsigned)c);
			break;
		case UTF8PROC_CATEGORY_CN: /* not assigned, or a noncharacter */
			break;
		default:
			if (!safe && !utf8proc_get_property(c)->ignorable && c != 0xfffc)
				fail_msg("U+%04X is escaped", (unsigned)c);
		}
		if (utf8proc_get_property(c)->ignorable && c != 0xfe0e && c != 0xfe0f && safe)
			fail_msg("U+%04X is invisible", (unsigned)c);
	}
}

/* Any bytes, any room: valid UTF-8 without controls, whole characters and escapes, an ellipsis where it was cut. */
static void test_any_bytes(void **state)
{
	(void)state;
	uint64_t random = test_seed("safe_text");
	for (int i = 0; i < 20000; i++) {
		char text[40], cut[64];
		size_t len = test_random(&random) % sizeof text;
		for (size_t k = 0; k < len; k++)
			text[k] = (char)(test_random(&random) % 3 ? test_random(&random) : 0x80 | test_random(&random) % 0x70);
		struct buffer whole = {0};
		buffer_text(&whole, "");
		safe_text_append(&whole, (struct slice){text, len});
		assert_true(utf8_valid(whole.data, whole.len, NULL));
		assert_true(safe_text_is_safe(buffer_all(&whole)));
		size_t size = 4 + test_random(&random) % (sizeof cut - 4);
		size_t got = safe_text(cut, size, (struct slice){text, len});
		assert_int_equal(got, strlen(cut));
		assert_true(got < size);
		assert_true(utf8_valid(cut, got, NULL));
		if (whole.len < size) {
			assert_string_equal(cut, whole.data);
		} else {
			assert_true(got >= 3 && strcmp(cut + got - 3, "…") == 0);
			assert_memory_equal(cut, whole.data, got - 3);
		}
		buffer_release(&whole);
	}
}

static void test_write(void **state)
{
	(void)state;
	char *text = NULL;
	size_t len = 0;
	FILE *to = open_memstream(&text, &len);
	safe_text_write(to, slice_of("a\x1b[2J\u202e\xff z"));
	fprintf(to, " %s|%s|%s", shown("\n").text, shown(NULL).text, shown_slice((struct slice){"ab\x07", 3}).text);
	fclose(to);
	assert_string_equal(text, "a\\x1b[2J\\u202e\\xff z \\n||ab\\x07");
	free(text);
}

/* Messages are safe where they are set, whatever was put into them. */
static void test_errors(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	ipf_error_at(&err, IPF_INPUT, "dir/\x1b]0;title\x07.zst", 3, "got \"%s\"", "\u202e\xc2\x9b");
	assert_string_equal(err.file, "dir/\\x1b]0;title\\x07.zst");
	assert_string_equal(err.text, "got \"\\u202e\\u009b\"");
	ipf_error_clear(&err);
	char text[4000];
	for (size_t i = 0; i + 3 < sizeof text; i += 3)
		memcpy(text + i, "€", 4);
	for (size_t shift = 0; shift < 3; shift++) {
		ipf_error_set(&err, IPF_INPUT, "%s%s", &"abc"[shift], text);
		assert_true(utf8_valid(err.text, strlen(err.text), NULL));
		assert_string_equal(err.text + strlen(err.text) - 3, "…");
		ipf_error_clear(&err);
	}
	ipf_error_set(&err, IPF_INPUT, "here");
	ipf_error_place(&err, "\x1b", 7);
	assert_string_equal(err.file, "\\x1b");
	ipf_error_clear(&err);
	ipf_error_errno(&err, 2, "\x7f", "cannot open %s", "\r");
	assert_string_equal(err.file, "\\x7f");
	assert_string_equal(err.text, "cannot open \\r: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escapes), cmocka_unit_test(test_categories), cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_write),   cmocka_unit_test(test_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
