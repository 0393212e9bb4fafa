#include "kinds/due_times.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DAY_S = 86400, DAYS_AHEAD = 366 * 8 + 2 }; /* a 29 February can be eight years away */

static bool parse_number(const char **at, int low, int high, int *number)
{
	int value = 0, digits = 0;
	for (; **at >= '0' && **at <= '9' && digits < 4; (*at)++, digits++)
		value = value * 10 + (**at - '0');
	*number = value;
	return digits > 0 && value >= low && value <= high;
}

/* One of the parts between commas: *, N, A-B, each with /STEP. */
static bool parse_part(const char **at, int low, int high, uint64_t *bits)
{
	int from = low, to = high, step = 1;
	bool all = **at == '*';

	if (all)
		(*at)++;
	else if (!parse_number(at, low, high, &from))
		return false;
	else if (**at != '-')
		to = **at == '/' ? high : from;
	else if ((*at)++, !parse_number(at, low, high, &to) || to < from)
		return false;
	if (**at == '/' && ((*at)++, !parse_number(at, 1, high, &step)))
		return false;
	for (int i = from; i <= to; i += step)
		*bits |= UINT64_C(1) << i;
	return true;
}

static bool parse_field(const char **at, int low, int high, uint64_t *bits)
{
	*bits = 0;
	*at += strspn(*at, " ");
	do {
		if (!parse_part(at, low, high, bits))
			return false;
	} while (**at == ',' && (*at)++);
	return **at == ' ' || **at == '\0';
}

int cron_parse(const char *text, struct cron *cron, struct ipf_error *err)
{
	const char *at = text;
	bool good = parse_field(&at, 0, 59, &cron->minutes) && parse_field(&at, 0, 23, &cron->hours);

	at += strspn(at, " ");
	cron->any_day = *at == '*';
	good = good && parse_field(&at, 1, 31, &cron->days) && parse_field(&at, 1, 12, &cron->months);
	at += strspn(at, " ");
	cron->any_weekday = *at == '*';
	good = good && parse_field(&at, 0, 7, &cron->weekdays);
	at += strspn(at, " ");
	if (!good || *at)
		return ipf_error_set(err, IPF_INPUT, "expected five fields as in \"30 3 * * 1-5\", got \"%s\"", text);
	if (cron->weekdays & (UINT64_C(1) << 7))
		cron->weekdays |= 1;
	return 0;
}

static bool has(uint64_t bits, int n)
{
	return bits >> n & 1;
}

static bool is_day(const struct cron *cron, const struct tm *tm)
{
	bool day = has(cron->days, tm->tm_mday), weekday = has(cron->weekdays, tm->tm_wday);
	if (!has(cron->months, tm->tm_mon + 1))
		return false;
	return cron->any_day || cron->any_weekday ? day && weekday : day || weekday;
}

int64_t cron_next(const struct cron *cron, int64_t after_s)
{
	int64_t at = (after_s / 60 + 1) * 60, day = at / DAY_S * DAY_S;

	for (int i = 0; i < DAYS_AHEAD; i++, day += DAY_S, at = day) {
		struct tm tm;
		time_t time = (time_t)day;
		if (!gmtime_r(&time, &tm) || !is_day(cron, &tm))
			continue;
		for (; at < day + DAY_S; at += 60)
			if (has(cron->hours, (int)(at % DAY_S / 3600)) && has(cron->minutes, (int)(at % 3600 / 60)))
				return at;
	}
	return -1;
}

int64_t interval_next(int64_t start_s, int64_t every_s, int64_t after_s)
{
	if (after_s < start_s)
		return start_s + every_s;
	return start_s + ((after_s - start_s) / every_s + 1) * every_s;
}
