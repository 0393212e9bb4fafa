#include "stat/trace_summary.h"

#include "absent.h"
#include "canary/canary.h"
#include "sources/source.h"
#include "stream/trace_blocks.h"
#include "text_hash.h"

#include <math.h>
#include <string.h>

#define TEXT_BLOCK 64 /* bytes: 16 tokens by the approximation */

/* ---- reading ---- */

/* Adds text to the prompt at hand: its whole blocks, by `add_block`. */
static void add_text(struct trace_summary *t, struct slice text,
                     void (*add_block)(struct prefix_reuse *r, uint64_t id, int64_t size))
{
	buffer_slice(&t->pending, text);
	size_t at = 0;
	for (; t->pending.len - at >= TEXT_BLOCK; at += TEXT_BLOCK)
		add_block(&t->texts, text_hash_mixed((struct slice){t->pending.data + at, TEXT_BLOCK}), TEXT_BLOCK);
	buffer_consume(&t->pending, at);
	t->context_bytes += (int64_t)at;
}

static void add_prompt_text(struct trace_summary *t, const struct trace_request *r, bool continues)
{
	bool context = r->context_session && continues;
	if (!context) {
		buffer_clear(&t->pending);
		t->context_bytes = 0;
	}
	prefix_reuse_begin(&t->texts, r->at_ns, t->context_bytes);
	struct slice list = trace_prompt(r);
	if (r->tools.data && !context)
		add_text(t, r->tools, prefix_reuse_add_block);
	/* Without the brackets, so the texts of a session continue like one list. */
	add_text(t, (struct slice){list.data + 1, list.len - 2}, prefix_reuse_add_block);
	prefix_reuse_add_rest(&t->texts, (int64_t)t->pending.len); /* too short for a block */
	if (r->context_session && trace_answer(r).data)            /* part of the next turn's prompt */
		add_text(t, trace_answer(r), prefix_reuse_add_answer);
}

/* A server's cache sees each input as a prompt of its own. */
static int add_inputs(struct trace_summary *t, const struct trace_request *r, struct jdoc *j, struct ipf_error *err)
{
	if (jdoc_parse(j, r->inputs.data, r->inputs.len, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, JDOC_ROOT); jdoc_step(&e);) {
		struct slice input = jdoc_raw(j, e.value);
		buffer_clear(&t->pending);
		t->context_bytes = 0;
		prefix_reuse_begin(&t->texts, r->at_ns, 0);
		if (r->query.data) /* models that rank read the pair */
			add_text(t, (struct slice){r->query.data + 1, r->query.len - 2}, prefix_reuse_add_block);
		add_text(t, (struct slice){input.data + 1, input.len - 2}, prefix_reuse_add_block);
		prefix_reuse_add_rest(&t->texts, (int64_t)t->pending.len);
	}
	return 0;
}

static void end_session(struct trace_summary *t)
{
	if (t->session_turns)
		samples_add(&t->turns, (double)t->session_turns);
	t->session_turns = 0;
	context_lengths_end(&t->lengths);
}

static void add_model(struct trace_summary *t, struct slice model)
{
	char name[256];
	snprintf(name, sizeof name, "%.*s", (int)(model.len > 2 && model.len < 250 ? model.len - 2 : 0),
	         model.data ? model.data + 1 : "");
	if (!model.data)
		return;
	json_int_t count = json_integer_value(json_object_get(t->models, name));
	json_object_set_new(t->models, name, json_integer(count + 1));
}

static bool is_failed(struct slice tags)
{
	return tags.data && memmem(tags.data, tags.len, "\"failed\":true", 13);
}

static void add_canary(struct trace_summary *t, const struct trace_request *r, struct jdoc *j)
{
	double tokens = (r->input_tokens != IPF_ABSENT ? (double)r->input_tokens : 0) +
	                (r->output_tokens != IPF_ABSENT ? (double)r->output_tokens : 0);
	bool canary = canary_is_tagged(r->tags, j);
	t->canaries += canary;
	t->tokens_wanted += tokens;
	t->canary_tokens += canary ? tokens : 0;
}

static void add_media(struct trace_summary *t, struct slice list, struct jdoc *j)
{
	const struct media_sums more = media_list_sum(j, list);
	const int64_t from[] = {more.images, more.audio_clips, more.video_clips, more.audio_ns, more.bytes};
	int64_t *const to[] = {&t->media.images, &t->media.audio_clips, &t->media.video_clips, &t->media.audio_ns,
	                       &t->media.bytes};
	for (size_t i = 0; i < sizeof to / sizeof *to; i++)
		*to[i] += from[i] == IPF_ABSENT ? 0 : from[i];
	t->with_media += list.data != NULL;
}

