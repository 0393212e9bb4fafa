#include "stat/trace_stat.h"

#include "absent.h"
#include "cli/gnuplot.h"
#include "json/jout.h"
#include "cli/options.h"
#include "stat/trace_plot.h"
#include "stat/prefix_reuse.h"
#include "stats/samples.h"
#include "stat/tag_measures.h"
#include "stream/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stat_options {
	struct common_options common;
	const char *format, *plot;
};

#define O(kind_, letter_, name_, argument_, member_, help_)                                                            \
	OPTION(kind_, letter_, name_, argument_, struct stat_options, member_, help_)
static const struct option_spec specs[] = {
	O(OPTION_TEXT, 'f', "format", "text|json", format, "for a person to read (default), or one JSON object"),
	OPTION_UNSHAPING(OPTION_FILE, 0, "plot", "FILE", struct stat_options, plot,
                     "draw it to FILE too, .png or .svg (needs gnuplot)"),
	OPTION_UNSHAPING(OPTION_FILE, 'o', "output", "FILE", struct stat_options, common.output,
                     "write to FILE (default: standard output)"),
	{.kind = OPTION_HELP, .letter = 'h', .name = "help", .help = "show this help"},
};
static const struct program stat_program = {
	.name = "ipf-prep stat",
	.operands = "[TRACE]",
	.summary = "describe a request trace: arrivals, lengths, sessions, what prompts share",
	.specs = specs,
	.count = sizeof specs / sizeof *specs,
	.min_operands = 0,
	.max_operands = 1,
};

#define TEXT_BLOCK 64 /* bytes: 16 tokens by approximation */

/* What is gathered of a trace. */
struct described {
	struct samples at, input, output, turns, wait; /* arrivals and waits in seconds */
	int64_t requests, sessions, failed, parents, with_text;
	struct buffer session; /* of the request before */
	int64_t session_turns;
	struct prefix_reuse blocks, texts;
	struct buffer pending; /* text that does not make a block yet */
	int64_t told;          /* bytes of the session's context that are blocks by now */
	json_t *models;
	struct tag_measures tagged;
	int64_t lone;
};

/* ---- gathering -------------------------------------------------------------------------------------------------- */

static uint64_t hash_bytes(const char *text, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
	return h ^ h >> 32;
}

/* Adds text to the prompt that is under way; whole blocks are told. */
static void add_text(struct described *d, struct slice text,
                     void (*tell)(struct prefix_reuse *r, uint64_t id, int64_t size))
{
	buffer_slice(&d->pending, text);
	size_t at = 0;
	for (; d->pending.len - at >= TEXT_BLOCK; at += TEXT_BLOCK)
		tell(&d->texts, hash_bytes(d->pending.data + at, TEXT_BLOCK), TEXT_BLOCK);
	buffer_consume(&d->pending, at);
	d->told += (int64_t)at;
}

static void add_texts(struct described *d, const struct trace_request *r, bool goes_on)
{
	bool context = r->context_session && goes_on;
	if (!context) {
		buffer_clear(&d->pending);
		d->told = 0;
	}
	prefix_reuse_begin(&d->texts, r->at_ns, d->told);
	struct slice list = r->messages.data ? r->messages : r->prompt_token_ids.data ? r->prompt_token_ids : r->prompt;
	if (r->tools.data && !context)
		add_text(d, r->tools, prefix_reuse_block);
	/* without the brackets, so that a session's texts go on as one list would */
	add_text(d, (struct slice){list.data + 1, list.len - 2}, prefix_reuse_block);
	prefix_reuse_rest(&d->texts, (int64_t)d->pending.len); /* too short for a block */
	if (r->context_session && r->answer.data)              /* a part of the next turn's prompt, and there already */
		add_text(d, r->answer, prefix_reuse_pass);
}

static int add_blocks(struct described *d, const struct trace_request *r, struct jdoc *j, struct ipf_error *err)
{
	if (jdoc_parse(j, r->blocks.data, r->blocks.len, err) < 0)
		return -1;
	jdoc_id ids = jdoc_get(j, JDOC_ROOT, "ids"), tokens = jdoc_get(j, JDOC_ROOT, "tokens");
	struct slice scope = jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "scope"));
	uint64_t salt = scope.data ? hash_bytes(scope.data, scope.len) * UINT64_C(0x9e3779b97f4a7c15) : 0;
	struct jdoc_each sizes = jdoc_each(j, tokens);
	bool listed = jdoc_type_of(j, tokens) == JDOC_LIST;
	int64_t each = 0, left = r->input_tokens;
	if (!listed && (!jdoc_to_int(j, tokens, &each) || each <= 0))
		return jdoc_expected(j, tokens, "blocks.tokens", "a count or a list", err);
	prefix_reuse_begin(&d->blocks, r->at_ns, 0);
	for (struct jdoc_each e = jdoc_each(j, ids); jdoc_step(&e);) {
		struct slice raw = jdoc_raw(j, e.value);
		if (listed && (!jdoc_step(&sizes) || !jdoc_to_int(j, sizes.value, &each)))
			return jdoc_expected(j, tokens, "blocks.tokens", "a length for each id", err);
		prefix_reuse_block(&d->blocks, hash_bytes(raw.data, raw.len) ^ salt,
		                   left != IPF_ABSENT && each > left ? left : each);
		left -= left != IPF_ABSENT ? each : 0;
	}
	if (left > 0 && left != IPF_ABSENT) /* text of its own */
		prefix_reuse_rest(&d->blocks, left);
	return 0;
}

