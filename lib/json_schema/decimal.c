#include "json_schema/decimal.h"

/* Exponents beyond are alike: no literal has as many digits. */
#define EXPONENT_MAX INT64_C(1000000000000000)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int64_t exponent_of(const char *at, const char *end)
{
	int64_t value = 0;
	bool negative = false;
	for (; at < end; at++) {
		negative |= *at == '-';
		if (is_digit(*at) && value < EXPONENT_MAX)
			value = value * 10 + (*at - '0');
	}
	return negative ? -value : value;
}

struct decimal decimal_of(struct slice literal)
{
	struct decimal d = {0};
	const char *at = literal.data, *end = at + literal.len, *whole_end, *digits_end, *last;
	d.negative = at < end && *at == '-';
	at += d.negative;
	for (whole_end = at; whole_end < end && is_digit(*whole_end);)
		whole_end++;
	for (digits_end = whole_end; digits_end < end && (is_digit(*digits_end) || *digits_end == '.');)
		digits_end++;
	while (at < digits_end && !(*at >= '1' && *at <= '9'))
		at++;
	if (at == digits_end)
		return (struct decimal){0};
	for (last = digits_end - 1; *last == '0' || *last == '.';)
		last--;
	d.first = at;
	d.point = at < whole_end && last >= whole_end ? whole_end : NULL;
	d.count = (size_t)(last - at) + (d.point ? 0 : 1);
	d.magnitude = (at < whole_end ? whole_end - at : whole_end + 1 - at) + exponent_of(digits_end, end);
	return d;
}

static int digit(const struct decimal *d, size_t i)
{
	const char *at = d->first + i;
	return (d->point && at >= d->point ? at[1] : *at) - '0';
}

/* Compares numbers that are not 0, without their signs. */
static int compare_sizes(const struct decimal *a, const struct decimal *b)
{
	if (a->magnitude != b->magnitude)
		return a->magnitude < b->magnitude ? -1 : 1;
	for (size_t i = 0; i < a->count && i < b->count; i++)
		if (digit(a, i) != digit(b, i))
			return digit(a, i) < digit(b, i) ? -1 : 1;
	return a->count == b->count ? 0 : a->count < b->count ? -1 : 1;
}

int decimal_compare(const struct decimal *a, const struct decimal *b)
{
	int sign_a = a->count ? (a->negative ? -1 : 1) : 0, sign_b = b->count ? (b->negative ? -1 : 1) : 0;
	if (sign_a != sign_b || !sign_a)
		return sign_a - sign_b;
	return sign_a * compare_sizes(a, b);
}

bool decimal_is_integer(const struct decimal *d)
{
	return !d->count || (d->magnitude > 0 && (uint64_t)d->magnitude >= d->count);
}

uint64_t decimal_count(const struct decimal *d)
{
	uint64_t value = 0;
	if (d->count && d->magnitude > 19)
		return UINT64_MAX;
	for (size_t i = 0; d->count && i < (size_t)d->magnitude; i++)
		value = value * 10 + (uint64_t)(i < d->count ? digit(d, i) : 0);
	return value;
}

bool decimal_is_multiple(const struct decimal *a, const struct decimal *b)
{
	uint64_t divisor = 0, rest = 0;
	int64_t shift = a->magnitude - (int64_t)a->count - (b->magnitude - (int64_t)b->count);
	if (!a->count)
		return true;
	/* the digits of `a` end in none that is 0 */
	if (shift < 0)
		return false;
	for (size_t i = 0; i < b->count; i++)
		divisor = divisor * 10 + (uint64_t)digit(b, i);
	for (size_t i = 0; i < a->count; i++)
		rest = (rest * 10 + (uint64_t)digit(a, i)) % divisor;
	/* a divisor below 2^64 has no factor that 64 tens lack and more of them have */
	for (int64_t i = 0; i < shift && i < 64; i++)
		rest = rest * 10 % divisor;
	return rest == 0;
}

uint64_t decimal_hash(const struct decimal *d, uint64_t seed)
{
	uint64_t hash = seed ^ (uint64_t)d->magnitude ^ (uint64_t)d->negative << 63;
	for (size_t i = 0; i < d->count; i++)
		hash = (hash ^ (uint64_t)digit(d, i)) * UINT64_C(0x100000001b3);
	return hash;
}
