#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/normalizer_sequence.h"
#include "tokenizer/part_config.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>
#include <string.h>

struct character_normalizer {
	struct normalizer base;
	/* Appends the replacement of a character. False: the character stays (nothing was appended). */
	bool (*put)(uint32_t c, struct buffer *out);
};

static void free_plain(struct normalizer *self)
{
	free(self);
}

static bool put_chinese(uint32_t c, struct buffer *out)
{
	if (c < 0x3400)
		return false;
	if (!((c >= 0x4e00 && c <= 0x9fff) || c <= 0x4dbf || (c >= 0x20000 && c <= 0x2a6df) ||
	      (c >= 0x2a700 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) || (c >= 0xf900 && c <= 0xfaff) ||
	      (c >= 0x2f800 && c <= 0x2fa1f)))
		return false;
	buffer_byte(out, ' ');
	utf8_append(out, c);
	buffer_byte(out, ' ');
	return true;
}

/* Copies runs of characters that stay. Returns a normalizer's result. */
static int put_all(bool (*put)(uint32_t, struct buffer *), struct slice text, struct buffer *out)
{
	const char *at = text.data, *end = text.data + text.len, *kept = at;
	int changed = 0;

	while (at < end) {
		const char *begin = at;
		size_t before = out->len;
		uint32_t c = utf8_next(&at);
		if (!put(c, out))
			continue;
		if (!changed)
			changed = begin > text.data ? 1 : out->len == before ? NORMALIZER_CUT : 1;
		if (begin > kept) { /* copy the run before it first */
			out->len = before;
			buffer_append(out, kept, (size_t)(begin - kept));
			put(c, out);
		}
		kept = at;
	}
	if (changed)
		buffer_append(out, kept, (size_t)(end - kept));
	return changed;
}

static int apply_chars(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	int changed = put_all(((const struct character_normalizer *)self)->put, text, out);
	return out->failed ? ipf_error_memory(err) : changed;
}

static int chars_new(struct normalizer **normalizer, bool (*put)(uint32_t, struct buffer *), struct ipf_error *err)
{
	struct character_normalizer *n = calloc(1, sizeof *n);
	if (!n)
		return ipf_error_memory(err);
	*n = (struct character_normalizer){{apply_chars, free_plain}, put};
	*normalizer = &n->base;
	return 0;
}

static bool put_lower(uint32_t c, struct buffer *out)
{
	uint32_t lower[2];
	if (c < 0x80 && !(c >= 'A' && c <= 'Z'))
		return false;
	size_t n = unicode_lower(c, lower);
	if (n == 1 && lower[0] == c)
		return false;
	for (size_t i = 0; i < n; i++)
		utf8_append(out, lower[i]);
	return true;
}

static bool put_without_accent(uint32_t c, struct buffer *out)
{
	(void)out;
	return unicode_accent(c);
}

static bool put_without_nonspacing(uint32_t c, struct buffer *out)
{
	(void)out;
	return unicode_nonspacing(c);
}

static bool put_nmt(uint32_t c, struct buffer *out)
{
	if ((c >= 1 && c <= 8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f || c == 0x8f || c == 0x9f)
		return true;
	if (c == 9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 || (c >= 0x200b && c <= 0x200f) || c == 0x2028 ||
	    c == 0x2029 || c == 0x2581 || c == 0xfeff || c == 0xfffd) {
		buffer_byte(out, ' ');
		return true;
	}
	return false;
}

static bool put_clean(uint32_t c, struct buffer *out)
{
	if (c >= ' ' && c < 0x7f)
		return false;
	if (c == 0 || c == 0xfffd || unicode_control(c))
		return true;
	if (!unicode_white_space(c))
		return false;
	buffer_byte(out, ' ');
	return true;
}

static bool put_bytes(uint32_t c, struct buffer *out)
{
	char utf8[4];
	size_t n = utf8_put(utf8, c);
	for (size_t i = 0; i < n; i++)
		utf8_append(out, byte_level_char((unsigned char)utf8[i]));
	return true;
}

int normalizer_lowercase(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(normalizer, put_lower, err);
}

int normalizer_strip_accents(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(normalizer, put_without_accent, err);
}

int normalizer_nmt(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(normalizer, put_nmt, err);
}

int normalizer_byte_level(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(normalizer, put_bytes, err);
}

/* Adds a step that applies `put` to every character; if NULL, the decomposition in which accents are found. */
static int add_step(struct normalizer *sequence, bool (*put)(uint32_t, struct buffer *), struct ipf_error *err)
{
	struct normalizer *part;
	if ((put ? chars_new(&part, put, err) : normalizer_nfd(&part, NULL, err)) < 0)
		return -1;
	normalizer_sequence_add(sequence, part);
	return 0;
}

int normalizer_bert(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "normalizer: BertNormalizer";
	bool clean, chinese, accents, lowercase;

	if (config_bool(config, part, "clean_text", false, &clean, err) < 0 ||
	    config_bool(config, part, "handle_chinese_chars", false, &chinese, err) < 0 ||
	    config_bool(config, part, "lowercase", false, &lowercase, err) < 0)
		return -1;
	accents = lowercase; /* if the member is absent */
	if (!json_is_null(json_object_get(config, "strip_accents")) &&
	    config_bool(config, part, "strip_accents", true, &accents, err) < 0)
		return -1;
	const struct {
		bool on;
		bool (*put)(uint32_t, struct buffer *);
	} steps[] = {{clean, put_clean},
	             {chinese, put_chinese},
	             {accents, NULL},
	             {accents, put_without_nonspacing},
	             {lowercase, put_lower}};
	struct normalizer *s = normalizer_sequence_new(sizeof steps / sizeof *steps, err);
	if (!s)
		return -1;
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
		if (steps[i].on && add_step(s, steps[i].put, err) < 0) {
			s->free(s);
			return -1;
		}
	*normalizer = s;
	return 0;
}
