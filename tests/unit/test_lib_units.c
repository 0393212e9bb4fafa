#include "cli/units.h"

#include "clock.h"
#include "stats/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct integer_case {
	const char *text;
	int64_t value; /* -1: refused */
};

static void check_integers(int (*parse)(const char *, int64_t *, struct ipf_error *), const struct integer_case *cases)
{
	for (; cases->text; cases++) {
		struct ipf_error err = {0};
		int64_t value = -77;
		int got = parse(cases->text, &value, &err);
		if (cases->value >= 0 && (got != 0 || value != cases->value || err.kind))
			fail_msg("\"%s\": expected %lld, got %lld %s", cases->text, (long long)cases->value, (long long)value,
			         err.text);
		if (cases->value < 0 && (got != -1 || value != -77 || err.kind != IPF_USAGE || !strstr(err.text, "got \"")))
			fail_msg("\"%s\": expected an error, got %lld \"%s\"", cases->text, (long long)value, err.text);
	}
}

struct double_case {
	const char *text;
	double value; /* below -1e300: refused */
};
#define REFUSED -1e308

static void check_doubles(int (*parse)(const char *, double *, struct ipf_error *), const struct double_case *cases)
{
	for (; cases->text; cases++) {
		struct ipf_error err = {0};
		double value = -77;
		int got = parse(cases->text, &value, &err);
		if (cases->value > -1e300 && (got != 0 || value < cases->value || value > cases->value || err.kind))
			fail_msg("\"%s\": expected %.17g, got %.17g %s", cases->text, cases->value, value, err.text);
		if (cases->value < -1e300 && (got != -1 || value > -77 || value < -77 || err.kind != IPF_USAGE))
			fail_msg("\"%s\": expected an error, got %.17g \"%s\"", cases->text, value, err.text);
	}
}

static const struct integer_case duration_cases[] = {
	{"0", 0},
	{"0s", 0},
	{"0ns", 0},
	{"1ns", 1},
	{"1us", 1000},
	{"250ms", 250 * NS_PER_MS},
	{"10s", 10 * NS_PER_S},
	{"2m", 120 * NS_PER_S},
	{"1.5h", 5400 * NS_PER_S},
	{"1m30s", 90 * NS_PER_S},
	{"1d", 86400 * NS_PER_S},
	{"1d2h3m4s5ms6us7ns", ((26 * 60 + 3) * 60 + 4) * NS_PER_S + 5006007},
	{"1m0.5s", 60 * NS_PER_S + NS_PER_S / 2},
	{"007s", 7 * NS_PER_S},
	{"0.25s", NS_PER_S / 4},
	{"0.1s", 100 * NS_PER_MS},
	{"90s", 90 * NS_PER_S},
	/* to the nearest nanosecond */
	{"1.0000000001s", NS_PER_S},
	{"1.0000000005s", NS_PER_S + 1},
	{"1.00000000049999999999999999s", NS_PER_S},
	{"0.4ns", 0},
	{"0.5ns", 1},
	{"0.999999999999999999999d", 86400 * NS_PER_S},
	/* the end of the range, and beyond */
	{"9223372036854775807ns", INT64_MAX},
	{"9223372036854775808ns", -1},
	{"106751d", INT64_C(106751) * 86400 * NS_PER_S},
	{"106752d", -1},
	{"9999999999d", -1},
	{"99999999999999999999999999ns", -1},
	{"106751d23h47m17s", -1},
	{"106751d23h47m16s854775807ns", INT64_MAX},
	{"106751d23h47m16s854775808ns", -1},
	{"9223372036854775807.5ns", -1},
	/* not durations */
	{"", -1},
	{"10", -1},
	{"1.5", -1},
	{"0.0", -1},
	{"00", -1},
	{"s", -1},
	{"1e9s", -1},
	{"0x10", -1},
	{"0x10s", -1},
	{" 5s", -1},
	{"5s ", -1},
	{"5 s", -1},
	{"-1s", -1},
	{"+1s", -1},
	{"1S", -1},
	{"1sec", -1},
	{"1min", -1},
	{"1,5s", -1},
	{".5s", -1},
	{"5.s", -1},
	{"1..5s", -1},
	{"1.5.5s", -1},
	{"inf", -1},
	{"nan", -1},
	{"infs", -1},
	{"1s1", -1},
	{"1s\n", -1},
	{"30s1m", -1},
	{"1m1m", -1},
	{"1.5m30s", -1},
	{"1s-1ms", -1},
	{"1m 30s", -1},
	{"5µs", -1},
	{"1w", -1},
	{"5/s", -1},
	{0},
};

