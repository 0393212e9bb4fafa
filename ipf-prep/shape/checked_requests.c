#include "shape/checked_requests.h"

#include "absent.h"
#include "json/jout.h"
#include "token_count.h"

#include <string.h>

/* ---- repeats ---- */

static bool is_map(struct slice json)
{
	return json.len && json.data[0] == '{';
}

/* May this request be sent again by itself? Tags that are a list have no member for the mark. */
static bool may_repeat(struct checked_requests *c, const struct trace_request *request)
{
	struct ipf_error ignored = {0};
	if (request->session.data || trace_has_parents(request) || (!request->messages.data && !request->prompt.data) ||
	    (request->tags.data && !is_map(request->tags)))
		return false;
	return !request->tags.data || (jdoc_parse(&c->document, request->tags.data, request->tags.len, &ignored) == 0 &&
	                               jdoc_get(&c->document, JDOC_ROOT, "canary") == JDOC_NONE &&
	                               jdoc_get(&c->document, JDOC_ROOT, "repeat") == JDOC_NONE);
}

/* Writes a map: `first`, which has no braces, then the members of `map` except those named. */
static int add_members(struct checked_requests *c, const char *first, struct slice map, const char *const except[],
                       struct buffer *out, struct ipf_error *err)
{
	buffer_clear(out);
	buffer_byte(out, '{');
	buffer_text(out, first);
	if (map.data && jdoc_parse(&c->document, map.data, map.len, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(&c->document, map.data ? JDOC_ROOT : JDOC_NONE); jdoc_step(&e);) {
		bool kept = true;
		for (size_t i = 0; except[i]; i++)
			kept &= !jdoc_text_is(&c->document, e.key, except[i]);
		if (!kept)
			continue;
		buffer_byte(out, ',');
		buffer_slice(out, jdoc_raw(&c->document, e.key));
		buffer_byte(out, ':');
		buffer_slice(out, jdoc_raw(&c->document, e.value));
	}
	buffer_byte(out, '}');
	return out->failed ? ipf_error_memory(err) : 0;
}

static int mark_repeat(struct checked_requests *c, struct trace_request *request, struct ipf_error *err)
{
	static const char *const none[] = {NULL}, *const greedy[] = {"temperature", NULL},
							 *const logged[] = {"temperature", "logprobs", "top_logprobs", NULL};
	bool logprobs = c->config->repeat_logprobs;
	const char *members = !logprobs                ? "\"temperature\":0"
	                      : request->messages.data ? "\"temperature\":0,\"logprobs\":true,\"top_logprobs\":5"
	                                               : "\"temperature\":0,\"logprobs\":5";
	if (add_members(c, "\"repeat\":true", request->tags, none, &c->tags, err) < 0 ||
	    add_members(c, members, request->body, logprobs ? logged : greedy, &c->body, err) < 0)
		return -1;
	request->tags = buffer_all(&c->tags);
	request->body = buffer_all(&c->body);
	c->counts->repeats++;
	return 0;
}

/* ---- canaries ---- */

static int shown_length(struct slice id)
{
	return (int)(id.len < 200 ? id.len : 200);
}

static int check_neighbour(const struct canary_neighbour *n, struct ipf_error *err)
{
	if (n->messages || n->prompt)
		return 0;
	return ipf_error_set(
		err, IPF_INPUT,
		"--canaries: request %.*s has no messages and no text, which canaries need; use --prompt messages or text",
		shown_length(n->id), n->id.data);
}

/* A length like those of the workload. */
static int64_t draw_context(const struct checked_requests *c, int64_t number)
{
	struct rng rng;
	int64_t known = c->index < RECENT_LENGTHS ? c->index : RECENT_LENGTHS;
	rng_init(&rng, c->config->common.seed, "canary context", (uint64_t)number);
	return known ? c->recent[rng_below(&rng, (uint64_t)known)] : 0;
}

static int64_t draw_arrival(const struct checked_requests *c, int64_t from_ns, int64_t to_ns)
{
	struct rng rng;
	if (from_ns == IPF_ABSENT || to_ns == IPF_ABSENT || to_ns <= from_ns)
		return to_ns;
	rng_init(&rng, c->config->common.seed, "canary arrival", (uint64_t)c->maker.number);
	return from_ns + (int64_t)rng_below(&rng, (uint64_t)(to_ns - from_ns) + 1);
}

static void write_prompt(struct checked_requests *c, bool messages, struct trace_request *request)
{
	struct jout w = {.out = &c->prompt};
	buffer_clear(&c->prompt);
	if (!messages) {
		jout_string(&w, c->maker.prompt);
		request->prompt = buffer_all(&c->prompt);
		return;
	}
	buffer_text(&c->prompt, "[{\"role\":\"user\",\"content\":");
	jout_string(&w, c->maker.prompt);
	buffer_text(&c->prompt, "}]");
	request->messages = buffer_all(&c->prompt);
}

/* Hands over a canary like request `n`, behind which it comes if `at_ns` is the last arrival. */
static int add_canary(struct checked_requests *c, const struct canary_neighbour *n, int64_t context_tokens,
                      struct ipf_error *err)
{
	const struct canary_maker *m = &c->maker;
	struct trace_request request;
	if (check_neighbour(n, err) < 0 || canary_maker_next(&c->maker, !n->messages, context_tokens, err) < 0)
		return -1;
	trace_request_init(&request);
	buffer_clear(&c->id);
	buffer_format(&c->id, "\"canary-%lld\"", (long long)m->number);
	request.id = buffer_all(&c->id);
	write_prompt(c, n->messages, &request);
	request.input_tokens = m->input_tokens + (n->messages ? chat_template_tokens(&c->config->template, 1, false) +
	                                                            c->config->special_tokens
	                                                      : 0);
	request.output_tokens = m->output_tokens;
	request.tags = m->tags;
	request.body = m->body;
	request.model = n->model;
	request.headers = n->headers;
	request.at_ns = draw_arrival(c, c->before.at_ns, n->at_ns);
	if (c->id.failed || c->prompt.failed)
		return ipf_error_memory(err);
	c->before.at_ns = request.at_ns;
	c->counts->canaries++;
	c->counts->input_tokens = token_sum(c->counts->input_tokens, request.input_tokens);
	c->counts->output_tokens = token_sum(c->counts->output_tokens, request.output_tokens);
	return c->to->take(c->to, &request, err);
}

static struct canary_neighbour neighbour_of(const struct trace_request *request)
{
	return (struct canary_neighbour){.id = request->id,
	                                 .model = request->model,
	                                 .headers = request->headers,
	                                 .session = request->session,
	                                 .messages = request->messages.data,
	                                 .prompt = request->prompt.data,
	                                 .at_ns = request->at_ns};
}

/* Keeps a copy of the request for canaries after it. */
static void keep_neighbour(struct checked_requests *c, const struct trace_request *request, bool first_of_unit)
{
	struct canary_neighbour *to = &c->before, from = neighbour_of(request);
	struct slice *const slices[] = {&from.id, &from.model, &from.headers, &from.session};
	size_t at[sizeof slices / sizeof *slices];
	const size_t count = sizeof slices / sizeof *slices;
	from.bytes = to->bytes;
	buffer_clear(&from.bytes);
	for (size_t i = 0; i < count; i++) {
		at[i] = from.bytes.len;
		buffer_slice(&from.bytes, *slices[i]);
	}
	for (size_t i = 0; i < count && !from.bytes.failed; i++)
		if (slices[i]->data)
			slices[i]->data = from.bytes.data + at[i];
	if (!first_of_unit)
		from.at_ns = to->at_ns;
	*to = from;
}

/* ---- all requests ---- */

static int check_ids(const struct checked_requests *c, const struct trace_request *request, struct ipf_error *err)
{
	static const char begin[] = "\"canary-";
	if (!(c->canaries.rate > 0) || request->id.len < sizeof begin ||
	    memcmp(request->id.data, begin, sizeof begin - 1) != 0)
		return 0;
	return ipf_error_set(err, IPF_INPUT, "--canaries: the data has the request %.*s already", shown_length(request->id),
	                     request->id.data);
}

static int pass(struct checked_requests *c, const struct trace_request *given, struct ipf_error *err)
{
	struct trace_request request = *given;
	bool first_of_unit = !request.session.data || !slice_equal(request.session, c->before.session);
	if (check_ids(c, given, err) < 0)
		return -1;
	while (first_of_unit && random_places_take(&c->canaries, c->index)) {
		struct canary_neighbour next = neighbour_of(given);
		int64_t context = c->index ? draw_context(c, c->maker.number) : given->input_tokens;
		if (add_canary(c, &next, context, err) < 0)
			return -1;
	}
	if (c->repeats.rate > 0 && may_repeat(c, given) && random_places_take(&c->repeats, c->eligible++) &&
	    mark_repeat(c, &request, err) < 0)
		return -1;
	keep_neighbour(c, given, first_of_unit);
	c->recent[c->index++ % RECENT_LENGTHS] = given->input_tokens;
	if (c->before.bytes.failed)
		return ipf_error_memory(err);
	return c->to->take(c->to, &request, err);
}

static int hold_request(struct checked_requests *c, const struct trace_request *request, struct ipf_error *err)
{
	trace_request_write(request, &c->prompt);
	c->index++;
	c->eligible += c->config->repeats.count && may_repeat(c, request);
	return c->prompt.failed ? ipf_error_memory(err)
	                        : record_sorter_add(&c->held, (struct slice){0}, buffer_all(&c->prompt), err);
}

static int take(struct request_sink *sink, const struct trace_request *request, struct ipf_error *err)
{
	struct checked_requests *c = (struct checked_requests *)sink;
	return c->hold ? hold_request(c, request, err) : pass(c, request, err);
}

static double rate_of(const struct share_or_count *option, int64_t requests)
{
	return option->count ? requests > 0 ? (double)option->count / (double)requests : 0 : option->share;
}

/* A share of canaries is one of all requests, the canaries included. */
static void begin(struct checked_requests *c, int64_t requests, int64_t eligible)
{
	const struct share_or_count *canaries = &c->config->canaries, *repeats = &c->config->repeats;
	uint64_t seed = c->config->common.seed;
	double rate = canaries->count ? rate_of(canaries, requests) : canaries->share / (1 - canaries->share);
	double repeat_rate = rate_of(repeats, eligible);
	random_places_init(&c->canaries, seed, "canary place", rate, canaries->count ? canaries->count : IPF_ABSENT);
	random_places_init(&c->repeats, seed, "repeat", repeat_rate < 1 ? repeat_rate : 1,
	                   repeats->count ? repeats->count : IPF_ABSENT);
	c->index = c->eligible = 0;
}

void checked_requests_init(struct checked_requests *c, const struct prep_config *config, struct checked_counts *counts,
                           struct request_sink *to)
{
	*c = (struct checked_requests){.sink = {take},
	                               .config = config,
	                               .counts = counts,
	                               .to = to,
	                               .before = {.at_ns = 0},
	                               .maker = {.tokens = config->tokens, .seed = config->common.seed},
	                               .hold = config->canaries.count || config->repeats.count};
	begin(c, 0, 0);
}

static int pass_held(struct checked_requests *c, struct ipf_error *err)
{
	const struct sorted_record *record;
	struct trace_request request;
	struct jdoc document = {0};
	begin(c, c->index, c->eligible);
	int got = record_sorter_sort(&c->held, err);
	while (got == 0 && (got = record_sorter_next(&c->held, &record, err)) == 1) {
		got = trace_request_parse(&document, sorted_record_bytes(record), false, &request, err);
		if (got == 0)
			got = pass(c, &request, err);
	}
	jdoc_release(&document);
	return got;
}

int checked_requests_finish(struct checked_requests *c, struct ipf_error *err)
{
	if (c->hold && pass_held(c, err) < 0)
		return -1;
	/* those whose place was within the last session */
	while (c->index > 0 && (c->canaries.most != IPF_ABSENT ? c->canaries.taken < c->canaries.most
	                                                       : random_places_take(&c->canaries, c->index - 1))) {
		c->canaries.taken += c->canaries.most != IPF_ABSENT;
		struct canary_neighbour last = c->before;
		if (add_canary(c, &last, draw_context(c, c->maker.number), err) < 0)
			return -1;
	}
	return 0;
}

void checked_requests_release(struct checked_requests *c)
{
	record_sorter_release(&c->held);
	jdoc_release(&c->document);
	canary_maker_release(&c->maker);
	buffer_release(&c->before.bytes);
	buffer_release(&c->id);
	buffer_release(&c->prompt);
	buffer_release(&c->tags);
	buffer_release(&c->body);
}
