/* Opens, closes and decodes. */
#include "tokenizer/tokenizer.h"

#include "tokenizer/compiled_cache.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/tokenizer_json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* `anew`: not from the cache, which is written again. */
static int open_file(struct tokenizer **tokenizer, const char *path, bool anew, struct ipf_error *err)
{
	const char *base = strrchr(path, '/');
	struct tokenizer *t = calloc(1, sizeof *t);
	int status = -1;
	if (t)
		t->name = strdup(base ? base + 1 : path);
	if (!t || !t->name)
		ipf_error_memory(err);
	else
		status = compiled_cache_open(&t->block, path, anew, err);
	if (status == 0)
		status = pipeline_configure(t, err);
	if (status == 0) {
		*tokenizer = t;
		return 0;
	}
	/* The file's configuration was checked when it was compiled: a block whose configuration fails is not the
	 * file's. */
	bool again = !anew && t && t->block.mapped && err->kind == IPF_INPUT;
	tokenizer_close(t);
	if (!again)
		return -1;
	ipf_error_clear(err);
	return open_file(tokenizer, path, true, err);
}

int tokenizer_open(struct tokenizer **tokenizer, const char *path, struct ipf_error *err)
{
	struct buffer file = {0};
	struct stat st;
	int status = -1;

	*tokenizer = NULL;
	buffer_text(&file, path);
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		buffer_text(&file, file.len && file.data[file.len - 1] == '/' ? "tokenizer.json" : "/tokenizer.json");
	if (file.failed)
		ipf_error_memory(err);
	else if ((status = open_file(tokenizer, file.data, false, err)) < 0)
		ipf_error_place(err, file.data, err->line);
	buffer_release(&file);
	return status;
}

int tokenizer_open_json(struct tokenizer **tokenizer, struct slice json, struct ipf_error *err)
{
	static const char no_digest[65] = "0000000000000000000000000000000000000000000000000000000000000000";
	struct tokenizer *t = calloc(1, sizeof *t);
	*tokenizer = NULL;
	if (!t || !(t->name = strdup("tokenizer.json"))) {
		ipf_error_memory(err);
	} else if (tokenizer_json_compile(&t->block, json, no_digest, err) == 0 && pipeline_configure(t, err) == 0) {
		*tokenizer = t;
		return 0;
	}
	tokenizer_close(t);
	return -1;
}

void tokenizer_close(struct tokenizer *t)
{
	if (!t)
		return;
	added_tokens_release(&t->added);
	if (t->normalizer)
		t->normalizer->free(t->normalizer);
	if (t->pretokenizer)
		t->pretokenizer->free(t->pretokenizer);
	if (t->model)
		t->model->free(t->model);
	if (t->decoder)
		t->decoder->free(t->decoder);
	postprocess_release(&t->post);
	compiled_release(&t->block);
	free(t->name);
	free(t->file);
	free(t->commit);
	free(t);
}

struct tokenizer_scratch *tokenizer_scratch_new(const struct tokenizer *t)
{
	struct tokenizer_scratch *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->tokenizer = t;
	s->words = aligned_alloc(64, sizeof *s->words);
	if (s->words)
		memset(s->words, 0, sizeof *s->words);
	if (t->model->scratch_new)
		s->model = t->model->scratch_new(t->model);
	if (!s->words || (t->model->scratch_new && !s->model)) {
		tokenizer_scratch_free(s);
		return NULL;
	}
	return s;
}

void tokenizer_scratch_free(struct tokenizer_scratch *s)
{
	if (!s)
		return;
	if (s->model)
		s->tokenizer->model->scratch_free(s->model);
	free(s->words);
	buffer_release(&s->normalized);
	buffer_release(&s->word);
	text_pieces_release(&s->pieces);
	token_ids_release(&s->ids);
	free(s);
}

static int join(const struct text_pieces *texts, const char *between, struct buffer *out)
{
	for (size_t i = 0; i < texts->count; i++) {
		if (i)
			buffer_text(out, between);
		buffer_slice(out, text_pieces_at(texts, i));
	}
	return out->failed ? -1 : 0;
}

int tokenizer_decode(const struct tokenizer *t, const uint32_t *ids, size_t count, int flags, struct buffer *text,
                     struct ipf_error *err)
{
	struct text_pieces tokens = {0}, decoded = {0};
	int status = 0;

	for (size_t i = 0; i < count; i++) {
		struct slice s = pipeline_token_text(t, ids[i], flags);
		if (s.data)
			text_pieces_add(&tokens, s.data, s.len);
	}
	if (!t->decoder)
		status = join(&tokens, " ", text);
	else if (t->decoder->apply(t->decoder, &tokens, &decoded, err) < 0 || join(&decoded, "", text) < 0)
		status = -1;
	if (tokens.failed || decoded.failed)
		status = -1;
	text_pieces_release(&tokens);
	text_pieces_release(&decoded);
	if (status < 0 && !err->kind)
		ipf_error_memory(err);
	return status;
}

uint32_t tokenizer_vocabulary_size(const struct tokenizer *t)
{
	uint32_t size = t->vocabulary.size;
	if (t->added.count && t->added.sorted[t->added.count - 1].id >= size)
		size = t->added.sorted[t->added.count - 1].id + 1;
	return size;
}

int tokenizer_set_origin(struct tokenizer *t, const char *name, const char *commit)
{
	char *own = strdup(name), *at = strdup(commit);
	if (!own || !at) {
		free(own);
		free(at);
		return -1;
	}
	free(t->file);
	free(t->commit);
	t->file = t->name;
	t->name = own;
	t->commit = at;
	return 0;
}

json_t *tokenizer_describe(const struct tokenizer *t)
{
	return json_pack("{s:s, s:s*, s:s*, s:s, s:I, s:b}", "name", t->name, "file", t->file, "commit", t->commit,
	                 "sha256", t->block.header->source_sha256, "size", (json_int_t)tokenizer_vocabulary_size(t),
	                 "exact", 1);
}