static void durations(void **state)
{
	(void)state;
	check_integers(parse_duration, duration_cases);
}

static void counts(void **state)
{
	static const struct integer_case cases[] = {
		{"0", 0},
		{"1000", 1000},
		{"1k", 1000},
		{"1.5k", 1500},
		{"2M", 2000000},
		{"3G", INT64_C(3000000000)},
		{"0.001k", 1},
		{"1.5", -1},
		{"1.0", 1},
		{"1.0005k", -1},
		{"1.0000k", 1000},
		{"1.00000000000000000000000000001k", -1},
		{"9223372036854775807", INT64_MAX},
		{"9223372036854775808", -1},
		{"9223372036854775.807k", INT64_MAX},
		{"9223372036854775.808k", -1},
		{"9999999999999999999999", -1},
		{"10000000000G", -1},
		{"", -1},
		{"k", -1},
		{"1K", -1},
		{"1kk", -1},
		{"1e3", -1},
		{"0x10", -1},
		{" 5", -1},
		{"5 ", -1},
		{"-1", -1},
		{"+1", -1},
		{"1KiB", -1},
		{"1_000", -1},
		{"1,000", -1},
		{"5%", -1},
		{"5s", -1},
		{"nan", -1},
		{"１", -1},
		{0},
	};
	(void)state;
	check_integers(parse_count, cases);
}

static void sizes(void **state)
{
	static const struct integer_case cases[] = {
		{"0", 0},
		{"4096", 4096},
		{"64KiB", 65536},
		{"1.5MiB", 1572864},
		{"10MB", 10000000},
		{"1kB", 1000},
		{"2GB", INT64_C(2000000000)},
		{"1TB", INT64_C(1000000000000)},
		{"1GiB", INT64_C(1) << 30},
		{"1TiB", INT64_C(1) << 40},
		{"0.5KiB", 512},
		{"8388607TiB", INT64_C(8388607) << 40},
		{"8388608TiB", -1},
		{"0.1KiB", -1},
		{"1.5", -1},
		{"", -1},
		{"1K", -1},
		{"1k", -1},
		{"1KB", -1},
		{"1kiB", -1},
		{"1MIB", -1},
		{"1B", -1},
		{"1M", -1},
		{" 1", -1},
		{"1 KiB", -1},
		{"-1KiB", -1},
		{"KiB", -1},
		{0},
	};
	(void)state;
	check_integers(parse_size, cases);
}

static void rates(void **state)
{
	static const struct double_case cases[] = {
		{"0", 0},           {"5", 5},          {"5/s", 5},
		{"300/m", 5},       {"1.5k", 1500},    {"1.5k/s", 1500},
		{"3.6k/h", 1},      {"86400/d", 1},    {"1/ms", 1000},
		{"0.25", 0.25},     {"0.57k", 570},    {"1.1", 1.1},
		{"2M", 2e6},        {"1G", 1e9},       {"1.234567890123456789", 1.234567890123456789},
		{"", REFUSED},      {"/s", REFUSED},   {"5/", REFUSED},
		{"5/s/s", REFUSED}, {"5/x", REFUSED},  {"5s", REFUSED},
		{"5 /s", REFUSED},  {"-5", REFUSED},   {"+5", REFUSED},
		{"1e3", REFUSED},   {"0x10", REFUSED}, {"inf", REFUSED},
		{"nan", REFUSED},   {".5", REFUSED},   {"5.", REFUSED},
		{" 5", REFUSED},    {"5 ", REFUSED},   {"5%", REFUSED},
		{"5/s ", REFUSED},  {"1,5", REFUSED},  {0},
	};
	char digits[1001];

	(void)state;
	check_doubles(parse_rate, cases);
	memset(digits, '9', 1000);
	digits[1000] = '\0';
	check_doubles(parse_rate, (const struct double_case[]){{digits, REFUSED}, {0}});
}

