#include "unit.h"

#include "clock.h"
#include "http/curl_clock.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <time.h>

/* How long, by libcurl's times, a refused connection attempt took, in us. */
static curl_off_t took(bool stopped)
{
	curl_off_t us = -1;
	CURL *easy = curl_easy_init();
	assert_non_null(easy);
	curl_easy_setopt(easy, CURLOPT_URL, "http://127.0.0.1:1/");
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	int64_t before = clock_now();
	if (stopped)
		curl_clock_stop();
	assert_int_equal(curl_easy_perform(easy), CURLE_COULDNT_CONNECT);
	assert_true(clock_now() > before); /* our clock runs */
	curl_easy_getinfo(easy, CURLINFO_TOTAL_TIME_T, &us);
	curl_clock_go();
	curl_easy_cleanup(easy);
	return us;
}

static void test_stops_only_for_libcurl(void **state)
{
	(void)state;
	curl_global_init(CURL_GLOBAL_DEFAULT);
	curl_clock_init();
	assert_true(took(false) > 0);
	assert_int_equal(took(true), 0);
	assert_true(took(false) > 0);
	curl_global_cleanup();
}

static void test_other_clocks_run(void **state)
{
	struct timespec a, b;
	(void)state;
	curl_clock_stop();
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &a), 0);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &b), 0);
	assert_true(b.tv_sec > a.tv_sec || b.tv_nsec > a.tv_nsec);
	assert_true(clock_wall() > 1600000000 * (int64_t)NS_PER_S);
	assert_int_equal(clock_gettime((clockid_t)99, &a), -1);
	curl_clock_go();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stops_only_for_libcurl),
		cmocka_unit_test(test_other_clocks_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
