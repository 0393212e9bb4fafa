#include "shape/render_private.h"

#include "absent.h"
#include "json/jout.h"
#include "stats/rng.h"
#include "text/synthetic_text.h"
#include "stream/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int renderer_init(struct renderer *r, const struct prep_plan *plan, struct stream_writer *writer,
                  struct selection_counts *tally, struct ipf_error *err)
{
	*r = (struct renderer){.plan = plan,
	                       .writer = writer,
	                       .tally = tally,
	                       .stretch = {.tokens = plan->tokens},
	                       .exact = {.tokens = plan->tokens, .salt = plan->options->salt}};
	r->stretch.exact = &r->exact;
	if (plan->prefix_count) {
		r->prefixes = calloc((size_t)plan->prefix_count, sizeof *r->prefixes);
		if (!r->prefixes)
			return ipf_error_errno(err, ENOMEM, NULL, "no memory for %lld prefixes", (long long)plan->prefix_count);
	}
	return 0;
}

void renderer_release(struct renderer *r)
{
	for (int64_t i = 0; r->prefixes && i < r->plan->prefix_count; i++)
		buffer_release(&r->prefixes[i]);
	free(r->prefixes);
	free(r->spans);
	fit_length_release(&r->stretch);
	exact_text_release(&r->exact);
	flat_prompt_release(&r->flat);
	prefix_siblings_release(&r->kin);
	draft_release(&r->work);
	struct buffer *const buffers[] = {&r->made,   &r->messages, &r->id,   &r->session, &r->model, &r->answer,
	                                  &r->blocks, &r->parents,  &r->tags, &r->scope,   &r->line};
	for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
		buffer_release(buffers[i]);
}

static bool shapes_texts(const struct prep_plan *plan)
{
	return plan->input.kind != DISTRIBUTION_DATASET || (plan->output.kind != DISTRIBUTION_DATASET && !plan->lone);
}

void renderer_feed(struct renderer *r, const struct draft *d)
{
	if (!shapes_texts(r->plan))
		return;
	for (size_t i = 0; i < d->message_count; i++)
		fit_length_feed(&r->stretch, d->messages[i].text);
	for (size_t i = 0; i < d->count; i++)
		fit_length_feed(&r->stretch, d->requests[i].answer);
}

bool renderer_is_hungry(const struct renderer *r)
{
	return shapes_texts(r->plan) && !(r->plan->traits & MAKES_TEXT) && r->stretch.pool.len < FIT_LENGTH_READY;
}

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

/* A generator for one decision about one request. */
struct rng renderer_chance(const struct renderer *r, const char *what, const struct draft *d, size_t turn)
{
	struct rng rng;
	/* odd constants spread what are mostly small numbers over all 64 bits: no two requests meet */
	rng_init(&rng, r->plan->options->common.seed, what,
	         (uint64_t)d->number + (uint64_t)d->part * UINT64_C(0x9e3779b97f4a7c15) +
	             (uint64_t)d->copy * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)turn * UINT64_C(0x94d049bb133111eb));
	return rng;
}

/* ---- the prompt ---- */

/* The blocks of a prompt; those of copies are to be found among copies only. */
struct draft_blocks renderer_blocks(struct renderer *r, const struct draft *d, const struct draft_request *request)
{
	struct draft_blocks blocks = request->blocks;
	if (d->copy && blocks.count) {
		buffer_clear(&r->scope);
		buffer_slice(&r->scope, blocks.scope);
		buffer_format(&r->scope, "~%lld", (long long)d->copy);
		blocks.scope = buffer_all(&r->scope);
		r->work.failed |= r->scope.failed;
	}
	return blocks;
}

/* The last message that the user wrote, unless it has to be passed on as it stands: the one whose length is changed. */
static struct draft_message *asking(struct draft *work)
{
	for (size_t i = work->message_count; i-- > 0;)
		if (work->messages[i].role == ROLE_USER && !work->messages[i].json.data)
			return &work->messages[i];
	return NULL;
}

static void shape_input(struct renderer *r, const struct draft *d, size_t turn)
{
	if (r->plan->input.kind == DISTRIBUTION_DATASET)
		return;
	struct rng drawn = renderer_chance(r, "input-tokens", d, turn), filler = renderer_chance(r, "extend", d, turn);
	int64_t target = distribution_draw(&r->plan->input, &drawn);
	struct draft *work = &r->work;
	struct draft_message *m = asking(work);
	if (!m) {
		r->tally->unshaped++;
		return;
	}
	int64_t others = messages_tokens(r->plan->tokens, work, &work->requests[0]) -
	                 text_tokens(r->plan->tokens, m->text) +
	                 chat_template_adds(&r->plan->template, work->message_count, d->chain && turn > 0);
	int64_t wanted = target > others ? target - others : 1;
	m->counted = false;
	m->text = fit_length_to(&r->stretch, m->text, wanted, &filler, work);
	if (token_counter_is_exact(r->plan->tokens))
		selection_counts_residual(r->tally, wanted, text_tokens(r->plan->tokens, m->text));
}