static void shares(void **state)
{
	static const struct double_case cases[] = {
		{"0", 0},          {"1", 1},
		{"0.05", 0.05},    {"5%", 0.05},
		{"100%", 1},       {"0%", 0},
		{"99.9%", 0.999},  {"0.1%", 0.001},
		{"7%", 0.07},      {"1.01", REFUSED},
		{"101%", REFUSED}, {"100.0001%", REFUSED},
		{"5", REFUSED},    {"", REFUSED},
		{"%", REFUSED},    {"5 %", REFUSED},
		{"5%%", REFUSED},  {"-5%", REFUSED},
		{"5%x", REFUSED},  {"nan", REFUSED},
		{".05", REFUSED},  {0},
	};
	(void)state;
	check_doubles(parse_share, cases);
}

static void numbers(void **state)
{
	static const struct double_case cases[] = {
		{"0", 0},           {"2", 2},          {"-0.5", -0.5},   {"+3.25", 3.25},    {"1e3", 1000},
		{"1.5E-3", 0.0015}, {"1e+2", 100},     {"1e-999", 0},    {"", REFUSED},      {"-", REFUSED},
		{"--1", REFUSED},   {"1e", REFUSED},   {"1e+", REFUSED}, {"1e999", REFUSED}, {"0x10", REFUSED},
		{"inf", REFUSED},   {"-inf", REFUSED}, {"nan", REFUSED}, {" 1", REFUSED},    {"1 ", REFUSED},
		{"1.", REFUSED},    {".5", REFUSED},   {"1k", REFUSED},  {"1,5", REFUSED},   {0},
	};
	(void)state;
	check_doubles(parse_number, cases);
}

static void errors_carry_the_value(void **state)
{
	struct ipf_error err = {0};
	char longer[2001];
	int64_t value;

	(void)state;
	parse_duration("10", &value, &err);
	assert_string_equal(err.text, "expected a duration such as 250ms or 2m, got \"10\"");
	ipf_error_clear(&err);
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	parse_size(longer, &value, &err);
	assert_true(strlen(err.text) < 300);
}

/* A number written exactly is read exactly. */
static void durations_round_trip(void **state)
{
	uint64_t seed = 20261120;
	struct rng rng;

	(void)state;
	print_message("# durations_round_trip: seed %llu\n", (unsigned long long)seed);
	rng_init(&rng, seed, "durations", 0);
	for (int i = 0; i < 20000; i++) {
		int64_t ns = (int64_t)(rng_next(&rng) >> (1 + rng_below(&rng, 63))), got = -1;
		struct ipf_error err = {0};
		char text[80];
		switch (rng_below(&rng, 3)) {
		case 0:
			snprintf(text, sizeof text, "%lldns", (long long)ns);
			break;
		case 1:
			snprintf(text, sizeof text, "%lld.%09llds", (long long)(ns / NS_PER_S), (long long)(ns % NS_PER_S));
			break;
		default:
			snprintf(text, sizeof text, "%lldm%lld.%09llds", (long long)(ns / (60 * NS_PER_S)),
			         (long long)(ns / NS_PER_S % 60), (long long)(ns % NS_PER_S));
		}
		if (parse_duration(text, &got, &err) < 0 || got != ns)
			fail_msg("%s: got %lld %s", text, (long long)got, err.text);
	}
}

static void durations_for_people(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0 s"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1 us"},
		{1500, "1.5 us"},
		{1234567, "1.23 ms"},
		{1500000, "1.5 ms"},
		{99949999, "99.9 ms"},
		{99950000, "100 ms"},
		{999499999, "999 ms"},
		{999500000, "1 s"},
		{23400000000, "23.4 s"},
		{59949999999, "59.9 s"},
		{59950000000, "1 m 0 s"},
		{125 * NS_PER_S, "2 m 5 s"},
		{119999999999, "2 m 0 s"},
		{3599 * NS_PER_S, "59 m 59 s"},
		{3600 * NS_PER_S, "1 h 0 m"},
		{3599600 * NS_PER_MS, "1 h 0 m"},
		{7199 * NS_PER_S, "2 h 0 m"},
		{86399 * NS_PER_S, "1 d 0 h"},
		{90000 * NS_PER_S, "1 d 1 h"},
		{-1500000, "-1.5 ms"},
		{-125 * NS_PER_S, "-2 m 5 s"},
		{INT64_MAX, "106752 d 0 h"},
		{INT64_MIN, "-106752 d 0 h"},
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_duration(cases[i].ns, text), cases[i].text);
}

