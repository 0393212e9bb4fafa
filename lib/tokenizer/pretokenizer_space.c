/* Metaspace, and ByteLevel outside byte mode. */
#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/part_config.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/regex.h"
#include "tokenizer/splitter.h"

#include <stdlib.h>
#include <string.h>

struct metaspace {
	struct pretokenizer base;
	char replacement[4];
	size_t len;
	enum metaspace_scheme scheme;
	bool split;
};

static bool starts_with(struct slice text, const char *prefix, size_t len)
{
	return text.len >= len && memcmp(text.data, prefix, len) == 0;
}

/* Each piece but the first begins with its replacement. */
static int split_metaspace(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                           struct ipf_error *err)
{
	const struct metaspace *m = (const struct metaspace *)self;
	const char *at = text.data, *end = text.data + text.len;
	size_t begin = out->text.len;

	if (!text.len)
		return 0;
	bool there = *at == ' ' || starts_with(text, m->replacement, m->len);
	if (!there && (m->scheme == METASPACE_ALWAYS || (m->scheme == METASPACE_FIRST && out->head))) {
		buffer_append(&out->text, m->replacement, m->len);
		out->heads += out->head ? m->len : 0;
	}
	while (at < end) {
		const char *start = at;
		while (at < end && *at != ' ' && !starts_with((struct slice){at, (size_t)(end - at)}, m->replacement, m->len))
			at++;
		buffer_append(&out->text, start, (size_t)(at - start));
		head_kept(out, (size_t)(start - text.data), (size_t)(at - text.data));
		if (at == end)
			break;
		if (m->split && out->text.len > begin) {
			text_pieces_end(out);
			begin = out->text.len;
		}
		buffer_append(&out->text, m->replacement, m->len);
		out->heads += head_behind(out->head, (size_t)(at - text.data)) ? m->len : 0;
		at += *at == ' ' ? 1 : m->len;
	}
	if (out->text.len > begin)
		text_pieces_end(out);
	return text_pieces_status(out, err);
}

static void free_metaspace(struct pretokenizer *self)
{
	free(self);
}

int pretokenizer_metaspace(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "pre_tokenizer: Metaspace";
	struct metaspace_config metaspace;
	bool split = true;
	const json_t *given = json_object_get(config, "split");

	if (config_metaspace(config, part, &metaspace, err) < 0)
		return -1;
	if (given && !json_is_null(given) && config_bool(config, part, "split", true, &split, err) < 0)
		return -1;
	struct metaspace *m = calloc(1, sizeof *m);
	if (!m)
		return ipf_error_memory(err);
	m->base = (struct pretokenizer){split_metaspace, free_metaspace};
	memcpy(m->replacement, metaspace.replacement.data, metaspace.replacement.len);
	m->len = metaspace.replacement.len;
	m->scheme = metaspace.scheme;
	m->split = split;
	*pretokenizer = &m->base;
	return 0;
}

/* ---- ByteLevel ---- */

struct byte_level {
	struct pretokenizer base;
	struct regex *words; /* NULL: the whole text is one word */
	bool prefix;
};

static void add_mapped(struct text_pieces *out, struct slice text, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++) {
		char *to = buffer_reserve(&out->text, 4);
		size_t len = to ? utf8_put(to, byte_level_char((unsigned char)text.data[i])) : 0;
		out->text.len += len;
		out->heads += i < out->head ? len : 0;
	}
	text_pieces_end(out);
}

static int split_byte_level(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                            struct ipf_error *err)
{
	const struct byte_level *b = (const struct byte_level *)self;
	struct buffer prefixed = {0};
	struct regex_walk walk;
	size_t start, end, done = 0;
	int found = 0;

	if (!text.len)
		return 0;
	if (b->prefix && *text.data != ' ') {
		buffer_byte(&prefixed, ' ');
		buffer_slice(&prefixed, text);
		if (prefixed.failed)
			return ipf_error_memory(err);
		text = buffer_all(&prefixed);
		out->head += out->head > 0;
	}
	if (b->words) {
		regex_walk_begin(&walk, b->words, text);
		while ((found = regex_walk_next(&walk, &start, &end, err)) == 1) {
			if (start > done)
				add_mapped(out, text, done, start);
			add_mapped(out, text, start, end);
			done = end;
		}
		regex_walk_end(&walk);
	}
	if (found == 0 && done < text.len)
		add_mapped(out, text, done, text.len);
	buffer_release(&prefixed);
	return found < 0 ? -1 : text_pieces_status(out, err);
}

static void free_byte_level(struct pretokenizer *self)
{
	regex_free(((struct byte_level *)self)->words);
	free(self);
}

int pretokenizer_byte_level(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	static const char part[] = "pre_tokenizer: ByteLevel";
	static const char words[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
	bool use_regex = true;
	struct byte_level *b = calloc(1, sizeof *b);

	if (!b)
		return ipf_error_memory(err);
	b->base = (struct pretokenizer){split_byte_level, free_byte_level};
	if (config_bool(config, part, "add_prefix_space", false, &b->prefix, err) < 0 ||
	    config_bool(config, part, "use_regex", true, &use_regex, err) < 0 ||
	    (use_regex && regex_new(&b->words, slice_of(words), false, err) < 0)) {
		free_byte_level(&b->base);
		return -1;
	}
	*pretokenizer = &b->base;
	return 0;
}
