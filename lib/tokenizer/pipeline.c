/* Makes the parts from the configuration, and decides which work fast paths can do. */
#include "tokenizer/pipeline.h"

#include "tokenizer/bpe.h"

#include <string.h>

static const char *type_of(const json_t *step)
{
	const char *type = json_string_value(json_object_get(step, "type"));
	return type ? type : "";
}

static bool is(const json_t *value, const char *text)
{
	return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

static bool replaces_spaces(const json_t *step)
{
	return strcmp(type_of(step), "Replace") == 0 &&
	       is(json_object_get(json_object_get(step, "pattern"), "String"), " ") &&
	       is(json_object_get(step, "content"), "\xe2\x96\x81");
}

/* True for a Replace of " " by U+2581, alone or after a Prepend of U+2581. */
static bool only_spaces(const json_t *normalizer, bool *prepend)
{
	const json_t *steps = json_object_get(normalizer, "normalizers");
	size_t count = json_array_size(steps);
	*prepend = false;
	if (replaces_spaces(normalizer))
		return true;
	if (strcmp(type_of(normalizer), "Sequence") != 0 || count == 0 || count > 2 ||
	    !replaces_spaces(json_array_get(steps, count - 1)))
		return false;
	if (count == 1)
		return true;
	const json_t *first = json_array_get(steps, 0);
	*prepend = strcmp(type_of(first), "Prepend") == 0 && is(json_object_get(first, "prepend"), "\xe2\x96\x81");
	return *prepend;
}

/* True if there is nothing to split, or only at spaces the normalizer has replaced. */
static bool never_splits(const json_t *pre, bool no_spaces)
{
	if (!pre || json_is_null(pre))
		return true;
	return no_spaces && strcmp(type_of(pre), "Split") == 0 &&
	       is(json_object_get(json_object_get(pre, "pattern"), "String"), " ") &&
	       is(json_object_get(pre, "behavior"), "MergedWithPrevious") && !json_is_true(json_object_get(pre, "invert"));
}

/* Byte mode: the steps before ByteLevel are done by a scanner or by general pre-tokenizers. */
static int configure_bytes(struct tokenizer *t, const json_t *pre, struct ipf_error *err)
{
	json_t *steps = json_object_get(pre, "pretokenizers"), *before;
	const json_t *last = steps ? json_array_get(steps, json_array_size(steps) - 1) : pre, *flag;
	int status;

	t->scan = scanner_for_chain(pre);
	if (t->scan)
		return 0;
	flag = json_object_get(last, "add_prefix_space");
	t->prefix_space = !flag || json_is_true(flag);
	flag = json_object_get(last, "use_regex");
	if (!flag || json_is_true(flag))
		t->scan = scan_gpt2;
	if (!steps || json_array_size(steps) < 2)
		return 0;
	before = json_pack("{s:s, s:o}", "type", "Sequence", "pretokenizers", json_copy(steps));
	if (!before)
		return ipf_error_memory(err);
	json_array_remove(json_object_get(before, "pretokenizers"), json_array_size(steps) - 1);
	status = pretokenizer_new(&t->pretokenizer, before, err);
	json_decref(before);
	return status;
}

static int configure_model(struct tokenizer *t, const json_t *config, struct ipf_error *err)
{
	const char *type = type_of(config);
	if (t->block.header->bpe)
		return bpe_new(&t->model, config, &t->block, &t->vocabulary, err);
	if (strcmp(type, "Unigram") == 0)
		return unigram_new(&t->model, config, &t->block, &t->vocabulary, err);
	if (strcmp(type, "WordPiece") == 0)
		return wordpiece_new(&t->model, config, &t->vocabulary, err);
	if (strcmp(type, "WordLevel") == 0)
		return wordlevel_new(&t->model, config, &t->vocabulary, err);
	return ipf_error_set(err, IPF_INPUT, "model: unknown type \"%s\"", type);
}

/* Not byte mode: finds the fast paths that BPE models allow. */
static int configure_words(struct tokenizer *t, const json_t *normalizer, const json_t *pre, struct ipf_error *err)
{
	bool prepend = false, spaces = only_spaces(normalizer, &prepend);
	if (t->block.header->bpe)
		t->neighbours = bpe_neighbours(t->model);
	if (!never_splits(pre, spaces))
		return pretokenizer_new(&t->pretokenizer, pre, err);
	t->spaces_inside = t->neighbours && spaces && t->added.normalized.count == 0;
	t->prepend = t->spaces_inside && prepend;
	return 0;
}

static int configure(struct tokenizer *t, const json_t *config, struct ipf_error *err)
{
	const json_t *normalizer = json_object_get(config, "normalizer"), *pre = json_object_get(config, "pre_tokenizer");
	const json_t *decoder = json_object_get(config, "decoder");

	if (normalizer_new(&t->normalizer, normalizer, err) < 0 ||
	    configure_model(t, json_object_get(config, "model"), err) < 0 ||
	    added_tokens_init(&t->added, &t->block, t->normalizer, err) < 0 ||
	    postprocess_new(&t->post, json_object_get(config, "post_processor"), err) < 0 ||
	    decoder_new(&t->decoder, decoder, err) < 0)
		return -1;
	if (t->vocabulary.byte_mode)
		return configure_bytes(t, pre, err);
	return configure_words(t, normalizer, pre, err);
}

int pipeline_configure(struct tokenizer *t, struct ipf_error *err)
{
	json_error_t where;
	json_t *config;
	int status;

	compiled_vocabulary(&t->block, &t->vocabulary);
	character_classes_of(&t->classes, &t->block);
	config = json_loadb(compiled_section(&t->block, SECTION_CONFIG), compiled_bytes(&t->block, SECTION_CONFIG),
	                    JSON_ALLOW_NUL, &where);
	if (!config)
		return ipf_error_set(err, IPF_INPUT, "configuration: %s", where.text);
	status = configure(t, config, err);
	json_decref(config);
	return status;
}

struct slice pipeline_token_text(const struct tokenizer *t, uint32_t id, int flags)
{
	const struct added_record *added = added_tokens_by_id(&t->added, id);
	if (!added)
		return vocabulary_text(&t->vocabulary, id);
	if (flags & TOKENIZER_SKIP_SPECIAL && added->special)
		return (struct slice){NULL, 0};
	return added_tokens_text(&t->added, added);
}