static void end_session(struct described *d)
{
	if (d->session_turns)
		samples_add(&d->turns, (double)d->session_turns);
	d->session_turns = 0;
}

static void add_model(struct described *d, struct slice model)
{
	char name[256];
	snprintf(name, sizeof name, "%.*s", (int)(model.len > 2 && model.len < 250 ? model.len - 2 : 0),
	         model.data ? model.data + 1 : "");
	if (!model.data)
		return;
	json_int_t count = json_integer_value(json_object_get(d->models, name));
	json_object_set_new(d->models, name, json_integer(count + 1));
}

static bool is_failed(struct slice tags)
{
	return tags.data && memmem(tags.data, tags.len, "\"failed\":true", 13);
}

static int add_request(struct described *d, const struct trace_request *r, struct jdoc *j, struct ipf_error *err)
{
	bool goes_on = r->session.data && d->session_turns > 0 && slice_equal(r->session, buffer_all(&d->session));
	if (!goes_on) {
		end_session(d);
		buffer_clear(&d->session);
		buffer_slice(&d->session, r->session);
		d->sessions += r->session.data != NULL;
		d->lone += r->session.data == NULL;
	}
	d->session_turns += r->session.data != NULL;
	d->requests++;
	d->parents += r->parents.data != NULL;
	d->failed += is_failed(r->tags);
	if (r->at_ns != IPF_ABSENT)
		samples_add(&d->at, (double)r->at_ns / 1e9);
	if (r->input_tokens != IPF_ABSENT)
		samples_add(&d->input, (double)r->input_tokens);
	if (r->output_tokens != IPF_ABSENT)
		samples_add(&d->output, (double)r->output_tokens);
	if (r->wait_ns != IPF_ABSENT)
		samples_add(&d->wait, (double)r->wait_ns / 1e9);
	add_model(d, r->model);
	tag_measures_add(&d->tagged, r->tags, j);
	if (r->blocks.data)
		return add_blocks(d, r, j, err);
	if (r->messages.data || r->prompt.data || r->prompt_token_ids.data)
		add_texts(d, r, goes_on);
	return 0;
}

/* ---- figures ---------------------------------------------------------------------------------------------------- */

/* Nearest rank: the value at ceil(p n) of n in order, counting from 1. */
static double nearest_rank(struct samples *s, double percent)
{
	samples_sort(s);
	double rank = ceil(percent * (double)s->count / 100 - 1e-9);
	size_t at = rank < 1 ? 0 : (size_t)rank - 1;
	return s->values[at < s->count ? at : s->count - 1];
}

static json_t *distribution(struct samples *s)
{
	static const struct {
		const char *name;
		double percent;
	} ranks[] = {{"min", 0}, {"p50", 50}, {"p90", 90}, {"p95", 95}, {"p99", 99}, {"max", 100}};
	if (s->count == 0)
		return NULL;
	json_t *d = json_pack("{s:I, s:f, s:f}", "n", (json_int_t)s->count, "mean", samples_mean(s), "std", samples_std(s));
	for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
		double value = nearest_rank(s, ranks[i].percent);
		json_object_set_new(d, ranks[i].name,
		                    floor(value) == value && fabs(value) < 1e15 ? json_integer((json_int_t)value)
		                                                                : json_real(value));
	}
	return d;
}

/* Arrivals: span, mean rate, the most in a second [k, k+1) from the first, and how the gaps vary. */
static json_t *arrivals(struct samples *at)
{
	if (at->count == 0)
		return NULL;
	samples_sort(at);
	size_t n = at->count, most = 0, run = 0;
	double first = at->values[0], span = at->values[n - 1] - first, second = -1, sum = 0, squares = 0;
	for (size_t i = 0; i < n; i++) {
		double bin = floor(at->values[i] - first + 1e-10);
		run = bin == second ? run + 1 : 1;
		second = bin;
		most = run > most ? run : most;
	}
	json_t *a = json_pack("{s:f, s:i}", "span_s", span, "peak_1s", (int)most);
	if (span <= 0)
		return a;
	double mean = span / (double)(n - 1);
	for (size_t i = 0; i + 1 < n; i++) {
		double gap = at->values[i + 1] - at->values[i] - mean;
		sum += gap;
		squares += gap * gap;
	}
	json_object_set_new(a, "rate", json_real(1 / mean));
	sum /= (double)(n - 1);
	json_object_set_new(a, "cv", json_real(sqrt(squares / (double)(n - 1) - sum * sum) / mean));
	return a;
}

