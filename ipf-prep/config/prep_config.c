#include "config/prep_config.h"

#include "absent.h"
#include "cli/units.h"
#include "utf8.h"
#include "whole_file.h"
#include "hub/hub_tokenizer.h"
#include "input/remote.h"
#include "sources/layout.h"
#include "stream/digest.h"
#include "stream/provenance.h"
#include "stream/stream.h"
#include "text/synthetic_text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- presets and profiles: settings for options not given ---- */

/* The filters of other benchmarks, so results compare. */
static const struct token_limits preset_limits[] = {
	[PRESET_VLLM] = {4, 1024, 4, IPF_ABSENT, 2048},
	[PRESET_SGLANG] = {2, IPF_ABSENT, 2, IPF_ABSENT, IPF_ABSENT},
	[PRESET_LPG] = {4, 1024, 4, 1024, IPF_ABSENT},
};

static void apply_preset(struct prep_config *c)
{
	if (c->preset == PRESET_NONE)
		return;
	const struct token_limits *p = &preset_limits[c->preset];
	const struct {
		int64_t *to, value;
	} limits[] = {{&c->limits.min_input, p->min_input},
	              {&c->limits.max_input, p->max_input},
	              {&c->limits.min_output, p->min_output},
	              {&c->limits.max_output, p->max_output},
	              {&c->limits.max_total, p->max_total}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (*limits[i].to == IPF_ABSENT)
			*limits[i].to = limits[i].value;
}

#define GENERATED_REQUESTS 1000
#define GENERATED_INPUT    "1024"
#define GENERATED_OUTPUT   "128"

/* Loads of this field's benchmarks. */
static const struct {
	const char *input, *output, *turns;
} profiles[] = {
	[PROFILE_CHAT] = {NULL, NULL, "dataset"},
	[PROFILE_CODE_GENERATION] = {"4096", "uniform:30-80", NULL},
	[PROFILE_CLASSIFICATION] = {"10000", "uniform:30-80", NULL},
	[PROFILE_SUMMARIZATION] = {"2048", "128", NULL},
	[PROFILE_FIXED_LENGTH] = {"200", "800", NULL},
};

/* `text` NULL: leaves the option as it is. */
static int apply_default(struct distribution_option *option, const char *text, enum distribution_unit unit,
                         struct ipf_error *err)
{
	return option->given || !text ? 0 : distribution_parse(&option->distribution, text, unit, err);
}

static int apply_profile(struct prep_config *c, struct ipf_error *err)
{
	if (c->profile == PROFILE_NONE)
		return 0;
	const char *input = profiles[c->profile].input, *output = profiles[c->profile].output,
			   *turns = profiles[c->profile].turns;
	if (apply_default(&c->input, input, DISTRIBUTION_COUNT, err) < 0 ||
	    apply_default(&c->output, output, DISTRIBUTION_COUNT, err) < 0 ||
	    apply_default(&c->turns, turns, DISTRIBUTION_COUNT, err) < 0)
		return -1;
	c->input.given |= input != NULL;
	c->output.given |= output != NULL;
	c->turns.given |= turns != NULL;
	return 0;
}

static int apply_defaults(struct prep_config *c, struct ipf_error *err)
{
	return apply_default(&c->input, "dataset", DISTRIBUTION_COUNT, err) < 0 ||
	               apply_default(&c->output, "dataset", DISTRIBUTION_COUNT, err) < 0 ||
	               apply_default(&c->turns, "1", DISTRIBUTION_COUNT, err) < 0 ||
	               apply_default(&c->wait, "dataset", DISTRIBUTION_TIME, err) < 0
	           ? -1
	           : 0;
}

/* The default number for a format reading no data. */
static int apply_generated_defaults(struct prep_config *c, struct ipf_error *err)
{
	if (c->max_requests == IPF_ABSENT && c->max_sessions == IPF_ABSENT)
		c->max_requests = c->mix.count ? traffic_mix_requests(&c->mix) : GENERATED_REQUESTS;
	return apply_default(&c->input, GENERATED_INPUT, DISTRIBUTION_COUNT, err) < 0 ||
	               apply_default(&c->output, GENERATED_OUTPUT, DISTRIBUTION_COUNT, err) < 0
	           ? -1
	           : 0;
}

/* ---- checks ---- */

static bool is_dataset(const struct distribution_option *option)
{
	return option->given && !option->histogram && option->distribution.kind == DISTRIBUTION_DATASET;
}

static int check_limits(const struct prep_config *c, struct ipf_error *err)
{
	const struct token_limits *l = &c->limits;
	if (l->min_input != IPF_ABSENT && l->max_input != IPF_ABSENT && l->min_input > l->max_input)
		return ipf_error_set(err, IPF_USAGE, "--min-input: %lld is more than --max-input %lld", (long long)l->min_input,
		                     (long long)l->max_input);
	if (l->min_output != IPF_ABSENT && l->max_output != IPF_ABSENT && l->min_output > l->max_output)
		return ipf_error_set(err, IPF_USAGE, "--min-output: %lld is more than --max-output %lld",
		                     (long long)l->min_output, (long long)l->max_output);
	if (c->from_ns != IPF_ABSENT && c->to_ns != IPF_ABSENT && c->from_ns >= c->to_ns) {
		char from[32], to[32];
		return ipf_error_set(err, IPF_USAGE, "--from: %s is not before --to %s", format_duration(c->from_ns, from),
		                     format_duration(c->to_ns, to));
	}
	return 0;
}

static int writes_no_text(const char *option, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: cannot be combined with --prompt none, which writes no text", option);
}

static int check_prompt_form(const struct prep_config *c, struct ipf_error *err)
{
	if (c->prompt != PROMPT_MESSAGES && c->template.given)
		return ipf_error_set(err, IPF_USAGE, "--template-tokens: requires --prompt messages, got %s",
		                     prompt_form_names[c->prompt]);
	if (c->prompt != PROMPT_MESSAGES && c->prompt != PROMPT_RECORDED && media_options_given(&c->media))
		return ipf_error_set(err, IPF_USAGE, "--images, --audio and --video need --prompt messages, got %s",
		                     prompt_form_names[c->prompt]);
	if (c->prompt == PROMPT_NONE && (c->system || c->salt || c->content_file))
		return writes_no_text(c->system ? "--system" : c->salt ? "--salt" : "--content", err);
	if (c->prompt == PROMPT_TEXT && c->turns.given && !c->first_turn_only)
		return ipf_error_set(err, IPF_USAGE,
		                     "--prompt: sessions need messages or ids; remove --turns or --prompt text");
	return 0;
}

/* Recorded answers come from data, have their own length, and the form of prompts. */
static int check_answer_ids(const struct prep_config *c, struct ipf_error *err)
{
	if (!c->answer_ids)
		return 0;
	if (c->prompt != PROMPT_IDS)
		return ipf_error_set(err, IPF_USAGE, "--answer-ids: requires --prompt ids, got %s",
		                     prompt_form_names[c->prompt]);
	if (c->output.given && !is_dataset(&c->output))
		return ipf_error_set(err, IPF_USAGE,
		                     "--answer-ids: cannot be combined with --output-tokens, since answers have their "
		                     "recorded lengths");
	return 0;
}

static int no_batch(const char *option, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: cannot be combined with --batch", option);
}

/* The prompts of a batch are texts or token ids, of no session, and nothing is generated for them. */
static int check_batch(struct prep_config *c, struct ipf_error *err)
{
	if (c->query.given && !c->batch.given)
		return ipf_error_set(err, IPF_USAGE, "--query-tokens: requires --batch");
	if (!c->batch.given)
		return 0;
	const struct {
		const char *option;
		bool given;
	} others[] = {{"--prompt none", c->prompt == PROMPT_NONE},
	              {"--turns", c->turns.given},
	              {"--output-tokens", c->output.given},
	              {"--sessions", c->max_sessions != IPF_ABSENT},
	              {"--system", c->system != NULL},
	              {"--template-tokens", c->template.given}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].given)
			return no_batch(others[i].option, err);
	if (is_dataset(&c->batch) || is_dataset(&c->query))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a number or a distribution, got dataset",
		                     is_dataset(&c->batch) ? "--batch" : "--query-tokens");
	if (c->query.given && c->prompt == PROMPT_IDS)
		return ipf_error_set(err, IPF_USAGE, "--query-tokens: requires --prompt text, got ids");
	c->prompt = c->prompt == PROMPT_IDS ? PROMPT_IDS : PROMPT_TEXT;
	return 0;
}

