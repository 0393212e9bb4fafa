#include "config/prep_config.h"

#include "cli/units.h"
#include "memory_limit.h"

#include <stdlib.h>
#include <string.h>

#define SALT_MAX     255
#define MEMORY_LEAST INT64_C(1000)
#define MEMORY_MOST  INT64_C(64000000000000)

/* ---- parsers of values ---- */

static int parse_distribution(struct distribution_option *option, const char *value, enum distribution_unit unit,
                              struct ipf_error *err)
{
	static const char histogram[] = "histogram:";
	option->given = true;
	option->histogram = NULL;
	if (strncmp(value, histogram, sizeof histogram - 1) != 0)
		return distribution_parse(&option->distribution, value, unit, err);
	option->distribution.unit = unit;
	option->histogram = value + sizeof histogram - 1;
	return 0;
}

static int parse_tokens(const char *value, void *variable, struct ipf_error *err)
{
	return parse_distribution(variable, value, DISTRIBUTION_COUNT, err);
}

static int parse_turns(const char *value, void *variable, struct ipf_error *err)
{
	return parse_distribution(variable, strcmp(value, "all") == 0 ? "dataset" : value, DISTRIBUTION_COUNT, err);
}

static int parse_wait(const char *value, void *variable, struct ipf_error *err)
{
	return parse_distribution(variable, value, DISTRIBUTION_TIME, err);
}

static int parse_positive(const char *value, void *variable, struct ipf_error *err)
{
	if (parse_count(value, variable, err) < 0)
		return -1;
	return *(int64_t *)variable > 0 ? 0 : ipf_error_set(err, IPF_USAGE, "expected 1 or more, got %s", value);
}

static int parse_scale(const char *value, void *variable, struct ipf_error *err)
{
	double *scale = variable;
	struct ipf_error ignored = {0};
	return parse_number(value, scale, &ignored) == 0 && *scale > 0 && *scale <= 1e6
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "expected a number above 0 and at most 1000000, got \"%s\"", value);
}

int prep_config_parse_memory(const char *value, void *variable, struct ipf_error *err)
{
	int64_t *bytes = variable;
	if (parse_size(value, bytes, err) < 0)
		return -1;
	if (*bytes < MEMORY_LEAST || *bytes > MEMORY_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected a size from 1kB to 64TB, got \"%s\"", value);
	memory_limit_set((size_t)*bytes);
	return 0;
}

static int parse_salt(const char *value, void *variable, struct ipf_error *err)
{
	*(const char **)variable = value;
	return strlen(value) <= SALT_MAX
	           ? 0
	           : ipf_error_set(err, IPF_USAGE, "expected at most %d bytes, got %zu", SALT_MAX, strlen(value));
}

static int parse_models(const char *value, void *variable, struct ipf_error *err)
{
	return share_list_parse(variable, value, "NAME=SHARE,… such as base=0.5,lora-a=0.5 or base=3,lora-a=1", err);
}

static int parse_classes(const char *value, void *variable, struct ipf_error *err)
{
	return share_list_parse(variable, value, "NAME=SHARE,… such as interactive=0.3,batch=0.7", err);
}

static int parse_class_header(const char *value, void *variable, struct ipf_error *err)
{
	return class_parts_add_header(variable, value, err);
}

static int parse_class_body(const char *value, void *variable, struct ipf_error *err)
{
	return class_parts_add_body(variable, value, err);
}

static int parse_slo(const char *value, void *variable, struct ipf_error *err)
{
	return slo_rules_add(variable, value, err);
}

static int parse_canaries(const char *value, void *variable, struct ipf_error *err)
{
	const struct share_or_count *option = variable;
	if (share_or_count_parse(variable, value, err) < 0)
		return -1;
	return option->share <= 0.5 ? 0
	                            : ipf_error_set(err, IPF_USAGE, "expected at most half of the requests, got %s", value);
}

static int parse_repeats(const char *value, void *variable, struct ipf_error *err)
{
	return share_or_count_parse(variable, value, err);
}

static int parse_prefixes(const char *value, void *variable, struct ipf_error *err)
{
	return prefix_groups_parse(variable, value, err);
}

static int parse_like(const char *value, void *variable, struct ipf_error *err)
{
	return traffic_mix_parse(variable, value, err);
}

static int parse_images_option(const char *value, void *variable, struct ipf_error *err)
{
	return parse_images(value, variable, err);
}