static json_t *sharing(struct prefix_reuse *blocks, struct prefix_reuse *texts)
{
	struct prefix_reuse *by = blocks->count ? blocks : texts;
	prefix_reuse_reckon(by);
	if (by->tokens == 0)
		return NULL;
	json_t *s = json_pack("{s:s, s:f}", "by", by == blocks ? "blocks" : "text", "hit_rate",
	                      (double)by->found / (double)by->tokens);
	if (by == blocks && by->block_count) {
		double n = (double)by->block_count;
		json_object_set_new(s, "blocks", json_integer((json_int_t)by->block_count));
		json_object_set_new(s, "distinct", json_integer((json_int_t)by->ids.count));
		json_object_set_new(s, "reuse", json_real((double)by->again / n));
		json_object_set_new(s, "leading", json_real((double)by->leading / n));
		json_object_set_new(s, "most_blocks", json_integer(by->most));
	}
	return s;
}

static void set(json_t *map, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(map, key, value);
}

static json_t *figures(struct described *d)
{
	json_t *all = json_pack("{s:s, s:i, s:I}", "ipf", "trace-stat", "version", 1, "requests", (json_int_t)d->requests);
	set(all, "failed", d->failed ? json_integer(d->failed) : NULL);
	set(all, "arrivals", arrivals(&d->at));
	set(all, "input_tokens", distribution(&d->input));
	set(all, "output_tokens", distribution(&d->output));
	if (d->sessions) {
		json_t *s = json_pack("{s:I, s:I}", "count", (json_int_t)d->sessions, "lone_requests", (json_int_t)d->lone);
		int64_t several = 0;
		for (size_t i = 0; i < d->turns.count; i++)
			several += d->turns.values[i] > 1;
		set(s, "of_several_turns", json_integer(several));
		set(s, "turns", distribution(&d->turns));
		set(s, "wait_s", distribution(&d->wait));
		set(s, "with_parents", d->parents ? json_integer(d->parents) : NULL);
		json_object_set_new(all, "sessions", s);
	}
	json_t *tags = d->tagged.count ? json_object() : NULL;
	for (int i = 0; i < d->tagged.count; i++)
		set(tags, d->tagged.names[i], distribution(&d->tagged.samples[i]));
	set(all, "tags", tags);
	set(all, "sharing", sharing(&d->blocks, &d->texts));
	if (json_object_size(d->models))
		json_object_set(all, "models", d->models);
	return all;
}

/* ---- showing ---------------------------------------------------------------------------------------------------- */

static const char *number(const json_t *value, char text[32])
{
	double v = json_number_value(value);
	if (json_is_integer(value))
		snprintf(text, 32, "%lld", (long long)json_integer_value(value));
	else
		snprintf(text, 32, fabs(v) >= 1 || v == 0 ? "%.3f" : "%.4g", v);
	return text;
}

static void show_distribution(FILE *to, const char *name, json_t *d)
{
	static const char *const keys[] = {"mean", "p50", "p90", "p99", "max"};
	if (!d)
		return;
	fprintf(to, "%-14s", name);
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		char text[32];
		json_t *value = json_object_get(d, keys[i]);
		if (i == 0)
			snprintf(text, sizeof text, "%.*f", json_number_value(value) < 10 ? 3 : 1, json_number_value(value));
		fprintf(to, "%s %s %s", i ? "," : "", keys[i], i ? number(value, text) : text);
	}
	fputc('\n', to);
}

static void show_numbers(FILE *to, const char *name, json_t *map)
{
	const char *key, *comma = "";
	json_t *value;
	if (!map)
		return;
	fprintf(to, "%-14s", name);
	json_object_foreach(map, key, value)
	{
		char text[32];
		if (json_is_object(value))
			continue;
		fprintf(to, "%s %s %s", comma, key, json_is_string(value) ? json_string_value(value) : number(value, text));
		comma = ",";
	}
	fputc('\n', to);
}