#define BATCHES_MOST 100000000 /* whose sizes are drawn one by one */

/* -n counts requests; the source of them counts the prompts, of which each request gets as many as are drawn. */
static int count_inputs(struct prep_config *c, struct ipf_error *err)
{
	const struct distribution *sizes = &c->batch.distribution;
	int64_t requests = c->max_requests, inputs = 0;
	if (!c->batch.given || requests == IPF_ABSENT)
		return 0;
	if (sizes->kind == DISTRIBUTION_CONSTANT && !__builtin_mul_overflow(requests, sizes->min, &c->max_requests))
		return 0;
	if (requests > BATCHES_MOST)
		return ipf_error_set(err, IPF_USAGE, "-n: expected at most %d requests with --batch, got %lld", BATCHES_MOST,
		                     (long long)requests);
	for (int64_t i = 0; i < requests; i++)
		inputs += prep_config_batch_size(c, i); /* at most 100M each */
	c->max_requests = inputs;
	return 0;
}

int prep_config_check(struct prep_config *c, struct ipf_error *err)
{
	if (c->sample != SAMPLE_ALL && c->max_requests == IPF_ABSENT && c->max_sessions == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "--sample: requires -n or --sessions");
	if (c->shuffle && c->sample == SAMPLE_ALL)
		c->sample = SAMPLE_WITHOUT;
	if (c->sample != SAMPLE_ALL && !isnan(c->scale))
		return ipf_error_set(err, IPF_USAGE, "--scale: cannot be combined with --sample or --shuffle");
	if (check_batch(c, err) < 0)
		return -1;
	apply_preset(c);
	if (apply_profile(c, err) < 0 || apply_defaults(c, err) < 0)
		return -1;
	if (c->preset != PRESET_NONE && c->turns.given)
		return ipf_error_set(err, IPF_USAGE, "--preset: cannot be combined with --turns or --profile chat");
	const struct distribution *turns = &c->turns.distribution;
	c->first_turn_only = !c->turns.histogram && turns->kind == DISTRIBUTION_CONSTANT && turns->min == 1;
	return check_limits(c, err) < 0 || check_prompt_form(c, err) < 0 || check_answer_ids(c, err) < 0 ? -1 : 0;
}

