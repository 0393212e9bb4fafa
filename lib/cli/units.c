#include "cli/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DIGITS 300 /* in a number that becomes a double */

struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit durations[] = {
	{"ns", 1},          {"us", 1000},         {"ms", 1000000},       {"s", 1000000000},
	{"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}, {0},
};
static const struct unit counts[] = {{"", 1}, {"k", 1000}, {"M", 1000000}, {"G", 1000000000}, {0}};
static const struct unit sizes[] = {
	{"", 1},
	{"KiB", INT64_C(1) << 10},
	{"MiB", INT64_C(1) << 20},
	{"GiB", INT64_C(1) << 30},
	{"TiB", INT64_C(1) << 40},
	{"kB", 1000},
	{"MB", 1000000},
	{"GB", 1000000000},
	{"TB", 1000000000000},
	{0},
};

static int refuse(const char *wanted, const char *text, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "expected %s, got \"%.200s%s\"", wanted, text, strlen(text) > 200 ? "…" : "");
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* A number in a text: digits, or digits with a decimal point between them. */
struct decimal {
	const char *whole, *fraction;
	size_t whole_len, fraction_len;
};

/* Advances *at past the number; false: there is none. */
static bool read_decimal(const char **at, struct decimal *d)
{
	const char *p = *at;

	d->whole = p;
	while (is_digit(*p))
		p++;
	d->whole_len = (size_t)(p - d->whole);
	d->fraction = p;
	d->fraction_len = 0;
	if (d->whole_len == 0)
		return false;
	if (*p == '.') {
		d->fraction = ++p;
		while (is_digit(*p))
			p++;
		d->fraction_len = (size_t)(p - d->fraction);
		if (d->fraction_len == 0)
			return false;
	}
	*at = p;
	return true;
}

/* Looks up the letters at *at and advances *at past them; NULL: unknown unit. */
static const struct unit *read_unit(const char **at, const struct unit *units)
{
	size_t len = 0;

	while (is_letter((*at)[len]))
		len++;
	for (; units->name; units++)
		if (strlen(units->name) == len && strncmp(*at, units->name, len) == 0) {
			*at += len;
			return units;
		}
	return NULL;
}

/* number × factor in integer arithmetic, rounded half up. *whole: nothing was rounded. False: above INT64_MAX. */
static bool scale(const struct decimal *d, int64_t factor, int64_t *result, bool *whole)
{
	int64_t value = 0, part;
	unsigned __int128 fraction = 0, power = 1;
	bool tail = false;

	for (size_t i = 0; i < d->whole_len; i++)
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, d->whole[i] - '0', &value))
			return false;
	if (__builtin_mul_overflow(value, factor, &value))
		return false;
	/* 18 digits are enough: factors are below 2^47, so later digits change the result by less than 0.0002 */
	for (size_t i = 0; i < d->fraction_len; i++) {
		unsigned digit = (unsigned)(d->fraction[i] - '0');
		if (i < 18) {
			fraction = fraction * 10 + digit;
			power *= 10;
		} else if (digit) {
			tail = true;
		}
	}
	fraction *= (unsigned __int128)factor;
	part = (int64_t)((fraction + power / 2) / power);
	*whole = fraction % power == 0 && !tail;
	return !__builtin_add_overflow(value, part, result);
}

int parse_duration(const char *text, int64_t *ns, struct ipf_error *err)
{
	static const char wanted[] = "a duration such as 250ms or 2m";
	const struct unit *last = NULL, *unit;
	const char *at = text;
	int64_t total = 0, part;
	struct decimal d;
	bool whole, fraction = false;

	if (strcmp(text, "0") == 0) {
		*ns = 0;
		return 0;
	}
	do {
		/* 1m30s, but neither 30s1m nor 1.5m30s */
		if (fraction || !read_decimal(&at, &d) || !(unit = read_unit(&at, durations)) || (last && unit >= last))
			return refuse(wanted, text, err);
		if (!scale(&d, unit->factor, &part, &whole) || __builtin_add_overflow(total, part, &total))
			return refuse("a duration of less than 292 years", text, err);
		fraction = d.fraction_len > 0;
		last = unit;
	} while (*at);
	*ns = total;
	return 0;
}

static int parse_whole(const char *text, const struct unit *units, const char *wanted, const char *most, int64_t *value,
                       struct ipf_error *err)
{
	const struct unit *unit;
	const char *at = text;
	struct decimal d;
	int64_t result;
	bool whole;

	if (!read_decimal(&at, &d) || !(unit = read_unit(&at, units)) || *at)
		return refuse(wanted, text, err);
	if (!scale(&d, unit->factor, &result, &whole))
		return refuse(most, text, err);
	if (!whole)
		return refuse(wanted, text, err);
	*value = result;
	return 0;
}

int parse_count(const char *text, int64_t *count, struct ipf_error *err)
{
	return parse_whole(text, counts, "a whole number such as 1000 or 1.5k", "a number below 9.2e18", count, err);
}

int parse_size(const char *text, int64_t *bytes, struct ipf_error *err)
{
	return parse_whole(text, sizes, "a size such as 4096, 64KiB or 10MB", "a size below 8 million TiB", bytes, err);
}

/* The double nearest to number × 10^exponent. The exponent goes into the text, so 0.57k is 570, not 569.99…. */
static bool to_double(const struct decimal *d, int exponent, double *value)
{
	char text[MAX_DIGITS + 16];

	if (d->whole_len + d->fraction_len > MAX_DIGITS)
		return false;
	snprintf(text, sizeof text, "%.*s.%.*se%d", (int)d->whole_len, d->whole, (int)d->fraction_len, d->fraction,
	         exponent);
	*value = strtod(text, NULL);
	return isfinite(*value);
}