static void show(json_t *all, FILE *to)
{
	char text[32];
	json_t *sessions = json_object_get(all, "sessions"), *failed = json_object_get(all, "failed");
	fprintf(to, "%-14s %s", "requests", number(json_object_get(all, "requests"), text));
	if (failed)
		fprintf(to, ", %s of them failed when they were recorded", number(failed, text));
	fputc('\n', to);
	show_numbers(to, "arrivals", json_object_get(all, "arrivals"));
	show_distribution(to, "input tokens", json_object_get(all, "input_tokens"));
	show_distribution(to, "output tokens", json_object_get(all, "output_tokens"));
	show_numbers(to, "sessions", sessions);
	show_distribution(to, "  turns", json_object_get(sessions, "turns"));
	show_distribution(to, "  wait s", json_object_get(sessions, "wait_s"));
	const char *tag;
	json_t *figures_of_tag;
	json_object_foreach(json_object_get(all, "tags"), tag, figures_of_tag) show_distribution(to, tag, figures_of_tag);
	show_numbers(to, "prefixes", json_object_get(all, "sharing"));
	show_numbers(to, "models", json_object_get(all, "models"));
}

static int write_out(json_t *all, const struct stat_options *o, struct ipf_error *err)
{
	const char *path = o->common.output;
	FILE *to = path && strcmp(path, "-") != 0 ? fopen(path, "we") : stdout;
	if (!to)
		return ipf_error_errno(err, errno, path, "cannot open");
	struct buffer line = {0};
	if (o->format && strcmp(o->format, "json") == 0) {
		struct jout w = {.out = &line};
		jout_json(&w, all);
		buffer_byte(&line, '\n');
		fwrite(line.data, 1, line.len, to);
	} else {
		show(all, to);
	}
	bool failed = line.failed || ferror(to) || fflush(to) != 0;
	int why = errno;
	buffer_release(&line);
	if (to != stdout && fclose(to) != 0)
		failed = true;
	return failed ? ipf_error_errno(err, why, path ? path : "standard output", "cannot write") : 0;
}

static struct prefix_reuse *shared(struct described *d)
{
	return d->blocks.count ? &d->blocks : &d->texts;
}

static int draw(struct described *d, const char *path, struct ipf_error *err)
{
	struct trace_plot picture = {.at = &d->at, .input = &d->input, .output = &d->output, .sharing = shared(d)};
	samples_sort(&d->at);
	samples_sort(&d->input);
	samples_sort(&d->output);
	int drawn = trace_plot_draw(&picture, path, err);
	if (drawn == 0)
		fprintf(stderr, "ipf-prep: gnuplot is not installed: %s is not drawn\n", path);
	return drawn < 0 ? -1 : 0;
}

static int gather(struct described *d, struct trace_reader *reader, struct ipf_error *cut, struct ipf_error *err)
{
	struct trace_request request;
	struct jdoc j = {0};
	int got;
	while ((got = trace_reader_next(reader, &request, err)) == 1) {
		if (add_request(d, &request, &j, err) < 0) {
			struct stream_reader *stream = trace_reader_stream(reader);
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			got = -1;
			break;
		}
		if (d->pending.failed || d->session.failed || d->blocks.failed || d->texts.failed || d->at.failed ||
		    d->input.failed) {
			got = ipf_error_memory(err);
			break;
		}
	}
	jdoc_release(&j);
	end_session(d);
	if (got < 0 && err->kind == IPF_CUT) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	return got;
}

static void release(struct described *d)
{
	struct samples *const samples[] = {&d->at, &d->input, &d->output, &d->turns, &d->wait};
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		samples_release(samples[i]);
	buffer_release(&d->session);
	buffer_release(&d->pending);
	prefix_reuse_release(&d->blocks);
	prefix_reuse_release(&d->texts);
	json_decref(d->models);
	tag_measures_release(&d->tagged);
}

int trace_stat_main(int argc, char **argv)
{
	struct stat_options options = {.common = COMMON_DEFAULTS};
	struct operands operands;
	struct ipf_error err = {0}, cut = {0};
	int status;
	if (!program_start(&stat_program, argc, argv, &options, &operands, &status))
		return status;
	if (options.format && strcmp(options.format, "json") != 0 && strcmp(options.format, "text") != 0) {
		ipf_error_set(&err, IPF_USAGE, "--format: expected text or json, got \"%s\"", options.format);
		return program_misuse(&stat_program, &err);
	}
	if (options.plot && gnuplot_check(options.plot, &err) < 0)
		return program_misuse(&stat_program, &err);
	struct described described = {.models = json_object()};
	struct trace_reader *reader = NULL;
	status = trace_reader_open(&reader, operands.count ? operands.items[0] : "-", &err);
	if (status == 0)
		status = gather(&described, reader, &cut, &err);
	trace_reader_close(reader);
	if (status == 0) {
		json_t *all = figures(&described);
		status = all ? write_out(all, &options, &err) : ipf_error_memory(&err);
		json_decref(all);
	}
	if (status == 0 && options.plot)
		status = draw(&described, options.plot, &err);
	release(&described);
	ipf_error_report(&cut, stderr, "ipf-prep");
	return status < 0 ? ipf_error_report(&err, stderr, "ipf-prep") : ipf_error_status(&cut);
}
