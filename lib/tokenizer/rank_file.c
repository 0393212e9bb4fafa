/* Two neighbours merge if their concatenation is a token, the lowest rank first. Each way to cut a token in two is thus
 * a merge of the token's rank. */
#include "tokenizer/rank_file.h"

#include "base64.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"
#include "tokenizer/compiler.h"
#include "tokenizer/scanner.h"

#include "json/jout.h"

#include <string.h>

struct special {
	const char *text;
	uint32_t id;
};

static const struct encoding {
	const char *kind, *names[3], *regex;
	struct special specials[6];
} encodings[] = {
	{".r50k", {"r50k_base", "gpt2"}, scan_regex_gpt2, {{"<|endoftext|>", 50256}}},
	{".p50k", {"p50k_base"}, scan_regex_gpt2, {{"<|endoftext|>", 50256}}},
	{".cl100k",
     {"cl100k_base"},
     scan_regex_cl100k,
     {{"<|endoftext|>", 100257},
      {"<|fim_prefix|>", 100258},
      {"<|fim_middle|>", 100259},
      {"<|fim_suffix|>", 100260},
      {"<|endofprompt|>", 100276}}},
	{".o200k", {"o200k_base"}, scan_regex_o200k, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
	{".qwen", {"qwen"}, scan_regex_qwen, {{"<|endoftext|>", 151643}, {"<|im_start|>", 151644}, {"<|im_end|>", 151645}}},
};

int rank_file_kind(const char *path, const char **kind, struct ipf_error *err)
{
	static const char suffix[] = ".tiktoken";
	size_t len = strlen(path);
	const char *base = strrchr(path, '/');
	base = base ? base + 1 : path;
	*kind = "";
	if (len < sizeof suffix || strcmp(path + len + 1 - sizeof suffix, suffix) != 0)
		return 0;
	for (size_t i = 0; i < sizeof encodings / sizeof *encodings; i++)
		for (const char *const *name = encodings[i].names; *name; name++)
			if (strncmp(base, *name, strlen(*name)) == 0 && base[strlen(*name)] == '.') {
				*kind = encodings[i].kind;
				return 0;
			}
	return ipf_error_set(err, IPF_INPUT,
	                     "unknown encoding \"%s\": the name of a rank file has to begin with "
	                     "r50k_base, p50k_base, cl100k_base, o200k_base, qwen or gpt2",
	                     base);
}

/* Decodes a token into the characters that represent its bytes. */
static bool read_token(struct slice text, struct buffer *out)
{
	struct buffer bytes = {0};
	bool good = base64_decode(text, &bytes) == 0;
	for (size_t i = 0; good && i < bytes.len; i++) {
		char utf8[4];
		buffer_append(out, utf8, utf8_put(utf8, byte_level_char((unsigned char)bytes.data[i])));
	}
	out->failed = out->failed || bytes.failed;
	buffer_release(&bytes);
	return good;
}

static int read_line(struct compiler *c, const char *at, const char *end, int64_t number, struct buffer *token,
                     struct ipf_error *err)
{
	const char *space = memchr(at, ' ', (size_t)(end - at));
	unsigned long rank = 0;
	buffer_clear(token);
	bool good = space && space > at && space + 1 < end && read_token((struct slice){at, (size_t)(space - at)}, token) &&
	            token->len;
	for (const char *d = space ? space + 1 : end; good && d < end; d++) {
		good = *d >= '0' && *d <= '9';
		rank = rank * 10 + (unsigned long)(*d - '0');
		good = good && rank < MAX_IDS;
	}
	if (!good)
		return ipf_error_at(err, IPF_INPUT, NULL, number, "expected a token in base64 and its rank");
	return compiler_token(c, buffer_all(token), (uint32_t)rank, err);
}

static int read_lines(struct compiler *c, const char *text, size_t len, struct ipf_error *err)
{
	struct buffer token = {0};
	const char *end = text + len;
	int status = 0;
	for (int64_t line = 1; status == 0 && text < end; line++) {
		const char *newline = memchr(text, '\n', (size_t)(end - text)), *stop = newline ? newline : end;
		if (stop > text && stop[-1] == '\r')
			stop--;
		if (stop > text)
			status = read_line(c, text, stop, line, &token, err);
		text = newline ? newline + 1 : end;
	}
	buffer_release(&token);
	return status;
}

/* Makes a merge of every way to cut a token into two tokens. */
static int make_merges(struct compiler *c, struct ipf_error *err)
{
	const struct vocabulary *v = &c->by_text;
	for (uint32_t id = 0; id < v->size; id++) {
		struct slice token = vocabulary_text(v, id);
		uint32_t left, right;
		buffer_append(&c->builder.sections[SECTION_MERGED], &id, sizeof id);
		for (size_t cut = 1; cut < token.len; cut++) {
			if (((unsigned char)token.data[cut] & 0xc0) == 0x80)
				continue;
			left = vocabulary_find(v, token.data, cut);
			right = left == VOCABULARY_NONE ? left : vocabulary_find(v, token.data + cut, token.len - cut);
			if (right != VOCABULARY_NONE)
				compiler_pair(c, left, right, id);
		}
	}
	c->merges = v->size;
	if (c->pairs.failed || c->builder.sections[SECTION_MERGED].failed)
		return ipf_error_memory(err);
	return compiler_end_merges(c, err);
}

static void write_config(const char *regex, struct buffer *out)
{
	struct jout w = {.out = out};
	buffer_text(
		out,
		"{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":");
	jout_string0(&w, regex);
	buffer_text(
		out, "},\"behavior\":\"Isolated\",\"invert\":false},"
			 "{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"trim_offsets\":true,\"use_regex\":false}]},"
			 "\"decoder\":{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true},"
			 "\"model\":{\"type\":\"BPE\",\"ignore_merges\":true}}");
}

int rank_file_compile(struct compiled_block *out, const char *kind, struct slice text, const char *sha256,
                      struct ipf_error *err)
{
	const struct encoding *e = encodings;
	struct compiler c = {0};
	int status = -1;

	while (strcmp(e->kind, kind) != 0)
		e++;
	c.builder.header.byte_mode = true;
	c.builder.header.bpe = true;
	write_config(e->regex, &c.builder.sections[SECTION_CONFIG]);
	if (read_lines(&c, text.data, text.len, err) < 0 || compiler_end_tokens(&c, false, err) < 0 ||
	    make_merges(&c, err) < 0)
		goto out;
	for (const struct special *s = e->specials; s->text; s++) {
		struct added_record record = {.id = s->id, .special = true};
		if (compiler_added_token(&c, slice_of(s->text), true, record, err) < 0)
			goto out;
	}
	status = compiler_finish(&c, out, text.len, sha256, err);
out:
	compiler_release(&c);
	return status;
}
