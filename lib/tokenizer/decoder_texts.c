#include "tokenizer/code_point.h"
#include "tokenizer/decoder.h"
#include "tokenizer/part_config.h"
#include "tokenizer/regex.h"

#include <stdlib.h>
#include <string.h>

struct text_decoder {
	struct decoder base;
	struct buffer a, b; /* prefix, suffix, pad token, content, replacement; word delimiter */
	bool flag;          /* cleanup; Metaspace: the first token loses its replacements */
	size_t start, stop; /* Strip */
	struct regex *pattern;
};

static void free_texts(struct decoder *self)
{
	struct text_decoder *t = (struct text_decoder *)self;
	buffer_release(&t->a);
	buffer_release(&t->b);
	regex_free(t->pattern);
	free(t);
}

static struct text_decoder *texts_new(decoder_function *apply, struct ipf_error *err)
{
	struct text_decoder *t = calloc(1, sizeof *t);
	if (t)
		t->base = (struct decoder){apply, free_texts};
	else
		ipf_error_memory(err);
	return t;
}

static int finish(struct decoder **decoder, struct text_decoder *t, int status, struct ipf_error *err)
{
	if (status == 0 && (t->a.failed || t->b.failed))
		status = ipf_error_memory(err);
	if (status < 0)
		free_texts(&t->base);
	else
		*decoder = &t->base;
	return status;
}

static int keep_text(const json_t *config, const char *part, const char *name, struct buffer *to, struct ipf_error *err)
{
	struct slice text;
	if (config_text(config, part, name, &text, err) < 0)
		return -1;
	buffer_append(to, text.data, text.len);
	return 0;
}

/* Appends `text` with every `from` replaced; an empty `from` matches around each character, as in Rust. */
static void append_replaced(struct buffer *out, struct slice text, struct slice from, struct slice to)
{
	const char *at = text.data, *end = text.data + text.len;
	while (from.len) {
		const char *found = memmem(at, (size_t)(end - at), from.data, from.len);
		if (!found)
			break;
		buffer_append(out, at, (size_t)(found - at));
		buffer_slice(out, to);
		at = found + from.len;
	}
	while (!from.len && at < end) {
		const char *character = at;
		utf8_next(&at);
		buffer_slice(out, to);
		buffer_append(out, character, (size_t)(at - character));
	}
	if (!from.len)
		buffer_slice(out, to);
	buffer_append(out, at, (size_t)(end - at));
}

/* Removes the spaces that tokenizing put between punctuation and words. `text` and `spare` swap roles; the result is in
 * `text`. */
