#include "shape/trace_renderer.h"
#include "shape/request_class.h"

#include "absent.h"
#include "digits.h"
#include "json/jout.h"
#include "stream/fields.h"
#include "draft/draft_rng.h"
#include "text_hash.h"
#include "text/synthetic_text.h"
#include "token_count.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int trace_renderer_init(struct trace_renderer *r, const struct prep_config *config, struct request_sink *requests,
                        struct media_store *media, struct selection_counts *counts, struct ipf_error *err)
{
	*r = (struct trace_renderer){.config = config,
	                             .requests = requests,
	                             .media = media,
	                             .counts = counts,
	                             .exact = {.tokens = config->tokens, .salt = config->salt},
	                             .fit = {.tokens = config->tokens},
	                             .synthetic = {.config = config, .counts = counts}};
	r->fit.exact = &r->exact;
	r->synthetic.exact = &r->exact;
	if (config->prefixes.count) {
		r->prefixes = calloc((size_t)config->prefixes.count, sizeof *r->prefixes);
		if (!r->prefixes)
			return ipf_error_errno(err, ENOMEM, NULL, "--prefixes: no memory for %lld prefixes",
			                       (long long)config->prefixes.count);
	}
	return 0;
}

void trace_renderer_release(struct trace_renderer *r)
{
	for (int64_t i = 0; r->prefixes && i < r->config->prefixes.count; i++)
		buffer_release(&r->prefixes[i]);
	free(r->prefixes);
	synthetic_prompt_release(&r->synthetic);
	fit_length_release(&r->fit);
	exact_text_release(&r->exact);
	flat_prompt_release(&r->flat);
	draft_release(&r->work);
	jdoc_release(&r->tags_document);
	struct buffer *const buffers[] = {&r->query, &r->messages,   &r->name,      &r->id,      &r->session,
	                                  &r->model, &r->answer,     &r->blocks,    &r->parents, &r->tags,
	                                  &r->scope, &r->class_tags, &r->class_body};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
}

static struct slice quoted(struct buffer *to, struct slice text)
{
	struct jout w = {.out = to};
	buffer_clear(to);
	if (!text.data)
		return (struct slice){0};
	jout_string(&w, text);
	return buffer_all(to);
}

/* A generator for one decision about the request at index `turn`. */
static struct rng rng_for(const struct trace_renderer *r, const char *decision, const struct draft *d, size_t turn)
{
	return draft_rng(r->config->common.seed, decision, d, turn);
}

/* ---- records for later requests ---- */

/* Do prompts without a text get one? */
static bool makes_text(const struct prep_config *config)
{
	return config->prompt != PROMPT_NONE && config->prompt != PROMPT_RECORDED;
}

static bool fits_lengths(const struct prep_config *config)
{
	if (config->format->kind == SOURCE_GENERATED)
		return false;
	return config->input.distribution.kind != DISTRIBUTION_DATASET ||
	       (config->output.distribution.kind != DISTRIBUTION_DATASET && !config->first_turn_only);
}

void trace_renderer_learn_blocks(struct trace_renderer *r, const struct draft *d)
{
	if (makes_text(r->config))
		synthetic_prompt_register(&r->synthetic, d);
}

void trace_renderer_learn_text(struct trace_renderer *r, const struct draft *d)
{
	if (!fits_lengths(r->config))
		return;
	for (size_t i = 0; i < d->message_count; i++)
		fit_length_learn(&r->fit, d->messages[i].text);
	for (size_t i = 0; i < d->count; i++)
		fit_length_learn(&r->fit, d->requests[i].answer);
}

bool trace_renderer_wants_more(const struct trace_renderer *r)
{
	return fits_lengths(r->config) && !(r->config->traits & MAKES_TEXT) && r->fit.pool.len < FIT_LENGTH_READY;
}

/* ---- tokens ---- */

static int64_t text_tokens(const struct token_counter *tokens, struct slice text)
{
	return text.data ? token_counter_count(tokens, text.data, text.len) : 0;
}

