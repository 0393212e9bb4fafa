/* WordPiece: the longest token first; tokens after the first one have a prefix; a word that cannot be covered, or is
 * too long, is unknown. WordLevel: a word is a token or unknown. */
#include "tokenizer/code_point.h"
#include "tokenizer/model.h"
#include "tokenizer/part_config.h"

#include <stdlib.h>
#include <string.h>

struct wordpiece {
	struct model model;
	const struct vocabulary *vocabulary;
	struct buffer prefix;
	size_t longest_word; /* in characters */
	uint32_t unk;        /* VOCABULARY_NONE: not in the vocabulary */
	struct buffer unk_name;
};

static int add(struct token_ids *ids, uint32_t id, struct ipf_error *err)
{
	return token_ids_push(ids, id) ? 0 : ipf_error_memory(err);
}

static int add_unknown(const struct wordpiece *w, struct token_ids *ids, struct ipf_error *err)
{
	if (w->unk == VOCABULARY_NONE)
		return ipf_error_set(err, IPF_INPUT,
		                     "model: unknown word in the text, and the unk_token \"%.60s\" is not in the vocabulary",
		                     w->unk_name.data);
	return add(ids, w->unk, err);
}

static bool too_long(const struct wordpiece *w, const char *word, size_t len)
{
	size_t characters = 0;
	if (len <= w->longest_word)
		return false;
	for (const char *at = word; at < word + len; characters++)
		utf8_next(&at);
	return characters > w->longest_word;
}

/* Finds the longest token at the beginning of `text`, behind a prefix of `before` bytes, and sets `*len` to its length;
 * 0: none. */
static uint32_t longest(const struct wordpiece *w, const char *text, size_t before, size_t *len)
{
	size_t most = w->vocabulary->longest > before ? w->vocabulary->longest - before : 0, n = *len < most ? *len : most;
	for (; n; n--) {
		if (n < *len && ((unsigned char)text[before + n] & 0xc0) == 0x80)
			continue;
		uint32_t id = vocabulary_find(w->vocabulary, text, before + n);
		if (id != VOCABULARY_NONE) {
			*len = n;
			return id;
		}
	}
	*len = 0;
	return VOCABULARY_NONE;
}

static int encode_pieces(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
                         struct ipf_error *err)
{
	const struct wordpiece *w = (const struct wordpiece *)self;
	struct buffer *text = scratch;
	size_t before = w->prefix.len, count = ids->count;

	if (too_long(w, word, len))
		return add_unknown(w, ids, err);
	/* The prefix is written before the rest of the word, over the encoded part. */
	buffer_clear(text);
	buffer_slice(text, buffer_all(&w->prefix));
	buffer_append(text, word, len);
	if (text->failed)
		return ipf_error_memory(err);
	for (size_t at = 0; at < len;) {
		size_t n = len - at;
		if (at && before)
			memcpy(text->data + at, w->prefix.data, before);
		uint32_t id = at ? longest(w, text->data + at, before, &n) : longest(w, text->data + before, 0, &n);
		if (!n) {
			ids->count = count;
			return add_unknown(w, ids, err);
		}
		if (add(ids, id, err) < 0)
			return -1;
		at += n;
	}
	return 0;
}

static int encode_word(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
                       struct ipf_error *err)
{
	const struct wordpiece *w = (const struct wordpiece *)self;
	uint32_t id = vocabulary_find(w->vocabulary, word, len);
	(void)scratch;
	return id == VOCABULARY_NONE ? add_unknown(w, ids, err) : add(ids, id, err);
}

static void *scratch_new(const struct model *self)
{
	(void)self;
	return calloc(1, sizeof(struct buffer));
}

static void scratch_free(void *scratch)
{
	buffer_release(scratch);
	free(scratch);
}

static void free_wordpiece(struct model *self)
{
	struct wordpiece *w = (struct wordpiece *)self;
	buffer_release(&w->prefix);
	buffer_release(&w->unk_name);
	free(w);
}

static int configure(struct wordpiece *w, const json_t *config, bool pieces, struct ipf_error *err)
{
	const char *part = pieces ? "model: WordPiece" : "model: WordLevel";
	struct slice prefix = {"", 0}, unk;

	if (config_text(config, part, "unk_token", &unk, err) < 0)
		return -1;
	if (pieces && (config_text(config, part, "continuing_subword_prefix", &prefix, err) < 0 ||
	               config_size(config, part, "max_input_chars_per_word", false, &w->longest_word, err) < 0))
		return -1;
	buffer_slice(&w->prefix, prefix);
	buffer_slice(&w->unk_name, unk);
	w->unk = vocabulary_find(w->vocabulary, unk.data, unk.len);
	return w->prefix.failed || w->unk_name.failed ? ipf_error_memory(err) : 0;
}

static int make(struct model **model, const json_t *config, const struct vocabulary *vocabulary, bool pieces,
                struct ipf_error *err)
{
	struct wordpiece *w = calloc(1, sizeof *w);
	*model = NULL;
	if (!w)
		return ipf_error_memory(err);
	w->vocabulary = vocabulary;
	w->model.encode = pieces ? encode_pieces : encode_word;
	if (pieces) {
		w->model.scratch_new = scratch_new;
		w->model.scratch_free = scratch_free;
	}
	w->model.free = free_wordpiece;
	if (configure(w, config, pieces, err) < 0) {
		free_wordpiece(&w->model);
		return -1;
	}
	*model = &w->model;
	return 0;
}

int wordpiece_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err)
{
	return make(model, config, vocabulary, true, err);
}

int wordlevel_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err)
{
	return make(model, config, vocabulary, false, err);
}