static void cleanup(struct buffer *text, struct buffer *spare)
{
	static const char *const steps[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
	                                       {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
	                                       {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct slice from = slice_of(steps[i][0]);
		if (!text->len || !memmem(text->data, text->len, from.data, from.len))
			continue;
		buffer_clear(spare);
		append_replaced(spare, buffer_all(text), from, slice_of(steps[i][1]));
		struct buffer other = *text;
		*text = *spare;
		*spare = other;
	}
}

static int apply_wordpiece(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                           struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	struct buffer text = {0}, spare = {0};

	for (size_t i = 0; i < tokens->count; i++) {
		struct slice token = text_pieces_at(tokens, i);
		bool continues = token.len >= t->a.len && memcmp(token.data, t->a.data, t->a.len) == 0;
		buffer_clear(&text);
		if (i && !continues)
			buffer_byte(&text, ' ');
		if (i && continues)
			token = (struct slice){token.data + t->a.len, token.len - t->a.len};
		buffer_slice(&text, token);
		if (t->flag)
			cleanup(&text, &spare);
		text_pieces_add(out, text.data, text.len);
		if (text.failed || spare.failed)
			out->failed = true;
	}
	buffer_release(&text);
	buffer_release(&spare);
	return text_pieces_status(out, err);
}

int decoder_wordpiece(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "decoder: WordPiece";
	struct text_decoder *t = texts_new(apply_wordpiece, err);
	if (!t)
		return -1;
	int status = keep_text(config, part, "prefix", &t->a, err);
	if (status == 0)
		status = config_bool(config, part, "cleanup", false, &t->flag, err);
	return finish(decoder, t, status, err);
}

static int apply_metaspace(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                           struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	for (size_t i = 0; i < tokens->count; i++) {
		append_replaced(&out->text, text_pieces_at(tokens, i), buffer_all(&t->a),
		                slice_of(i == 0 && t->flag ? "" : " "));
		text_pieces_end(out);
	}
	return text_pieces_status(out, err);
}

int decoder_metaspace(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	struct metaspace_config metaspace;
	struct text_decoder *t = texts_new(apply_metaspace, err);
	if (!t)
		return -1;
	int status = config_metaspace(config, "decoder: Metaspace", &metaspace, err);
	if (status == 0) {
		buffer_slice(&t->a, metaspace.replacement);
		t->flag = metaspace.scheme != METASPACE_NEVER;
	}
	return finish(decoder, t, status, err);
}

static int apply_bpe(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                     struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	for (size_t i = 0; i < tokens->count; i++) {
		append_replaced(&out->text, text_pieces_at(tokens, i), buffer_all(&t->a),
		                slice_of(i + 1 == tokens->count ? "" : " "));
		text_pieces_end(out);
	}
	return text_pieces_status(out, err);
}

int decoder_bpe(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	struct text_decoder *t = texts_new(apply_bpe, err);
	if (!t)
		return -1;
	return finish(decoder, t, keep_text(config, "decoder: BPEDecoder", "suffix", &t->a, err), err);
}

/* Removes up to `start` characters at the beginning and `stop` at the end that equal the given one. */
static int apply_strip(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                       struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	size_t n = t->a.len;
	for (size_t i = 0; i < tokens->count; i++) {
		struct slice s = text_pieces_at(tokens, i);
		for (size_t k = 0; k < t->start && s.len >= n && memcmp(s.data, t->a.data, n) == 0; k++)
			s = (struct slice){s.data + n, s.len - n};
		for (size_t k = 0; k < t->stop && s.len >= n && memcmp(s.data + s.len - n, t->a.data, n) == 0; k++)
			s.len -= n;
		text_pieces_add(out, s.data, s.len);
	}
	return text_pieces_status(out, err);
}

int decoder_strip(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "decoder: Strip";
	struct slice content = {"", 0};
	struct text_decoder *t = texts_new(apply_strip, err);
	if (!t)
		return -1;
	int status = config_character(config, part, "content", &content, err);
	if (status == 0)
		status = config_size(config, part, "start", false, &t->start, err);
	if (status == 0)
		status = config_size(config, part, "stop", false, &t->stop, err);
	if (status == 0)
		buffer_slice(&t->a, content);
	return finish(decoder, t, status, err);
}

static int apply_replace(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                         struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	for (size_t i = 0; i < tokens->count; i++) {
		struct slice s = text_pieces_at(tokens, i);
		struct regex_walk walk;
		size_t start, end, kept = 0;
		int found = 0;

		regex_walk_begin(&walk, t->pattern, s);
		while (s.len && (found = regex_walk_next(&walk, &start, &end, err)) == 1) {
			buffer_append(&out->text, s.data + kept, start - kept);
			buffer_slice(&out->text, buffer_all(&t->a));
			kept = end;
		}
		regex_walk_end(&walk);
		if (found < 0)
			return -1;
		buffer_append(&out->text, s.data + kept, s.len - kept);
		text_pieces_end(out);
	}
	return text_pieces_status(out, err);
}

int decoder_replace(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "decoder: Replace";
	struct slice pattern;
	bool literal;
	struct text_decoder *t = texts_new(apply_replace, err);
	if (!t)
		return -1;
	int status = config_pattern(config, part, &pattern, &literal, err);
	if (status == 0)
		status = keep_text(config, part, "content", &t->a, err);
	if (status == 0)
		status = regex_new(&t->pattern, pattern, literal, err);
	return finish(decoder, t, status, err);
}

/* Drops repeated tokens and pads, then tokens that are empty. */
static int apply_ctc(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                     struct ipf_error *err)
{
	const struct text_decoder *t = (const struct text_decoder *)self;
	struct buffer text = {0}, spare = {0};

	for (size_t i = 0; i < tokens->count; i++) {
		struct slice s = text_pieces_at(tokens, i);
		if (i && slice_equal(s, text_pieces_at(tokens, i - 1)))
			continue;
		buffer_clear(&text);
		append_replaced(&text, s, buffer_all(&t->a), (struct slice){"", 0});
		size_t before = out->text.len;
		if (t->flag) {
			cleanup(&text, &spare);
			append_replaced(&out->text, buffer_all(&text), buffer_all(&t->b), slice_of(" "));
		} else {
			buffer_slice(&out->text, buffer_all(&text));
		}
		if (out->text.len > before)
			text_pieces_end(out);
		if (text.failed || spare.failed)
			out->failed = true;
	}
	buffer_release(&text);
	buffer_release(&spare);
	return text_pieces_status(out, err);
}

int decoder_ctc(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "decoder: CTC";
	struct text_decoder *t = texts_new(apply_ctc, err);
	if (!t)
		return -1;
	int status = keep_text(config, part, "pad_token", &t->a, err);
	if (status == 0)
		status = keep_text(config, part, "word_delimiter_token", &t->b, err);
	if (status == 0)
		status = config_bool(config, part, "cleanup", false, &t->flag, err);
	return finish(decoder, t, status, err);
}