static int add_request(struct trace_summary *t, const struct trace_request *r, struct jdoc *j, struct ipf_error *err)
{
	bool continues = r->session.data && t->session_turns > 0 && slice_equal(r->session, buffer_all(&t->session));
	if (!continues) {
		end_session(t);
		buffer_clear(&t->session);
		buffer_slice(&t->session, r->session);
		t->sessions += r->session.data != NULL;
		t->single_requests += r->session.data == NULL;
	}
	t->session_turns += r->session.data != NULL;
	t->requests++;
	t->with_parents += r->parents.data != NULL;
	t->failed += is_failed(r->tags);
	add_canary(t, r, j);
	if (r->session.data)
		t->shorter += context_lengths_add(&t->lengths, r->tags, r->input_tokens, j);
	if (r->at_ns != IPF_ABSENT)
		samples_add(&t->at, (double)r->at_ns / 1e9);
	if (r->input_tokens != IPF_ABSENT)
		samples_add(&t->input, (double)r->input_tokens);
	if (r->output_tokens != IPF_ABSENT)
		samples_add(&t->output, (double)r->output_tokens);
	if (r->wait_ns != IPF_ABSENT)
		samples_add(&t->wait, (double)r->wait_ns / 1e9);
	if (r->hang_up_ns != IPF_ABSENT)
		samples_add(&t->hang_up, (double)r->hang_up_ns / 1e9);
	add_media(t, r->media, j);
	if (r->inputs.data)
		samples_add(&t->inputs, (double)r->inputs_count);
	t->with_query += r->query.data != NULL;
	add_model(t, r->model);
	tag_measures_add(&t->tags, r->tags, j);
	if (trace_blocks_add(&t->blocks, r, j, err) < 0)
		return -1;
	if (r->blocks.data)
		return 0;
	if (r->inputs.data)
		return add_inputs(t, r, j, err);
	if (trace_prompt(r).data)
		add_prompt_text(t, r, continues);
	return 0;
}

/* Who counted the tokens of a trace with this header: {"by": "tokenizer", "estimate", "data", "drawn" or "unknown", …}
 */
static json_t *counted_by(json_t *header)
{
	struct ipf_error ignored = {0};
	json_t *tokenizer = json_object_get(header, "tokenizer"), *source = json_object_get(header, "source");
	const struct source_format *format = json_is_string(source) ? source_find(json_string_value(source), &ignored)
	                                                            : NULL;
	const char *by = !tokenizer                                          ? "unknown"
	                 : json_is_true(json_object_get(tokenizer, "exact")) ? "tokenizer"
	                                                                     : "estimate";

	if (format && format->kind == SOURCE_GENERATED)
		by = "drawn";
	else if ((format && format->kind == SOURCE_TRACE) || json_object_get(header, "filled"))
		by = "data";
	return json_pack("{s:s, s:O*, s:O*}", "by", by, "tokenizer", tokenizer, "source", source);
}

int trace_summary_read(struct trace_summary *t, struct trace_reader *reader, struct ipf_error *cut,
                       struct ipf_error *err)
{
	struct trace_request request;
	struct jdoc j = {0};
	int got;
	t->models = json_object();
	t->tokens = counted_by(stream_reader_header(trace_reader_stream(reader)));
	if (!t->models || !t->tokens)
		return ipf_error_memory(err);
	while ((got = trace_reader_next(reader, &request, err)) == 1) {
		if (add_request(t, &request, &j, err) < 0) {
			struct stream_reader *stream = trace_reader_stream(reader);
			ipf_error_place(err, stream_reader_name(stream), stream_reader_line(stream));
			got = -1;
			break;
		}
		if (t->pending.failed || t->session.failed || t->blocks.failed || t->texts.failed || t->at.failed ||
		    t->input.failed || t->inputs.failed || t->lengths.failed) {
			got = ipf_error_memory(err);
			break;
		}
	}
	jdoc_release(&j);
	end_session(t);
	json_t *trailer = stream_reader_trailer(trace_reader_stream(reader));
	t->left_out = json_incref(json_object_get(trailer, "left_out_of"));
	t->unread = json_incref(json_object_get(trailer, "unread"));
	if (got < 0 && err->kind == IPF_CUT) {
		*cut = *err;
		ipf_error_clear(err);
		got = 0;
	}
	return got;
}

/* ---- figures ---- */

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

/* Span, mean rate, the maximum in a second [k, k+1) since the first arrival, and how the gaps vary. */
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

