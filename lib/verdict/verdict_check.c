#include "verdict/verdict_check.h"

#include "cli/units.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Stands for the clauses that do not fit: none is shown in part, unless it is the first. */
#define MORE "…"

static bool is_full(const char *detail, size_t len)
{
	return len >= strlen(MORE) && strcmp(detail + len - strlen(MORE), MORE) == 0;
}

__attribute__((format(printf, 2, 0))) static void add_clause(struct verdict_check *check, const char *format,
                                                             va_list args)
{
	size_t begin = strlen(check->detail), most = sizeof check->detail - sizeof "; " MORE;
	size_t len = begin;
	if (is_full(check->detail, begin))
		return;
	if (begin > 0) {
		memcpy(check->detail + begin, "; ", 3);
		len += 2;
	}
	int more = vsnprintf(check->detail + len, sizeof check->detail - len, format, args);
	if (more >= 0 && len + (size_t)more <= most)
		return;
	if (!begin)
		for (len = most; (check->detail[len] & 0xC0) == 0x80;) /* not within a character */
			len--;
	memcpy(check->detail + len, MORE, sizeof MORE);
}

void verdict_check_add(struct verdict_check *check, enum verdict_status status, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_clause(check, format, args);
	va_end(args);
	check->status = verdict_worse(check->status, status);
}

enum verdict_status verdict_worse(enum verdict_status a, enum verdict_status b)
{
	static const int rank[] = {[VERDICT_OK] = 0, [VERDICT_UNKNOWN] = 1, [VERDICT_DOUBTFUL] = 2, [VERDICT_INVALID] = 3};
	return rank[b] > rank[a] ? b : a;
}

enum verdict_status verdict_above(double value, double doubtful, double invalid)
{
	return value > invalid ? VERDICT_INVALID : value > doubtful ? VERDICT_DOUBTFUL : VERDICT_OK;
}

bool verdict_figure(json_t *to, const char *name, double value)
{
	if (!isfinite(value))
		return true;
	return json_object_set_new(to, name, json_real(round(value * 1e6) / 1e6)) == 0;
}

bool verdict_count(json_t *to, const char *name, int64_t value)
{
	return json_object_set_new(to, name, json_integer(value)) == 0;
}

const char *verdict_duration(double ms, char text[32])
{
	return format_duration(llround(ms * 1e6), text);
}

const char *verdict_number(int64_t n, char text[32])
{
	return format_whole(n, text);
}

const char *verdict_plural(int64_t n)
{
	return n == 1 ? "" : "s";
}

const char *verdict_percent(double share, char text[32])
{
	snprintf(text, 32, "%.*f %%", share > 0 && share < 0.001 ? 3 : 1, 100 * share);
	return text;
}
