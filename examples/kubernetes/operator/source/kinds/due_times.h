/* When runs of a BenchmarkSchedule are due: by a cron expression in UTC, or at equal intervals.
 *
 *     struct cron cron;
 *     if (cron_parse("30 3 * * 1-5", &cron, &err) < 0) …
 *     int64_t next = cron_next(&cron, now_s);               // the first time after now_s; -1: never
 *     next = interval_next(created_s, 6 * 3600, now_s);
 *
 * Fields are minute, hour, day of the month, month and day of the week (0 or 7 is Sunday): numbers, *, A-B, lists with
 * commas, and steps such as *\/15 or 8-18/2. As in crontab(5), if both days are restricted, one of them suffices.
 */
#ifndef IPF_OPERATOR_DUE_TIMES_H
#define IPF_OPERATOR_DUE_TIMES_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct cron {
	uint64_t minutes, hours, days, months, weekdays; /* bit N: the field may be N */
	bool any_day, any_weekday;                       /* the field is * */
};

int cron_parse(const char *text, struct cron *cron, struct ipf_error *err);
int64_t cron_next(const struct cron *cron, int64_t after_s);
/* The first `start_s + n * every_s` with n > 0 after `after_s`. */
int64_t interval_next(int64_t start_s, int64_t every_s, int64_t after_s);

#endif
