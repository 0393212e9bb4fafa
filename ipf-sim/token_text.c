#include "token_text.h"

#define W(text)                                                                                                        \
	{                                                                                                                  \
		text, text                                                                                                     \
	}

static const struct token_bytes plain[] = {
	W("Lore"), W("m ip"), W("sum "), W("dolo"), W("r si"), W("t am"), W("et, "), W("cons"), W("ecte"), W("tur "),
	W("adip"), W("isci"), W("ng e"), W("lit,"), W(" sed"), W(" do "), W("eius"), W("mod "), W("temp"), W("or i"),
	W("ncid"), W("idun"), W("t ut"), W(" lab"), W("ore "), W("et d"), W("olor"), W("e ma"), W("gna "), W("aliq"),
	W("ua. "), W("Ut e"), W("nim "), W("ad m"), W("inim"), W(" ven"), W("iam,"), W(" qui"), W("s no"), W("stru"),
	W("d ex"), W("erci"), W("tati"), W("on u"), W("llam"), W("co l"), W("abor"), W("is n"), W("isi "), W("ut a"),
	W("liqu"), W("ip e"), W("x ea"), W(" com"), W("modo"), W(" con"), W("sequ"), W("at. "),
};

static const struct token_bytes utf8[] = {
	W("\xc3\xa9\xc3\xa0"), /* two of two bytes */
	W("\xe6\xbc\xa2."),    /* one of three */
	W("\xf0\x9f\x98\x80"), /* one of four */
	W("na\xc3\xaf"),       /* the last of two */
	W(" \xe2\x82\xac"),    /* the last of three */
	W("\xc3\x9f\xd0\xb6"), W("\xed\x95\x9c "), W("\xf0\x9d\x84\x9e"),
};

static const struct token_bytes escapes[] = {
	{"\\u00e9\\u00E9", "\xc3\xa9\xc3\xa9"},
	{"a\\\"b\\\\", "a\"b\\"},
	{"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
	{"\\n\\t- ", "\n\t- "},
	{"\\/\\u0041bc", "/Abc"},
	{"\\u6f22\\r", "\xe6\xbc\xa2\r"},
	{"\\b\\f{}", "\b\f{}"},
};

struct token_bytes token_text_at(enum token_text words, uint64_t start, int64_t k)
{
	uint64_t at = start + (uint64_t)k;
	switch (words) {
	case TOKEN_TEXT_UTF8:
		return utf8[at % (sizeof utf8 / sizeof *utf8)];
	case TOKEN_TEXT_ESCAPES:
		return escapes[at % (sizeof escapes / sizeof *escapes)];
	case TOKEN_TEXT_PLAIN:
		break;
	}
	return plain[at % (sizeof plain / sizeof *plain)];
}

#define NO_TEXT 0xff /* no byte of UTF-8 */

uint32_t token_of_text(struct slice text)
{
	uint32_t token = 0;
	for (size_t i = TOKEN_BYTES; i-- > 0;)
		token = token << 8 | (i < text.len ? (unsigned char)text.data[i] : NO_TEXT);
	return token;
}

uint32_t token_without_text(int64_t number)
{
	return (uint32_t)number << 8 | NO_TEXT;
}

size_t token_bytes(uint32_t token, char bytes[])
{
	size_t n = 0;
	for (; n < TOKEN_BYTES && (token & 0xff) != NO_TEXT; n++, token >>= 8)
		bytes[n] = (char)(token & 0xff);
	return n;
}