static void counts_for_people(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0"},          {999, "999"},       {1000, "1.00k"},
		{1500, "1.50k"},   {999.4, "999"},     {999.5, "1.00k"},
		{12.345, "12.3"},  {0.5, "0.5"},       {23400000, "23.4M"},
		{999499, "999k"},  {999500, "1.00M"},  {1e9, "1.00G"},
		{1e12, "1.00T"},   {1e15, "1.00P"},    {1e18, "1.00E"},
		{-1500, "-1.50k"}, {-0.001, "-0.001"}, {0.0000123, "1.23e-05"},
		{0.01, "0.01"},    {9.994, "9.99"},    {9.996, "10"},
		{9994, "9.99k"},   {9996, "10.0k"},    {99960, "100k"},
		{1e22, "1e+22"},
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(format_count(cases[i].value, text), cases[i].text);
}

/* Every duration has a text that fits, and neighbouring units meet without a gap (never "1000 ms" or "60 s"). */
static void thousands_are_separated(void **state)
{
	static const char *const cases[][2] = {
		{"0", "0"},
		{"999", "999"},
		{"1000", "1,000"},
		{"-1000", "-1,000"},
		{"-100", "-100"},
		{"1234567.25", "1,234,567.25"},
		{"-9223372036854775808", "-9,223,372,036,854,775,808"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char text[32];
		strcpy(text, cases[i][0]);
		assert_string_equal(separate_thousands(text), cases[i][1]);
		if (!strchr(cases[i][0], '.'))
			assert_string_equal(format_whole(strtoll(cases[i][0], NULL, 10), text), cases[i][1]);
	}
}

static void texts_for_people_stay_short(void **state)
{
	char text[32];

	(void)state;
	for (int64_t ns = 1; ns < INT64_MAX / 3; ns = ns + ns / 50 + 1) {
		format_duration(ns, text);
		assert_true(strlen(text) < 14);
		assert_null(strstr(text, "1000"));
		assert_null(strstr(text, "60 s"));
		assert_null(strstr(text, "h 60 m"));
		assert_null(strstr(text, "d 24 h"));
		assert_true(strlen(format_count((double)ns, text)) <= 5);
	}
}

static void wall_clock(void **state)
{
	char text[32];

	(void)state;
	clock_format(0, text);
	assert_string_equal(text, "1970-01-01T00:00:00.000Z");
	clock_format(INT64_C(1795156140123999999), text);
	assert_string_equal(text, "2026-11-20T06:29:00.123Z");
	clock_format(-1, text);
	assert_string_equal(text, "1969-12-31T23:59:59.999Z");
	clock_format(INT64_MAX, text);
	assert_string_equal(text, "2262-04-11T23:47:16.854Z");
	clock_format(INT64_MIN, text);
	assert_string_equal(text, "1677-09-21T00:12:43.145Z");
	assert_true(clock_now() <= clock_now());
	assert_true(clock_wall() > INT64_C(1700000000) * NS_PER_S);
	assert_true(clock_cpu_thread() > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations),
		cmocka_unit_test(counts),
		cmocka_unit_test(sizes),
		cmocka_unit_test(rates),
		cmocka_unit_test(shares),
		cmocka_unit_test(numbers),
		cmocka_unit_test(errors_carry_the_value),
		cmocka_unit_test(durations_round_trip),
		cmocka_unit_test(durations_for_people),
		cmocka_unit_test(counts_for_people),
		cmocka_unit_test(thousands_are_separated),
		cmocka_unit_test(texts_for_people_stay_short),
		cmocka_unit_test(wall_clock),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
