/* The parts of a tokenizer, private to lib/tokenizer.
 *
 *     text ── added.c: tokens matched in the raw text ──► pieces of text between them
 *          ── normalizer ──► normalized text ── added.c: tokens matched in normalized text ──►
 *          ── pretokenizer ──► words ── model ──► ids ── postprocess ──► ids with [CLS] and the like
 *     ids  ── vocabulary ──► token texts ── decoder ──► text
 *
 * Every part is made from its member of tokenizer.json, never written to afterwards (any number of threads use it), and
 * refuses by name what it does not know: err IPF_INPUT `pre_tokenizer: unknown type "Foo"`; the caller adds the file's
 * name. A part is a struct that begins with the function that runs it; makers return what free_… or ->free lets go.
 *
 * Who lives where:
 *     tokenizer.c   the public functions: drives the parts
 *     load.c        tokenizer.json to the compiled form (compiled.h), cache.c keeps that on disk, tiktoken.c reads rank
 * files added.c       added tokens bpe*.c        byte-level BPE and BPE with byte fallback scan*.c       hand-written
 * scanners for the well-known chains of pre-tokenizers; unicode.c their classes batch.c       threads ends.c where
 * tokens end in the text trie.c        Unigram's tokens normalize*.c, pretokenize*.c, unigram.c, wordpiece.c (and
 * WordLevel), postprocess.c, decode*.c: the general parts
 *
 * Byte mode: where a BPE model's pre-tokenizers end in ByteLevel, that last step is left out of the pretokenizer
 * (load.c strips it from the configuration), and the model works on raw bytes. Everywhere else ByteLevel is a
 * pre-tokenizer like the others and maps bytes to characters (byte_level_char).
 */
#ifndef IPF_TOKENIZER_PIPELINE_H
#define IPF_TOKENIZER_PIPELINE_H

#include "tokenizer/tokenizer.h"

#include <string.h>

/* ---- texts cut in pieces: what pre-tokenizers and decoders take and give
 * ---------------------------------------------- */

/* Piece i is text[ends[i-1], ends[i]). */
struct text_pieces {
	struct buffer text;
	size_t *ends;
	size_t count, cap;
	bool failed; /* memory ran out (also where text.failed): sticky */
	/* Pre-tokenizers, as Metaspace's "first" asks for it: how many bytes come of the character that the input begins
	 * with, at the front of the text that is cut now, and of the pieces. */
	size_t head, heads;
};
void text_pieces_add(struct text_pieces *p, const char *text, size_t len); /* a whole piece */
void text_pieces_end(struct text_pieces *p); /* what was appended to p->text since the last end is a piece */
void text_pieces_clear(struct text_pieces *p);
void text_pieces_release(struct text_pieces *p);
static inline struct slice text_pieces_at(const struct text_pieces *p, size_t i)
{
	size_t begin = i ? p->ends[i - 1] : 0;
	return (struct slice){p->text.data ? p->text.data + begin : "", p->ends[i] - begin};
}

/* ---- vocabulary
 * ---------------------------------------------------------------------------------------------------------- */

#define VOCABULARY_NONE UINT32_MAX

/* A view of the compiled form. `text` is a token as tokenizer.json spells it. `word` is what the model sees: the same,
 * but in byte mode the raw bytes that it stands for. */
struct vocabulary {
	uint32_t size;  /* highest id of the model + 1; there may be gaps */
	uint32_t count; /* tokens */
	bool byte_mode;
	const uint32_t *text_offsets; /* size + 1 */
	const char *text;
	const uint32_t *word_offsets; /* the same arrays as text where not in byte mode */
	const char *word;
	const uint64_t *slots; /* hash << 32 | id + 1, linear probing; 0 is free */
	uint32_t slot_mask;
	uint32_t longest;     /* bytes of the longest word */
	const double *scores; /* Unigram, by id; else NULL */
};
/* The id of the token whose `word` this is; VOCABULARY_NONE. */
uint32_t vocabulary_find(const struct vocabulary *v, const char *word, size_t len);
/* Absent for a gap and beyond the end. */
static inline struct slice vocabulary_text(const struct vocabulary *v, uint32_t id)
{
	if (id >= v->size || v->text_offsets[id] == v->text_offsets[id + 1])
		return (struct slice){NULL, 0};
	return (struct slice){v->text + v->text_offsets[id], v->text_offsets[id + 1] - v->text_offsets[id]};
}

/* ---- normalizer (normalize*.c)
 * ------------------------------------------------------------------------------------------- */

#define NORMALIZER_CUT 2

struct normalizer {
	/* 1: `out` got the normalized text appended; 0: the text is normalized as it is (out untouched; cheap, and tried
	 * first: most texts are); -1 on error. `text` is valid UTF-8, and so is what comes out. NORMALIZER_CUT instead of
	 * 1, as Metaspace's "first" asks for it: what the text began with is gone. */
	int (*apply)(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err);
	void (*free)(struct normalizer *self);
};
/* config: the value of "normalizer"; NULL or JSON null gives *normalizer = NULL. */
int normalizer_new(struct normalizer **normalizer, const json_t *config, struct ipf_error *err);

/* ---- pre-tokenizer (pretokenize*.c)
 * -------------------------------------------------------------------------------------- */

