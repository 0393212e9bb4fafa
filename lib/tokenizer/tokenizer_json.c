#include "tokenizer/tokenizer_json.h"

#include "json/jdoc.h"
#include "json/jout.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/compiler.h"
#include "tokenizer/unigram_score.h"
#include "tokenizer/unigram_trie.h"

#include <string.h>

static jdoc_id model_of(const struct jdoc *j)
{
	return jdoc_get(j, JDOC_ROOT, "model");
}

static bool ends_in_byte_level(const struct jdoc *j, jdoc_id pre)
{
	if (jdoc_text_is(j, jdoc_get(j, pre, "type"), "ByteLevel"))
		return true;
	jdoc_id list = jdoc_get(j, pre, "pretokenizers");
	uint32_t n = jdoc_count(j, list);
	return jdoc_text_is(j, jdoc_get(j, pre, "type"), "Sequence") && n &&
	       jdoc_text_is(j, jdoc_get(j, jdoc_at(j, list, n - 1), "type"), "ByteLevel");
}

/* Writes the members of an object except those named. */
static void copy_but(struct jout *w, const struct jdoc *j, jdoc_id map, const char *const *but, struct buffer *key)
{
	for (struct jdoc_each e = jdoc_each(j, map); jdoc_step(&e);) {
		bool skip = false;
		for (const char *const *b = but; *b; b++)
			skip = skip || jdoc_text_is(j, e.key, *b);
		if (skip)
			continue;
		buffer_clear(key);
		jdoc_text(j, e.key, key);
		if (w->comma)
			buffer_byte(w->out, ',');
		w->comma = false;
		jout_string(w, buffer_all(key));
		buffer_byte(w->out, ':');
		w->comma = false;
		jout_value(w, jdoc_raw(j, e.value));
		w->comma = true;
	}
}

static void copy_config(const struct jdoc *j, struct buffer *out)
{
	static const char *const but_root[] = {"model", "added_tokens", NULL};
	static const char *const but_model[] = {"vocab", "merges", NULL};
	struct buffer key = {0};
	struct jout w = {.out = out};

	jout_begin_map(&w);
	copy_but(&w, j, JDOC_ROOT, but_root, &key);
	jout_key(&w, "model");
	jout_begin_map(&w);
	copy_but(&w, j, model_of(j), but_model, &key);
	jout_end_map(&w);
	jout_end_map(&w);
	if (key.failed)
		out->failed = true;
	buffer_release(&key);
}

/* True if each byte has a token, or if bytes without one are left out. If bytes are missing and there is byte_fallback,
 * the reference writes the bytes of the characters that represent them. */
static bool bytes_suffice(const struct jdoc *j)
{
	struct ipf_error none = {0};
	bool fallback = false;
	jdoc_id vocab = jdoc_get(j, model_of(j), "vocab");

	if (jdoc_get_bool(j, model_of(j), "byte_fallback", &fallback, &none) < 0 || !fallback)
		return true;
	for (unsigned i = 0; i < 256; i++) {
		char name[5] = "";
		utf8_put(name, byte_level_char((unsigned char)i));
		if (jdoc_get(j, vocab, name) == JDOC_NONE)
			return false;
	}
	return true;
}

static int add_token(struct compiler *c, const struct jdoc *j, jdoc_id text, uint32_t id, struct ipf_error *err)
{
	buffer_clear(&c->word);
	jdoc_text(j, text, &c->word);
	return compiler_token(c, buffer_all(&c->word), id, err);
}

static int load_score(struct compiler *c, const struct jdoc *j, jdoc_id entry, uint32_t id, struct ipf_error *err)
{
	double score;
	jdoc_id number = jdoc_at(j, entry, 1);
	if (jdoc_type_of(j, jdoc_at(j, entry, 0)) != JDOC_TEXT || jdoc_type_of(j, number) != JDOC_NUMBER ||
	    !unigram_score_read(jdoc_raw(j, number), &score))
		return ipf_error_set(err, IPF_INPUT, "model.vocab: entry %u: expected [token, score]", id);
	buffer_append(&c->builder.sections[SECTION_SCORES], &score, sizeof score);
	return add_token(c, j, jdoc_at(j, entry, 0), id, err);
}

static int load_vocabulary(struct compiler *c, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id vocab = jdoc_get(j, model_of(j), "vocab");
	bool unigram = jdoc_text_is(j, jdoc_get(j, model_of(j), "type"), "Unigram");

	if (jdoc_type_of(j, vocab) != (unigram ? JDOC_LIST : JDOC_MAP) || jdoc_is_null(j, vocab))
		return ipf_error_set(err, IPF_INPUT, "model.vocab: expected %s", unigram ? "a list" : "an object");
	uint32_t index = 0;
	for (struct jdoc_each e = jdoc_each(j, vocab); jdoc_step(&e); index++) {
		int64_t id = 0;
		if (unigram) {
			if (load_score(c, j, e.value, index, err) < 0)
				return -1;
			continue;
		}
		if (!jdoc_to_int(j, e.value, &id) || id < 0)
			return jdoc_expected(j, e.value, "model.vocab", "ids, 0 or more", err);
		if (id >= MAX_IDS)
			return ipf_error_set(err, IPF_INPUT, "model.vocab: expected ids up to %d, got %lld", MAX_IDS - 1,
			                     (long long)id);
		if (add_token(c, j, e.key, (uint32_t)id, err) < 0)
			return -1;
	}
	return compiler_end_tokens(c, unigram, err);
}