int64_t messages_tokens(const struct token_counter *tokens, struct draft *d, const struct draft_request *request)
{
	int64_t sum = 0;
	for (size_t i = 0; i < request->count; i++) {
		struct draft_message *m = &d->messages[request->first + i];
		if (!m->counted)
			m->tokens = text_tokens(tokens, m->text);
		m->counted = true;
		sum += m->tokens;
	}
	return sum;
}

int64_t answer_tokens(const struct token_counter *tokens, struct draft_request *request)
{
	if (!request->answer_counted)
		request->answer_tokens = text_tokens(tokens, request->answer);
	request->answer_counted = true;
	return request->answer_tokens;
}

/* ---- the prompt ---- */

/* The blocks of a request. Those of a copy get a separate scope, so copies share only with copies. */
static struct draft_blocks blocks_of(struct trace_renderer *r, const struct draft *d,
                                     const struct draft_request *request)
{
	struct draft_blocks blocks = request->blocks;
	if (d->copy && blocks.count) {
		buffer_clear(&r->scope);
		buffer_slice(&r->scope, blocks.scope);
		buffer_format(&r->scope, "~%lld", (long long)d->copy);
		blocks.scope = buffer_all(&r->scope);
	}
	return blocks;
}

/* The message whose length can be changed: the last of the user not passed on verbatim; or NULL. */
static struct draft_message *resizable_message(struct draft *work)
{
	for (size_t i = work->message_count; i-- > 0;)
		if (work->messages[i].role == ROLE_USER && !work->messages[i].json.data)
			return &work->messages[i];
	return NULL;
}

/* Are lengths those of the draft, rather than drawn here? */
static bool keeps_lengths(const struct prep_config *config, const struct distribution_option *option)
{
	return option->distribution.kind == DISTRIBUTION_DATASET || config->format->kind == SOURCE_GENERATED;
}

/* Brings the prompt to a length from --input-tokens. */
static void fit_input(struct trace_renderer *r, const struct draft *d, size_t turn)
{
	if (keeps_lengths(r->config, &r->config->input))
		return;
	struct rng drawn = rng_for(r, "input-tokens", d, turn), filler = rng_for(r, "extend", d, turn);
	int64_t target = distribution_draw(&r->config->input.distribution, &drawn);
	struct draft *work = &r->work;
	struct draft_message *m = resizable_message(work);
	if (!m) {
		r->counts->unfitted++;
		return;
	}
	int64_t others = messages_tokens(r->config->tokens, work, &work->requests[0]) -
	                 text_tokens(r->config->tokens, m->text) +
	                 chat_template_tokens(&r->config->template, work->message_count, d->chain && turn > 0);
	int64_t wanted = target > others ? target - others : 1;
	m->counted = false;
	m->text = fit_length_to(&r->fit, m->text, wanted, &filler, work);
	if (token_counter_is_exact(r->config->tokens))
		selection_counts_residual(r->counts, wanted, text_tokens(r->config->tokens, m->text));
}

/* The index of the prefix of a request; *tokens is its length. */
static size_t pick_prefix(const struct trace_renderer *r, const struct draft *d, size_t turn, int64_t *tokens)
{
	const struct prep_config *config = r->config;
	struct rng pick = rng_for(r, "prefix", d, turn);
	size_t i = config->prefixes.shares.count > 1 ? share_list_pick(&config->prefixes.shares, rng_uniform(&pick)) : 0;
	const struct prefix_group *group = &config->prefixes.groups[i];
	*tokens = group->tokens;
	return (size_t)(group->first + (int64_t)rng_below(&pick, (uint64_t)group->count));
}

/* Puts a message before all others. */
static void prepend_message(struct draft *work, enum role role, struct slice text)
{
	if (!draft_message(work, role, text))
		return;
	memmove(work->messages + 1, work->messages, (work->message_count - 1) * sizeof *work->messages);
	work->messages[0] = (struct draft_message){.role = role, .text = text};
}

