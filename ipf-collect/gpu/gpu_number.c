#include "gpu/gpu_number.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slice gpu_trimmed(struct slice s)
{
	while (s.len && strchr(" \t\r", s.data[0]))
		s = (struct slice){s.data + 1, s.len - 1};
	while (s.len && strchr(" \t\r", s.data[s.len - 1]))
		s.len--;
	return s;
}

double gpu_number(struct slice text, const char *unit)
{
	char digits[64], *end = NULL;
	struct slice s = gpu_trimmed(text);
	size_t len = 0, unit_len = strlen(unit);
	while (len < s.len && len < sizeof digits - 1 && s.data[len] && strchr("0123456789.eE+-", s.data[len]))
		len++;
	if (len == 0)
		return NAN;
	memcpy(digits, s.data, len);
	digits[len] = '\0';
	double value = strtod(digits, &end);
	struct slice rest = gpu_trimmed((struct slice){s.data + len, s.len - len});
	bool unit_matches = rest.len == 0 || (rest.len == unit_len && memcmp(rest.data, unit, unit_len) == 0);
	return *end || !unit_matches || !isfinite(value) ? NAN : value;
}

int64_t gpu_integer(double value, double factor)
{
	double product = value * factor;
	return product >= 0 && product < 0x1p62 ? (int64_t)llround(product) : IPF_ABSENT;
}

double gpu_share(double percent)
{
	return percent >= 0 && percent <= 100 ? percent / 100 : NAN;
}