static int parse_audio_option(const char *value, void *variable, struct ipf_error *err)
{
	return parse_audio(value, variable, err);
}

static int parse_video_option(const char *value, void *variable, struct ipf_error *err)
{
	return parse_video(value, variable, err);
}

/* ---- the table ---- */

static const char *const sample_names[] = {[SAMPLE_WITH] = "with", [SAMPLE_WITHOUT] = "without", NULL};
static const char *const preset_names[] = {
	[PRESET_VLLM] = "vllm-sharegpt", [PRESET_SGLANG] = "sglang-sharegpt", [PRESET_LPG] = "lpg-sharegpt", NULL};
static const char *const profile_names[] = {[PROFILE_CHAT] = "chat",
                                            [PROFILE_CODE_GENERATION] = "code-generation",
                                            [PROFILE_CLASSIFICATION] = "classification",
                                            [PROFILE_SUMMARIZATION] = "summarization",
                                            [PROFILE_FIXED_LENGTH] = "fixed-length",
                                            NULL};
static const char *const keep_or_drop_names[] = {[KEEP] = "keep", [DROP] = "drop", NULL};
static const char *const on_error_names[] = {[ON_ERROR_SKIP] = "skip", [ON_ERROR_STOP] = "stop", NULL};
const char *const prompt_form_names[] = {
	[PROMPT_MESSAGES] = "messages", [PROMPT_TEXT] = "text", [PROMPT_IDS] = "ids", [PROMPT_NONE] = "none", NULL};

#define O(kind_, letter_, name_, argument_, member_, help_)                                                            \
	OPTION(kind_, letter_, name_, argument_, struct prep_config, member_, help_)
#define PARSED(letter_, name_, argument_, member_, parse_, help_)                                                      \
	OPTION_PARSED_BY(letter_, name_, argument_, struct prep_config, member_, parse_, help_)
#define CHOICE(name_, argument_, member_, choices_, help_)                                                             \
	OPTION_CHOICE_OF(0, name_, argument_, struct prep_config, member_, choices_, help_)
