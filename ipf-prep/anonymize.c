#include "anonymize.h"

#include "anonymize/anonymous_trace.h"
#include "anonymize/anonymizer.h"
#include "anonymize/remains.h"
#include "anonymize/salt.h"
#include "cli/text_output.h"
#include "cli/units.h"
#include "clock.h"
#include "convert.h"
#include "hub/hub_tokenizer.h"
#include "input/remote.h"
#include "media/media_store.h"
#include "memory.h"
#include "safe_text.h"
#include "source_operands.h"
#include "stream/provenance.h"
#include "stream/trace.h"

#include <string.h>

enum times { TIMES_SHIFT, TIMES_EXACT };

struct anonymize_options {
	struct prep_config prep;
	const char *salt_file, *report; /* or NULL */
	int64_t block_tokens, jitter_ns, k;
	enum times times;
	enum model_names models;
	enum anonymous_format format;
	struct string_list kept_tags;
};

/* ---- options ---- */

#define BLOCK_TOKENS_MOST (1 << 20)
#define K_MOST            1000000
#define JITTER_MOST_NS    (24 * 3600 * NS_PER_S)

static int parse_block_tokens(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *tokens = variable;
	if (parse_count(value, tokens, err) < 0)
		return -1;
	return *tokens >= 1 && *tokens <= BLOCK_TOKENS_MOST
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "expected 1 to %d, got %s", BLOCK_TOKENS_MOST, value);
}

static int parse_k(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *k = variable;
	if (parse_count(value, k, err) < 0)
		return -1;
	return *k >= 2 && *k <= K_MOST ? 0 : ipf_error_set(err, IPF_USAGE, "expected 2 to %d, got %s", K_MOST, value);
}

static int parse_jitter(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *ns = variable;
	if (parse_duration(value, ns, err) < 0)
		return -1;
	return *ns > 0 && *ns <= JITTER_MOST_NS
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "expected more than 0 and at most 24h, got %s", value);
}

static const char *const times_names[] = {[TIMES_SHIFT] = "shift", [TIMES_EXACT] = "exact", NULL};
static const char *const model_names[] = {
	[MODELS_KEYED] = "keyed", [MODELS_KEPT] = "keep", [MODELS_DROPPED] = "drop", NULL};
static const char *const format_names[] = {[ANONYMOUS_MOONCAKE] = "mooncake", [ANONYMOUS_TRACE] = "trace", NULL};

#define O(kind_, letter_, name_, argument_, member_, help_)                                                            \
	OPTION(kind_, letter_, name_, argument_, struct anonymize_options, member_, help_)
#define PARSED(name_, argument_, member_, parse_, help_)                                                               \
	OPTION_PARSED_BY(0, name_, argument_, struct anonymize_options, member_, parse_, help_)
#define CHOICE(name_, argument_, member_, choices_, help_)                                                             \
	OPTION_CHOICE_OF(0, name_, argument_, struct anonymize_options, member_, choices_, help_)