static json_t *sharing(struct trace_summary *t)
{
	struct prefix_reuse *by = trace_summary_reuse(t);
	bool by_blocks = by == &t->blocks;
	prefix_reuse_compute(by);
	if (by->tokens == 0 || by->tokens == IPF_ABSENT || by->hit_tokens == IPF_ABSENT)
		return NULL;
	json_t *s = json_pack("{s:s, s:f}", "by", by_blocks ? "blocks" : "text", "hit_rate",
	                      (double)by->hit_tokens / (double)by->tokens);
	if (by_blocks && by->block_count) {
		double n = (double)by->block_count;
		json_object_set_new(s, "blocks", json_integer((json_int_t)by->block_count));
		json_object_set_new(s, "distinct", json_integer((json_int_t)by->ids.count));
		json_object_set_new(s, "reuse", json_real((double)by->repeated_blocks / n));
		json_object_set_new(s, "leading", json_real((double)by->leading_blocks / n));
		json_object_set_new(s, "most_blocks", json_integer(by->max_blocks));
	}
	return s;
}

static void set(json_t *map, const char *key, json_t *value)
{
	if (value)
		json_object_set_new(map, key, value);
}

/* NULL: no request has any. */
static json_t *media(const struct trace_summary *t)
{
	if (!t->with_media)
		return NULL;
	return json_pack("{s:I, s:I, s:I, s:I, s:f, s:I}", "requests", (json_int_t)t->with_media, "images",
	                 (json_int_t)t->media.images, "audio_clips", (json_int_t)t->media.audio_clips, "video_clips",
	                 (json_int_t)t->media.video_clips, "audio_s", (double)t->media.audio_ns / 1e9, "bytes",
	                 (json_int_t)t->media.bytes);
}

/* Their share of the load. NULL: there are none. */
static json_t *canaries(const struct trace_summary *t)
{
	if (!t->canaries)
		return NULL;
	return json_pack("{s:I, s:f, s:f}", "requests", (json_int_t)t->canaries, "share",
	                 (double)t->canaries / (double)t->requests, "token_share",
	                 t->tokens_wanted > 0 ? t->canary_tokens / t->tokens_wanted : 0.0);
}

json_t *trace_summary_json(struct trace_summary *t)
{
	json_t *all = json_pack("{s:s, s:i, s:I}", "ipf", "trace-stat", "version", 1, "requests", (json_int_t)t->requests);
	set(all, "failed", t->failed ? json_integer(t->failed) : NULL);
	set(all, "canaries", canaries(t));
	set(all, "arrivals", arrivals(&t->at));
	set(all, "input_tokens", distribution(&t->input));
	set(all, "output_tokens", distribution(&t->output));
	set(all, "inputs", distribution(&t->inputs));
	set(all, "queries", t->with_query ? json_integer(t->with_query) : NULL);
	set(all, "hang_up_s", distribution(&t->hang_up));
	if (t->sessions) {
		json_t *s = json_pack("{s:I, s:I}", "count", (json_int_t)t->sessions, "lone_requests",
		                      (json_int_t)t->single_requests);
		int64_t several = 0;
		for (size_t i = 0; i < t->turns.count; i++)
			several += t->turns.values[i] > 1;
		set(s, "of_several_turns", json_integer(several));
		set(s, "turns", distribution(&t->turns));
		set(s, "wait_s", distribution(&t->wait));
		set(s, "with_parents", t->with_parents ? json_integer(t->with_parents) : NULL);
		set(s, "shorter", t->shorter ? json_integer(t->shorter) : NULL);
		json_object_set_new(all, "sessions", s);
	}
	set(all, "media", media(t));
	json_t *tags = t->tags.count ? json_object() : NULL;
	for (int i = 0; i < t->tags.count; i++)
		set(tags, t->tags.names[i], distribution(&t->tags.samples[i]));
	set(all, "tags", tags);
	set(all, "sharing", sharing(t));
	if (json_object_size(t->models))
		json_object_set(all, "models", t->models);
	if (t->tokens)
		json_object_set(all, "tokens", t->tokens);
	set(all, "left_out_of", json_incref(t->left_out));
	set(all, "unread", json_incref(t->unread));
	return all;
}

struct prefix_reuse *trace_summary_reuse(struct trace_summary *t)
{
	return t->blocks.block_count ? &t->blocks : &t->texts;
}

void trace_summary_release(struct trace_summary *t)
{
	struct samples *const samples[] = {&t->at, &t->input, &t->output, &t->inputs, &t->turns, &t->wait, &t->hang_up};
	for (size_t i = 0; i < sizeof samples / sizeof *samples; i++)
		samples_release(samples[i]);
	buffer_release(&t->session);
	buffer_release(&t->pending);
	context_lengths_release(&t->lengths);
	prefix_reuse_release(&t->blocks);
	prefix_reuse_release(&t->texts);
	json_decref(t->models);
	json_decref(t->tokens);
	json_decref(t->left_out);
	json_decref(t->unread);
	tag_measures_release(&t->tags);
}
