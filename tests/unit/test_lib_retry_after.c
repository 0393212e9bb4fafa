/* How long a server asks its clients to wait, by its headers. */
#include "unit.h"

#include "absent.h"
#include "retry_after.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

static void note(struct retry_after *asked, const char *name, const char *value)
{
	retry_after_note(asked, slice_of(name), slice_of(value));
}

static int64_t asked_by(const char *name, const char *value)
{
	struct retry_after asked = {0};
	note(&asked, name, value);
	return retry_after_ns(&asked, 1700000000);
}

static void forms_are_read(void **state)
{
	static const struct {
		const char *name, *value;
		int64_t ns;
	} cases[] = {
		{"Retry-After", "0", 0},
		{"retry-after", "2", 2 * S},
		{"RETRY-AFTER", "1.25", 1250 * MS},
		{"Retry-After", "99999999999999999999999", RETRY_AFTER_MOST_NS},
		{"Retry-After", "Tue, 14 Nov 2023 22:13:25 GMT", 5 * S},
		{"Retry-After", "Tue, 14 Nov 2023 22:13:20 GMT", 0},
		{"Retry-After", "Tue, 14 Nov 2023 20:00:00 GMT", 0},
		{"Retry-After", "Tue, 14 Nov 2223 20:00:00 GMT", RETRY_AFTER_MOST_NS},
		{"Retry-After", "", IPF_ABSENT},
		{"Retry-After", "soon", IPF_ABSENT},
		{"Retry-After", "-1", IPF_ABSENT},
		{"Retry-After", "1s", IPF_ABSENT},
		{"Retry-After", "1 2", IPF_ABSENT},
		{"Retry-After", ".", IPF_ABSENT},
		{"retry-after-ms", "150", 150 * MS},
		{"retry-after-ms", "0.5", MS / 2},
		{"retry-after-ms", "Tue, 14 Nov 2023 22:13:25 GMT", IPF_ABSENT},
		{"x-ratelimit-reset-requests", "1m30s", 90 * S},
		{"x-ratelimit-reset-requests", "6m0s", 360 * S},
		{"x-ratelimit-reset-requests", "120ms", 120 * MS},
		{"x-ratelimit-reset-requests", "1h2m3.5s", 3723500 * MS},
		{"x-ratelimit-reset-requests", "8.64s", 8640 * MS},
		{"x-ratelimit-reset-requests", "17", 17 * S},
		{"x-ratelimit-reset-requests", "99999d99999d", RETRY_AFTER_MOST_NS},
		{"x-ratelimit-reset-requests", "1x", IPF_ABSENT},
		{"x-ratelimit-reset-requests", "s", IPF_ABSENT},
		{"x-ratelimit-reset-requests", "1m2", IPF_ABSENT},
		{"x-ratelimit-reset-tokens", "1s", IPF_ABSENT},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (asked_by(cases[i].name, cases[i].value) != cases[i].ns)
			fail_msg("%s: %s: got %lld", cases[i].name, cases[i].value,
			         (long long)asked_by(cases[i].name, cases[i].value));
}

static void the_finest_header_counts(void **state)
{
	struct retry_after asked = {0};
	(void)state;
	assert_int_equal(retry_after_ns(&asked, 0), IPF_ABSENT);
	note(&asked, "x-ratelimit-reset-requests", "9s");
	assert_int_equal(retry_after_ns(&asked, 0), 9 * S);
	note(&asked, "retry-after", "Thu, 01 Jan 1970 00:00:03 GMT");
	assert_int_equal(retry_after_ns(&asked, 1), 2 * S);
	note(&asked, "retry-after-ms", "nothing");
	assert_int_equal(retry_after_ns(&asked, 1), 2 * S);
	note(&asked, "retry-after-ms", "1700");
	note(&asked, "retry-after", "2");
	note(&asked, "retry-after-ms", "1");
	assert_int_equal(retry_after_ns(&asked, 0), 1700 * MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_are_read),
		cmocka_unit_test(the_finest_header_counts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
