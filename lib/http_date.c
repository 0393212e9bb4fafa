#include "http_date.h"

#include "absent.h"

#include <string.h>

/* The number of `digits` digits at text[at]; -1: others. */
static int number(const char *text, int digits)
{
	int value = 0;
	for (int i = 0; i < digits; i++) {
		if (text[i] < '0' || text[i] > '9')
			return -1;
		value = 10 * value + (text[i] - '0');
	}
	return value;
}

/* 1 to 12; 0: none of them. */
static int month_of(const char *text)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	for (int i = 0; i < 12; i++)
		if (memcmp(names + 3 * (size_t)i, text, 3) == 0)
			return i + 1;
	return 0;
}

/* Days since 1970 of a day of the Gregorian calendar: years begin in March, so a leap day is the last of one. */
static int64_t days_since_epoch(int year, int month, int day)
{
	int64_t y = month <= 2 ? year - 1 : year, m = (month + 9) % 12;
	return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

int64_t http_date_parse(struct slice text)
{
	static const char pattern[] = "***, ** *** **** **:**:** GMT";
	if (text.len != HTTP_DATE_LENGTH)
		return IPF_ABSENT;
	for (size_t i = 0; i < HTTP_DATE_LENGTH; i++)
		if (pattern[i] != '*' && text.data[i] != pattern[i])
			return IPF_ABSENT;
	int day = number(text.data + 5, 2), month = month_of(text.data + 8), year = number(text.data + 12, 4);
	int hour = number(text.data + 17, 2), minute = number(text.data + 20, 2), second = number(text.data + 23, 2);
	if (day < 1 || day > 31 || month == 0 || year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
	    second < 0 || second > 60)
		return IPF_ABSENT;
	return 86400 * days_since_epoch(year, month, day) + 3600 * hour + 60 * minute + second;
}
