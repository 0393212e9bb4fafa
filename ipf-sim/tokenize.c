#include "tokenize.h"

#include "json/jdoc.h"
#include "json/jout.h"
#include "token_text.h"

#include <string.h>

/* Parses the body; a model it names must be served. */
static int read_body(struct jdoc *doc, const struct server_options *options, struct slice body, struct ipf_error *err)
{
	struct buffer model = {0};
	int status = 400;
	if (jdoc_parse(doc, body.data ? body.data : "", body.len, err) == 0) {
		int found = jdoc_get_text(doc, JDOC_ROOT, "model", &model, err);
		if (jdoc_type_of(doc, JDOC_ROOT) != JDOC_MAP) {
			ipf_error_set(err, IPF_INPUT, "expected a map");
		} else if (found > 0 && model.data && !server_has_model(options, model.data)) {
			ipf_error_set(err, IPF_INPUT, "The model `%s` does not exist.", model.data);
			status = 404;
		} else if (found >= 0) {
			status = 200;
		}
	}
	buffer_release(&model);
	return status;
}

/* The tokens of a chat, as the same chat would be counted for an answer. */
static int chat_tokens(const struct server_options *options, struct slice body, struct buffer *tokens,
                       struct ipf_error *err)
{
	struct generate_request ask = {.keep_tokens = true};
	struct sequence sequence = {0};
	int parsed = generate_request_parse(&ask, &sequence, true, body, &options->ask, err);
	if (parsed == 0)
		buffer_slice(tokens, buffer_all(&ask.tokens));
	generate_request_release(&ask);
	sequence_release(&sequence);
	return parsed;
}

static int prompt_tokens(const struct jdoc *doc, struct buffer *tokens, struct ipf_error *err)
{
	struct buffer text = {0};
	int found = jdoc_get_text(doc, JDOC_ROOT, "prompt", &text, err);
	for (size_t i = 0; i < text.len; i += TOKEN_BYTES) {
		uint32_t token = token_of_text((struct slice){text.data + i, text.len - i});
		buffer_append(tokens, &token, sizeof token);
	}
	if (found == 0)
		ipf_error_set(err, IPF_INPUT, "prompt or messages: missing");
	tokens->failed |= text.failed;
	buffer_release(&text);
	return found > 0 ? 0 : -1;
}

static uint32_t token_at(const struct buffer *tokens, size_t i)
{
	uint32_t token;
	memcpy(&token, tokens->data + i * sizeof token, sizeof token);
	return token;
}

static void write_tokens(const struct buffer *tokens, int64_t model_len, bool texts, struct jout *w)
{
	size_t count = tokens->len / sizeof(uint32_t);
	char bytes[TOKEN_BYTES];
	jout_begin_map(w);
	jout_member_int(w, "count", (int64_t)count);
	jout_member_int(w, "max_model_len", model_len);
	jout_key(w, "tokens");
	jout_begin_list(w);
	for (size_t i = 0; i < count; i++)
		jout_int(w, token_at(tokens, i));
	jout_end_list(w);
	jout_key(w, "token_strs");
	if (texts) {
		jout_begin_list(w);
		for (size_t i = 0; i < count; i++)
			jout_string(w, (struct slice){bytes, token_bytes(token_at(tokens, i), bytes)});
		jout_end_list(w);
	} else {
		jout_null(w);
	}
	jout_end_map(w);
}

int tokenize(const struct server_options *options, struct slice body, struct buffer *out, struct ipf_error *err)
{
	struct jdoc doc = {0};
	struct buffer tokens = {0};
	struct jout w = {.out = out};
	bool texts = false;
	int status = read_body(&doc, options, body, err);
	if (status == 200 && jdoc_get_bool(&doc, JDOC_ROOT, "return_token_strs", &texts, err) < 0)
		status = 400;
	bool chat = jdoc_get(&doc, JDOC_ROOT, "messages") != JDOC_NONE;
	if (status == 200 && (chat ? chat_tokens(options, body, &tokens, err) : prompt_tokens(&doc, &tokens, err)) < 0)
		status = 400;
	if (status == 200)
		write_tokens(&tokens, options->model_len, texts, &w);
	if (tokens.failed || out->failed) {
		ipf_error_memory(err);
		status = 500;
	}
	buffer_release(&tokens);
	jdoc_release(&doc);
	return status;
}

/* Appends the text of the list's tokens. */
static int tokens_text(const struct jdoc *doc, struct buffer *text, struct ipf_error *err)
{
	jdoc_id list = jdoc_get(doc, JDOC_ROOT, "tokens");
	char bytes[TOKEN_BYTES];
	if (jdoc_type_of(doc, list) != JDOC_LIST)
		return ipf_error_set(err, IPF_INPUT, "tokens: expected a list of token ids");
	for (struct jdoc_each e = jdoc_each(doc, list); jdoc_step(&e);) {
		int64_t id;
		if (!jdoc_to_int(doc, e.value, &id) || id < 0 || id > UINT32_MAX)
			return jdoc_expected(doc, e.value, "tokens", "token ids from 0 to 4294967295", err);
		buffer_append(text, bytes, token_bytes((uint32_t)id, bytes));
	}
	return 0;
}

int detokenize(const struct server_options *options, struct slice body, struct buffer *out, struct ipf_error *err)
{
	struct jdoc doc = {0};
	struct buffer text = {0};
	struct jout w = {.out = out};
	int status = read_body(&doc, options, body, err);
	if (status == 200 && tokens_text(&doc, &text, err) < 0)
		status = 400;
	if (status == 200) {
		jout_begin_map(&w);
		jout_key(&w, "prompt");
		jout_string(&w, text.data ? buffer_all(&text) : slice_of(""));
		jout_end_map(&w);
	}
	if (text.failed || out->failed) {
		ipf_error_memory(err);
		status = 500;
	}
	buffer_release(&text);
	jdoc_release(&doc);
	return status;
}