/* Puts a shared text at the very beginning, for a prefix cache to find. */
static void put_prefix(struct trace_renderer *r, const struct draft *d, size_t turn)
{
	const struct prep_config *config = r->config;
	if (!config->prefixes.count || (config->traits & DEALS_PREFIXES))
		return;
	int64_t tokens;
	size_t k = pick_prefix(r, d, turn, &tokens);
	if (tokens == 0)
		return;
	struct buffer *prefix = &r->prefixes[k];
	if (prefix->len == 0) {
		char name[512];
		struct rng rng;
		rng_init(&rng, config->common.seed, synthetic_text_name("prefix text", config->salt, name), k);
		if (token_counter_is_exact(config->tokens)) {
			exact_text_prefix(&r->exact, &rng, tokens, prefix);
		} else {
			/* The blank separates it from the next text. */
			synthetic_text_prose(&rng, (size_t)tokens * 4 - 1, prefix);
			buffer_byte(prefix, ' ');
		}
		r->work.failed |= prefix->failed;
	}
	struct draft *work = &r->work;
	struct draft_message *first = &work->messages[0];
	if (!first->json.data) {
		first->text = draft_join(work, buffer_all(prefix), "", first->text);
		first->counted = false;
	} else {
		prepend_message(work, ROLE_SYSTEM, buffer_all(prefix));
	}
}

/* The length of a synthetic prompt. */
static int64_t synthetic_tokens(const struct trace_renderer *r, const struct draft *d, size_t turn)
{
	if (keeps_lengths(r->config, &r->config->input))
		return d->requests[turn].input_tokens;
	struct rng drawn = rng_for(r, "input-tokens", d, turn);
	return distribution_draw(&r->config->input.distribution, &drawn);
}

/* Makes the messages of a request as they will be sent, in r->work. */
static void make_messages(struct trace_renderer *r, const struct draft *d, size_t turn,
                          const struct draft_blocks *blocks)
{
	const struct prep_config *config = r->config;
	const struct draft_request *request = &d->requests[turn];
	struct draft *work = &r->work;
	bool first_turn = !d->chain || turn == 0, synthetic = request->count == 0;
	struct slice system = config->system ? buffer_all(&config->system_message) : (struct slice){0};
	draft_reset(work);
	draft_request(work);
	for (size_t i = 0; i < request->count; i++) {
		const struct draft_message *from = &d->messages[request->first + i];
		if (first_turn && system.data && from->role == ROLE_SYSTEM)
			continue;
		struct draft_message *m = draft_message(work, from->role, from->text);
		if (m)
			*m = *from;
	}
	if (synthetic) {
		int64_t count = synthetic_tokens(r, d, turn),
				added = chat_template_tokens(&config->template, 1, d->chain && turn > 0);
		if (!makes_text(config))
			return;
		struct slice text = synthetic_prompt_make(&r->synthetic, d, turn, blocks,
		                                          count > added ? count - added
		                                          : count > 0   ? 1
		                                                        : 0);
		draft_message(work, ROLE_USER, text.data ? text : slice_of(""));
		work->failed |= r->synthetic.failed;
	} else {
		fit_input(r, d, turn);
	}
	if (first_turn && system.data)
		prepend_message(work, ROLE_SYSTEM, system);
	if (first_turn && work->message_count > 0 && !work->failed)
		put_prefix(r, d, turn);
}

/* The content of a message with images, audio or video, as a list of parts: those of the data, then synthetic ones,
 * then the text. */
static int write_parts(struct trace_renderer *r, const struct draft_message *m, const uint64_t *made, struct jout *w,
                       struct ipf_error *err)
{
	struct jout parts = {.out = w->out};
	jout_begin_list(&parts);
	if ((m->media.len && media_store_parts(r->media, m->media, &parts, err) < 0) ||
	    (made && media_store_make(r->media, *made, &parts, err) < 0))
		return -1;
	if (m->text.len) {
		const size_t from = w->out->len;
		jout_begin_map(&parts);
		jout_member_string(&parts, "type", slice_of("text"));
		jout_member_string(&parts, "text", m->text);
		jout_end_map(&parts);
		media_hide_marks(w->out, from);
	}
	jout_end_list(&parts);
	return 0;
}

/* Identifies the synthetic media of a request: the same draws as all others about it. */
static uint64_t media_number(const struct trace_renderer *r, const struct draft *d, size_t turn)
{
	struct rng rng = rng_for(r, "media", d, turn);
	return rng_next(&rng) >> 12;
}