struct pretokenizer {
	/* Appends to `out` the pieces of `text` (no empty ones: the reference drops them), whose head `out` tells. */
	int (*split)(const struct pretokenizer *self, struct slice text, struct text_pieces *out, struct ipf_error *err);
	void (*free)(struct pretokenizer *self);
};
int pretokenizer_new(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err);

/* ---- model (bpe.c, unigram.c, wordpiece.c)
 * ------------------------------------------------------------------------------- */

struct model {
	/* Appends the ids of one word, which is not empty. The ids depend on the word's bytes alone (tokenizer.c remembers
	 * them). `scratch` is what scratch_new gave, one a thread; NULL where there is no scratch_new. */
	int (*encode)(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
	              struct ipf_error *err);
	void *(*scratch_new)(const struct model *self); /* NULL: out of memory */
	void (*scratch_free)(void *scratch);
	void (*free)(struct model *self);
};
/* config: the value of "model" without "vocab" and "merges". `vocabulary` (and the block that unigram_new needs)
 * outlives the model. */
struct compiled;
int unigram_new(struct model **model, const json_t *config, const struct compiled *block,
                const struct vocabulary *vocabulary, struct ipf_error *err);
int wordpiece_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err);
int wordlevel_new(struct model **model, const json_t *config, const struct vocabulary *vocabulary,
                  struct ipf_error *err);

/* Appends one id; false when memory runs out. */
static inline bool token_ids_add(struct token_ids *ids, uint32_t id);
bool token_ids_grow(struct token_ids *ids, size_t more); /* room for `more` */
static inline bool token_ids_add(struct token_ids *ids, uint32_t id)
{
	if (ids->count == ids->cap && !token_ids_grow(ids, 1))
		return false;
	ids->ids[ids->count++] = id;
	return true;
}

/* ---- post-processor (postprocess.c)
 * -------------------------------------------------------------------------------------- */

/* What stands before and after a single text's ids. */
struct postprocess {
	struct token_ids before, after;
};
/* config: the value of "post_processor". ByteLevel and null add nothing; a template without exactly one $A is refused
 * by name. */
int postprocess_new(struct postprocess *post, const json_t *config, struct ipf_error *err);
void postprocess_release(struct postprocess *post);

/* ---- decoder (decode*.c)
 * ------------------------------------------------------------------------------------------------- */

struct decoder {
	/* The texts of tokens to texts of the output (Fuse, ByteFallback and others change their number); the caller joins
	 * them. All texts are valid UTF-8. */
	int (*apply)(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
	             struct ipf_error *err);
	void (*free)(struct decoder *self);
};
/* NULL or JSON null gives *decoder = NULL: tokens are then joined by spaces. */
int decoder_new(struct decoder **decoder, const json_t *config, struct ipf_error *err);

/* ---- GPT-2's bytes as characters (bytelevel.c)
 * ----------------------------------------------------------------------------- */

/* The code point that stands for a byte, 0x21 to 0x143. */
uint32_t byte_level_char(unsigned char byte);
/* The byte that a code point stands for, -1 for none. */
int byte_level_byte(uint32_t c);
/* Appends the bytes of a text made of such characters; false (nothing appended) where one stands for no byte. */
bool byte_level_bytes(const char *text, size_t len, struct buffer *out);

/* ---- UTF-8
 * ------------------------------------------------------------------------------------------------------------------ */

/* The code point at `*at` of valid UTF-8; moves it on. */
static inline uint32_t utf8_next(const char **at)
{
	const unsigned char *s = (const unsigned char *)*at;
	if (s[0] < 0x80) {
		*at += 1;
		return s[0];
	}
	if (s[0] < 0xe0) {
		*at += 2;
		return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
	}
	if (s[0] < 0xf0) {
		*at += 3;
		return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	}
	*at += 4;
	return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 | (s[3] & 0x3f);
}
/* Writes it and returns its length, 1 to 4. */
static inline size_t utf8_put(char *to, uint32_t c)
{
	unsigned char *s = (unsigned char *)to;
	if (c < 0x80) {
		s[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		s[0] = (unsigned char)(0xc0 | c >> 6);
		s[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		s[0] = (unsigned char)(0xe0 | c >> 12);
		s[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		s[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	s[0] = (unsigned char)(0xf0 | c >> 18);
	s[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	s[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	s[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

/* Character classes pinned to the reference's Unicode version (unicode.c), whatever version utf8proc and PCRE2 have. */
enum unicode_class {
	UNICODE_UPPER = 1,  /* Lu, Lt */
	UNICODE_LOWER = 2,  /* Ll */
	UNICODE_LETTER = 4, /* Lm, Lo */
	UNICODE_MARK = 8,
	UNICODE_NUMBER = 16,
	UNICODE_SPACE = 32, /* White_Space: what the reference's \s is */
	UNICODE_PUNCTUATION = 64,
	UNICODE_SYMBOL = 128,
	UNICODE_ANY_LETTER = UNICODE_UPPER | UNICODE_LOWER | UNICODE_LETTER,
};
unsigned char unicode_class(uint32_t c); /* slow: for making tables; scanners have one (compiled.h) */

#endif