static const struct option_spec specs[] = {
	OPTION_HEADING("Selecting requests"),
	PARSED(
		'n', "requests", "N", max_requests, parse_positive,
		"write at most N requests; a session not fitting as a whole is left out (synthetic, prefix: exactly N, default "
		"1000)"),
	PARSED(0, "sessions", "N", max_sessions, parse_positive,
           "write at most N sessions; a request without a session counts as one"),
	O(OPTION_FLAG, 0, "shuffle", NULL, shuffle, "write the requests or sessions in random order"),
	CHOICE("sample", "with|without", sample, sample_names,
           "draw the -n requests or --sessions at random, with or without replacement"),
	CHOICE("preset", "NAME", preset, preset_names,
           "apply the filter of another benchmark: vllm-sharegpt, sglang-sharegpt or lpg-sharegpt"),
	O(OPTION_COUNT, 0, "min-input", "N", limits.min_input,
      "leave out requests with a prompt of fewer than N tokens in the data"),
	O(OPTION_COUNT, 0, "max-input", "N", limits.max_input, "leave out requests with a prompt of more than N tokens"),
	O(OPTION_COUNT, 0, "min-output", "N", limits.min_output,
      "leave out requests with an answer of fewer than N tokens"),
	O(OPTION_COUNT, 0, "max-output", "N", limits.max_output, "leave out requests with an answer of more than N tokens"),
	O(OPTION_COUNT, 0, "max-total", "N", limits.max_total,
      "leave out requests with more than N tokens in prompt and answer together"),
	O(OPTION_DURATION, 0, "from", "TIME", from_ns,
      "keep requests arriving at least TIME after the start of the trace; arrivals then count from there"),
	O(OPTION_DURATION, 0, "to", "TIME", to_ns, "keep requests arriving less than TIME after the start of the trace"),
	CHOICE("failed", "keep|drop", failed, keep_or_drop_names,
           "keep failed requests of the recording, and mark them (default), or drop them"),
	CHOICE("sub-agents", "keep|drop", sub_agents, keep_or_drop_names,
           "keep the requests of sub-agents (default), or drop them"),

	OPTION_HEADING("Lengths and turns"),
	CHOICE("profile", "NAME", profile, profile_names,
           "set the lengths of a typical load: chat (all turns), code-generation, classification, summarization or "
           "fixed-length"),
	PARSED(0, "input-tokens", "DIST", input, parse_tokens,
           "cut or extend each prompt to a length drawn from DIST: 128, uniform:64-256, "
           "normal:550,150,min=10,max=1024, lognormal:…, histogram:FILE or dataset (default)"),
	PARSED(0, "output-tokens", "DIST", output, parse_tokens,
           "request answers of a length drawn from DIST (default: dataset, or 128 if the data has no length)"),
	PARSED(
		0, "turns", "DIST|all", turns, parse_turns,
		"keep at most this many turns of each conversation (default: 1); with more than 1, conversations become sessions"),
	PARSED(0, "wait", "DIST", wait, parse_wait,
           "draw the time between the end of a turn and the next turn from DIST: 2s, uniform:1s-5s, lognormal:8s,6s, "
           "dataset (default)"),

	PARSED(
		0, "like", "FILE[=SHARE],…", mix, parse_like,
		"synthetic: make traffic like that of a model from ipf-prep fit: arrivals, lengths, sessions and shared prefixes; "
		"of several models in these shares of the requests (-n: as many requests as were recorded)"),

	OPTION_HEADING("Prompts"),
	O(OPTION_TEXT, 0, "system", "FILE|TEXT", system,
      "replace the system message of every request or session by TEXT or the content of FILE"),
	PARSED(
		0, "prefixes", "COUNTxTOKENS[=SHARE],…", prefixes, parse_prefixes,
		"start each prompt with one of COUNT shared synthetic prefixes of TOKENS tokens; none=SHARE leaves a share of "
		"the requests without"),
	O(OPTION_SHARE, 0, "hit-rate", "SHARE", hit_rate,
      "prefix: make prompts share enough for a prefix cache to find this share of all input tokens (default: 50%)"),
	PARSED(0, "groups", "N", groups, parse_positive,
           "prefix: with --hit-rate, deal the prompts out to N shared prefixes (default: 10)"),
	O(OPTION_FILE, 0, "content", "FILE", content_file,
      "take synthetic text from FILE (UTF-8) instead of generating it from a grammar"),
	PARSED(0, "salt", "TEXT", salt, parse_salt,
           "change the synthetic text but not its lengths, so prefix caches do not find an earlier run's"),
	PARSED(0, "batch", "DIST", batch, parse_tokens,
           "put this many prompts into one request, as its inputs: 32, uniform:1-64, …; for embeddings, and with "
           "--query-tokens for rankings (-n: requests)"),
	PARSED(0, "query-tokens", "DIST", query, parse_tokens,
           "with --batch: add a synthetic query of a length drawn from DIST, for which the inputs are ranked"),
	CHOICE("prompt", "messages|text|ids|none", prompt, prompt_form_names,
           "write prompts as chat messages (default), one text, token ids, or only their length"),
	O(OPTION_FLAG, 0, "answer-ids", NULL, answer_ids,
      "with --prompt ids: write the token ids of recorded answers, for ipf-fire --answers recorded"),

	OPTION_HEADING("Images, audio and video"),
	PARSED(
		0, "images", "COUNTxWIDTHxHEIGHT[,…]", media.images, parse_images_option,
		"put synthetic images (PNG) before the text of each prompt: 1x1024x1024, with bytes=SIZE of each, and pool=N if "
		"only N are different"),
	PARSED(0, "audio", "DIST[,…]", media.audio, parse_audio_option,
           "put a synthetic recording (WAV) before it, of a length drawn from DIST: 10s, uniform:5s-30s, with rate=HZ "
           "(default: 16000) and pool=N"),
	PARSED(0, "video", "TIMExWIDTHxHEIGHT[,…]", media.video, parse_video_option,
           "put a synthetic film (AVI) before it: 5sx640x360, with fps=N (default: 2), bytes=SIZE and pool=N"),
	O(OPTION_OUTPUT, 0, "media", "FILE", media_file,
      "write images, audio and video into FILE (default: the output's name with .media behind it; into the trace, if "
      "the trace goes to standard output)"),
	O(OPTION_FILE, 0, "media-root", "FOLDER", media_root,
      "read image, audio and video files named in the data from FOLDER (default: the folder of the first FILE)"),

	OPTION_HEADING("Checking answers"),
	PARSED(0, "canaries", "SHARE|N", canaries, parse_canaries,
           "mix in requests with known answers at random places: this share of all requests (1%), or this number (50)"),
	PARSED(0, "repeats", "SHARE|N", repeats, parse_repeats,
           "mark this share or number of the requests without a session, at temperature 0, for comparing their answers "
           "alone and under load"),
	O(OPTION_FLAG, 0, "repeat-logprobs", NULL, repeat_logprobs,
      "with --repeats: request the five most likely tokens with their log probabilities"),

	OPTION_HEADING("Models and objectives"),
	PARSED(0, "models", "NAME=SHARE,…", models, parse_models,
           "assign models to requests or sessions at random, in these shares"),
	PARSED(0, "classes", "NAME=SHARE,…", classes, parse_classes,
           "assign classes to requests or sessions at random, in these shares: their tag class"),
	PARSED(0, "class-body", "CLASS:KEY=JSON", class_parts, parse_class_body,
           "add a member to the body of requests of a class, such as interactive:priority=0 (repeatable)"),
	PARSED(0, "class-header", "CLASS:NAME: VALUE", class_parts, parse_class_header,
           "add a header to requests of a class (repeatable)"),
	PARSED(0, "slo", "LIST", slo, parse_slo,
           "set latency objectives of requests: ttft=500ms,tpot=50ms; of some requests: model=NAME:ttft=2s or "
           "TAG=VALUE:ttft=2s (repeatable; the last match wins)"),

	OPTION_HEADING("Arrival times"),
	PARSED(0, "scale", "FACTOR", scale, parse_scale,
           "multiply the number of requests by FACTOR; requests and sessions are dropped or copied as a whole (--like: "
           "multiply the rate)"),
	O(OPTION_FLAG, 0, "dequantise", NULL, dequantise,
      "spread arrivals with equal timestamps over the time to the next timestamp"),

	OPTION_HEADING("Tokenizer and chat template"),
	O(OPTION_FILE, 't', "tokenizer", "NAME", tokenizer,
      "count tokens with a model's tokenizer: its name on the Hugging Face hub (gpt2, OWNER/NAME), a tokenizer.json or a "
      "tiktoken file; or with approx: one token per four bytes (default)"),
	PARSED(0, "template-tokens", "N[,M]|URL", template, chat_template_parse,
           "count N tokens of the server's chat template for each prompt, and M for each further message "
           "(default: 0); URL measures both at a server"),

	OPTION_HEADING("Input"),
	O(OPTION_FLAG, 0, "list", NULL, list, "list the formats: name, kind and contents"),
	O(OPTION_LIST, 0, "field", "NAME=/POINTER", fields,
      "jsonl, csv and auto: read field NAME from this place of a record, or from the column or member of this name "
      "(repeatable)"),
	CHOICE("on-error", "skip|stop", on_error, on_error_names, "skip bad records (default), or stop at the first one"),
	MEMORY_OPTION(struct prep_config, memory),
	O(OPTION_FLAG, 0, "strict", NULL, strict,
      "end with status 3 if a record or a member looking like part of a request is left out"),

	OPTION_HEADING("Captures of packets"),
	OPTION_UNSHAPING(OPTION_OUTPUT, 0, "records", "FILE", struct prep_config, capture.records,
                     "write each request with its times to FILE as records, for ipf-collect; without -o, no trace is "
                     "written"),
	CAPTURE_OPTIONS(struct prep_config, capture),
	O(OPTION_LIST, 0, "keep-header", "NAME", capture.keep_headers,
      "send this header of each request again: no other one is in the trace (repeatable)"),

	COMMON_OPTIONS(struct prep_config, common),
	SEED_OPTION(struct prep_config, common),
};