/* The message getting the synthetic media; NULL: none. */
static const struct draft_message *message_for_media(struct trace_renderer *r)
{
	const struct draft_message *m;
	if (!r->media || !media_options_given(&r->config->media))
		return NULL;
	m = resizable_message(&r->work);
	if (!m)
		selection_counts_inexact(r->counts, "no message for synthetic images, audio or video");
	return m;
}

/* Without a place for media, those of messages are left out: only commands without a trace have none. */
static int write_messages(struct trace_renderer *r, const struct draft *d, size_t turn, struct ipf_error *err)
{
	static const char *const names[] = {[ROLE_SYSTEM] = "system", [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant"};
	const struct draft_message *with_media = message_for_media(r);
	uint64_t number = with_media ? media_number(r, d, turn) : 0;
	struct jout w = {.out = &r->messages};
	buffer_clear(&r->messages);
	jout_begin_list(&w);
	for (size_t i = 0; i < r->work.message_count; i++) {
		const struct draft_message *m = &r->work.messages[i];
		if (m->json.data) {
			if (!r->media)
				jout_value(&w, m->json);
			else if (media_store_message(r->media, m->json, &w, err) < 0)
				return -1;
			continue;
		}
		jout_begin_map(&w);
		jout_member_string(&w, "role", slice_of(names[m->role]));
		jout_key(&w, "content");
		const size_t from = w.out->len;
		if (!r->media || (!m->media.len && m != with_media)) {
			jout_string(&w, m->text);
			media_hide_marks(w.out, from);
		} else if (write_parts(r, m, m == with_media ? &number : NULL, &w, err) < 0) {
			return -1;
		}
		jout_end_map(&w);
	}
	jout_end_list(&w);
	return 0;
}

/* The blocks of the prompt, for programs computing prefix cache hits. */
static struct slice write_blocks(struct trace_renderer *r, const struct draft_blocks *blocks)
{
	if (blocks->count == 0)
		return (struct slice){0};
	struct jout w = {.out = &r->blocks};
	buffer_clear(&r->blocks);
	jout_begin_map(&w);
	jout_key(&w, "tokens");
	if (blocks->sizes) {
		jout_begin_list(&w);
		for (size_t i = 0; i < blocks->count; i++)
			jout_int(&w, blocks->sizes[2 * i + 1]);
		jout_end_list(&w);
	} else {
		jout_int(&w, blocks->tokens);
	}
	jout_member_string(&w, "scope", blocks->scope);
	jout_key(&w, "ids");
	jout_begin_list(&w);
	for (size_t i = 0; i < blocks->count; i++)
		jout_uint(&w, blocks->ids[i]);
	jout_end_list(&w);
	jout_end_map(&w);
	return buffer_all(&r->blocks);
}

/* ---- the answer ---- */

/* The tokens to request; *answer is the recorded answer, for later turns of a session in their context and for
 * --answer-ids. */
static int64_t fit_output(struct trace_renderer *r, struct draft *d, size_t turn, struct slice *answer)
{
	const struct prep_config *config = r->config;
	struct draft_request *request = &d->requests[turn];
	*answer = (d->chain || config->answer_ids) && request->answer.len > 0 ? request->answer : (struct slice){0};
	if (config->batch.given || request->batch)
		return IPF_ABSENT;
	if (config->format->kind == SOURCE_GENERATED) {
		if (d->chain && turn + 1 < d->count && makes_text(config))
			*answer = synthetic_answer_make(&r->synthetic, d, turn);
		return request->output_tokens;
	}
	if (config->output.distribution.kind != DISTRIBUTION_DATASET) {
		struct rng drawn = rng_for(r, "output-tokens", d, turn), filler = rng_for(r, "extend answer", d, turn);
		int64_t count = distribution_draw(&config->output.distribution, &drawn);
		if (answer->data)
			*answer = fit_length_to(&r->fit, *answer, count, &filler, &r->work);
		return count;
	}
	if (request->output_tokens != IPF_ABSENT)
		return request->output_tokens;
	if (request->answer.len > 0)
		return answer_tokens(config->tokens, request) + config->special_tokens;
	r->counts->assumed++;
	return OUTPUT_TOKENS_ASSUMED;
}

static struct slice pick_model(const struct trace_renderer *r, const struct draft *d,
                               const struct draft_request *request)
{
	const struct share_list *models = &r->config->models;
	if (!models->count)
		return request->model;
	struct rng rng = rng_for(r, "model", d, 0);
	return slice_of(models->items[share_list_pick(models, rng_uniform(&rng))].name);
}

/* The class of --classes is the same for all requests of a session. */
static void set_class(struct trace_renderer *r, const struct draft *d, struct trace_request *out)
{
	const struct share_list *classes = &r->config->classes;
	struct slice class = {0};
	if (classes->count) {
		struct rng rng = rng_for(r, "class", d, 0);
		const char *name = classes->items[share_list_pick(classes, rng_uniform(&rng))].name;
		out->tags = request_class_tags(out->tags, name, &r->tags_document, &r->class_tags);
		class = slice_of(name);
	} else if (r->config->class_parts.count) {
		class = request_class_of(out->tags, &r->tags_document, &r->class_tags);
	}
	request_class_apply(&r->config->class_parts, class, &r->tags_document, &r->class_body, out);
	r->work.failed |= r->class_tags.failed || r->class_body.failed;
}

/* The time since the end of the previous turn; absent for the first turn. */
static int64_t pick_wait(const struct trace_renderer *r, const struct draft *d, size_t turn, int64_t turn_number)
{
	if (turn_number == IPF_ABSENT || turn_number == 0)
		return IPF_ABSENT;
	if (r->config->wait.distribution.kind == DISTRIBUTION_DATASET)
		return d->requests[turn].wait_ns;
	struct rng rng = rng_for(r, "wait", d, turn);
	return distribution_draw(&r->config->wait.distribution, &rng);
}

/* ---- the line ---- */

/* Nearly every request has one. */
static void put_number(struct buffer *name, uint64_t number)
{
	char room[DIGITS_MOST], *end = room + sizeof room, *at = digits_before(end, number);
	buffer_append(name, at, (size_t)(end - at));
}

/* NUMBER[.PART] or the name in the data; with ~COPY for a copy. */
static void unit_name(const struct draft *d, struct slice own, struct buffer *name)
{
	buffer_clear(name);
	if (own.data)
		buffer_slice(name, own);
	else
		put_number(name, (uint64_t)d->number);
	if (!own.data && d->part)
		buffer_format(name, ".%lld", (long long)d->part);
	if (d->copy)
		buffer_format(name, "~%lld", (long long)d->copy);
}

/* The request's name in the data; else the name of its session, followed by /TURN if the session has several. */
static void request_name(const struct draft *d, size_t turn, struct buffer *name)
{
	bool several = d->chain || d->count > 1;
	if (d->requests[turn].id.data || !several) {
		unit_name(d, d->requests[turn].id, name);
		return;
	}
	unit_name(d, d->session, name);
	buffer_format(name, "/%zu", turn);
}

/* Renames the ids of parents in other drafts to those of the same copy. */
static struct slice parents_of_copy(struct trace_renderer *r, const struct draft *d, struct slice after)
{
	bool within = false;
	buffer_clear(&r->parents);
	for (size_t i = 0; i < after.len; i++) {
		bool quote = after.data[i] == '"' && after.data[i - 1] != '\\';
		if (quote && within)
			buffer_format(&r->parents, "~%lld", (long long)d->copy);
		within ^= quote;
		buffer_byte(&r->parents, after.data[i]);
	}
	return buffer_all(&r->parents);
}

static void write_names(struct trace_renderer *r, const struct draft *d, size_t turn, struct trace_request *out)
{
	struct buffer *name = &r->name;
	const struct draft_request *request = &d->requests[turn];
	request_name(d, turn, name);
	out->id = quoted(&r->id, buffer_all(name));
	if (d->chain || d->count > 1 || d->session.data) {
		unit_name(d, d->session, name);
		out->session = quoted(&r->session, buffer_all(name));
		out->turn = d->turn + (int64_t)turn;
	}
	out->parents = d->copy && request->after.data ? parents_of_copy(r, d, request->after) : request->after;
	if (request->parents) {
		struct jout w = {.out = &r->parents};
		buffer_clear(&r->parents);
		jout_begin_list(&w);
		for (size_t i = 0; i < request->parent_count; i++) {
			request_name(d, (size_t)request->parents[i], name);
			jout_string(&w, buffer_all(name));
		}
		jout_end_list(&w);
		out->parents = buffer_all(&r->parents);
	}
	r->work.failed |= name->failed || r->parents.failed;
}

static struct slice write_tags(struct trace_renderer *r, const struct draft_request *request)
{
	static const char failed[] = "{\"failed\":true";
	const bool said = request->tags.len >= sizeof failed && memcmp(request->tags.data, failed, sizeof failed - 1) == 0;
	if (!request->failed || said)
		return request->tags;
	buffer_clear(&r->tags);
	buffer_text(&r->tags, failed);
	if (request->tags.len > 2) {
		buffer_byte(&r->tags, ',');
		buffer_slice(&r->tags, (struct slice){request->tags.data + 1, request->tags.len - 1});
	} else {
		buffer_byte(&r->tags, '}');
	}
	r->work.failed |= r->tags.failed;
	return buffer_all(&r->tags);
}

/* A prompt of one text, or token ids, has no place for media. */
static void count_lost_media(struct trace_renderer *r)
{
	for (size_t i = 0; i < r->work.message_count; i++)
		if (r->work.messages[i].media.len) {
			selection_counts_inexact(r->counts, "images, audio or video left out");
			return;
		}
}

/* Options for one prompt have no meaning for several inputs. */
static int check_batch(const struct prep_config *config, const struct draft *d, struct ipf_error *err)
{
	const struct {
		const char *option;
		bool given;
	} others[] = {{"--input-tokens", config->input.distribution.kind != DISTRIBUTION_DATASET},
	              {"--system", config->system != NULL},
	              {"--prefixes", config->prefixes.count > 0},
	              {"--template-tokens", config->template.given},
	              {"--prompt none", config->prompt == PROMPT_NONE},
	              {"--prompt ids", config->prompt == PROMPT_IDS}};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (others[i].given)
			return ipf_error_set(err, IPF_USAGE, "%s: record %lld has several inputs, which are kept as they are",
			                     others[i].option, (long long)d->number);
	return 0;
}

/* The messages as inputs, and the system's as their query; returns the tokens of all of them, the query beside each
 * input. */
static int64_t write_inputs(struct trace_renderer *r, const struct draft_request *request, struct trace_request *out)
{
	struct draft *work = &r->work;
	struct jout w = {.out = &r->messages};
	size_t first = work->message_count > 0 && work->messages[0].role == ROLE_SYSTEM;
	buffer_clear(&r->messages);
	jout_begin_list(&w);
	for (size_t i = first; i < work->message_count; i++)
		jout_string(&w, work->messages[i].text);
	jout_end_list(&w);
	out->inputs = buffer_all(&r->messages);
	out->inputs_count = (int64_t)(work->message_count - first);
	out->query = first ? quoted(&r->query, work->messages[0].text) : (struct slice){0};
	if (request->input_tokens != IPF_ABSENT)
		return request->input_tokens;
	int64_t all = messages_tokens(r->config->tokens, work, &work->requests[0]);
	return first ? token_sum(all, (out->inputs_count - 1) * work->messages[0].tokens) : all;
}

/* Writes the prompt in the form of --prompt; returns its tokens, if err stays empty. */
static int64_t write_prompt(struct trace_renderer *r, struct draft *d, size_t turn, struct trace_request *out,
                            struct ipf_error *err)
{
	const struct prep_config *config = r->config;
	const struct draft_request *request = &d->requests[turn];
	struct draft *work = &r->work;
	if (!makes_text(config) && request->count == 0)
		return synthetic_tokens(r, d, turn);
	if (request->batch)
		return write_inputs(r, request, out);
	if (config->prompt == PROMPT_TEXT || config->prompt == PROMPT_IDS) {
		int64_t tokens = (config->prompt == PROMPT_IDS ? flat_prompt_ids : flat_prompt_text)(
			&r->flat, config->tokens, work->messages, work->message_count);
		*(config->prompt == PROMPT_IDS ? &out->prompt_token_ids : &out->prompt) = buffer_all(&r->flat.json);
		count_lost_media(r);
		r->work.failed |= r->flat.json.failed;
		return tokens;
	}
	if (config->prompt != PROMPT_NONE) {
		if (r->media)
			media_store_begin(r->media);
		if (write_messages(r, d, turn, err) < 0)
			return -1;
		out->messages = buffer_all(&r->messages);
		out->media = r->media ? media_store_list(r->media) : (struct slice){0};
	}
	int64_t now = messages_tokens(config->tokens, work, &work->requests[0]);
	if (request->count > 0 && request->input_tokens != IPF_ABSENT)
		return now + request->input_tokens - messages_tokens(config->tokens, d, request);
	return now + chat_template_tokens(&config->template, work->message_count, d->chain && turn > 0) +
	       config->special_tokens;
}

/* Looks whether an earlier request has the same prompt. Recorded requests repeat the users' repetitions, but copies do
 * not. In a session only the first prompt is known as a whole. */
static void count_repeats(const struct trace_renderer *r, const struct draft *d, size_t turn,
                          const struct trace_request *out)
{
	const struct prep_config *config = r->config;
	struct slice text = trace_prompt(out);
	bool as_recorded = (config->traits & HAS_TIMES) && !(config->scale > 1);
	if (!text.data || (d->chain && turn > 0) || as_recorded)
		return;
	/* the same question about another image, or no text with another recording, is another prompt */
	uint64_t media = out->media.data ? text_hash_mixed(out->messages) : 0;
	prompt_repeats_add(&r->counts->repeats, r->counts->reuse.chain.hash ^ media);
}

/* Finds a prompt's common beginning with earlier ones; not if no trace has it. */
static int count_reuse(struct trace_renderer *r, const struct draft *d, size_t turn, const struct trace_request *out,
                       struct ipf_error *err)
{
	if (r->config->prompt == PROMPT_RECORDED)
		return 0;
	if (prompt_reuse_add(&r->counts->reuse, out, &r->work, out->context_session && turn > 0, err) < 0)
		return -1;
	count_repeats(r, d, turn, out);
	return 0;
}

/* The tokens of the answer as later turns have it in their context. */
static int64_t context_answer_tokens(const struct trace_renderer *r, struct draft_request *request, struct slice answer)
{
	const struct token_counter *tokens = r->config->tokens;
	if (r->config->format->kind == SOURCE_GENERATED && !answer.data)
		return request->output_tokens;
	return answer.data == request->answer.data && answer.len == request->answer.len ? answer_tokens(tokens, request)
	                                                                                : text_tokens(tokens, answer);
}

/* Says which record an error is about. */
static int place_record(const struct draft *d, struct ipf_error *err)
{
	struct ipf_error why = *err;
	if (why.kind != IPF_INPUT)
		return -1;
	*err = (struct ipf_error){0};
	return ipf_error_set(err, IPF_INPUT, "record %lld: %s", (long long)d->number, why.text);
}

/* A batch has no output. */
static int check_lengths(const struct draft *d, const struct trace_request *out, struct ipf_error *err)
{
	if (token_count_is_possible(out->input_tokens) &&
	    (out->output_tokens == IPF_ABSENT || token_count_is_possible(out->output_tokens)))
		return 0;
	return ipf_error_set(err, IPF_INPUT,
	                     "record %lld: expected lengths from 0 to 2^40 tokens, got a prompt of %lld and "
	                     "an answer of %lld",
	                     (long long)d->number, (long long)out->input_tokens, (long long)out->output_tokens);
}

/* The answer the next turn has in its context, in the form of its prompt. With --answer-ids, that of any prompt of
 * token ids, and the request asks for its length. */
static void write_answer(struct trace_renderer *r, struct slice answer, struct trace_request *out)
{
	const bool ids = out->prompt_token_ids.data, recorded = r->config->answer_ids && ids;
	if (!out->context_session && !recorded)
		return;
	if (!ids)
		out->answer = quoted(&r->answer, answer);
	else if (answer.len)
		out->answer_token_ids = flat_answer_ids(&r->flat, r->config->tokens, answer, &r->answer);
	else if (recorded)
		selection_counts_inexact(r->counts, "no recorded answer for ipf-fire --answers recorded");
	if (recorded && answer.len)
		out->output_tokens = (int64_t)r->flat.ids.count;
}

static void copy_times(const struct draft_request *request, struct trace_request *out)
{
	out->at_ns = request->at_ns;
	out->hang_up_ns = request->hang_up_ns;
	out->recorded_ttft_ns = request->recorded_ttft_ns;
	out->recorded_e2e_ns = request->recorded_e2e_ns;
}

/* A reader of the trace would refuse other times. */
static int check_times(const struct draft *d, const struct trace_request *out, struct ipf_error *err)
{
	const struct {
		const char *name;
		int64_t ns;
	} times[] = {{"at_ns", out->at_ns},
	             {"wait_ns", out->wait_ns},
	             {"hang_up_ns", out->hang_up_ns},
	             {"recorded_ttft_ns", out->recorded_ttft_ns},
	             {"recorded_e2e_ns", out->recorded_e2e_ns}};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i].ns != IPF_ABSENT && (times[i].ns < 0 || times[i].ns > FIELD_INT_MAX))
			return ipf_error_set(err, IPF_INPUT,
			                     "record %lld: %s: expected a time of 0 or more below 2^61 ns, got %lld",
			                     (long long)d->number, times[i].name, (long long)times[i].ns);
	return 0;
}