int prep_config_check_all_turns(struct prep_config *c, struct ipf_error *err)
{
	if (prep_config_check(c, err) < 0)
		return -1;
	if (!c->turns.given)
		c->turns.distribution.kind = DISTRIBUTION_DATASET;
	c->first_turn_only &= c->turns.given;
	return 0;
}

static int refuse(const struct prep_config *c, const char *option, const char *why, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: format %s %s", option, c->format->name, why);
}

/* A format reading no data has nothing to select from, and no lengths of its own. */
static int check_generated(const struct prep_config *c, struct ipf_error *err)
{
	static const char no_data[] = "has no data to take them from; give a number or a distribution";
	if (is_dataset(&c->input))
		return refuse(c, "--input-tokens", no_data, err);
	if (is_dataset(&c->output))
		return refuse(c, "--output-tokens", no_data, err);
	if (is_dataset(&c->turns))
		return refuse(c, "--turns", no_data, err);
	if (is_dataset(&c->wait))
		return refuse(c, "--wait", no_data, err);
	if (c->answer_ids)
		return refuse(c, "--answer-ids", "has no recorded answers", err);
	if (c->sample != SAMPLE_ALL)
		return refuse(c, c->shuffle ? "--shuffle" : "--sample", "draws its requests anyway; use --seed", err);
	if (!isnan(c->scale) && !(traffic_mix_has_arrivals(&c->mix)))
		return refuse(c, "--scale", c->mix.count ? "has no arrivals in this model" : "has arrivals only with --like",
		              err);
	const struct token_limits *l = &c->limits;
	const struct {
		const char *option;
		int64_t value;
	} limits[] = {{"--min-input", l->min_input},
	              {"--max-input", l->max_input},
	              {"--min-output", l->min_output},
	              {"--max-output", l->max_output},
	              {"--max-total", l->max_total}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (limits[i].value != IPF_ABSENT && c->preset == PRESET_NONE)
			return refuse(c, limits[i].option, "draws its lengths; bound them with min= and max=", err);
	return 0;
}

/* A model has lengths and turns of its own. */
static int check_like(const struct prep_config *c, struct ipf_error *err)
{
	const struct {
		const char *option;
		bool given;
	} options[] = {{"--input-tokens", c->input.given},
	               {"--output-tokens", c->output.given},
	               {"--turns", c->turns.given},
	               {"--profile", c->profile != PROFILE_NONE}};
	for (size_t i = 0; c->mix.files.count && i < sizeof options / sizeof *options; i++)
		if (options[i].given)
			return ipf_error_set(err, IPF_USAGE, "%s: cannot be combined with --like, whose model has its own",
			                     options[i].option);
	return 0;
}

/* The options of captures, each a text or a list. */
static const struct capture_option {
	const char *name;
	size_t offset;
	bool list;
} capture_options[] = {
	{"--records", offsetof(struct capture_settings, records), false},
	{"--keylog", offsetof(struct capture_settings, keylog), false},
	{"--session-header", offsetof(struct capture_settings, session_header), false},
	{"--api", offsetof(struct capture_settings, apis), true},
	{"--keep-header", offsetof(struct capture_settings, keep_headers), true},
	{"--port", offsetof(struct capture_settings, ports), true},
};

static bool is_given(const struct prep_config *c, const struct capture_option *option)
{
	const void *at = (const char *)&c->capture + option->offset;
	return option->list ? ((const struct string_list *)at)->count > 0 : *(const char *const *)at != NULL;
}

static bool makes_canaries(const struct prep_config *c)
{
	return strcmp(c->format->name, "canaries") == 0;
}

/* A canary needs a text of its own. */
static int check_canaries(const struct prep_config *c, struct ipf_error *err)
{
	const bool all = makes_canaries(c);
	const char *option = c->canaries.share > 0 || c->canaries.count ? "--canaries" : "canaries";
	const struct {
		const char *name;
		bool given;
	} others[] = {{"--output-tokens", c->output.given},
	              {"--prefixes", c->prefixes.count > 0},
	              {"--system", c->system != NULL},
	              {"--profile", c->profile != PROFILE_NONE},
	              {"--canaries", c->canaries.share > 0 || c->canaries.count},
	              {"--batch", c->batch.given},
	              {"--images, --audio and --video", media_options_given(&c->media)}};
	if (c->repeat_logprobs && !(c->repeats.share > 0) && !c->repeats.count)
		return ipf_error_set(err, IPF_USAGE, "--repeat-logprobs: requires --repeats");
	for (size_t i = 0; all && i < sizeof others / sizeof *others; i++)
		if (others[i].given)
			return refuse(c, others[i].name, "has prompts and answers of its own", err);
	if (!all && !(c->canaries.share > 0) && !c->canaries.count)
		return 0;
	if (c->batch.given)
		return ipf_error_set(err, IPF_USAGE, "--canaries: cannot be combined with --batch");
	if (c->prompt == PROMPT_IDS || c->prompt == PROMPT_NONE)
		return ipf_error_set(err, IPF_USAGE, "%s: requires --prompt messages or text, got %s", option,
		                     prompt_form_names[c->prompt]);
	return 0;
}

/* Options making no sense for this format are refused rather than ignored. */
static int check_format(const struct prep_config *c, struct ipf_error *err)
{
	unsigned traits = c->traits;
	if (c->preset != PRESET_NONE && strcmp(c->format->name, "sharegpt") != 0)
		return refuse(c, "--preset", "has no presets; they are for sharegpt", err);
	if (c->turns.given && !(traits & HAS_TURNS))
		return refuse(c, "--turns", "has no conversations", err);
	if (c->fields.count && !(traits & HAS_FIELDS))
		return refuse(c, "--field", "has fixed fields; use jsonl or csv", err);
	if (c->wait.given && (traits & HAS_TURNS) && c->first_turn_only)
		return refuse(c, "--wait", "has sessions only with --turns above 1", err);
	if (c->wait.given && !(traits & (HAS_TURNS | HAS_SESSIONS)))
		return refuse(c, "--wait", "has no sessions", err);
	if (c->salt && !(traits & MAKES_TEXT) && !c->prefixes.count)
		return refuse(c, "--salt", "has its own text", err);
	if (c->content_file && !(traits & MAKES_TEXT) && !c->prefixes.count)
		return refuse(c, "--content", "has its own text", err);
	for (size_t i = 0; !(traits & HAS_PACKETS) && i < sizeof capture_options / sizeof *capture_options; i++)
		if (is_given(c, &capture_options[i]))
			return refuse(c, capture_options[i].name, "is no capture of packets", err);
	if (c->sub_agents != KEEP_DEFAULT && !(traits & HAS_AGENTS))
		return refuse(c, "--sub-agents", "has no sub-agents", err);
	if (c->failed != KEEP_DEFAULT && c->format->kind != SOURCE_TRACE)
		return refuse(c, "--failed", "has no recorded failures", err);
	if (c->dequantise && !(traits & HAS_TIMES))
		return refuse(c, "--dequantise", "has no arrivals", err);
	if (!isnan(c->scale) && !(traits & (HAS_TIMES | HAS_SESSIONS)))
		return refuse(c, "--scale", "has neither arrivals nor sessions", err);
	if (c->from_ns != IPF_ABSENT && !(traits & HAS_TIMES))
		return refuse(c, "--from", "has no arrivals", err);
	if (c->to_ns != IPF_ABSENT && !(traits & HAS_TIMES))
		return refuse(c, "--to", "has no arrivals", err);
	if (!isnan(c->hit_rate) && !(traits & DEALS_PREFIXES))
		return refuse(c, "--hit-rate", "has no options for common prefixes; use prefix", err);
	if (c->mix.files.count && strcmp(c->format->name, "synthetic") != 0)
		return refuse(c, "--like", "has its own data; use synthetic", err);
	if (c->groups != IPF_ABSENT && !(traits & DEALS_PREFIXES))
		return refuse(c, "--groups", "has no groups; use prefix", err);
	if (c->prefixes.count && c->prompt == PROMPT_NONE && !(traits & DEALS_PREFIXES))
		return writes_no_text("--prefixes", err);
	if (c->system && (traits & DEALS_PREFIXES))
		return refuse(c, "--system", "begins each prompt with its shared part", err);
	if (c->sample != SAMPLE_ALL && (traits & HAS_TIMES))
		return refuse(c, c->shuffle ? "--shuffle" : "--sample", "has recorded arrivals, whose order must be kept", err);
	return 0;
}

/* ---- files of options ---- */

/* Opens each kind of file that options name. */
static const struct whole_file histogram_file = {"a histogram", (size_t)16 << 20},
							   system_file = {"a system message", (size_t)16 << 20},
							   content_file = {"a text", (size_t)256 << 20},
							   model_file = {"a model of ipf-prep fit", (size_t)64 << 20},
							   format_file = {"a format", (size_t)1 << 20};

/* Reads a whole file into `text` and notes its provenance. */
static int read_file(struct prep_config *c, const char *path, struct whole_file file, struct buffer *text,
                     struct ipf_error *err)
{
	if (whole_file_read(path, file, text, err) < 0)
		return -1;
	char hex[65];
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	digest_update(digest, text->data, text->len);
	digest_hex(digest, hex);
	digest_free(digest);
	if (!c->option_files)
		c->option_files = json_array();
	return json_array_append_new(c->option_files, provenance_file(path, (int64_t)text->len, hex)) < 0
	           ? ipf_error_memory(err)
	           : 0;
}

static int read_histogram(struct prep_config *c, struct distribution_option *option, struct ipf_error *err)
{
	struct buffer lines = {0};
	if (!option->histogram)
		return 0;
	int status = read_file(c, option->histogram, histogram_file, &lines, err);
	if (status == 0)
		status = distribution_histogram(&option->distribution, option->histogram, lines.data, option->distribution.unit,
		                                err);
	buffer_release(&lines);
	return status;
}

/* --system names a file, or is the text itself. */
static int read_system_message(struct prep_config *c, struct ipf_error *err)
{
	struct stat st;
	struct buffer *text = &c->system_message;
	if (!c->system)
		return 0;
	if (stat(c->system, &st) < 0 || !S_ISREG(st.st_mode)) {
		buffer_text(text, c->system);
	} else {
		if (read_file(c, c->system, system_file, text, err) < 0)
			return -1;
		/* Editors end a file with a line end outside the message. */
		if (text->len > 0 && text->data[text->len - 1] == '\n')
			text->len--;
	}
	if (text->failed)
		return ipf_error_memory(err);
	if (!utf8_valid(text->data, text->len, NULL))
		return ipf_error_set(err, IPF_USAGE, "--system: not UTF-8: \"%s\"", c->system);
	return 0;
}

static int read_content(struct prep_config *c, struct ipf_error *err)
{
	size_t good;
	if (!c->content_file)
		return 0;
	if (read_file(c, c->content_file, content_file, &c->content, err) < 0)
		return -1;
	if (c->content.len == 0)
		return ipf_error_at(err, IPF_INPUT, c->content_file, 0, "the file is empty");
	if (!utf8_valid(c->content.data, c->content.len, &good))
		return ipf_error_at(err, IPF_INPUT, c->content_file, 0, "not UTF-8: byte 0x%02x at byte %zu",
		                    (unsigned char)c->content.data[good], good + 1);
	synthetic_text_content(buffer_all(&c->content));
	return 0;
}

/* The files of --like. */
static int read_models(struct prep_config *c, struct ipf_error *err)
{
	int status = 0;
	for (size_t i = 0; status == 0 && i < c->mix.files.count; i++) {
		struct buffer text = {0};
		status = read_file(c, c->mix.files.items[i].name, model_file, &text, err);
		if (status == 0)
			status = traffic_mix_add(&c->mix, i, buffer_all(&text), err);
		buffer_release(&text);
	}
	return status;
}

static int open_tokenizer(struct prep_config *c, struct ipf_error *err)
{
	if (hub_token_counter_open(&c->tokens, c->tokenizer, remote_say, err) < 0)
		return -1;
	if (c->prompt == PROMPT_IDS && !token_counter_is_exact(c->tokens))
		return ipf_error_set(err, IPF_USAGE, "--prompt: ids requires a model's tokenizer (-t)");
	c->special_tokens = c->preset != PRESET_NONE ? token_counter_special_tokens(c->tokens) : 0;
	return chat_template_measure(&c->template, c->tokens, err);
}

static int open_format(struct prep_config *c, size_t files, struct ipf_error *err)
{
	const struct source_format *format = c->format;
	bool generates = format->kind == SOURCE_GENERATED;
	struct source_settings settings = {
		.fields = c->fields,
		.lone = c->first_turn_only,
		.first_two = c->preset != PRESET_NONE,
		.drop_agents = c->sub_agents == DROP,
		.answers_optional = c->output.distribution.kind != DISTRIBUTION_DATASET,
		.n = c->max_requests,
		.from_ns = c->from_ns,
		.to_ns = c->to_ns,
		.seed = c->common.seed,
		.tokens = c->tokens,
		.capture = &c->capture,
		.input = &c->input.distribution,
		.sessions = c->max_sessions,
		.output = &c->output.distribution,
		.turns = &c->turns.distribution,
		.prefixes = &c->prefixes,
		.groups = c->groups,
		.hit_rate = c->hit_rate,
		.completion = c->prompt == PROMPT_TEXT,
		.template_tokens = chat_template_tokens(&c->template, 1, false),
		.like = c->mix.count ? &c->mix : NULL,
		.like_scale = isnan(c->scale) ? 1 : c->scale,
	};
	if (generates && check_generated(c, err) < 0)
		return -1;
	if (source_open(format, &settings, &c->format_state, err) < 0)
		return -1;
	if (c->mix.count)
		c->scale = NAN; /* the arrivals are made at this rate */
	c->traits = format->traits_of ? format->traits_of(c->format_state) : format->traits;
	c->hold_all = (c->traits & GATHERS) || ((c->traits & HAS_TIMES) && files > 1) || c->dequantise || !isnan(c->scale);
	return check_canaries(c, err) < 0 ? -1 : check_format(c, err);
}

/* The provenance of a file describing the format; built-in ones have no folder or ending in their path. */
static int note_description(struct prep_config *c, struct ipf_error *err)
{
	struct buffer text = {0};
	if (!c->format->layout || !strpbrk(c->format->layout->path, "./"))
		return 0;
	int status = read_file(c, c->format->layout->path, format_file, &text, err);
	buffer_release(&text);
	return status;
}

int prep_config_open(struct prep_config *c, const struct source_format *format, size_t files, struct ipf_error *err)
{
	c->format = format;
	if (class_parts_check(&c->class_parts, &c->classes, err) < 0)
		return -1;
	if (note_description(c, err) < 0 || check_like(c, err) < 0 || read_models(c, err) < 0)
		return -1;
	if (format->kind == SOURCE_GENERATED && apply_generated_defaults(c, err) < 0)
		return -1;
	return read_histogram(c, &c->input, err) < 0 || read_histogram(c, &c->output, err) < 0 ||
	               read_histogram(c, &c->wait, err) < 0 || read_histogram(c, &c->turns, err) < 0 ||
	               read_histogram(c, &c->batch, err) < 0 || read_histogram(c, &c->query, err) < 0 ||
	               count_inputs(c, err) < 0 || read_system_message(c, err) < 0 || read_content(c, err) < 0 ||
	               open_tokenizer(c, err) < 0 || open_format(c, files, err) < 0
	           ? -1
	           : 0;
}

void prep_config_release(struct prep_config *c)
{
	if (c->format)
		source_close(c->format, c->format_state);
	token_counter_close(c->tokens);
	synthetic_text_content((struct slice){0});
	buffer_release(&c->content);
	buffer_release(&c->system_message);
	json_decref(c->option_files);
	json_decref(c->capture.argv);
	slo_rules_release(&c->slo);
	struct distribution_option *const distributions[] = {&c->input, &c->output, &c->turns,
	                                                     &c->wait,  &c->batch,  &c->query};
	for (size_t i = 0; i < sizeof distributions / sizeof *distributions; i++)
		distribution_release(&distributions[i]->distribution);
	distribution_release(&c->media.audio.length);
	share_list_release(&c->models);
	share_list_release(&c->classes);
	class_parts_release(&c->class_parts);
	prefix_groups_release(&c->prefixes);
	traffic_mix_release(&c->mix);
}

int64_t prep_config_batch_size(const struct prep_config *c, int64_t number)
{
	struct rng rng;
	rng_init(&rng, c->common.seed, "batch", (uint64_t)number);
	return distribution_draw(&c->batch.distribution, &rng);
}
