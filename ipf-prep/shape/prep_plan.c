#include "shape/prep.h"

#include "absent.h"
#include "json/utf8.h"
#include "stream/digest.h"
#include "stream/provenance.h"
#include "text/synthetic_text.h"
#include "cli/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SALT_MAX   255
#define PREFIX_MAX INT64_C(100000000)

static int usage(struct ipf_error *err, const char *option, const struct ipf_error *why)
{
	return ipf_error_set(err, IPF_USAGE, "%s: %s", option, why->text);
}

/* A file that an option names, whole, and its provenance. */
static int read_whole(struct prep_plan *plan, const char *path, struct buffer *text, struct ipf_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return ipf_error_errno(err, errno, path, "cannot open");
	ssize_t got;
	do {
		char *to = buffer_reserve(text, 65536);
		got = to ? read(fd, to, 65536) : -1;
		text->len += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	int why = text->failed ? ENOMEM : errno;
	close(fd);
	if (got < 0)
		return ipf_error_errno(err, why, path, "cannot read");
	text->data[text->len] = '\0';
	char hex[65];
	struct digest *digest = digest_new();
	if (!digest)
		return ipf_error_memory(err);
	digest_update(digest, text->data, text->len);
	digest_hex(digest, hex);
	digest_free(digest);
	if (!plan->files)
		plan->files = json_array();
	return json_array_append_new(plan->files, provenance_file(path, (int64_t)text->len, hex)) < 0
	           ? ipf_error_memory(err)
	           : 0;
}

static int parse_dist(struct prep_plan *plan, struct distribution *dist, const char *option, const char *text,
                      enum distribution_unit unit, struct ipf_error *err)
{
	static const char prefix[] = "histogram:";
	struct ipf_error why = {0};
	if (text && strncmp(text, prefix, sizeof prefix - 1) == 0) {
		const char *path = text + sizeof prefix - 1;
		struct buffer lines = {0};
		int status = read_whole(plan, path, &lines, err);
		if (status == 0)
			status = distribution_histogram(dist, path, lines.data, unit, err);
		buffer_release(&lines);
		return status;
	}
	return distribution_parse(dist, text ? text : "dataset", unit, &why) < 0 ? usage(err, option, &why) : 0;
}

static int parse_turns(struct prep_plan *plan, const char *text, struct ipf_error *err)
{
	if (text && strcmp(text, "all") == 0)
		text = "dataset";
	if (parse_dist(plan, &plan->turns, "--turns", text ? text : "1", DISTRIBUTION_COUNT, err) < 0)
		return -1;
	plan->lone = plan->turns.kind == DISTRIBUTION_CONSTANT && plan->turns.min == 1;
	return 0;
}

static int parse_sample(struct prep_plan *plan, const struct prep_options *o, struct ipf_error *err)
{
	if (o->shuffle)
		plan->sample = SAMPLE_WITHOUT;
	if (!o->sample)
		return 0;
	if (strcmp(o->sample, "with") != 0 && strcmp(o->sample, "without") != 0)
		return ipf_error_set(err, IPF_USAGE, "--sample: expected with or without, got \"%s\"", o->sample);
	if (o->n == IPF_ABSENT && o->sessions == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "--sample: how many? It needs -n or --sessions");
	plan->sample = strcmp(o->sample, "with") == 0 ? SAMPLE_WITH : SAMPLE_WITHOUT;
	return 0;
}

/* COUNTxTOKENS */
static bool parse_group(const char *text, struct prefix_group *group)
{
	struct ipf_error why = {0};
	char count[64];
	const char *x = strchr(text, 'x');
	size_t len = x ? (size_t)(x - text) : sizeof count;
	if (len >= sizeof count)
		return false;
	memcpy(count, text, len);
	count[len] = '\0';
	return parse_count(count, &group->count, &why) == 0 && parse_count(x + 1, &group->tokens, &why) == 0 &&
	       group->count >= 1 && group->tokens >= 1 && group->tokens <= PREFIX_MAX;
}

static int parse_prefixes(struct prep_plan *plan, const char *text, struct ipf_error *err)
{
	static const char expected[] = "COUNTxTOKENS such as 10x512, or in shares, such as 2x512=0.7,8x1024=0.3";
	if (!text)
		return 0;
	if (shares_parse(&plan->prefix_shares, "--prefixes", expected, text, err) < 0)
		return -1;
	plan->prefix_groups = calloc(plan->prefix_shares.count, sizeof *plan->prefix_groups);
	if (!plan->prefix_groups)
		return ipf_error_memory(err);
	for (size_t i = 0; i < plan->prefix_shares.count; i++) {
		struct prefix_group *group = &plan->prefix_groups[i];
		group->first = plan->prefix_count;
		if (!parse_group(plan->prefix_shares.list[i].name, group) ||
		    __builtin_add_overflow(plan->prefix_count, group->count, &plan->prefix_count))
			return ipf_error_set(err, IPF_USAGE, "--prefixes: expected %s, got \"%s\"", expected, text);
	}
	return 0;
}

/* A file of that name, or else the text itself. */
static int read_system(struct prep_plan *plan, const char *text, struct ipf_error *err)
{
	struct stat st;
	if (!text)
		return 0;
	if (stat(text, &st) < 0 || !S_ISREG(st.st_mode)) {
		buffer_text(&plan->system, text);
	} else {
		if (read_whole(plan, text, &plan->system, err) < 0)
			return -1;
		/* The line end that editors put there is not meant. */
		if (plan->system.len > 0 && plan->system.data[plan->system.len - 1] == '\n')
			plan->system.len--;
	}
	if (plan->system.failed)
		return ipf_error_memory(err);
	if (!utf8_valid(plan->system.data, plan->system.len, NULL))
		return ipf_error_set(err, IPF_USAGE, "--system: not UTF-8: \"%s\"", text);
	return 0;
}

static int parse_prompt(struct prep_plan *plan, const struct prep_options *o, struct ipf_error *err)
{
	static const char *const forms[] = {
		[AS_MESSAGES] = "messages", [AS_TEXT] = "text", [AS_IDS] = "ids", [AS_NOTHING] = "none"};
	int form = 0;
	while (o->prompt && form < 4 && strcmp(o->prompt, forms[form]) != 0)
		form++;
	if (form == 4)
		return ipf_error_set(err, IPF_USAGE, "--prompt: expected messages, text, ids or none, got \"%s\"", o->prompt);
	plan->prompt = (enum prompt_form)form;
	if (plan->prompt == AS_IDS && !token_counter_exact(plan->tokens))
		return ipf_error_set(err, IPF_USAGE, "--prompt: ids need a model's tokenizer (-t)");
	if (plan->prompt != AS_MESSAGES && o->template_tokens)
		return ipf_error_set(err, IPF_USAGE, "--template-tokens: there is no chat template with --prompt %s",
		                     o->prompt);
	return chat_template_parse(&plan->template, o->template_tokens, plan->tokens, err);
}

static int parse_goals(struct prep_plan *plan, const struct string_list *slo, struct ipf_error *err)
{
	if (slo->count == 0)
		return 0;
	plan->goals = calloc(1, sizeof *plan->goals);
	return plan->goals ? slo_option_parse(plan->goals, slo, err) : ipf_error_memory(err);
}

static int read_content(struct prep_plan *plan, const char *path, struct ipf_error *err)
{
	size_t good;
	if (!path)
		return 0;
	if (read_whole(plan, path, &plan->content, err) < 0)
		return -1;
	if (plan->content.len == 0)
		return ipf_error_at(err, IPF_INPUT, path, 0, "the file is empty");
	if (!utf8_valid(plan->content.data, plan->content.len, &good))
		return ipf_error_at(err, IPF_INPUT, path, 0, "not UTF-8: byte 0x%02x at byte %zu",
		                    (unsigned char)plan->content.data[good], good + 1);
	synthetic_text_content(buffer_all(&plan->content));
	return 0;
}

static int refuse(const struct prep_plan *plan, const char *option, const char *why, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: source %s %s", option, plan->format->name, why);
}

/* Options that make no sense with this source are refused, so that none is ignored. */
static int check_source(const struct prep_plan *plan, const struct prep_options *o, struct ipf_error *err)
{
	unsigned traits = plan->traits;
	if (o->preset && (strcmp(plan->format->name, "sharegpt") != 0 || o->turns))
		return ipf_error_set(err, IPF_USAGE, "--preset: is for source sharegpt, without --turns");
	if (o->turns && !(traits & HAS_TURNS))
		return refuse(plan, "--turns", "has no conversations", err);
	if (plan->prompt == AS_NOTHING && (o->system || o->prefixes || o->salt || o->content))
		return ipf_error_set(err, IPF_USAGE, "--prompt none: there is no text for %s",
		                     o->system     ? "--system"
		                     : o->prefixes ? "--prefixes"
		                     : o->salt     ? "--salt"
		                                   : "--content");
	if (o->turns && !plan->lone && (plan->prompt == AS_TEXT || plan->prompt == AS_IDS))
		return ipf_error_set(err, IPF_USAGE, "--prompt: the turns of a session are messages; %s only without --turns",
		                     o->prompt);
	if (o->fields.count && !(traits & HAS_FIELDS))
		return refuse(plan, "--field", "has a fixed layout", err);
	if (o->wait && (traits & HAS_TURNS) && plan->lone)
		return refuse(plan, "--wait", "gives sessions only with --turns of more than 1", err);
	if (o->wait && !(traits & (HAS_TURNS | HAS_SESSIONS)))
		return refuse(plan, "--wait", "has no sessions", err);
	if (o->salt && !(traits & MAKES_TEXT) && !o->prefixes)
		return refuse(plan, "--salt", "has texts of its own", err);
	if (o->content && !(traits & MAKES_TEXT) && !o->prefixes)
		return refuse(plan, "--content", "has texts of its own", err);
	if (o->sub_agents && !(traits & HAS_AGENTS))
		return refuse(plan, "--sub-agents", "has none", err);
	if (o->failed && plan->format->kind != SOURCE_TRACE)
		return refuse(plan, "--failed", "has no recorded failures", err);
	if (o->dequantise && !(traits & HAS_TIMES))
		return refuse(plan, "--dequantise", "has no arrivals", err);
	if (!isnan(o->scale) && !(traits & (HAS_TIMES | HAS_SESSIONS)))
		return refuse(plan, "--scale", "has neither arrivals nor sessions", err);
	if (!isnan(o->scale) && plan->sample != SAMPLE_ALL)
		return ipf_error_set(err, IPF_USAGE, "--scale: does not go with a sample");
	if (o->from_ns != IPF_ABSENT && !(traits & HAS_TIMES))
		return refuse(plan, "--from", "has no arrivals", err);
	if (o->to_ns != IPF_ABSENT && !(traits & HAS_TIMES))
		return refuse(plan, "--to", "has no arrivals", err);
	if (plan->sample != SAMPLE_ALL && (traits & HAS_TIMES))
		return refuse(plan, o->sample ? "--sample" : "--shuffle", "has recorded arrivals, whose order is part of it",
		              err);
	return 0;
}

static int check_values(const struct prep_options *o, struct ipf_error *err)
{
	if (o->n == 0 || o->sessions == 0)
		return ipf_error_set(err, IPF_USAGE, "%s: expected 1 or more, got 0", o->n == 0 ? "-n" : "--sessions");
	if (o->min_input != IPF_ABSENT && o->max_input != IPF_ABSENT && o->min_input > o->max_input)
		return ipf_error_set(err, IPF_USAGE, "--min-input: more than --max-input");
	if (o->min_output != IPF_ABSENT && o->max_output != IPF_ABSENT && o->min_output > o->max_output)
		return ipf_error_set(err, IPF_USAGE, "--min-output: more than --max-output");
	if (o->from_ns != IPF_ABSENT && o->to_ns != IPF_ABSENT && o->from_ns >= o->to_ns)
		return ipf_error_set(err, IPF_USAGE, "--from: not before --to");
	if (o->on_error && strcmp(o->on_error, "skip") != 0 && strcmp(o->on_error, "stop") != 0)
		return ipf_error_set(err, IPF_USAGE, "--on-error: expected skip or stop, got \"%s\"", o->on_error);
	if (o->failed && strcmp(o->failed, "keep") != 0 && strcmp(o->failed, "drop") != 0)
		return ipf_error_set(err, IPF_USAGE, "--failed: expected keep or drop, got \"%s\"", o->failed);
	if (o->sub_agents && strcmp(o->sub_agents, "keep") != 0 && strcmp(o->sub_agents, "drop") != 0)
		return ipf_error_set(err, IPF_USAGE, "--sub-agents: expected keep or drop, got \"%s\"", o->sub_agents);
	if (!isnan(o->scale) && (o->scale <= 0 || o->scale > 1e6))
		return ipf_error_set(err, IPF_USAGE, "--scale: expected more than 0, and at most a million, got %g", o->scale);
	if (o->salt && strlen(o->salt) > SALT_MAX)
		return ipf_error_set(err, IPF_USAGE, "--salt: expected at most %d bytes", SALT_MAX);
	return 0;
}

/* The filters of other benchmarks, so that results compare. What the user gives on top counts before it. */
static const struct preset {
	const char *name;
	bool first_two;
	int64_t min_input, max_input, min_output, max_output, max_total;
} presets[] = {
	{"vllm-sharegpt", true, 4, 1024, 4, IPF_ABSENT, 2048},
	{"sglang-sharegpt", true, 2, IPF_ABSENT, 2, IPF_ABSENT, IPF_ABSENT},
	{"lpg-sharegpt", true, 4, 1024, 4, 1024, IPF_ABSENT},
};

static const struct preset *find_preset(const char *name, struct ipf_error *err)
{
	for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
		if (strcmp(presets[i].name, name) == 0)
			return &presets[i];
	ipf_error_set(err, IPF_USAGE, "--preset: expected vllm-sharegpt, sglang-sharegpt or lpg-sharegpt, got \"%s\"",
	              name);
	return NULL;
}

/* Shapes of load that benchmarks of this field use. */
static const struct profile {
	const char *name, *input, *output, *turns;
} profiles[] = {
	{"chat", NULL, NULL, "all"},
	{"code-generation", "4096", "uniform:30-80", NULL},
	{"classification", "10000", "uniform:30-80", NULL},
	{"summarization", "2048", "128", NULL},
	{"fixed-length", "200", "800", NULL},
};

static int set_profile(struct prep_options *o, struct ipf_error *err)
{
	const struct profile *p = NULL;
	for (size_t i = 0; o->profile && i < sizeof profiles / sizeof *profiles; i++)
		if (strcmp(profiles[i].name, o->profile) == 0)
			p = &profiles[i];
	if (o->profile && !p)
		return ipf_error_set(
			err, IPF_USAGE,
			"--profile: expected chat, code-generation, classification, summarization or fixed-length, got \"%s\"",
			o->profile);
	if (!p)
		return 0;
	o->input_tokens = o->input_tokens ? o->input_tokens : p->input;
	o->output_tokens = o->output_tokens ? o->output_tokens : p->output;
	o->turns = o->turns ? o->turns : p->turns;
	return 0;
}

int plan_preset(struct prep_options *o, struct ipf_error *err)
{
	const struct preset *p;
	if (set_profile(o, err) < 0)
		return -1;
	if (!o->preset)
		return 0;
	if (!(p = find_preset(o->preset, err)))
		return -1;
	const struct {
		int64_t *to, value;
	} limits[] = {{&o->min_input, p->min_input},
	              {&o->max_input, p->max_input},
	              {&o->min_output, p->min_output},
	              {&o->max_output, p->max_output},
	              {&o->max_total, p->max_total}};
	for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
		if (*limits[i].to == IPF_ABSENT)
			*limits[i].to = limits[i].value;
	o->first_two = p->first_two;
	return 0;
}

int plan_make(struct prep_plan *plan, const struct prep_options *o, const struct source_format *format, int files,
              struct ipf_error *err)
{
	*plan = (struct prep_plan){.options = o, .format = format};
	if (check_values(o, err) < 0 ||
	    parse_dist(plan, &plan->input, "--input-tokens", o->input_tokens, DISTRIBUTION_COUNT, err) < 0 ||
	    parse_dist(plan, &plan->output, "--output-tokens", o->output_tokens, DISTRIBUTION_COUNT, err) < 0 ||
	    parse_dist(plan, &plan->wait, "--wait", o->wait, DISTRIBUTION_TIME, err) < 0 ||
	    parse_turns(plan, o->turns, err) < 0 || parse_sample(plan, o, err) < 0 ||
	    parse_prefixes(plan, o->prefixes, err) < 0 ||
	    (o->models &&
	     shares_parse(&plan->models, "--models", "NAME=SHARE,… such as base=0.5,lora-a=0.5", o->models, err) < 0) ||
	    read_system(plan, o->system, err) < 0 || read_content(plan, o->content, err) < 0 ||
	    token_counter_open(&plan->tokens, o->tokenizer, err) < 0 || parse_prompt(plan, o, err) < 0 ||
	    parse_goals(plan, &o->slo, err) < 0)
		return -1;
	struct source_settings settings = {
		.fields = o->fields,
		.lone = plan->lone,
		.first_two = o->first_two,
		.drop_agents = o->sub_agents && strcmp(o->sub_agents, "drop") == 0,
		.answers_optional = plan->output.kind != DISTRIBUTION_DATASET,
		.n = o->n,
		.from_ns = o->from_ns,
		.to_ns = o->to_ns,
		.seed = o->common.seed,
		.tokens = plan->tokens,
		.input = &plan->input,
	};
	plan->around = o->preset ? token_counter_around(plan->tokens) : 0;
	plan->drop_failed = o->failed && strcmp(o->failed, "drop") == 0;
	if (format->open && format->open(&plan->state, &settings, err) < 0)
		return -1;
	plan->traits = format->traits_of ? format->traits_of(plan->state) : format->traits;
	plan->gather = (plan->traits & GATHERS) || ((plan->traits & HAS_TIMES) && files > 1) || o->dequantise ||
	               !isnan(o->scale);
	return check_source(plan, o, err);
}

void plan_release(struct prep_plan *plan)
{
	if (plan->format && plan->format->close)
		plan->format->close(plan->state);
	token_counter_close(plan->tokens);
	synthetic_text_content((struct slice){0});
	buffer_release(&plan->content);
	buffer_release(&plan->system);
	json_decref(plan->files);
	if (plan->goals)
		slo_option_release(plan->goals);
	free(plan->goals);
	distribution_release(&plan->turns);
	distribution_release(&plan->input);
	distribution_release(&plan->output);
	distribution_release(&plan->wait);
	shares_release(&plan->models);
	shares_release(&plan->prefix_shares);
	free(plan->prefix_groups);
}