static size_t pick_prefix(const struct renderer *r, const struct draft *d, size_t turn, int64_t *tokens)
{
	const struct prep_plan *plan = r->plan;
	struct rng pick = renderer_chance(r, "prefix", d, turn);
	size_t i = plan->prefix_shares.count > 1 ? shares_pick(&plan->prefix_shares, rng_uniform(&pick)) : 0;
	const struct prefix_group *group = &plan->prefix_groups[i];
	*tokens = group->tokens;
	return (size_t)(group->first + (int64_t)rng_below(&pick, (uint64_t)group->count));
}

/* A shared text at the very beginning: what a prefix cache is to find. */
static void put_prefix(struct renderer *r, const struct draft *d, size_t turn)
{
	const struct prep_plan *plan = r->plan;
	if (!plan->prefix_count)
		return;
	int64_t tokens;
	size_t k = pick_prefix(r, d, turn, &tokens);
	struct buffer *prefix = &r->prefixes[k];
	if (prefix->len == 0) {
		char name[512];
		struct rng rng;
		rng_init(&rng, plan->options->common.seed, synthetic_text_name("prefix text", plan->options->salt, name), k);
		if (token_counter_is_exact(plan->tokens)) {
			exact_text_prefix(&r->exact, &rng, tokens, prefix);
		} else {
			/* A blank at the end parts it from what follows. */
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
	} else if (draft_message(work, ROLE_SYSTEM, (struct slice){0})) {
		memmove(work->messages + 1, work->messages, (work->message_count - 1) * sizeof *work->messages);
		work->messages[0] = (struct draft_message){.role = ROLE_SYSTEM, .text = buffer_all(prefix)};
	}
}

/* How long a prompt is made. */
static int64_t made_tokens(const struct renderer *r, const struct draft *d, size_t turn)
{
	if (r->plan->input.kind == DISTRIBUTION_DATASET)
		return d->requests[turn].input_tokens;
	struct rng drawn = renderer_chance(r, "input-tokens", d, turn);
	return distribution_draw(&r->plan->input, &drawn);
}

/* The messages of a request as they will be sent, in r->work. */
static void make_messages(struct renderer *r, const struct draft *d, size_t turn)
{
	const struct prep_plan *plan = r->plan;
	const struct draft_request *request = &d->requests[turn];
	struct draft *work = &r->work;
	bool opens = !d->chain || turn == 0, made = request->count == 0;
	struct slice system = plan->options->system ? buffer_all(&plan->system) : (struct slice){0};
	draft_reset(work);
	draft_request(work);
	for (size_t i = 0; i < request->count; i++) {
		const struct draft_message *from = &d->messages[request->first + i];
		if (opens && system.data && from->role == ROLE_SYSTEM)
			continue;
		struct draft_message *m = draft_message(work, from->role, from->text);
		if (m)
			*m = *from;
	}
	if (made) {
		int64_t count = made_tokens(r, d, turn), added = chat_template_adds(&plan->template, 1, d->chain && turn > 0);
		if (plan->prompt == AS_NOTHING)
			return;
		struct slice text = renderer_text(r, d, turn, request, count > added ? count - added : count > 0 ? 1 : 0);
		draft_message(work, ROLE_USER, text.data ? text : slice_of(""));
		work->failed |= r->made.failed;
	} else {
		shape_input(r, d, turn);
	}
	if (opens && system.data && draft_message(work, ROLE_SYSTEM, system)) {
		memmove(work->messages + 1, work->messages, (work->message_count - 1) * sizeof *work->messages);
		work->messages[0] = (struct draft_message){.role = ROLE_SYSTEM, .text = system};
	}
	if (opens && work->message_count > 0 && !work->failed)
		put_prefix(r, d, turn);
}

static void write_messages(struct renderer *r)
{
	static const char *const names[] = {[ROLE_SYSTEM] = "system", [ROLE_USER] = "user", [ROLE_ASSISTANT] = "assistant"};
	struct jout w = {.out = &r->messages};
	buffer_clear(&r->messages);
	jout_begin_list(&w);
	for (size_t i = 0; i < r->work.message_count; i++) {
		const struct draft_message *m = &r->work.messages[i];
		if (m->json.data) {
			jout_value(&w, m->json);
			continue;
		}
		jout_begin_map(&w);
		jout_member_string(&w, "role", slice_of(names[m->role]));
		jout_key(&w, "content");
		jout_string(&w, m->text);
		jout_end_map(&w);
	}
	jout_end_list(&w);
}

/* The ids of what the prompt is made of, for who reckons with them. */
static struct slice write_blocks(struct renderer *r, const struct draft *d, const struct draft_request *request)
{
	struct draft_blocks of_copy = renderer_blocks(r, d, request);
	const struct draft_blocks *blocks = &of_copy;
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
	for (size_t i = 0; i < blocks->count; i++) {
		char id[24];
		snprintf(id, sizeof id, "%llu", (unsigned long long)blocks->ids[i]);
		jout_value(&w, slice_of(id));
	}
	jout_end_list(&w);
	jout_end_map(&w);
	return buffer_all(&r->blocks);
}

/* ---- the answer ---- */

/* What is asked for, and the recorded answer that a session's later turns will have in their context. */
static int64_t shape_output(struct renderer *r, struct draft *d, size_t turn, struct slice *answer)
{
	const struct prep_plan *plan = r->plan;
	struct draft_request *request = &d->requests[turn];
	*answer = d->chain && request->answer.len > 0 ? request->answer : (struct slice){0};
	if (plan->output.kind != DISTRIBUTION_DATASET) {
		struct rng drawn = renderer_chance(r, "output-tokens", d, turn),
				   filler = renderer_chance(r, "extend answer", d, turn);
		int64_t count = distribution_draw(&plan->output, &drawn);
		if (answer->data)
			*answer = fit_length_to(&r->stretch, *answer, count, &filler, &r->work);
		return count;
	}
	if (request->output_tokens != IPF_ABSENT)
		return request->output_tokens;
	if (request->answer.len > 0)
		return answer_tokens(plan->tokens, request) + plan->around;
	r->tally->assumed++;
	return OUTPUT_TOKENS_ASSUMED;
}

static struct slice pick_model(const struct renderer *r, const struct draft *d, const struct draft_request *request)
{
	const struct shares *models = &r->plan->models;
	if (!models->count)
		return request->model;
	struct rng rng = renderer_chance(r, "model", d, 0);
	return slice_of(models->list[shares_pick(models, rng_uniform(&rng))].name);
}

/* How long after the turn before; the first turn has none. */
static int64_t pick_wait(const struct renderer *r, const struct draft *d, size_t turn, int64_t place)
{
	if (place == IPF_ABSENT || place == 0)
		return IPF_ABSENT;
	if (r->plan->wait.kind == DISTRIBUTION_DATASET)
		return d->requests[turn].wait_ns;
	struct rng rng = renderer_chance(r, "wait", d, turn);
	return distribution_draw(&r->plan->wait, &rng);
}

/* ---- the line ---- */

static struct slice quoted(struct buffer *to, struct slice text)
{
	struct jout w = {.out = to};
	buffer_clear(to);
	if (!text.data)
		return (struct slice){0};
	jout_string(&w, text);
	return buffer_all(to);
}

/* NUMBER[.PART], or the data's own name; ~COPY where it was drawn again. */
static void unit_name(const struct draft *d, struct slice own, struct buffer *name)
{
	buffer_clear(name);
	if (own.data)
		buffer_slice(name, own);
	else
		buffer_format(name, "%lld", (long long)d->number);
	if (!own.data && d->part)
		buffer_format(name, ".%lld", (long long)d->part);
	if (d->copy)
		buffer_format(name, "~%lld", (long long)d->copy);
}

/* A request's own name; that of its session and its place in it. */
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

/* Ids in other drafts: those of the same copy. */
static struct slice after_of_copy(struct renderer *r, const struct draft *d, struct slice after)
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

static void write_names(struct renderer *r, const struct draft *d, size_t turn, struct trace_request *out)
{
	struct buffer name = {0};
	const struct draft_request *request = &d->requests[turn];
	request_name(d, turn, &name);
	out->id = quoted(&r->id, buffer_all(&name));
	if (d->chain || d->count > 1 || d->session.data) {
		unit_name(d, d->session, &name);
		out->session = quoted(&r->session, buffer_all(&name));
		out->turn = d->turn + (int64_t)turn;
	}
	out->parents = d->copy && request->after.data ? after_of_copy(r, d, request->after) : request->after;
	if (request->parents) {
		struct jout w = {.out = &r->parents};
		buffer_clear(&r->parents);
		jout_begin_list(&w);
		for (size_t i = 0; i < request->parent_count; i++) {
			request_name(d, (size_t)request->parents[i], &name);
			jout_string(&w, buffer_all(&name));
		}
		jout_end_list(&w);
		out->parents = buffer_all(&r->parents);
	}
	r->work.failed |= name.failed || r->parents.failed;
	buffer_release(&name);
}

static struct slice write_tags(struct renderer *r, const struct draft_request *request)
{
	if (!request->failed)
		return request->tags;
	buffer_clear(&r->tags);
	buffer_text(&r->tags, "{\"failed\":true");
	if (request->tags.len > 2) {
		buffer_byte(&r->tags, ',');
		buffer_slice(&r->tags, (struct slice){request->tags.data + 1, request->tags.len - 1});
	} else {
		buffer_byte(&r->tags, '}');
	}
	r->work.failed |= r->tags.failed;
	return buffer_all(&r->tags);
}

/* The prompt as the trace is to have it, and its tokens. */
static int64_t write_prompt(struct renderer *r, struct draft *d, size_t turn, struct trace_request *out)
{
	const struct prep_plan *plan = r->plan;
	const struct draft_request *request = &d->requests[turn];
	struct draft *work = &r->work;
	if (plan->prompt == AS_NOTHING && request->count == 0)
		return made_tokens(r, d, turn);
	if (plan->prompt == AS_TEXT || plan->prompt == AS_IDS) {
		int64_t tokens = (plan->prompt == AS_IDS ? flat_prompt_ids : flat_prompt_text)(
			&r->flat, plan->tokens, work->messages, work->message_count);
		*(plan->prompt == AS_IDS ? &out->prompt_token_ids : &out->prompt) = buffer_all(&r->flat.json);
		r->work.failed |= r->flat.json.failed;
		return tokens;
	}
	if (plan->prompt != AS_NOTHING) {
		write_messages(r);
		out->messages = buffer_all(&r->messages);
	}
	int64_t now = messages_tokens(plan->tokens, work, &work->requests[0]);
	if (request->count > 0 && request->input_tokens != IPF_ABSENT)
		return now + request->input_tokens - messages_tokens(plan->tokens, d, request);
	return now + chat_template_adds(&plan->template, work->message_count, d->chain && turn > 0) + plan->around;
}

int renderer_write(struct renderer *r, struct draft *d, struct ipf_error *err)
{
	const struct token_counter *tokens = r->plan->tokens;
	int64_t context = 0; /* of the turns before, with their answers */
	for (size_t turn = 0; turn < d->count; turn++) {
		struct draft_request *request = &d->requests[turn];
		struct trace_request out;
		struct slice answer;
		trace_request_init(&out);
		if (d->chain && d->count > 1 && (r->plan->prompt == AS_TEXT || r->plan->prompt == AS_IDS))
			return ipf_error_set(err, IPF_USAGE, "--prompt: record %lld is a session of turns, which are messages",
			                     (long long)d->number);
		make_messages(r, d, turn);
		int64_t now = write_prompt(r, d, turn, &out);
		write_names(r, d, turn, &out);
		out.context_session = d->chain && out.messages.data;
		out.input_tokens = context + now;
		out.output_tokens = shape_output(r, d, turn, &answer);
		out.answer = out.context_session ? quoted(&r->answer, answer) : (struct slice){0};
		out.at_ns = request->at_ns;
		out.wait_ns = pick_wait(r, d, turn, out.turn);
		out.blocks = write_blocks(r, d, request);
		out.tools = request->tools;
		out.response_format = request->response_format;
		out.tags = write_tags(r, request);
		struct slice model = pick_model(r, d, request);
		out.model = quoted(&r->model, model);
		out.slo = r->plan->goals ? slo_option_of(r->plan->goals, model, out.tags) : (struct slice){0};
		if (!out.slo.data)
			out.slo = request->slo;
		if (d->chain)
			context += now + (answer.data == request->answer.data && answer.len == request->answer.len
			                      ? answer_tokens(tokens, request)
			                      : text_tokens(tokens, answer));
		trace_request_write(&out, &r->line);
		if (r->work.failed || r->messages.failed || r->id.failed || r->answer.failed || r->model.failed ||
		    r->blocks.failed || r->stretch.failed)
			return ipf_error_errno(err, ENOMEM, NULL, "no memory for record %lld", (long long)d->number);
		if (token_counter_check(tokens, err) < 0 || stream_writer_line(r->writer, &r->line, err) < 0)
			return -1;
		r->tally->requests++;
		r->tally->input_tokens += out.input_tokens;
		r->tally->output_tokens += out.output_tokens;
	}
	return 0;
}
