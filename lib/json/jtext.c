#include "json/jtext.h"

#include "json/bytes8.h"
#include "utf8.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool is_plain(char c)
{
	return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* ---- sixteen bytes at a time ---- */

#ifdef __SSE2__
/* A bit for each byte, as quoted_word() below has them for eight bytes. */
struct marks16 {
	unsigned backslash, after; /* after: the byte before is a backslash */
	unsigned stop, ends; /* stop: anything but ASCII and the escapes \"; ends: the same, but for non-ASCII bytes */
};

static inline struct marks16 marks16(__m128i bytes, unsigned pending)
{
	struct marks16 m;
	unsigned quote = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
	m.backslash = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
	m.after = (m.backslash << 1 | pending) & 0xffff;
	m.ends = quote ^ m.after;
	/* as signed numbers, control characters and bytes that are not ASCII are below a space */
	m.stop = m.ends | (unsigned)_mm_movemask_epi8(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
	return m;
}

/* Skips ASCII and the escapes \", up to the last bytes. */
static const char *skip_blocks(const char *at, const char *end, bool *escaped)
{
	unsigned pending = 0;
	for (; end - at >= 16; at += 16) {
		struct marks16 m = marks16(_mm_loadu_si128((const void *)at), pending);
		if (m.stop) {
			unsigned first = (unsigned)__builtin_ctz(m.stop);
			*escaped |= (m.backslash & ((1U << first) - 1)) != 0;
			return at + first - (m.after >> first & 1);
		}
		*escaped |= m.backslash != 0;
		pending = m.backslash >> 15;
	}
	return at - pending;
}

/* Copies the same without the backslashes; of a checked text, also bytes that are not ASCII. The character after a
 * backslash is written again, one byte further to the front, and with it up to 15 bytes behind the output, which has at
 * least as much room as the input has bytes. */
static void copy_blocks(char **to, const char **at, const char *end, bool checked)
{
	char *out = *to;
	const char *in = *at;
	unsigned pending = 0, stop = 0;
	while (!stop && end - in >= 32) {
		__m128i bytes = _mm_loadu_si128((const void *)in);
		struct marks16 m = marks16(bytes, pending);
		stop = checked ? m.ends : m.stop;
		unsigned len = stop ? (unsigned)__builtin_ctz(stop) : 16;
		if (stop && (m.after >> len & 1) && len-- == 0) /* another escape, whose backslash is of the block before */
			break;
		_mm_storeu_si128((void *)out, bytes);
		for (unsigned drop = m.backslash & ((1U << len) - 1); drop; drop &= drop - 1, out--) {
			unsigned first = (unsigned)__builtin_ctz(drop);
			_mm_storeu_si128((void *)(out + first), _mm_loadu_si128((const void *)(in + first + 1)));
		}
		in += len;
		out += len;
		pending = stop ? 0 : m.backslash >> 15;
	}
	*to = out;
	*at = in - pending;
}
#else
static const char *skip_blocks(const char *at, const char *end, bool *escaped)
{
	(void)end, (void)escaped;
	return at;
}

static void copy_blocks(char **to, const char **at, const char *end, bool checked)
{
	(void)to, (void)at, (void)end, (void)checked;
}
#endif

/* ---- checking ---- */

/* Skips to the next quote, backslash, control character or non-ASCII byte; eight bytes at a time. */
static const char *plain_run(const char *at, const char *end)
{
	while (at + 8 <= end) {
		uint64_t word = bytes8_load(at), marks = bytes8_escaped(word) | (word & BYTES8_HIGHS);
		if (marks)
			return at + bytes8_first(marks);
		at += 8;
	}
	while (at < end && is_plain(*at))
		at++;
	return at;
}

/* The word at `at` as part of a run of ASCII and the escapes \". Marks its backslashes, and in *stop other special
 * bytes: another escape, the closing quote, a control character or a non-ASCII byte. Quotes are where backslashes were
 * a byte before, or the run ends: no branch depends on an escape. `pending` is the mark of the first byte if the last
 * byte before it was a backslash. */
static uint64_t quoted_word(uint64_t word, uint64_t pending, uint64_t *stop)
{
	uint64_t backslash = bytes8_ascii_equal(word, '\\');
	*stop = (bytes8_ascii_equal(word, '"') ^ (backslash << 8 | pending)) | bytes8_not_printable(word);
	return backslash;
}

/* From a backslash on, skips such a run. */
static const char *quoted_run(const char *at, const char *end)
{
	uint64_t pending = 0;
	for (; end - at >= 8; at += 8) {
		uint64_t stop, backslash = quoted_word(bytes8_load(at), pending, &stop);
		if (stop) {
			unsigned first = bytes8_first(stop);
			return at + first - ((backslash << 8 | pending) >> (8 * first + 7) & 1);
		}
		pending = backslash >> 56;
	}
	return at - (pending != 0);
}

static bool is_hex4(const char *at, const char *end)
{
	if (end - at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
			return false;
	}
	return true;
}

static const char *check_escape(const char **at, const char *end)
{
	static const bool simple[256] = {['"'] = true, ['\\'] = true, ['/'] = true, ['b'] = true,
	                                 ['f'] = true, ['n'] = true,  ['r'] = true, ['t'] = true};
	++*at;
	if (*at < end && simple[(unsigned char)**at])
		++*at;
	else if (*at < end && **at == 'u' && is_hex4(*at + 1, end))
		*at += 5;
	else
		return "invalid escape in a string";
	return NULL;
}

static const char *check_not_ascii(const char **at, const char *end)
{
	/* the whole run of non-ASCII bytes at once: scripts without spaces would otherwise cost a call per character */
	const char *run = *at;
	while (run < end && (unsigned char)*run >= 0x80)
		run++;
	size_t good;
	bool valid = utf8_valid(*at, (size_t)(run - *at), &good);
	*at += good;
	return valid ? NULL : "invalid UTF-8";
}

/* The end of a run: an escape or non-ASCII characters, which are skipped if they are good, or the fault. */
static const char *check_other(const char **at, const char *end)
{
	if (*at == end)
		return "unterminated string";
	if (**at == '\\')
		return check_escape(at, end);
	return (unsigned char)**at < 0x20 ? "control character in a string" : check_not_ascii(at, end);
}

const char *jtext_check(const char **at, const char *end, bool *escaped)
{
	*escaped = false;
	for (;;) {
		*at = plain_run(skip_blocks(*at, end, escaped), end);
		if (*at < end && **at == '\\') {
			*escaped = true;
			*at = quoted_run(*at, end);
		}
		if (*at < end && **at == '"') {
			++*at;
			return NULL;
		}
		const char *wrong = check_other(at, end);
		if (wrong)
			return wrong;
	}
}

/* ---- decoding ---- */

static unsigned hex4(const char *at)
{
	unsigned value = 0;
	for (int i = 0; i < 4; i++) {
		char c = at[i];
		value = value * 16 + (unsigned)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return value;
}

static char *put_utf8(char *to, unsigned c)
{
	if (c < 0x80) {
		*to++ = (char)c;
	} else if (c < 0x800) {
		*to++ = (char)(0xc0 | (c >> 6));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else if (c < 0x10000) {
		*to++ = (char)(0xe0 | (c >> 12));
		*to++ = (char)(0x80 | ((c >> 6) & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	} else {
		*to++ = (char)(0xf0 | (c >> 18));
		*to++ = (char)(0x80 | ((c >> 12) & 0x3f));
		*to++ = (char)(0x80 | ((c >> 6) & 0x3f));
		*to++ = (char)(0x80 | (c & 0x3f));
	}
	return to;
}

/* *at is behind the \u; advances it past the digits, of both halves of a surrogate pair. The second half may not have
 * been checked yet. */
static char *put_unicode_escape(char *to, const char **at, const char *end)
{
	unsigned c = hex4(*at);
	*at += 4;
	if (c >= 0xd800 && c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u' && is_hex4(*at + 2, end)) {
		unsigned low = hex4(*at + 2);
		if (low >= 0xdc00 && low < 0xe000) {
			*at += 6;
			return put_utf8(to, 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00));
		}
	}
	return put_utf8(to, c >= 0xd800 && c < 0xe000 ? 0xfffd : c);
}

/* *at is at a backslash. */
static char *put_escape(char *to, const char **at, const char *end)
{
	static const char controls[] = {['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
	unsigned char letter = (unsigned char)(*at)[1];
	*at += 2;
	if (letter == 'u')
		return put_unicode_escape(to, at, end);
	*to++ = letter < sizeof controls && controls[letter] ? controls[letter] : (char)letter;
	return to;
}

size_t jtext_decode_one(char to[4], const char **at, const char *end)
{
	if (**at != '\\') {
		*to = *(*at)++;
		return 1;
	}
	return (size_t)(put_escape(to, at, end) - to);
}

/* Copies a run of ASCII and the escapes \" without their backslashes, up to the eight bytes with its end; the next
 * backslash is never far. The character after a backslash is written again, one byte further to the front, and with it
 * up to seven bytes behind the output. The output has at least as much room as the input has bytes. */
static void copy_quoted(char **to, const char **at, const char *end)
{
	char *out = *to;
	const char *in = *at;
	uint64_t pending = 0;
	for (; end - in >= 16; in += 8, out += 8) {
		uint64_t word = bytes8_load(in), stop, backslash = quoted_word(word, pending, &stop);
		if (stop)
			break;
		pending = backslash >> 56;
		bytes8_store(out, word);
		for (; backslash; backslash &= backslash - 1, out--) {
			unsigned first = bytes8_first(backslash);
			bytes8_store(out + first, word >> (8 * first) >> 8);
		}
	}
	*to = out;
	*at = in - (pending != 0);
}

/* Copies up to the next backslash. */
static void copy_plain(char **to, const char **at, const char *end)
{
	char *out = *to;
	const char *in = *at;
	for (; end - in >= 8; in += 8, out += 8) {
		uint64_t word = bytes8_load(in), backslash = bytes8_equal(word, '\\');
		bytes8_store(out, word);
		if (backslash) {
			*to = out + bytes8_first(backslash);
			*at = in + bytes8_first(backslash);
			return;
		}
	}
	while (in < end && *in != '\\')
		*out++ = *in++;
	*to = out;
	*at = in;
}

size_t jtext_decode(char *to, const char *at, const char *end)
{
	char *begin = to;
	for (;;) {
		copy_blocks(&to, &at, end, true);
		if (at == end || *at != '\\') {
			copy_quoted(&to, &at, end);
			copy_plain(&to, &at, end);
		}
		if (at == end)
			return (size_t)(to - begin);
		to = put_escape(to, &at, end);
	}
}

const char *jtext_read(const char **at, const char *end, char **to)
{
	for (;;) {
		copy_blocks(to, at, end, false);
		copy_quoted(to, at, end);
		while (*at < end && is_plain(**at))
			*(*to)++ = *(*at)++;
		if (*at < end && **at == '"') {
			++*at;
			return NULL;
		}
		const char *from = *at, *wrong = check_other(at, end);
		if (wrong)
			return wrong;
		if (*from == '\\') {
			*at = from;
			*to = put_escape(*to, at, end);
		} else {
			memcpy(*to, from, (size_t)(*at - from));
			*to += *at - from;
		}
	}
}