/* For completion. */
static const char *offer_source(size_t i)
{
	static const char *const others[] = {"auto", "stat", "tokenize", "fit", "anonymize"};
	enum { OTHERS = sizeof others / sizeof *others };

	if (i < OTHERS)
		return others[i];
	const struct source_format *format = source_at(i - OTHERS);
	return format ? format->name : NULL;
}

const struct program prep_program = {
	.name = "ipf-prep",
	.operands = "SOURCE [FILE…]",
	.summary = "make a request trace from datasets and production traces",
	.details = "SOURCE is the format of the files: one of --list, or auto to detect it from the\n"
			   "first file.\n"
			   "FILE is a file (plain, or compressed with gzip, zstd, xz or bzip2), a folder,\n"
			   "an archive (tar, zip, 7z), a file in an archive (a.tar.gz:dir/b.json), or an\n"
			   "address (https://…, hf://datasets/OWNER/NAME/PATH). Without FILE, or for \"-\",\n"
			   "ipf-prep reads standard input. The sources synthetic, prefix and canaries read\n"
			   "no file.\n"
			   "ipf-prep stat summarizes a trace, ipf-prep tokenize turns texts into token ids,\n"
			   "ipf-prep fit learns a model of traffic, and ipf-prep anonymize makes a trace\n"
			   "that can be shared: see their --help.\n"
			   "\n"
			   "  ipf-prep sharegpt ShareGPT_V3.json -n 1000 --max-input 1024 -o chat.trace.zst\n"
			   "  ipf-prep azure Azure_conv.csv --from 10m --to 20m -o azure.trace.zst\n"
			   "  ipf-prep jsonl questions.jsonl --field prompt=/question | head\n"
			   "  ipf-prep synthetic -n 500 --input-tokens 2048 --output-tokens uniform:64-256\n"
			   "  ipf-prep prefix --hit-rate 60% --groups 20 --input-tokens 2048\n",
	.strict_as_input = true,
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = -1,
	.offers = offer_source,
};