static int merge_parts(const struct jdoc *j, jdoc_id merge, struct buffer *a, struct buffer *b)
{
	buffer_clear(a);
	buffer_clear(b);
	if (jdoc_type_of(j, merge) == JDOC_LIST && jdoc_count(j, merge) == 2) {
		if (jdoc_type_of(j, jdoc_at(j, merge, 0)) != JDOC_TEXT || jdoc_type_of(j, jdoc_at(j, merge, 1)) != JDOC_TEXT)
			return -1;
		jdoc_text(j, jdoc_at(j, merge, 0), a);
		jdoc_text(j, jdoc_at(j, merge, 1), b);
		return 0;
	}
	if (jdoc_type_of(j, merge) != JDOC_TEXT)
		return -1;
	jdoc_text(j, merge, a);
	const char *space = a->data ? memchr(a->data, ' ', a->len) : NULL;
	if (!space || memchr(space + 1, ' ', (size_t)(a->data + a->len - space - 1)))
		return -1;
	buffer_append(b, space + 1, (size_t)(a->data + a->len - space - 1));
	a->len = (size_t)(space - a->data);
	return 0;
}

static int load_merges(struct compiler *c, const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id merges = jdoc_get(j, model_of(j), "merges");
	struct buffer a = {0}, b = {0}, prefix = {0};
	uint32_t index = 0;
	int status = -1;

	if (jdoc_type_of(j, merges) != JDOC_LIST) {
		ipf_error_set(err, IPF_INPUT, "model.merges: expected a list");
		goto out;
	}
	jdoc_text(j, jdoc_get(j, model_of(j), "continuing_subword_prefix"), &prefix);
	bool spelled = jdoc_type_of(j, jdoc_at(j, merges, 0)) == JDOC_TEXT;
	for (struct jdoc_each e = jdoc_each(j, merges); jdoc_step(&e); index++) {
		if ((jdoc_type_of(j, e.value) == JDOC_TEXT) != spelled || merge_parts(j, e.value, &a, &b) < 0) {
			/* a line of merges.txt copied along */
			if (spelled && a.len >= 8 && memcmp(a.data, "#version", 8) == 0)
				continue;
			ipf_error_set(err, IPF_INPUT, "model.merges: entry %u: expected two tokens", index);
			goto out;
		}
		if (spelled && a.len >= 8 && memcmp(a.data, "#version", 8) == 0)
			continue;
		if (compiler_merge(c, buffer_all(&a), buffer_all(&b), prefix.len, err) < 0)
			goto out;
	}
	status = compiler_end_merges(c, err);
out:
	buffer_release(&a);
	buffer_release(&b);
	buffer_release(&prefix);
	return status;
}

static int load_added(struct compiler *c, const struct jdoc *j, struct ipf_error *err)
{
	struct buffer content = {0};
	int status = 0;

	for (struct jdoc_each e = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "added_tokens")); status == 0 && jdoc_step(&e);) {
		struct added_record r = {0};
		const struct {
			const char *name;
			uint8_t *value;
		} flags[] = {{"special", &r.special},
		             {"normalized", &r.normalized},
		             {"lstrip", &r.lstrip},
		             {"rstrip", &r.rstrip},
		             {"single_word", &r.single_word}};
		buffer_clear(&content);
		if (jdoc_get_text(j, e.value, "content", &content, err) != 1) {
			status = ipf_error_set(err, IPF_INPUT, "added_tokens: expected content in every entry");
			break;
		}
		for (size_t i = 0; status == 0 && i < sizeof flags / sizeof *flags; i++) {
			bool value = false;
			if (jdoc_get_bool(j, e.value, flags[i].name, &value, err) < 0)
				status = -1;
			*flags[i].value = value;
		}
		if (status == 0)
			status = compiler_added_token(c, buffer_all(&content), false, r, err);
	}
	buffer_release(&content);
	return status;
}

static int check_outline(const struct jdoc *j, struct ipf_error *err)
{
	jdoc_id version = jdoc_get(j, JDOC_ROOT, "version");
	if (jdoc_type_of(j, JDOC_ROOT) != JDOC_MAP || jdoc_type_of(j, model_of(j)) != JDOC_MAP)
		return ipf_error_set(err, IPF_INPUT, "not a tokenizer.json: it has no \"model\"");
	if (!jdoc_is_null(j, version) && !jdoc_text_is(j, version, "1.0"))
		return ipf_error_set(err, IPF_INPUT, "version: expected \"1.0\"");
	return 0;
}

int tokenizer_json_compile(struct compiled_block *out, struct slice text, const char *sha256, struct ipf_error *err)
{
	struct jdoc j = {0};
	struct compiler c = {0};
	int status = -1;

	if (jdoc_parse(&j, text.data, text.len, err) < 0 || check_outline(&j, err) < 0)
		goto out;
	/* Old files do not name BPE. */
	jdoc_id type = jdoc_get(&j, model_of(&j), "type");
	bool bpe = jdoc_text_is(&j, type, "BPE") ||
	           (jdoc_is_null(&j, type) && !jdoc_is_null(&j, jdoc_get(&j, model_of(&j), "merges")));
	c.builder.header.byte_mode = bpe && ends_in_byte_level(&j, jdoc_get(&j, JDOC_ROOT, "pre_tokenizer")) &&
	                             bytes_suffice(&j);
	c.builder.header.bpe = bpe;
	copy_config(&j, &c.builder.sections[SECTION_CONFIG]);
	if (load_vocabulary(&c, &j, err) < 0 || (bpe && load_merges(&c, &j, err) < 0) || load_added(&c, &j, err) < 0)
		goto out;
	if (c.builder.sections[SECTION_SCORES].len && unigram_trie_build(&c.builder, &c.by_text, err) < 0)
		goto out;
	jdoc_release(&j);
	status = compiler_finish(&c, out, text.len, sha256, err);
out:
	jdoc_release(&j);
	compiler_release(&c);
	return status;
}
