#include "cli/times.h"

#include "clock.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Takes exactly `digits` digits from the front. */
static bool take_digits(struct slice *s, int digits, int64_t *value)
{
	if (s->len < (size_t)digits)
		return false;
	*value = 0;
	for (int i = 0; i < digits; i++) {
		if (s->data[i] < '0' || s->data[i] > '9')
			return false;
		*value = *value * 10 + (s->data[i] - '0');
	}
	s->data += digits;
	s->len -= (size_t)digits;
	return true;
}

static bool take_byte(struct slice *s, char c)
{
	if (s->len == 0 || *s->data != c)
		return false;
	s->data++;
	s->len--;
	return true;
}

/* Days from 1970-01-01 in the proleptic Gregorian calendar; years begin in March here, so leap days come last. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year, m = month <= 2 ? month + 9 : month - 3;
	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 153 + 2) / 5 + day - 1 - 719468;
}

static int64_t month_days(int64_t year, int64_t month)
{
	static const int64_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && leap);
}

static bool take_fraction(struct slice *s, int64_t *ns)
{
	*ns = 0;
	if (!take_byte(s, '.'))
		return true;
	int64_t unit = NS_PER_S, digit;
	int digits = 0;
	for (; s->len > 0 && *s->data >= '0' && *s->data <= '9'; digits++) {
		take_digits(s, 1, &digit);
		unit /= 10;
		*ns += digit * unit;
	}
	return digits >= 1 && digits <= 9;
}

static bool take_zone(struct slice *s, int64_t *offset_s)
{
	*offset_s = 0;
	if (slice_is(*s, " UTC"))
		s->len = 0;
	if (s->len == 0 || take_byte(s, 'Z'))
		return true;
	int64_t sign, hours, minutes;
	if (take_byte(s, '+'))
		sign = 1;
	else if (take_byte(s, '-'))
		sign = -1;
	else
		return false;
	if (!take_digits(s, 2, &hours))
		return false;
	minutes = 0; /* PostgreSQL leaves out minutes of 0 */
	if (s->len > 0 && (take_byte(s, ':'), !take_digits(s, 2, &minutes)))
		return false;
	if (hours > 23 || minutes > 59)
		return false;
	*offset_s = sign * (hours * 3600 + minutes * 60);
	return true;
}

int time_parse(struct slice text, int64_t *ns, struct ipf_error *err)
{
	struct slice s = text;
	int64_t year, month, day, hour, minute, second, fraction, zone;
	if (take_digits(&s, 4, &year) && take_byte(&s, '-') && take_digits(&s, 2, &month) && take_byte(&s, '-') &&
	    take_digits(&s, 2, &day) && (take_byte(&s, ' ') || take_byte(&s, 'T')) && take_digits(&s, 2, &hour) &&
	    take_byte(&s, ':') && take_digits(&s, 2, &minute) && take_byte(&s, ':') && take_digits(&s, 2, &second) &&
	    take_fraction(&s, &fraction) && take_zone(&s, &zone) && s.len == 0 && year >= 1700 && year <= 2200 &&
	    month >= 1 && month <= 12 && day >= 1 && day <= month_days(year, month) && hour <= 23 && minute <= 59 &&
	    second <= 60) {
		*ns = (days_of(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - zone) * NS_PER_S + fraction;
		return 0;
	}
	return ipf_error_set(err, IPF_INPUT, "expected a time such as 2023-11-16 18:15:46.6805900, got \"%.*s\"",
	                     (int)(text.len > 40 ? 40 : text.len), text.data ? text.data : "");
}

int time_from_number(struct slice number, int64_t unit_ns, int64_t *ns)
{
	struct slice s = number;
	bool negative = take_byte(&s, '-');
	__int128 value = 0; /* the number is value × 10^scale */
	int scale = 0;
	bool point = false, any = false;
	for (; s.len > 0; s.data++, s.len--) {
		if (*s.data == '.' && !point) {
			point = true;
			continue;
		}
		if (*s.data < '0' || *s.data > '9')
			break;
		any = true;
		if (value > (__int128)INT64_MAX * 1000000000) {
			/* further digits are below a nanosecond, or the number is too large anyway */
			scale += !point;
			continue;
		}
		value = value * 10 + (*s.data - '0');
		scale -= point;
	}
	if (!any)
		return -1;
	if (take_byte(&s, 'e') || take_byte(&s, 'E')) {
		bool down = take_byte(&s, '-');
		int64_t exponent = 0, digit;
		if (!down)
			take_byte(&s, '+');
		if (s.len == 0 || s.len > 4)
			return -1;
		while (take_digits(&s, 1, &digit))
			exponent = exponent * 10 + digit;
		scale += (int)(down ? -exponent : exponent);
	}
	if (s.len != 0)
		return -1;
	value *= unit_ns;
	for (; scale > 0 && value != 0 && value <= INT64_MAX; scale--)
		value *= 10;
	for (; scale < 0 && value != 0; scale++)
		value /= 10;
	if (value > INT64_MAX)
		return -1;
	*ns = negative ? -(int64_t)value : (int64_t)value;
	return 0;
}
