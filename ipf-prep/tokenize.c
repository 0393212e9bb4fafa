/* One thread processes lines as they arrive. Several threads get some megabytes of lines at a time, so each has enough
 * work. */
#include "tokenize.h"

#include "json/jdoc.h"
#include "json/jout.h"
#include "cli/options.h"
#include "hub/hub_tokenizer.h"
#include "input/remote.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tokenize_options {
	const char *output, *tokenizer;
	bool json, count, decode, special;
	int64_t threads;
};

#define O(kind_, letter_, name_, argument_, member_, help_)                                                            \
	OPTION(kind_, letter_, name_, argument_, struct tokenize_options, member_, help_)

static const struct option_spec specs[] = {
	O(OPTION_FILE, 't', "tokenizer", "NAME", tokenizer,
      "use this tokenizer: a tokenizer.json, a folder with one, a .tiktoken rank file, or a model of the "
      "Hugging Face hub, such as gpt2 or OWNER/NAME (required)"),
	O(OPTION_FLAG, 0, "json", NULL, json, "read and write texts as JSON strings, one per line"),
	O(OPTION_FLAG, 0, "count", NULL, count, "write the number of ids instead of the ids"),
	O(OPTION_FLAG, 0, "decode", NULL, decode, "decode: read JSON arrays of ids, one per line, and write their texts"),
	O(OPTION_FLAG, 0, "special", NULL, special,
      "add the tokenizer's special tokens around a text; with --decode, keep them"),
	O(OPTION_COUNT, 0, "threads", "N", threads, "process lines with N threads (default: 1; 0: one for each core)"),
	O(OPTION_OUTPUT, 'o', "output", "FILE", output, "write to FILE (default: standard output)"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};

static const struct program program = {
	.name = "ipf-prep tokenize",
	.operands = "[FILE…]",
	.summary = "turn texts into token ids, or token ids into texts",
	.details = "Reads texts, one per line, from the FILEs or from standard input, and writes a\n"
			   "JSON array of token ids for each.\n"
			   "\n"
			   "  echo 'Hello, world' | ipf-prep tokenize -t tokenizer.json\n"
			   "  ipf-prep tokenize -t meta-llama/Llama-3.1-8B-Instruct --count texts.txt\n"
			   "  ipf-prep tokenize -t tokenizer.json texts.txt | ipf-prep tokenize -t tokenizer.json --decode",
	.manual = "man ipf-prep; overview: man ipf",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
};

#define READ_BYTES   (1 << 20)
#define GATHER_BYTES (16 << 20) /* bytes of lines that several threads get at a time */

struct filter {
	const struct tokenize_options *options;
	struct tokenizer *tokenizer;
	struct tokenizer_scratch *scratch; /* one thread */
	int out;
	struct buffer output;
	/* for the lines processed now: */
	struct slice *texts;
	struct token_ids *ids;
	int64_t *counts;
	size_t count, cap;
	struct buffer decoded; /* texts of JSON strings */
	struct jdoc doc;
	struct token_ids one;
	const char *name;
	int64_t line; /* number of the last line before these */
};

static int flush(struct filter *f, struct ipf_error *err)
{
	if (f->output.failed)
		return ipf_error_memory(err);
	for (size_t done = 0; done < f->output.len;) {
		ssize_t n = write(f->out, f->output.data + done, f->output.len - done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return ipf_error_errno(err, errno, f->options->output ? f->options->output : "standard output",
			                       "cannot write");
		done += (size_t)n;
	}
	buffer_clear(&f->output);
	return 0;
}

static void put_number(struct buffer *out, uint64_t value)
{
	char digits[20], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	buffer_append(out, at, (size_t)(digits + sizeof digits - at));
}

static void put_ids(struct buffer *out, const struct token_ids *ids)
{
	buffer_byte(out, '[');
	for (size_t i = 0; i < ids->count; i++) {
		if (i)
			buffer_byte(out, ',');
		put_number(out, ids->ids[i]);
	}
	buffer_append(out, "]\n", 2);
}

static int grow(struct filter *f, struct ipf_error *err)
{
	size_t cap = f->cap ? 2 * f->cap : 1024;
	struct slice *texts = realloc(f->texts, cap * sizeof *texts);
	if (texts)
		f->texts = texts;
	struct token_ids *ids = realloc(f->ids, cap * sizeof *ids);
	if (ids)
		f->ids = ids;
	int64_t *counts = realloc(f->counts, cap * sizeof *counts);
	if (counts)
		f->counts = counts;
	if (!texts || !ids || !counts)
		return ipf_error_memory(err);
	memset(ids + f->cap, 0, (cap - f->cap) * sizeof *ids);
	f->cap = cap;
	return 0;
}

/* Texts of JSON strings get their place in f->decoded when all lines are there: the buffer moves as it grows. */
static int take_line(struct filter *f, struct slice line, struct ipf_error *err)
{
	if (f->count == f->cap && grow(f, err) < 0)
		return -1;
	if (f->options->json) {
		size_t at = f->decoded.len;
		if (jdoc_parse(&f->doc, line.data, line.len, err) < 0)
			return -1;
		if (jdoc_type_of(&f->doc, JDOC_ROOT) != JDOC_TEXT)
			return ipf_error_set(err, IPF_INPUT, "expected a JSON string");
		jdoc_text(&f->doc, JDOC_ROOT, &f->decoded);
		if (f->decoded.failed)
			return ipf_error_memory(err);
		line = (struct slice){NULL, f->decoded.len - at};
	}
	f->texts[f->count++] = line;
	return 0;
}

static int encode_serially(struct filter *f, int flags, struct ipf_error *err)
{
	for (size_t i = 0; i < f->count; i++) {
		struct slice text = f->texts[i];
		if (f->options->count) {
			int64_t n = tokenizer_count(f->tokenizer, f->scratch, text, flags, err);
			if (n < 0)
				return ipf_error_place(err, f->name, f->line + (int64_t)i + 1), -1;
			put_number(&f->output, (uint64_t)n);
			buffer_byte(&f->output, '\n');
		} else {
			f->one.count = 0;
			if (tokenizer_encode(f->tokenizer, f->scratch, text, flags, &f->one, err) < 0)
				return ipf_error_place(err, f->name, f->line + (int64_t)i + 1), -1;
			put_ids(&f->output, &f->one);
		}
	}
	return 0;
}

static int encode_in_parallel(struct filter *f, int flags, struct ipf_error *err)
{
	const struct tokenizer_batch batch = {
		.texts = f->texts, .count = f->count, .flags = flags, .threads = (int)f->options->threads};
	for (size_t i = 0; i < f->count; i++)
		f->ids[i].count = 0;
	int status = f->options->count ? tokenizer_count_many(f->tokenizer, &batch, f->counts, err)
	                               : tokenizer_encode_many(f->tokenizer, &batch, f->ids, err);
	if (status < 0)
		return -1;
	for (size_t i = 0; i < f->count; i++) {
		if (!f->options->count) {
			put_ids(&f->output, &f->ids[i]);
			continue;
		}
		put_number(&f->output, (uint64_t)f->counts[i]);
		buffer_byte(&f->output, '\n');
	}
	return 0;
}

static int encode_lines(struct filter *f, struct ipf_error *err)
{
	int flags = f->options->special ? TOKENIZER_SPECIAL : 0;
	const char *at = f->decoded.data ? f->decoded.data : "";
	for (size_t i = 0; f->options->json && i < f->count; i++) {
		f->texts[i].data = at;
		at += f->texts[i].len;
	}
	/* If a line is invalid, the lines before it are encoded again one by one, so they are written. */
	int status = f->options->threads == 1 ? encode_serially(f, flags, err) : encode_in_parallel(f, flags, err);
	if (status < 0 && f->options->threads != 1) {
		ipf_error_clear(err);
		buffer_clear(&f->output);
		status = encode_serially(f, flags, err);
	}
	f->line += (int64_t)f->count;
	f->count = 0;
	buffer_clear(&f->decoded);
	return flush(f, status < 0 ? &(struct ipf_error){0} : err) < 0 ? -1 : status;
}

static int decode_line(struct filter *f, struct slice line, struct ipf_error *err)
{
	struct buffer text = {0};
	int64_t id = 0;
	int status = jdoc_parse(&f->doc, line.data, line.len, err);

	f->line++;
	f->one.count = 0;
	if (status == 0 && jdoc_type_of(&f->doc, JDOC_ROOT) != JDOC_LIST)
		status = ipf_error_set(err, IPF_INPUT, "expected a JSON array of ids");
	for (struct jdoc_each e = jdoc_each(&f->doc, JDOC_ROOT); status == 0 && jdoc_step(&e);) {
		if (!jdoc_to_int(&f->doc, e.value, &id) || id < 0 || id > UINT32_MAX)
			status = jdoc_expected(&f->doc, e.value, "ids", "integers, 0 or more", err);
		else if (!token_ids_push(&f->one, (uint32_t)id))
			status = ipf_error_memory(err);
	}
	if (status == 0)
		status = tokenizer_decode(f->tokenizer, f->one.ids, f->one.count,
		                          f->options->special ? 0 : TOKENIZER_SKIP_SPECIAL, &text, err);
	if (status == 0 && f->options->json) {
		struct jout w = {.out = &f->output};
		jout_string(&w, text.data ? buffer_all(&text) : slice_of(""));
	} else if (status == 0) {
		buffer_slice(&f->output, buffer_all(&text));
	}
	buffer_byte(&f->output, '\n');
	buffer_release(&text);
	if (status < 0)
		ipf_error_place(err, f->name, f->line);
	return status < 0 ? -1 : f->output.len < READ_BYTES ? 0 : flush(f, err);
}

/* Processes the lines of input[0, len), which ends in a newline or at the end of the file. */
static int take_lines(struct filter *f, const char *input, size_t len, struct ipf_error *err)
{
	for (size_t at = 0; at < len;) {
		const char *newline = memchr(input + at, '\n', len - at);
		size_t end = newline ? (size_t)(newline - input) : len;
		struct slice line = {input + at, end - at};
		at = end + 1;
		if (f->options->decode) {
			if (decode_line(f, line, err) < 0)
				return -1;
		} else if (take_line(f, line, err) < 0) {
			ipf_error_place(err, f->name, f->line + (int64_t)f->count + 1);
			encode_lines(f, &(struct ipf_error){0});
			return -1;
		}
	}
	return f->options->decode ? flush(f, err) : encode_lines(f, err);
}

static int filter_file(struct filter *f, int in, struct ipf_error *err)
{
	struct buffer input = {0};
	size_t enough = f->options->threads == 1 ? 1 : GATHER_BYTES, seen = 0;
	int status = 0;
	ssize_t n = 1;

	f->line = 0;
	while (status == 0 && n > 0) {
		char *to = buffer_reserve(&input, READ_BYTES);
		n = to ? read(in, to, READ_BYTES) : -1;
		if (n < 0 && to && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0) {
			status = to ? ipf_error_errno(err, errno, f->name, "cannot read") : ipf_error_memory(err);
			break;
		}
		input.len += (size_t)n;
		const char *last = n ? memrchr(input.data + seen, '\n', input.len - seen) : NULL;
		size_t whole = n == 0 ? input.len : last ? (size_t)(last + 1 - input.data) : 0;
		seen = input.len;
		if (n && whole < enough)
			continue;
		status = take_lines(f, input.data, whole, err);
		buffer_consume(&input, whole);
		seen = input.len;
	}
	buffer_release(&input);
	return status;
}

static int filter_files(struct filter *f, const struct operands *operands, struct ipf_error *err)
{
	int status = 0;
	for (int i = 0; status == 0 && i < (operands->count ? operands->count : 1); i++) {
		const char *path = operands->count ? operands->items[i] : "-";
		bool standard = strcmp(path, "-") == 0;
		int in = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
		f->name = standard ? "standard input" : path;
		if (in < 0)
			return ipf_error_errno(err, errno, path, "cannot open");
		status = filter_file(f, in, err);
		if (!standard)
			close(in);
	}
	return status;
}

static int open_filter(struct filter *f, struct ipf_error *err)
{
	const struct tokenize_options *o = f->options;
	if (!o->tokenizer)
		return ipf_error_set(err, IPF_USAGE, "--tokenizer is required");
	if (o->decode && o->count)
		return ipf_error_set(err, IPF_USAGE, "--count: cannot be combined with --decode");
	if (o->threads < 0 || o->threads > 256)
		return ipf_error_set(err, IPF_USAGE, "--threads: expected 0 to 256, got %lld", (long long)o->threads);
	if (hub_tokenizer_open(&f->tokenizer, o->tokenizer, remote_say, err) < 0)
		return -1;
	f->scratch = tokenizer_scratch_new(f->tokenizer);
	if (!f->scratch)
		return ipf_error_memory(err);
	f->out = o->output && strcmp(o->output, "-") != 0 ? open(o->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
	                                                  : STDOUT_FILENO;
	return f->out < 0 ? ipf_error_errno(err, errno, o->output, "cannot open") : 0;
}

static int close_filter(struct filter *f, struct ipf_error *err)
{
	int status = 0;
	if (f->out > STDERR_FILENO && close(f->out) != 0)
		status = ipf_error_errno(err, errno, f->options->output, "cannot write");
	tokenizer_scratch_free(f->scratch);
	tokenizer_close(f->tokenizer);
	for (size_t i = 0; i < f->cap; i++)
		token_ids_release(&f->ids[i]);
	token_ids_release(&f->one);
	free(f->texts);
	free(f->ids);
	free(f->counts);
	buffer_release(&f->output);
	buffer_release(&f->decoded);
	jdoc_release(&f->doc);
	return status;
}

int tokenize_main(int argc, char **argv)
{
	struct tokenize_options options = {.threads = 1};
	struct filter filter = {.options = &options, .out = -1};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&program, argc, argv, &options, &operands, &status))
		return status;
	status = open_filter(&filter, &err);
	if (status == 0)
		status = filter_files(&filter, &operands, &err);
	if (close_filter(&filter, &err) < 0)
		status = -1;
	if (err.kind == IPF_USAGE)
		return program_misuse(&program, &err);
	return ipf_error_report(&err, stderr, "ipf-prep");
}
