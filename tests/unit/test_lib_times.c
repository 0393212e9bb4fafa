#include "cli/times.h"

#include "clock.h"
#include "unit.h"

#include <time.h>

static int64_t read_time(const char *text)
{
	struct ipf_error err = {0};
	int64_t ns = 0;
	if (time_parse(slice_of(text), &ns, &err) < 0)
		fail_msg("%s", err.text);
	return ns;
}

static void refused(const char *text)
{
	struct ipf_error err = {0};
	int64_t ns;
	assert_int_equal(time_parse(slice_of(text), &ns, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, text));
}

static void written_times(void **state)
{
	(void)state;
	assert_true(read_time("1970-01-01 00:00:00") == 0);
	assert_true(read_time("2023-11-16 18:15:46.6805900") == INT64_C(1700158546680590000));
	assert_true(read_time("2023-11-16 18:15:46.6805901") == INT64_C(1700158546680590100));
	assert_true(read_time("2024-05-10 00:00:00.009930+00:00") == INT64_C(1715299200009930000));
	assert_true(read_time("2024-05-10 00:00:01+00:00") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-05-10T02:00:01+02:00") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-05-09T16:30:01-0730") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-05-10 05:00:01+05") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-05-09 23:00:01-01") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-05-10 00:00:01 UTC") == INT64_C(1715299201000000000));
	assert_true(read_time("2024-02-29T00:00:00Z") == INT64_C(1709164800000000000));
	assert_true(read_time("1969-12-31 23:59:59.999999999") == -1);
}

static void wrong_times(void **state)
{
	(void)state;
	refused("XXX");
	refused("2023-11-16");
	refused("2023-11-16 18:15");
	refused("2023-11-16 18:15:46.");
	refused("2023-11-16 18:15:46.1234567890");
	refused("2023-02-29 18:15:46");
	refused("2023-13-01 18:15:46");
	refused("2023-11-16 24:15:46");
	refused("2023-11-16 18:15:46 ");
	refused("2023-11-16 18:15:46+1");
}

static void agrees_with_the_c_library(void **state)
{
	(void)state;
	uint64_t random = test_seed("agrees_with_the_c_library");
	for (int i = 0; i < 20000; i++) {
		int64_t s = (int64_t)(test_random(&random) % 12000000000) - 5000000000;
		time_t t = (time_t)s;
		struct tm tm;
		char text[64];
		assert_non_null(gmtime_r(&t, &tm));
		strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
		assert_true(read_time(text) == s * NS_PER_S);
	}
}

static void number_is(const char *text, int64_t unit_ns, int64_t expected)
{
	int64_t ns = 0;
	assert_int_equal(time_from_number(slice_of(text), unit_ns, &ns), 0);
	if (ns != expected)
		fail_msg("%s: %lld, not %lld", text, (long long)ns, (long long)expected);
}

static void numbers(void **state)
{
	(void)state;
	int64_t ns;
	number_is("27482", NS_PER_MS, INT64_C(27482000000));
	number_is("0.1", NS_PER_S, 100000000);
	number_is("1.000000001", NS_PER_S, 1000000001);
	number_is("1.9999999999999999999999999", NS_PER_S, 1999999999);
	number_is("1e-3", NS_PER_S, 1000000);
	number_is("1.5E+3", NS_PER_MS, INT64_C(1500000000));
	number_is("-2.5", NS_PER_S, INT64_C(-2500000000));
	number_is("19440110.0", NS_PER_S, INT64_C(19440110000000000));
	number_is("9223372036854775807", 1, INT64_MAX);
	number_is("0e9999", NS_PER_S, 0);
	number_is("1e-9999", NS_PER_S, 0);
	assert_int_equal(time_from_number(slice_of("9223372036854775808"), 1, &ns), -1);
	assert_int_equal(time_from_number(slice_of("1e9999"), 1, &ns), -1);
	assert_int_equal(time_from_number(slice_of("99999999999999999999999999999999999999999999999"), NS_PER_S, &ns), -1);
	assert_int_equal(time_from_number(slice_of("1x"), 1, &ns), -1);
	assert_int_equal(time_from_number(slice_of(""), 1, &ns), -1);
	assert_int_equal(time_from_number(slice_of("1e"), 1, &ns), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_times),
		cmocka_unit_test(wrong_times),
		cmocka_unit_test(agrees_with_the_c_library),
		cmocka_unit_test(numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
