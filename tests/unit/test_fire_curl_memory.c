#include "unit.h"

#include "http/curl_memory.h"

#include <stdlib.h>
#include <string.h>

/* Allocates and frees with libcurl's functions, many times. */
static void test_blocks_are_zeroed_and_large_enough(void **state)
{
	(void)state;
	assert_int_equal(curl_memory_init(), CURLE_OK);
	char *blocks[100];
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < 100; i++) {
			size_t size = (i * 997 + (size_t)round * 131) % 70000 + 1;
			/* both write into their blocks, so that ASan reports one that is too small */
			blocks[i] = malloc(size);
			memset(blocks[i], 'x', size - 1);
			blocks[i][size - 1] = '\0';
			char *escaped = curl_easy_escape(NULL, blocks[i], (int)(size - 1));
			assert_non_null(escaped);
			assert_string_equal(escaped, blocks[i]);
			free(blocks[i]);
			blocks[i] = escaped;
		}
		for (size_t i = 0; i < 100; i++)
			curl_free(blocks[i]);
	}
	/* handles are zeroed blocks of several sizes */
	for (int i = 0; i < 100; i++) {
		CURL *easy = curl_easy_init();
		assert_non_null(easy);
		assert_int_equal(curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/"), CURLE_OK);
		assert_int_equal(curl_easy_perform(easy), CURLE_COULDNT_CONNECT);
		curl_easy_cleanup(easy);
	}
	curl_global_cleanup();
	curl_memory_drain();
	curl_memory_drain();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks_are_zeroed_and_large_enough),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
