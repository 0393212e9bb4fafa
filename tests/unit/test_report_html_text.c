/* Texts in a page: nothing of them is markup, an attribute's end, or a word of a shell. */
#include "unit.h"

#include "html/html_text.h"
#include "output/shell_word.h"

#include <stdlib.h>
#include <string.h>

#define ALL "</script>\"'`&amp;<!--\n\x1b\xe2\x80\xae\x9b"

static void is_text(struct buffer *out, const char *expected)
{
	assert_false(out->failed);
	assert_string_equal(out->data ? out->data : "", expected);
	buffer_release(out);
}

static void markup_is_text(void **state)
{
	(void)state;
	struct buffer out = {0};
	html_text(&out, ALL);
	is_text(&out, "&lt;/script&gt;&quot;&#39;&#96;&amp;amp;&lt;!--\\n\\x1b\\u202e\\x9b");
	html_text(&out, NULL);
	is_text(&out, "");
	html_lines(&out, slice_of("a<\n\n\tb\n"));
	is_text(&out, "a&lt;\n\n\\tb\n");
	html_prose(&out, "see `ipf-fire <x>` and `-t`, a < b");
	is_text(&out, "see <code>ipf-fire &lt;x&gt;</code> and <code>-t</code>, a &lt; b");
	html_id(&out, "a b\"<_9");
	is_text(&out, "a-b---9");
}

static void words_of_a_shell(void **state)
{
	(void)state;
	static const char *const words[][2] = {
		{"-t", "-t"},
		{"http://h:1/v1", "http://h:1/v1"},
		{"", "&#39;&#39;"},
		{"a b", "&#39;a b&#39;"},
		{"it's", "&#39;it&#39;\\&#39;&#39;s&#39;"},
		{"$(x)", "&#39;$(x)&#39;"},
		{"a\nb'\\", "$&#39;a\\x0ab\\&#39;\\\\&#39;"},
		{"\xc3\xa4", "&#39;\xc3\xa4&#39;"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct buffer out = {0}, word = {0};
		shell_word(&word, words[i][0]);
		html_slice(&out, buffer_all(&word));
		buffer_release(&word);
		is_text(&out, words[i][1]);
	}
}

/* Whatever the bytes, none of those that mean something in HTML is left. */
static void any_bytes(void **state)
{
	(void)state;
	uint64_t random = test_seed("any_bytes");
	for (int round = 0; round < 500; round++) {
		char text[64];
		struct buffer out = {0};
		size_t len = test_random(&random) % sizeof text;
		for (size_t i = 0; i < len; i++)
			text[i] = (char)(test_random(&random) % 3 ? ALL[test_random(&random) % (sizeof ALL - 1)]
			                                          : (char)test_random(&random));
		html_slice(&out, (struct slice){text, len});
		assert_false(out.failed);
		for (size_t i = 0; i < out.len; i++) {
			assert_true((unsigned char)out.data[i] >= ' ');
			assert_null(memchr("<>\"'`", out.data[i], 5));
		}
		buffer_release(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(markup_is_text),
		cmocka_unit_test(words_of_a_shell),
		cmocka_unit_test(any_bytes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