/* ---- ipf-prep fit ---- */

static const struct option_spec fit_specs[] = {
	PARSED('n', "requests", "N", max_requests, parse_positive, "learn from at most N requests"),
	PARSED(0, "sessions", "N", max_sessions, parse_positive, "learn from at most N sessions"),
	O(OPTION_DURATION, 0, "from", "TIME", from_ns,
      "learn from requests arriving at least TIME after the start of the trace"),
	O(OPTION_DURATION, 0, "to", "TIME", to_ns,
      "learn from requests arriving less than TIME after the start of the trace"),
	CHOICE("failed", "keep|drop", failed, keep_or_drop_names,
           "learn from failed requests of the recording, too (default), or drop them"),
	CHOICE("sub-agents", "keep|drop", sub_agents, keep_or_drop_names,
           "keep the requests of sub-agents (default), or drop them"),
	PARSED(0, "turns", "DIST|all", turns, parse_turns, "keep at most this many turns of a conversation (default: all)"),
	O(OPTION_FLAG, 0, "dequantise", NULL, dequantise,
      "spread arrivals with equal timestamps over the time to the next timestamp"),
	O(OPTION_FILE, 't', "tokenizer", "NAME", tokenizer,
      "count tokens of texts with a model's tokenizer, or with approx (default)"),
	O(OPTION_LIST, 0, "field", "NAME=/POINTER", fields,
      "jsonl, csv and auto: read field NAME from this place of a record (repeatable)"),
	CHOICE("on-error", "skip|stop", on_error, on_error_names, "skip bad records (default), or stop at the first one"),
	MEMORY_OPTION(struct prep_config, memory),
	O(OPTION_FLAG, 0, "strict", NULL, strict,
      "end with status 3 if a record or a member looking like part of a request is left out"),
	OPTION_UNSHAPING(OPTION_OUTPUT, 'o', "output", "FILE", struct prep_config, common.output,
                     "write to FILE (default: standard output)"),
	COMMAND_OPTIONS(struct prep_config, common),
};

const struct program fit_program = {
	.name = "ipf-prep fit",
	.operands = "[SOURCE] [FILE…]",
	.summary = "learn a model of recorded traffic, from which synthetic --like makes more",
	.details = "FILE is a trace of ipf-prep, or of any format of ipf-prep; SOURCE is the\n"
			   "format, else it is detected. Without operands, a trace comes on standard input.\n"
			   "The options apply to the data of a SOURCE.\n"
			   "\n"
			   "  ipf-prep fit azure Azure_conv.csv -o conv.json\n"
			   "  ipf-prep synthetic --like conv.json -n 100000 --scale 3 -o more.trace.zst\n"
			   "  ipf-prep stat more.trace.zst --against conv.json",
	.strict_as_input = true,
	.specs = fit_specs,
	.count = sizeof fit_specs / sizeof *fit_specs,
	.min_operands = 0,
	.max_operands = -1,
	.variables = "ipf-prep",
	.manual = "man ipf-prep; overview: man ipf",
};