static const struct option_spec specs[] = {
	OPTION_HEADING("What is left"),
	O(OPTION_FILE, 0, "salt-file", "FILE", salt_file,
      "key the hashes with the bytes of FILE, so other traces with this salt have the same (default: random bytes, "
      "not kept)"),
	PARSED("block-tokens", "N", block_tokens, parse_block_tokens,
           "hash blocks of N tokens: which prompts begin alike is kept to the block (default: 512, as Mooncake)"),
	CHOICE("times", "shift|exact", times, times_names,
           "count arrivals from the first one (default), or from where the input counts"),
	PARSED("jitter", "TIME", jitter_ns, parse_jitter,
           "move each arrival by a random time of up to TIME; the turns of a session move together"),
	PARSED("k", "K", k, parse_k,
           "make sure that at least K requests have the same model, hour and lengths, by lengths in bins"),
	CHOICE("model-names", "keyed|keep|drop", models, model_names,
           "write keyed names of models (default), the names themselves, or none"),
	O(OPTION_LIST, 0, "keep-tag", "NAME", kept_tags,
      "with -f trace, keep the tag NAME of requests as it is (repeatable)"),
	O(OPTION_OUTPUT, 0, "report", "FILE", report,
      "write the report of identifying remains to FILE (default: standard "
      "error)"),

	OPTION_HEADING("Input"),
	O(OPTION_FILE, 't', "tokenizer", "NAME", prep.tokenizer,
      "count tokens with a model's tokenizer: its name on the Hugging Face hub (gpt2, OWNER/NAME), a tokenizer.json or a "
      "tiktoken file; or with approx: one token per four bytes (default)"),
	O(OPTION_LIST, 0, "field", "NAME=/POINTER", prep.fields,
      "jsonl, csv and auto: read field NAME from this place of a record, or from the column or member of this name "
      "(repeatable)"),
	O(OPTION_DURATION, 0, "from", "TIME", prep.from_ns,
      "keep requests arriving at least TIME after the start of the trace"),
	O(OPTION_DURATION, 0, "to", "TIME", prep.to_ns,
      "keep requests arriving less than TIME after the start of the trace"),
	MEMORY_OPTION(struct anonymize_options, prep.memory),

	OPTION_HEADING("Captures of packets"),
	CAPTURE_OPTIONS(struct anonymize_options, prep.capture),

	OPTION_HEADING("Common options"),
	OUTPUT_OPTION(struct anonymize_options, prep.common),
	OPTION_CHOICE_OF(
		'f', "format", "mooncake|trace", struct anonymize_options, format, format_names,
		"write the format of Mooncake (default), which others read too, or a trace of ours without prompts, which "
		"also has the parents of requests"),
	OPTION_UNSHAPING(OPTION_COUNTER, 'v', "verbose", NULL, struct anonymize_options, prep.common.verbose,
                     "report more on standard error"),
	OPTION_UNSHAPING(OPTION_FLAG, 'q', "quiet", NULL, struct anonymize_options, prep.common.quiet,
                     "no progress, no warnings, no report on standard error"),
	OPTION_UNSHAPING(OPTION_FLAG, 0, "progress", NULL, struct anonymize_options, prep.common.progress,
                     "show progress even if standard error is not a terminal"),
	INPUT_LIMITS(struct anonymize_options, prep.common),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};

static const char *offer_source(size_t i)
{
	if (i == 0)
		return "auto";
	const struct source_format *format = source_at(i - 1);
	return format ? format->name : NULL;
}

static const struct program anonymize_program = {
	.name = "ipf-prep anonymize",
	.operands = "SOURCE [FILE…]",
	.summary = "make a shareable trace of a recorded one",
	.details = "SOURCE is a format as for ipf-prep (ipf-prep --list, or auto); trace is a request\n"
			   "trace of ours. Text becomes salted hashes of blocks of tokens;\n"
			   "lengths, arrivals, sessions and what prompts share are kept. ipf-prep mooncake,\n"
			   "or trace with -f trace, fills the output with synthetic text.\n"
			   "\n"
			   "  ipf-prep anonymize openai-log log.jsonl -t tokenizer.json -o shared.jsonl.zst\n"
			   "  ipf-prep anonymize trace chat.trace.zst --jitter 1s --k 10 >shared.jsonl\n"
			   "  ipf-prep mooncake shared.jsonl.zst -t tokenizer.json -o replay.trace.zst",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 1,
	.max_operands = -1,
	.offers = offer_source,
	.manual = "man ipf-prep-anonymize; overview: man ipf",
};

/* ---- a run ---- */

struct anonymize_run {
	struct request_sink sink; /* must be first: take() casts it */
	struct anonymize_options *options;
	struct salt salt;
	struct anonymizer anonymizer;
	struct anonymous_trace output;
	struct remains remains;
	struct text_output report_file; /* for --report; empty: not open */
	FILE *report;                   /* NULL: no report */
	int64_t assumed;                /* requests whose data has no length of the answer */
};

static int take(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err)
{
	struct anonymize_run *run = (struct anonymize_run *)sink;
	struct anonymous_request anonymous;
	return anonymizer_take(&run->anonymizer, request, &anonymous, err) < 0
	           ? -1
	           : anonymous_trace_put(&run->output, &anonymous, err);
}

static int open_salt(struct anonymize_run *run, struct ipf_error *err)
{
	const struct anonymize_options *o = run->options;
	bool shared;
	if (!o->salt_file)
		return salt_make(&run->salt, err);
	if (salt_read(&run->salt, o->salt_file, &shared, err) < 0)
		return -1;
	if (shared && !o->prep.common.quiet)
		fprintf(stderr, "ipf-prep: %s: others can read this salt, and check guesses with it: chmod 600\n",
		        shown(o->salt_file).text);
	return 0;
}

static int open_report(struct anonymize_run *run, struct ipf_error *err)
{
	const struct anonymize_options *o = run->options;
	run->report = o->prep.common.quiet ? NULL : stderr;
	if (!o->report)
		return 0;
	if (text_output_open(&run->report_file, o->report, err) < 0)
		return -1;
	run->report = run->report_file.to;
	return 0;
}

