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

/* Cuts a text too long for the detail behind a whole clause, or in the first one behind a whole character. */
static void shorten(char *text)
{
	const size_t most = sizeof((struct verdict_check *)NULL)->detail - sizeof "; " MORE;
	if (strlen(text) <= most)
		return;
	size_t len = most;
	while (len > 0 && strncmp(text + len, "; ", 2) != 0)
		len--;
	if (len > 0) {
		memcpy(text + len, "; " MORE, sizeof "; " MORE);
		return;
	}
	for (len = most; (text[len] & 0xC0) == 0x80;)
		len--;
	memcpy(text + len, MORE, sizeof MORE);
}

/* Clauses that decide come first, those of the same status in the order in which they were added. */
void verdict_check_add(struct verdict_check *check, enum verdict_status status, const char *format, ...)
{
	char clause[sizeof check->detail], text[2 * sizeof check->detail + 8];
	const bool worse = verdict_worse(check->status, status) != check->status,
			   decides = worse || (status != VERDICT_OK && status == check->status);
	va_list args;
	va_start(args, format);
	if (vsnprintf(clause, sizeof clause, format, args) < 0)
		clause[0] = 0;
	va_end(args);
	check->status = verdict_worse(check->status, status);
	const size_t at = worse ? 0 : decides ? check->deciding : strlen(check->detail);
	if (at > 0 && is_full(check->detail, at))
		return;
	const char *rest = check->detail + at + (at > 0 && check->detail[at] ? 2 : 0);
	int len = snprintf(text, sizeof text, "%.*s%s%s", (int)at, check->detail, at > 0 ? "; " : "", clause);
	snprintf(text + len, sizeof text - (size_t)len, "%s%s", *rest ? "; " : "", rest);
	shorten(text);
	memcpy(check->detail, text, strlen(text) + 1);
	if (decides)
		check->deciding = (size_t)len < strlen(text) ? (size_t)len : strlen(text);
}

enum verdict_status verdict_worse(enum verdict_status a, enum verdict_status b)
{
	static const int rank[] = {[VERDICT_OK] = 0,
	                           [VERDICT_NOT_APPLICABLE] = 1,
	                           [VERDICT_UNKNOWN] = 2,
	                           [VERDICT_DOUBTFUL] = 3,
	                           [VERDICT_INVALID] = 4};
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
