#include "document/shown_numbers.h"

#include "absent.h"
#include "cli/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void join(char *text, size_t size, const char *before, const char *what, const char *after)
{
	size_t len = strlen(text);
	if (what)
		snprintf(text + len, size - len, "%s%s%s%s", len ? before : "", what, after[0] ? " " : "", after);
}

const char *plural(double n)
{
	return n == 1 ? "" : "s";
}

const char *show_number(double value, char text[40])
{
	if (isnan(value))
		return strcpy(text, "-");
	if (isinf(value))
		return strcpy(text, "inf");
	double size = fabs(value);
	int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3;
	if (size > 1e15)
		snprintf(text, 40, "%.3g", value);
	else
		snprintf(text, 40, "%.*f", size > 0 ? decimals : 0, value);
	separate_thousands(text);
	return text;
}

const char *show_count(int64_t value, char text[40])
{
	if (value == IPF_ABSENT)
		return strcpy(text, "-");
	return format_whole(value, text);
}

const char *show_whole(double value, char text[40])
{
	bool whole = fabs(value) < 1e15 && fabs(value - round(value)) < 1e-9;
	return whole ? show_count((int64_t)round(value), text) : show_number(value, text);
}

const char *show_narrow(double value, int width, char text[40])
{
	size_t len = 0;
	if ((int)strlen(text) <= width || isnan(value))
		return text;
	for (const char *at = text; *at; at++)
		if (*at != ',')
			text[len++] = *at;
	text[len] = 0;
	if ((int)len <= width)
		return text;
	char digits[40];
	snprintf(digits, sizeof digits, "%.2e", value);
	snprintf(text, 40, "%.*se%d", (int)strcspn(digits, "e"), digits, atoi(digits + strcspn(digits, "e") + 1));
	return text;
}

const char *show_narrow_number(double value, int width, char text[40])
{
	show_number(value, text);
	return show_narrow(value, width, text);
}

const char *show_percent(double share, char text[40])
{
	if (isnan(share))
		return strcpy(text, "-");
	double percent = 100 * share;
	snprintf(text, 40, "%.*f %%", fabs(percent) > 0 && fabs(percent) < 0.095 ? 3 : 1, percent);
	return text;
}

const char *show_small(double value, char text[40])
{
	if (isnan(value) || value >= 1 || value <= 0)
		return show_number(value, text);
	snprintf(text, 40, "%.*f", (int)(2 - floor(log10(value))), value);
	return text;
}
