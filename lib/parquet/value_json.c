#include "parquet/value_json.h"

#include "json/jdoc.h"
#include "json/jout.h"
#include "utf8.h"

#include <endian.h>
#include <math.h>

#define SECONDS_A_DAY INT64_C(86400)
#define UNIX_JULIAN   INT64_C(2440588) /* the Julian day of 1970-01-01 */

struct value_type value_type_of(const struct schema_element *e)
{
	static const enum value_kind plain[] = {
		[TYPE_BOOLEAN] = VALUE_BOOL,     [TYPE_INT32] = VALUE_INTEGER, [TYPE_INT64] = VALUE_INTEGER,
		[TYPE_INT96] = VALUE_INT96,      [TYPE_FLOAT] = VALUE_REAL,    [TYPE_DOUBLE] = VALUE_REAL,
		[TYPE_BYTE_ARRAY] = VALUE_BYTES, [TYPE_FIXED] = VALUE_BYTES};
	bool whole = e->type == TYPE_INT32 || e->type == TYPE_INT64;
	bool bytes = e->type == TYPE_BYTE_ARRAY || e->type == TYPE_FIXED;
	struct value_type type = {.kind = plain[e->type], .digits = (unsigned)e->digits, .utc = e->utc};
	bool unit = e->digits == 3 || e->digits == 6 || e->digits == 9;
	if (e->note == NOTE_STRING && e->type == TYPE_BYTE_ARRAY)
		type.kind = VALUE_TEXT;
	else if (e->note == NOTE_JSON && e->type == TYPE_BYTE_ARRAY)
		type.kind = VALUE_JSON;
	else if (e->note == NOTE_UNSIGNED && whole)
		type.kind = e->type == TYPE_INT32 ? VALUE_UNSIGNED_32 : VALUE_UNSIGNED_64;
	else if (e->note == NOTE_DATE && e->type == TYPE_INT32)
		type.kind = VALUE_DATE;
	else if (e->note == NOTE_TIME && whole && unit)
		type.kind = VALUE_TIME;
	else if (e->note == NOTE_TIMESTAMP && e->type == TYPE_INT64 && unit)
		type.kind = VALUE_TIMESTAMP;
	else if (e->note == NOTE_UUID && e->type == TYPE_FIXED && e->type_length == 16)
		type.kind = VALUE_UUID;
	else if (e->note == NOTE_FLOAT16 && e->type == TYPE_FIXED && e->type_length == 2)
		type.kind = VALUE_HALF;
	else if (e->note == NOTE_DECIMAL && (whole || bytes) && e->scale >= 0 && e->scale <= DECIMAL_DIGITS_MAX) {
		type.kind = bytes ? VALUE_WIDE_DECIMAL : VALUE_DECIMAL;
		type.digits = (unsigned)e->scale;
	}
	return type;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

static void put_double(double value, struct buffer *out)
{
	jout_double(&(struct jout){.out = out}, value);
}

static void put_half(const unsigned char *bytes, struct buffer *out)
{
	unsigned bits = bytes[0] | (unsigned)bytes[1] << 8, exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent == 31 ? (fraction ? NAN : INFINITY)
	               : exponent     ? ldexp(1024 + fraction, (int)exponent - 25)
	                              : ldexp(fraction, -24);
	put_double(bits >> 15 ? -value : value, out);
}

/* A number whose last digits are behind a point. */
static void put_decimal(bool negative, unsigned __int128 value, unsigned digits, struct buffer *out)
{
	char text[DECIMAL_DIGITS_MAX + 44], *at = text + sizeof text;
	for (unsigned i = 0; value || i <= digits; i++) {
		if (i == digits && digits)
			*--at = '.';
		*--at = (char)('0' + (int)(value % 10));
		value /= 10;
	}
	if (negative)
		*--at = '-';
	buffer_append(out, at, (size_t)(text + sizeof text - at));
}

/* The number is in two's complement, big endian. One of more than 128 bits is null. */
static void put_wide_decimal(struct slice bytes, unsigned digits, struct buffer *out)
{
	const unsigned char *at = (const unsigned char *)bytes.data;
	size_t len = bytes.len;
	bool negative = len && at[0] & 0x80;
	unsigned char sign = negative ? 0xff : 0;
	unsigned __int128 value = negative ? ~(unsigned __int128)0 : 0;
	for (; len > 16 && at[0] == sign && (at[1] & 0x80) == (sign & 0x80); len--)
		at++;
	if (len > 16) {
		buffer_text(out, "null");
		return;
	}
	for (size_t i = 0; i < len; i++)
		value = value << 8 | at[i];
	put_decimal(negative, negative ? -value : value, digits, out);
}

/* ---- time -------------------------------------------------------------------------------------------------------- */

static char *put_two(char *to, int64_t value)
{
	to[0] = (char)('0' + value / 10);
	to[1] = (char)('0' + value % 10);
	return to + 2;
}

static char *put_digits(char *to, int64_t value)
{
	char *end = to;
	for (int64_t left = value; left; left /= 10)
		end++;
	for (char *at = end; at > to; value /= 10)
		*--at = (char)('0' + value % 10);
	return end;
}

/* The day, counted from 1970-01-01, in the Gregorian calendar. A year begins in March here, so the leap day is its
 * last. */
static char *put_date(char *to, int64_t day)
{
	int64_t since = day + 719468; /* 0000-03-01 */
	int64_t era = (since >= 0 ? since : since - 146096) / 146097, of_era = since - era * 146097;
	int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
	int64_t of_year = of_era - (365 * year + year / 4 - year / 100), month = (5 * of_year + 2) / 153;
	int64_t of_month = of_year - (153 * month + 2) / 5 + 1;
	month += month < 10 ? 3 : -9;
	year += era * 400 + (month <= 2);
	bool before_christ = year <= 0;
	year = before_christ ? 1 - year : year;
	if (year >= 10000)
		to = put_digits(to, year / 10000);
	to = put_two(put_two(to, year / 100 % 100), year % 100);
	*to++ = '-';
	to = put_two(to, month);
	*to++ = '-';
	to = put_two(to, of_month);
	if (!before_christ)
		return to;
	memcpy(to, " (BC)", 5);
	return to + 5;
}

static char *put_fraction(char *to, int64_t fraction, unsigned digits)
{
	if (fraction == 0)
		return to;
	*to++ = '.';
	for (unsigned i = digits; i-- > 0; fraction /= 10)
		to[i] = (char)('0' + fraction % 10);
	to += digits;
	while (to[-1] == '0')
		to--;
	return to;
}

static char *put_clock(char *to, int64_t seconds)
{
	to = put_two(to, seconds / 3600);
	*to++ = ':';
	to = put_two(to, seconds / 60 % 60);
	*to++ = ':';
	return put_two(to, seconds % 60);
}

/* A time of a day, with the day or without it. */
struct moment {
	bool dated;
	int64_t day, seconds, fraction;
};

static void put_moment(const struct moment *m, const struct value_type *type, struct buffer *out)
{
	char text[80], *to = text;
	*to++ = '"';
	if (m->dated) {
		to = put_date(to, m->day);
		*to++ = ' ';
	}
	to = put_fraction(put_clock(to, m->seconds), m->fraction, type->digits);
	if (type->utc) {
		memcpy(to, "+00", 3);
		to += 3;
	}
	*to++ = '"';
	buffer_append(out, text, (size_t)(to - text));
}

/* Division that rounds down. */
static int64_t floor_divide(int64_t value, int64_t by, int64_t *rest)
{
	int64_t whole = value / by;
	*rest = value % by;
	if (*rest >= 0)
		return whole;
	*rest += by;
	return whole - 1;
}

static void put_time(const struct value_type *type, int64_t value, struct buffer *out)
{
	int64_t unit = type->digits == 3 ? 1000 : type->digits == 6 ? 1000000 : 1000000000;
	struct moment m = {.dated = type->kind == VALUE_TIMESTAMP};
	int64_t seconds = floor_divide(value, unit, &m.fraction);
	m.day = floor_divide(seconds, SECONDS_A_DAY, &m.seconds);
	if (!m.dated && seconds == SECONDS_A_DAY) /* the end of a day is a time of it */
		m.seconds = seconds;
	put_moment(&m, type, out);
}

static void put_int96(const struct value_type *type, const unsigned char *bytes, struct buffer *out)
{
	uint64_t nanoseconds;
	uint32_t julian;
	struct moment m = {.dated = true};
	memcpy(&nanoseconds, bytes, 8);
	memcpy(&julian, bytes + 8, 4);
	int64_t seconds = floor_divide((int64_t)le64toh(nanoseconds), 1000000000, &m.fraction);
	m.day = floor_divide(seconds, SECONDS_A_DAY, &m.seconds) + (int32_t)le32toh(julian) - UNIX_JULIAN;
	put_moment(&m, &(struct value_type){.digits = 9, .utc = type->utc}, out);
}

static void put_day(int64_t day, struct buffer *out)
{
	char text[40], *to = text;
	*to++ = '"';
	to = put_date(to, day);
	*to++ = '"';
	buffer_append(out, text, (size_t)(to - text));
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

static void put_text(struct slice text, struct buffer *out)
{
	buffer_byte(out, '"');
	jout_escaped(&(struct jout){.out = out}, text);
	buffer_byte(out, '"');
}

static bool is_text(struct slice bytes)
{
	for (size_t i = 0; i < bytes.len; i++)
		if ((unsigned char)bytes.data[i] < 0x20 && !strchr("\t\n\r", bytes.data[i] ? bytes.data[i] : 1))
			return false;
	return utf8_valid(bytes.data, bytes.len, NULL);
}

static void put_bytes(struct slice bytes, struct buffer *out)
{
	static const char hex[] = "0123456789ABCDEF";
	if (is_text(bytes)) {
		put_text(bytes, out);
		return;
	}
	buffer_byte(out, '"');
	for (size_t i = 0; i < bytes.len && !out->failed; i++) {
		unsigned char c = (unsigned char)bytes.data[i];
		if (c < 0x20 || c > 0x7e || c == '\\' || c == '"' || c == '\'')
			buffer_append(out, (char[]){'\\', '\\', 'x', hex[c >> 4], hex[c & 15]}, 5);
		else
			buffer_byte(out, (char)c);
	}
	buffer_byte(out, '"');
}

static void put_uuid(const unsigned char *bytes, struct buffer *out)
{
	static const char hex[] = "0123456789abcdef";
	char text[38], *to = text;
	*to++ = '"';
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = hex[bytes[i] >> 4];
		*to++ = hex[bytes[i] & 15];
	}
	*to++ = '"';
	buffer_append(out, text, sizeof text);
}

/* JSON in a text is a part of the row; if it is not valid, it is only a text. */
static void put_json(struct slice text, struct buffer *out)
{
	struct jdoc parsed = {0};
	struct ipf_error ignored = {0};
	bool valid = jdoc_parse(&parsed, text.data, text.len, &ignored) == 0;
	jdoc_release(&parsed);
	size_t from = out->len;
	if (!valid) {
		put_text(text, out);
		return;
	}
	buffer_slice(out, text);
	for (size_t i = from; i < out->len; i++) /* a row is a line; within its texts are no line ends */
		if (out->data[i] == '\n' || out->data[i] == '\r')
			out->data[i] = ' ';
}

void value_json(const struct value_type *type, union parquet_value value, struct buffer *out)
{
	struct jout w = {.out = out};
	switch (type->kind) {
	case VALUE_BOOL:
		jout_bool(&w, value.integer != 0);
		break;
	case VALUE_INTEGER:
		jout_int(&w, value.integer);
		break;
	case VALUE_UNSIGNED_32:
		jout_uint(&w, (uint32_t)value.integer);
		break;
	case VALUE_UNSIGNED_64:
		jout_uint(&w, (uint64_t)value.integer);
		break;
	case VALUE_REAL:
		put_double(value.real, out);
		break;
	case VALUE_HALF:
		put_half((const unsigned char *)value.bytes.data, out);
		break;
	case VALUE_TEXT:
		put_text(value.bytes, out);
		break;
	case VALUE_JSON:
		put_json(value.bytes, out);
		break;
	case VALUE_BYTES:
		put_bytes(value.bytes, out);
		break;
	case VALUE_UUID:
		put_uuid((const unsigned char *)value.bytes.data, out);
		break;
	case VALUE_DECIMAL:
		put_decimal(value.integer < 0, value.integer < 0 ? 0 - (uint64_t)value.integer : (uint64_t)value.integer,
		            type->digits, out);
		break;
	case VALUE_WIDE_DECIMAL:
		put_wide_decimal(value.bytes, type->digits, out);
		break;
	case VALUE_DATE:
		put_day(value.integer, out);
		break;
	case VALUE_TIME:
	case VALUE_TIMESTAMP:
		put_time(type, value.integer, out);
		break;
	case VALUE_INT96:
		put_int96(type, (const unsigned char *)value.bytes.data, out);
		break;
	}
}