/* Reports neither inputs nor the date: file names and dates point to persons. A tokenizer names a model. */
static json_t *make_header(const struct anonymize_options *o, bool exact)
{
	struct provenance p = {.tool = "ipf-prep", .undated = true};
	json_t *header = stream_header("trace", &p);
	if (!header)
		return NULL;
	const bool named = !exact || o->models == MODELS_KEPT;
	json_object_set_new(header, "tokenizer",
	                    named ? token_counter_describe(o->prep.tokens) : json_pack("{s:b}", "exact", 1));
	json_object_set_new(header, "source", json_string("trace"));
	json_object_set_new(header, "prompts", json_string("none"));
	return header;
}

static int open_output(struct anonymize_run *run, bool exact, struct ipf_error *err)
{
	const struct anonymize_options *o = run->options;
	json_t *header = o->format == ANONYMOUS_TRACE ? make_header(o, exact) : NULL;
	int status = !header && o->format == ANONYMOUS_TRACE
	                 ? ipf_error_memory(err)
	                 : anonymous_trace_open(&run->output, o->prep.common.output, header, err);
	json_decref(header);
	return status;
}

/* Opens all outputs, once the input is known to be there. `exact`: a tokenizer counted the lengths. */
static int open_run(struct anonymize_run *run, bool exact, struct ipf_error *err)
{
	struct anonymize_options *o = run->options;
	run->sink.take = take;
	run->anonymizer = (struct anonymizer){.salt = &run->salt,
	                                      .block_tokens = o->block_tokens,
	                                      .tokens = o->prep.tokens,
	                                      .exact_times = o->times == TIMES_EXACT,
	                                      .jitter_ns = o->jitter_ns,
	                                      .models = o->models,
	                                      .structure = o->format == ANONYMOUS_TRACE,
	                                      .kept_tags = &o->kept_tags};
	run->output = (struct anonymous_trace){.salt = &run->salt,
	                                       .format = o->format,
	                                       .block_tokens = o->block_tokens,
	                                       .jitter_ns = o->jitter_ns,
	                                       .k = o->k,
	                                       .remains = &run->remains};
	return open_salt(run, err) < 0 || open_report(run, err) < 0 || open_output(run, exact, err) < 0 ? -1 : 0;
}

static void print_report(struct anonymize_run *run)
{
	const struct anonymize_options *o = run->options;
	const struct remains_facts facts = {.anonymizer = &run->anonymizer,
	                                    .salt_file = o->salt_file,
	                                    .k = o->k,
	                                    .too_few = run->output.too_few,
	                                    .assumed = run->assumed};
	if (run->report)
		remains_print(&run->remains, &facts, run->report);
}

static int close_run(struct anonymize_run *run, struct ipf_error *err)
{
	if (run->report_file.to)
		text_output_close(&run->report_file, err);
	anonymous_trace_release(&run->output);
	anonymizer_release(&run->anonymizer);
	remains_release(&run->remains);
	salt_release(&run->salt);
	return err->kind == IPF_OK ? 0 : -1;
}

/* ---- input ---- */

/* Did an estimate count this trace's tokens? */
static bool is_estimated(const json_t *header)
{
	const json_t *tokenizer = json_object_get(header, "tokenizer"), *exact = json_object_get(tokenizer, "exact");
	return json_is_false(exact);
}

/* Takes a request of a trace, with its media in place of marks of the media file: the hash is that of the bytes
 * sent. */
static int take_of_trace(struct anonymize_run *run, struct media_store *media, struct trace_request *request,
                         struct ipf_error *err)
{
	struct buffer messages = {0};
	int status = 0;
	if (request->media.data && request->messages.data) {
		media_store_begin(media);
		status = media_store_messages(media, request->messages, &messages, err);
		request->messages = buffer_all(&messages);
	}
	if (status == 0)
		status = take(&run->sink, request, err);
	buffer_release(&messages);
	return status;
}

/* A trace of ours. A cut one is used as far as it goes, and the status is 3. */
static int from_trace(struct anonymize_run *run, struct trace_reader *reader, struct media_store *media,
                      struct ipf_error *err)
{
	struct stream_reader *stream = trace_reader_stream(reader);
	struct trace_request request;
	struct ipf_error end = {0};
	int got, status = 0;
	run->anonymizer.recount = token_counter_is_exact(run->options->prep.tokens) &&
	                          is_estimated(stream_reader_header(stream));
	while (status == 0 && (got = trace_reader_next(reader, &request, &end)) == 1)
		status = take_of_trace(run, media, &request, err);
	if (status < 0) {
		ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
		return -1;
	}
	if (end.kind == IPF_OK)
		return token_counter_check(run->options->prep.tokens, err);
	if (end.kind != IPF_CUT) {
		*err = end;
		return -1;
	}
	return ipf_error_report(&end, stderr, "ipf-prep");
}

