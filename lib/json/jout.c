#include "json/jout.h"

#include "absent.h"
#include "digits.h"
#include "json/bytes8.h"
#include "utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define PART ((size_t)512) /* bytes of a text written before more room is reserved */

static void before_value(struct jout *w)
{
	if (w->comma)
		buffer_byte(w->out, ',');
	w->comma = true;
}

void jout_begin_map(struct jout *w)
{
	before_value(w);
	buffer_byte(w->out, '{');
	w->comma = false;
}

void jout_end_map(struct jout *w)
{
	buffer_byte(w->out, '}');
	w->comma = true;
}

void jout_begin_list(struct jout *w)
{
	before_value(w);
	buffer_byte(w->out, '[');
	w->comma = false;
}

void jout_end_list(struct jout *w)
{
	buffer_byte(w->out, ']');
	w->comma = true;
}

void jout_name(struct jout *w, const char *key, size_t len)
{
	char *to = buffer_reserve(w->out, len + 4);
	if (!to)
		return;
	char *at = to;
	if (w->comma)
		*at++ = ',';
	*at++ = '"';
	memcpy(at, key, len);
	memcpy(at + len, "\":", 3); /* with the NUL */
	w->out->len += (size_t)(at - to) + len + 2;
	w->comma = false;
}

void jout_key(struct jout *w, const char *key)
{
	jout_name(w, key, strlen(key));
}

/* Writes the number so that it ends before `end`, and returns where it begins. */
static char *signed_before(char *end, bool negative, uint64_t left)
{
	end = digits_before(end, left);
	if (negative)
		*--end = '-';
	return end;
}

static void put_whole(struct jout *w, bool negative, uint64_t left)
{
	char digits[DIGITS_MOST + 1], *at = signed_before(digits + sizeof digits, negative, left);
	if (w->comma)
		*--at = ',';
	w->comma = true;
	buffer_append(w->out, at, (size_t)(digits + sizeof digits - at));
}

void jout_row(struct jout *w, const int64_t values[JOUT_ROW])
{
	char row[JOUT_ROW * (DIGITS_MOST + 1) + 3], *at = row + sizeof row;
	*--at = ']';
	for (int i = JOUT_ROW; i-- > 0;) {
		bool negative = values[i] < 0;
		at = signed_before(at, negative, negative ? -(uint64_t)values[i] : (uint64_t)values[i]);
		*--at = i ? ',' : '[';
	}
	if (w->comma)
		*--at = ',';
	w->comma = true;
	buffer_append(w->out, at, (size_t)(row + sizeof row - at));
}

