#include "tokenizer/code_point.h"
#include "tokenizer/part_config.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/splitter.h"
#include "tokenizer/unicode.h"

#include <stdlib.h>

struct character_splitter {
	struct pretokenizer base;
	enum behavior behavior; /* Digits, Punctuation */
	uint32_t delimiter;
	size_t length; /* FixedLength */
};

static void free_chars(struct pretokenizer *self)
{
	free(self);
}

static int chars_new(struct pretokenizer **pretokenizer, struct character_splitter kind, struct ipf_error *err)
{
	struct character_splitter *p = malloc(sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	*p = kind;
	p->base.free = free_chars;
	*pretokenizer = &p->base;
	return 0;
}

/* Each character that fulfils the predicate is a match, as in the reference. */
static void split_characters(bool (*is_match)(uint32_t c), enum behavior behavior, struct slice text,
                             struct text_pieces *out)
{
	struct splitter s = {.text = text, .out = out, .behavior = behavior};
	const char *at = text.data, *end = text.data + text.len;
	size_t done = 0;

	while (at < end) {
		size_t start = (size_t)(at - text.data);
		if (!is_match(utf8_next(&at)))
			continue;
		if (done < start)
			splitter_add(&s, done, start, false);
		done = (size_t)(at - text.data);
		splitter_add(&s, start, done, true);
	}
	if (done < text.len)
		splitter_add(&s, done, text.len, false);
	splitter_finish(&s);
}

static int split_digits(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                        struct ipf_error *err)
{
	split_characters(unicode_numeric, ((const struct character_splitter *)self)->behavior, text, out);
	return text_pieces_status(out, err);
}

int pretokenizer_digits(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	bool individual = false;
	if (config_bool(config, "pre_tokenizer: Digits", "individual_digits", false, &individual, err) < 0)
		return -1;
	return chars_new(pretokenizer,
	                 (struct character_splitter){{split_digits, NULL}, individual ? ISOLATED : CONTIGUOUS, 0, 0}, err);
}

static int split_punctuation(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                             struct ipf_error *err)
{
	split_characters(unicode_punctuation, ((const struct character_splitter *)self)->behavior, text, out);
	return text_pieces_status(out, err);
}

int pretokenizer_punctuation(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	struct character_splitter kind = {.base = {split_punctuation, NULL}, .behavior = ISOLATED};
	if (splitter_behavior(config, "pre_tokenizer: Punctuation", true, &kind.behavior, err) < 0)
		return -1;
	return chars_new(pretokenizer, kind, err);
}

static int split_at_spaces(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                           struct ipf_error *err)
{
	(void)self;
	split_characters(unicode_white_space, REMOVED, text, out);
	return text_pieces_status(out, err);
}

int pretokenizer_whitespace_split(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(pretokenizer, (struct character_splitter){.base = {split_at_spaces, NULL}}, err);
}

static int split_bert(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                      struct ipf_error *err)
{
	const char *at = text.data, *end = text.data + text.len;
	size_t head = out->head;
	(void)self;
	while (at < end) {
		const char *word = at, *next = at;
		while (next < end && !unicode_white_space(utf8_next(&next)))
			at = next;
		out->head = head_behind(head, (size_t)(word - text.data));
		split_characters(unicode_punctuation, ISOLATED, (struct slice){word, (size_t)(at - word)}, out);
		at = next;
	}
	return text_pieces_status(out, err);
}

int pretokenizer_bert(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(pretokenizer, (struct character_splitter){.base = {split_bert, NULL}}, err);
}

/* \w+|[^\w\s]+ */
static int split_words(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                       struct ipf_error *err)
{
	enum { NONE, SPACE, WORD, OTHER } kind, before = NONE;
	const char *at = text.data, *end = text.data + text.len;
	size_t start = 0;
	(void)self;
	for (; at < end; before = kind) {
		const char *next = at;
		uint32_t c = utf8_next(&next);
		kind = unicode_white_space(c) ? SPACE : unicode_word(c) ? WORD : OTHER;
		if (kind != before) {
			if (before == WORD || before == OTHER)
				add_part(out, text, start, (size_t)(at - text.data));
			start = (size_t)(at - text.data);
		}
		at = next;
	}
	if (before == WORD || before == OTHER)
		add_part(out, text, start, text.len);
	return text_pieces_status(out, err);
}

int pretokenizer_whitespace(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(pretokenizer, (struct character_splitter){.base = {split_words, NULL}}, err);
}

static int split_delimiter(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                           struct ipf_error *err)
{
	const struct character_splitter *p = (const struct character_splitter *)self;
	const char *at = text.data, *end = text.data + text.len;
	size_t start = 0;
	while (at < end) {
		size_t stop = (size_t)(at - text.data);
		if (utf8_next(&at) != p->delimiter)
			continue;
		add_part(out, text, start, stop);
		start = (size_t)(at - text.data);
	}
	add_part(out, text, start, text.len);
	return text_pieces_status(out, err);
}

int pretokenizer_delimiter(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	struct slice text;
	if (config_character(config, "pre_tokenizer: CharDelimiterSplit", "delimiter", &text, err) < 0)
		return -1;
	const char *at = text.data;
	return chars_new(pretokenizer,
	                 (struct character_splitter){.base = {split_delimiter, NULL}, .delimiter = utf8_next(&at)}, err);
}

/* A piece begins at each change of script. A character without a script belongs to the piece before it, and is dropped
 * at the beginning. */
static int split_scripts(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                         struct ipf_error *err)
{
	const char *at = text.data, *end = text.data + text.len;
	size_t start = text.len;
	unsigned last = 0;
	(void)self;
	while (at < end) {
		size_t begin = (size_t)(at - text.data);
		unsigned script = unicode_script(utf8_next(&at));
		if (!script)
			continue;
		if (script != last) {
			add_part(out, text, start, begin);
			start = begin;
		}
		last = script;
	}
	add_part(out, text, start, text.len);
	return text_pieces_status(out, err);
}

int pretokenizer_scripts(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	(void)config;
	return chars_new(pretokenizer, (struct character_splitter){.base = {split_scripts, NULL}}, err);
}

static int split_lengths(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                         struct ipf_error *err)
{
	const struct character_splitter *p = (const struct character_splitter *)self;
	const char *at = text.data, *end = text.data + text.len;
	while (at < end) {
		const char *start = at;
		for (size_t n = 0; n < p->length && at < end; n++)
			utf8_next(&at);
		add_part(out, text, (size_t)(start - text.data), (size_t)(at - text.data));
	}
	return text_pieces_status(out, err);
}

int pretokenizer_fixed_length(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	struct character_splitter kind = {.base = {split_lengths, NULL}, .length = 5};
	if (config_size(config, "pre_tokenizer: FixedLength", "length", true, &kind.length, err) < 0)
		return -1;
	if (!kind.length)
		return config_refuse("pre_tokenizer: FixedLength", "length", "1 or more", err);
	return chars_new(pretokenizer, kind, err);
}