static int anonymize_trace(struct anonymize_run *run, const char *path, struct ipf_error *err)
{
	struct prep_config *c = &run->options->prep;
	struct trace_reader *reader = NULL;
	struct media_store media;
	struct buffer media_file = {0};
	int status = -1;
	media_store_init(&media, &c->media, 0);
	buffer_format(&media_file, "%s" MEDIA_FILE_SUFFIX, path);
	media.source = media_file.data;
	if (trace_reader_open(&reader, path, err) == 0 &&
	    hub_token_counter_open(&c->tokens, c->tokenizer, remote_say, err) == 0) {
		const bool exact = token_counter_is_exact(c->tokens) ||
		                   !is_estimated(stream_reader_header(trace_reader_stream(reader)));
		status = open_run(run, exact, err) < 0 ? -1 : from_trace(run, reader, &media, err);
	}
	trace_reader_close(reader);
	media_store_close(&media, err);
	buffer_release(&media_file);
	return status;
}

/* Anything else ipf-prep reads: whole conversations, and no text where only lengths are known. */
static int anonymize_source(struct anonymize_run *run, const struct operands *operands, struct ipf_error *err)
{
	struct prep_config *c = &run->options->prep;
	struct input_paths paths = {0};
	struct input *first = NULL;
	const struct source_format *format = source_operands_open(c, anonymize_program.name, operands, &paths, &first, err);
	int status = -1;
	if (format && format->kind == SOURCE_GENERATED)
		ipf_error_set(err, IPF_USAGE, "%s: its requests are made, and there is nothing to anonymize", format->name);
	c->prompt = PROMPT_RECORDED;
	if (err->kind == IPF_OK && prep_config_check_all_turns(c, err) == 0 &&
	    prep_config_open(c, format, paths.count, err) == 0 &&
	    open_run(run, token_counter_is_exact(c->tokens), err) == 0) {
		struct convert_read read = {0};
		status = convert_requests(c, &paths, first, &run->sink, &read, err);
		run->assumed = read.assumed;
		json_decref(read.from);
		first = NULL; /* it is closed */
	}
	input_close(first);
	input_paths_release(&paths);
	return status;
}

/* One trace of ours is read as it is; selecting options need it to be a source. */
static const char *whole_trace(const struct prep_config *c, const struct operands *operands)
{
	return c->fields.count || c->from_ns != IPF_ABSENT || c->to_ns != IPF_ABSENT ? NULL
	                                                                             : source_operands_trace(operands);
}

static bool is_standard_output(const char *path)
{
	return path && !strcmp(path, "-");
}

static int anonymize_operands(struct anonymize_run *run, const struct operands *operands, struct ipf_error *err)
{
	const struct anonymize_options *o = run->options;
	if (o->kept_tags.count && o->format != ANONYMOUS_TRACE)
		return ipf_error_set(err, IPF_USAGE, "--keep-tag: the format of Mooncake has no tags: add -f trace");
	if (is_standard_output(o->report) && (!o->prep.common.output || is_standard_output(o->prep.common.output)))
		return ipf_error_set(err, IPF_USAGE, "--report -: standard output is the output already: add -o FILE");
	const char *trace = whole_trace(&o->prep, operands);
	return trace ? anonymize_trace(run, trace, err) : anonymize_source(run, operands, err);
}

int anonymize_main(int argc, char **argv)
{
	struct anonymize_options options = {.prep = PREP_CONFIG_DEFAULTS, .block_tokens = MOONCAKE_BLOCK};
	struct anonymize_run run = {.options = &options};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&anonymize_program, argc, argv, &options, &operands, &status)) {
		prep_config_release(&options.prep);
		return status;
	}
	status = anonymize_operands(&run, &operands, &err);
	if (status >= 0 && anonymous_trace_close(&run.output, &err) < 0)
		status = -1;
	if (status >= 0)
		print_report(&run);
	if (close_run(&run, &err) < 0)
		status = -1;
	prep_config_release(&options.prep);
	remote_release();
	if (err.kind == IPF_USAGE)
		return program_misuse(&anonymize_program, &err);
	return status > 0 && !memory_ran_out() ? status : ipf_error_report(&err, stderr, "ipf-prep");
}