int parse_rate(const char *text, double *per_second, struct ipf_error *err)
{
	static const char wanted[] = "a rate such as 5, 1.5k or 300/m";
	const struct unit *multiple, *per;
	const char *at = text;
	struct decimal d;
	double value, seconds = 1;
	int exponent = 0;

	if (!read_decimal(&at, &d) || !(multiple = read_unit(&at, counts)))
		return refuse(wanted, text, err);
	for (int64_t f = multiple->factor; f > 1; f /= 10)
		exponent++;
	if (*at == '/') {
		at++;
		per = read_unit(&at, durations);
		if (!per)
			return refuse(wanted, text, err);
		seconds = (double)per->factor / 1e9;
	}
	if (*at || !to_double(&d, exponent, &value) || !isfinite(value / seconds))
		return refuse(wanted, text, err);
	*per_second = value / seconds;
	return 0;
}

int parse_share(const char *text, double *share, struct ipf_error *err)
{
	static const char wanted[] = "a share such as 5% or 0.05, at most 100%";
	const char *at = text;
	struct decimal d;
	double value;
	bool percent;

	if (!read_decimal(&at, &d))
		return refuse(wanted, text, err);
	percent = *at == '%';
	if (at[percent ? 1 : 0] || !to_double(&d, percent ? -2 : 0, &value) || value > 1)
		return refuse(wanted, text, err);
	*share = value;
	return 0;
}

int parse_number(const char *text, double *number, struct ipf_error *err)
{
	static const char wanted[] = "a number such as 2 or -0.5";
	const char *at = text, *exponent;
	struct decimal d;
	double value;

	if (*at == '-' || *at == '+')
		at++;
	if (!read_decimal(&at, &d) || d.whole_len + d.fraction_len > MAX_DIGITS)
		return refuse(wanted, text, err);
	if (*at == 'e' || *at == 'E') {
		at++;
		if (*at == '-' || *at == '+')
			at++;
		for (exponent = at; is_digit(*at); at++)
			;
		if (at == exponent)
			return refuse(wanted, text, err);
	}
	if (*at)
		return refuse(wanted, text, err);
	value = strtod(text, NULL);
	if (!isfinite(value))
		return refuse(wanted, text, err);
	*number = value;
	return 0;
}

/* Three significant digits; with `trim`, without trailing zeros. */
static void three_digits(double value, bool trim, char *text, size_t size)
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	size_t len;

	snprintf(text, size, "%.*f", decimals, value);
	if (trim && strchr(text, '.')) {
		for (len = strlen(text); text[len - 1] == '0'; len--)
			;
		text[text[len - 1] == '.' ? len - 1 : len] = '\0';
	}
}

char *format_duration(int64_t ns, char text[32])
{
	static const struct unit small[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
	static const struct unit large[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
	const char *sign = ns < 0 ? "-" : "";
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	char number[24];
	int64_t rest;
	size_t i;

	if (size < UINT64_C(59950000000)) { /* a value that rounds to 60.0 s is shown as a minute */
		for (i = 0; i < 3 && (double)size / (double)small[i].factor >= 999.5; i++)
			;
		three_digits((double)size / (double)small[i].factor, true, number, sizeof number);
		snprintf(text, 32, "%s%s %s", size ? sign : "", number, size ? small[i].name : "s");
		return text;
	}
	/* round to the smaller of the two units before splitting, so it is never shown as 60 */
	rest = (int64_t)((size + 500000000) / 1000000000);
	for (i = 1; i < 3 && rest >= large[i + 1].factor; i++)
		rest = (rest + large[i].factor / 2) / large[i].factor * large[i].factor;
	snprintf(text, 32, "%s%lld %s %lld %s", sign, (long long)(rest / large[i].factor), large[i].name,
	         (long long)(rest % large[i].factor / large[i - 1].factor), large[i - 1].name);
	return text;
}

char *format_size(int64_t bytes, char text[32])
{
	static const char prefixes[] = "kMGTPE";
	char number[24];
	double size = (double)bytes / 1000;
	size_t i = 0;
	if (bytes < 10000) {
		snprintf(text, 32, "%lld byte%s", (long long)bytes, bytes == 1 ? "" : "s");
		return text;
	}
	for (; size >= 999.5; size /= 1000)
		i++;
	three_digits(size, true, number, sizeof number);
	snprintf(text, 32, "%s %cB", number, prefixes[i]);
	return text;
}

char *format_count(double value, char text[32])
{
	static const char suffixes[] = "kMGTPE";
	const char *sign = value < 0 ? "-" : "";
	double size = fabs(value);
	char number[24];
	size_t i = 0;

	if (!isfinite(value) || size >= 999.5e18 || (size > 0 && size < 0.00995)) {
		snprintf(text, 32, "%.3g", value);
	} else if (size < 999.5) {
		three_digits(size, true, number, sizeof number);
		snprintf(text, 32, "%s%s", strcmp(number, "0") != 0 ? sign : "", number);
	} else {
		for (size /= 1000; size >= 999.5; size /= 1000)
			i++;
		three_digits(size, false, number, sizeof number);
		snprintf(text, 32, "%s%s%c", sign, number, suffixes[i]);
	}
	return text;
}

char *separate_thousands(char *text)
{
	char *digits = text + (*text == '-');
	size_t whole = strspn(digits, "0123456789");
	for (size_t at = whole; at > 3;) {
		at -= 3;
		memmove(digits + at + 1, digits + at, strlen(digits + at) + 1);
		digits[at] = ',';
	}
	return text;
}

char *format_whole(int64_t value, char text[32])
{
	snprintf(text, 32, "%lld", (long long)value);
	return separate_thousands(text);
}