int trace_renderer_write(struct trace_renderer *r, struct draft *d, struct ipf_error *err)
{
	const struct token_counter *tokens = r->config->tokens;
	int64_t context = 0; /* tokens of the previous turns, with their answers */
	for (size_t turn = 0; turn < d->count; turn++) {
		struct draft_request *request = &d->requests[turn];
		struct trace_request out;
		struct slice answer;
		trace_request_init(&out);
		if (d->chain && d->count > 1 && r->config->prompt == PROMPT_TEXT)
			return ipf_error_set(err, IPF_USAGE,
			                     "--prompt: record %lld is a session, which needs --prompt messages or ids",
			                     (long long)d->number);
		if (request->batch && check_batch(r->config, d, err) < 0)
			return -1;
		struct draft_blocks blocks = blocks_of(r, d, request);
		make_messages(r, d, turn, &blocks);
		int64_t now = write_prompt(r, d, turn, &out, err);
		if (err->kind)
			return place_record(d, err);
		write_names(r, d, turn, &out);
		out.context_session = d->chain && (out.messages.data || out.prompt_token_ids.data);
		out.input_tokens = context + now;
		out.output_tokens = fit_output(r, d, turn, &answer);
		write_answer(r, answer, &out);
		copy_times(request, &out);
		out.wait_ns = pick_wait(r, d, turn, out.turn);
		out.blocks = write_blocks(r, &blocks);
		out.tools = request->tools;
		out.response_format = request->response_format;
		out.body = request->body;
		out.headers = request->headers;
		out.tags = write_tags(r, request);
		set_class(r, d, &out);
		struct slice model = pick_model(r, d, request);
		out.model = quoted(&r->model, model);
		if (count_reuse(r, d, turn, &out, err) < 0)
			return -1;
		out.slo = slo_rules_apply(&r->config->slo, model, out.tags, &r->tags_document);
		if (!out.slo.data)
			out.slo = request->slo;
		if (d->chain)
			context += now + context_answer_tokens(r, request, answer);
		if (check_lengths(d, &out, err) < 0 || check_times(d, &out, err) < 0)
			return -1;
		if (r->work.failed || r->messages.failed || r->id.failed || r->answer.failed || r->model.failed ||
		    r->blocks.failed || r->query.failed || r->scope.failed || r->fit.failed || r->synthetic.failed)
			return ipf_error_memory(err);
		if (token_counter_check(tokens, err) < 0 || r->requests->take(r->requests, &out, err) < 0)
			return -1;
		r->counts->requests++;
		if (out.at_ns != IPF_ABSENT)
			arrival_pace_add(&r->counts->pace, out.at_ns);
		r->counts->input_tokens = token_sum(r->counts->input_tokens, out.input_tokens);
		if (out.output_tokens != IPF_ABSENT)
			r->counts->output_tokens = token_sum(r->counts->output_tokens, out.output_tokens);
	}
	return 0;
}
