#include "tokenizer/byte_level.h"
#include "tokenizer/decoder.h"

#include <stdlib.h>
#include <string.h>

#define REPLACEMENT "\xef\xbf\xbd"

static void free_plain(struct decoder *self)
{
	free(self);
}

/* A decoder without settings: nothing but its function. */
static int plain_decoder(struct decoder **decoder, decoder_function *apply, struct ipf_error *err)
{
	struct decoder *d = malloc(sizeof *d);
	if (!d)
		return ipf_error_memory(err);
	*d = (struct decoder){apply, free_plain};
	*decoder = d;
	return 0;
}

/* Returns the length of the well-formed sequence at `s`, or -n: n bytes beginning a sequence and do not complete it (or
 * one byte beginning none), which become one U+FFFD. */
static int sequence_at(const unsigned char *s, size_t left)
{
	unsigned char low = 0x80, high = 0xbf;
	int len = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;

	if (len == 0)
		return -1;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (int i = 1; i < len; i++) {
		if ((size_t)i >= left || s[i] < low || s[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return len;
}

static void append_lossy(struct buffer *out, const char *bytes, size_t len)
{
	const unsigned char *s = (const unsigned char *)bytes;
	size_t kept = 0;
	for (size_t at = 0; at < len;) {
		int n = sequence_at(s + at, len - at);
		if (n > 0) {
			at += (size_t)n;
			continue;
		}
		buffer_append(out, bytes + kept, at - kept);
		buffer_text(out, REPLACEMENT);
		at += (size_t)-n;
		kept = at;
	}
	buffer_append(out, bytes + kept, len - kept);
}

static int apply_byte_level(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                            struct ipf_error *err)
{
	struct buffer bytes = {0};
	(void)self;
	for (size_t i = 0; i < tokens->count; i++) {
		struct slice token = text_pieces_at(tokens, i);
		if (!byte_level_bytes(token.data, token.len, &bytes))
			buffer_slice(&bytes, token);
	}
	append_lossy(&out->text, bytes.data ? bytes.data : "", bytes.len);
	text_pieces_end(out);
	if (bytes.failed)
		out->failed = true;
	buffer_release(&bytes);
	return text_pieces_status(out, err);
}

int decoder_byte_level(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return plain_decoder(decoder, apply_byte_level, err);
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte of a token like <0x41>, or -1. The reference reads the number as Rust does, which accepts a plus
 * sign. */
static int byte_of(struct slice token)
{
	if (token.len != 6 || memcmp(token.data, "<0x", 3) != 0 || token.data[5] != '>')
		return -1;
	int high = token.data[3] == '+' ? 0 : hex(token.data[3]), low = hex(token.data[4]);
	return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* Writes the bytes following each other as text if they are UTF-8, else as one U+FFFD each. */
static void flush_bytes(struct buffer *bytes, struct text_pieces *out)
{
	bool valid = true;
	for (size_t at = 0; at < bytes->len && valid;) {
		int n = sequence_at((const unsigned char *)bytes->data + at, bytes->len - at);
		valid = n > 0;
		at += valid ? (size_t)n : 0;
	}
	if (valid && bytes->len)
		text_pieces_add(out, bytes->data, bytes->len);
	for (size_t i = 0; !valid && i < bytes->len; i++)
		text_pieces_add(out, REPLACEMENT, strlen(REPLACEMENT));
	buffer_clear(bytes);
}

static int apply_byte_fallback(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                               struct ipf_error *err)
{
	struct buffer bytes = {0};
	(void)self;
	for (size_t i = 0; i < tokens->count; i++) {
		struct slice token = text_pieces_at(tokens, i);
		int byte = byte_of(token);
		if (byte >= 0) {
			buffer_byte(&bytes, (char)byte);
			continue;
		}
		flush_bytes(&bytes, out);
		text_pieces_add(out, token.data, token.len);
	}
	bool failed = bytes.failed;
	flush_bytes(&bytes, out);
	buffer_release(&bytes);
	return failed ? ipf_error_memory(err) : text_pieces_status(out, err);
}

int decoder_byte_fallback(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return plain_decoder(decoder, apply_byte_fallback, err);
}

static int apply_fuse(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                      struct ipf_error *err)
{
	(void)self;
	text_pieces_add(out, tokens->text.data, tokens->text.len);
	return text_pieces_status(out, err);
}

int decoder_fuse(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return plain_decoder(decoder, apply_fuse, err);
}