void jout_int(struct jout *w, int64_t value)
{
	put_whole(w, value < 0, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

void jout_uint(struct jout *w, uint64_t value)
{
	put_whole(w, false, value);
}

/* A number between 1e-4 and 1e15 as whole * 2^-shift, exactly. */
struct binary {
	uint64_t whole;
	int shift;
};

/* The decimal number / power, which is the nearest to b with its digits, is read back as b: it is nearer to it than
 * half the way to the next double. Below a power of two the next one is nearer. */
static bool reads_back(struct binary b, uint64_t number, unsigned __int128 power)
{
	unsigned __int128 exact = b.whole * power, is = (unsigned __int128)number << b.shift;
	if (is < exact && b.whole == UINT64_C(1) << 52)
		return 4 * (exact - is) <= power;
	unsigned __int128 twice = 2 * (is < exact ? exact - is : is - exact);
	return twice < power || (twice == power && b.whole % 2 == 0);
}

/* The whole number that is nearest to b * power, the even one of two. */
static uint64_t scaled(struct binary b, unsigned __int128 power)
{
	unsigned __int128 exact = b.whole * power, half = (unsigned __int128)1 << (b.shift - 1);
	uint64_t number = (uint64_t)(exact >> b.shift);
	unsigned __int128 rest = exact - ((unsigned __int128)number << b.shift);
	return number + (rest > half || (rest == half && number % 2));
}

static size_t put_point(char *text, bool negative, uint64_t number, int behind)
{
	char digits[DIGITS_MOST + 4], *end = digits + sizeof digits, *at = digits_before(end, number), *to = text;
	while (end - at <= behind)
		*--at = '0';
	size_t whole = (size_t)(end - at) - (size_t)behind;
	if (negative)
		*to++ = '-';
	memcpy(to, at, whole);
	to += whole;
	if (behind)
		*to++ = '.';
	memcpy(to, at + whole, (size_t)behind);
	return (size_t)(to - text) + (size_t)behind;
}

/* Writes the first of %.15g, %.16g and %.17g reading back equal, by whole numbers: returns its length; 0 if it has an
 * exponent. */
static size_t put_moderate(char *text, double value)
{
	static const double limits[] = {1e-3, 1e-2, 1e-1, 1e0, 1e1,  1e2,  1e3,  1e4,  1e5,
	                                1e6,  1e7,  1e8,  1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
	double size = fabs(value);
	if (!(size >= 1e-4 && size < 999999999999999))
		return 0;
	int exponent, behind = 15 + 3;
	struct binary b = {.whole = (uint64_t)ldexp(frexp(size, &exponent), 53)};
	b.shift = 53 - exponent;
	unsigned __int128 power = (unsigned __int128)1000000000 * 1000000000;
	for (size_t i = 0; i < sizeof limits / sizeof *limits && size >= limits[i]; i++) { /* 15 digits from the first on */
		behind--;
		power /= 10;
	}
	uint64_t number = scaled(b, power);
	for (int more = 0; more < 2 && !reads_back(b, number, power); more++) {
		behind++;
		power *= 10;
		number = scaled(b, power);
	}
	for (; behind && number % 10 == 0; behind--)
		number /= 10;
	return put_point(text, value < 0, number, behind);
}

void jout_double(struct jout *w, double value)
{
	char text[40];
	before_value(w);
	if (!isfinite(value)) {
		buffer_text(w->out, "null");
		return;
	}
	size_t len = put_moderate(text, value);
	for (int precision = 15; len == 0 && precision <= 17; precision++) {
		int got = snprintf(text, sizeof text, "%.*g", precision, value);
		if (precision == 17 || strtod(text, NULL) == value)
			len = (size_t)got;
	}
	buffer_append(w->out, text, len);
}

void jout_bool(struct jout *w, bool value)
{
	before_value(w);
	buffer_text(w->out, value ? "true" : "false");
}

void jout_null(struct jout *w)
{
	before_value(w);
	buffer_text(w->out, "null");
}

/* Writes at most six bytes; returns the end of the output. */
static char *put_escaped(char *to, unsigned char c)
{
	static const char shorts[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
	static const char digits[] = "0123456789abcdef";
	*to++ = '\\';
	if (c == '"' || c == '\\') { /* nearly all, in JSON inside JSON */
		*to++ = (char)c;
		return to;
	}
	if (c < sizeof shorts && shorts[c]) {
		*to++ = shorts[c];
		return to;
	}
	memcpy(to, "u00", 3);
	to[3] = digits[c >> 4];
	to[4] = digits[c & 15];
	return to + 5;
}

static bool is_escaped(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\';
}

#ifdef __SSE2__
/* A bit for each of 16 bytes: it needs an escape. */
static unsigned escaped16(const char *at)
{
	__m128i bytes = _mm_loadu_si128((const void *)at);
	__m128i control = _mm_cmpeq_epi8(bytes, _mm_min_epu8(bytes, _mm_set1_epi8(0x1f)));
	__m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), slash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
	return (unsigned)_mm_movemask_epi8(_mm_or_si128(control, _mm_or_si128(quote, slash)));
}

/* All but the last bytes. The places of all escapes of 16 bytes are known at once, so the processor need not wait for
 * one to look for the next. */
static char *put_blocks(char *to, const char **from, const char *end)
{
	const char *at = *from;
	while (end - at >= 32) {
		const char *next = at + 16;
		for (unsigned marks = escaped16(at), done = 0; marks; marks &= marks - 1) {
			unsigned run = (unsigned)__builtin_ctz(marks) - done;
			memcpy(to, at, 16);
			to = put_escaped(to + run, (unsigned char)at[run]);
			at += run + 1;
			done += run + 1;
		}
		memcpy(to, at, 16);
		to += next - at;
		at = next;
	}
	*from = at;
	return to;
}
#else
static char *put_blocks(char *to, const char **from, const char *end)
{
	(void)from, (void)end;
	return to;
}
#endif

/* JSON inside JSON is full of quotes: each step copies eight bytes and keeps those before the first needing an escape.
 * The caller reserved enough room. */
static char *put_part(char *to, const char *at, const char *end)
{
	to = put_blocks(to, &at, end);
	while (end - at >= 8) {
		uint64_t word = bytes8_load(at), marks = bytes8_escaped(word);
		size_t run = marks ? bytes8_first(marks) : 8;
		memcpy(to, at, 8);
		to += run;
		at += run;
		if (marks)
			to = put_escaped(to, (unsigned char)*at++);
	}
	for (; at < end; at++)
		if (is_escaped((unsigned char)*at))
			to = put_escaped(to, (unsigned char)*at);
		else
			*to++ = *at;
	return to;
}

static void put_string(struct buffer *out, const char *at, size_t len)
{
	while (len) {
		size_t part = len < PART ? len : PART;
		char *begin = buffer_reserve(out, 6 * part + 16);
		if (!begin)
			return;
		out->len += (size_t)(put_part(begin, at, at + part) - begin);
		out->data[out->len] = '\0';
		at += part;
		len -= part;
	}
}

void jout_string(struct jout *w, struct slice text)
{
	before_value(w);
	buffer_byte(w->out, '"');
	while (text.len) {
		size_t good;
		bool valid = utf8_valid(text.data, text.len, &good);
		put_string(w->out, text.data, good);
		if (!valid) {
			buffer_text(w->out, "\xef\xbf\xbd");
			good++;
		}
		text.data += good;
		text.len -= good;
	}
	buffer_byte(w->out, '"');
}

void jout_escaped(struct jout *w, struct slice part)
{
	put_string(w->out, part.data, part.len);
}

void jout_string0(struct jout *w, const char *text)
{
	jout_string(w, slice_of(text));
}

void jout_value(struct jout *w, struct slice raw)
{
	before_value(w);
	buffer_slice(w->out, raw);
}

void jout_json(struct jout *w, json_t *value)
{
	json_t *inner;
	const char *key;
	size_t i, before;
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		jout_begin_map(w);
		json_object_foreach(value, key, inner)
		{
			jout_string0(w, key);
			buffer_byte(w->out, ':');
			w->comma = false;
			jout_json(w, inner);
		}
		jout_end_map(w);
		break;
	case JSON_ARRAY:
		jout_begin_list(w);
		json_array_foreach(value, i, inner) jout_json(w, inner);
		jout_end_list(w);
		break;
	case JSON_STRING:
		jout_string(w, (struct slice){json_string_value(value), json_string_length(value)});
		break;
	case JSON_INTEGER:
		jout_int(w, json_integer_value(value));
		break;
	case JSON_REAL:
		before = w->out->len;
		jout_double(w, json_real_value(value));
		if (w->out->data && !strpbrk(w->out->data + before, ".en")) /* the reader gets a real again */
			buffer_text(w->out, ".0");
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		jout_bool(w, json_is_true(value));
		break;
	case JSON_NULL:
		jout_null(w);
		break;
	}
}

void jout_member_double(struct jout *w, const char *key, double value)
{
	if (!isfinite(value))
		return;
	jout_key(w, key);
	jout_double(w, value);
}

void jout_member_int(struct jout *w, const char *key, int64_t value)
{
	if (value == IPF_ABSENT)
		return;
	jout_key(w, key);
	jout_int(w, value);
}

void jout_member_string(struct jout *w, const char *key, struct slice text)
{
	if (!text.data)
		return;
	jout_key(w, key);
	jout_string(w, text);
}

void jout_member_value(struct jout *w, const char *key, struct slice raw)
{
	if (!raw.data)
		return;
	jout_key(w, key);
	jout_value(w, raw);
}
