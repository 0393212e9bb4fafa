#include "anonymize/anonymizer.h"

#include "json/jout.h"
#include "stats/rng.h"
#include "text_hash.h"
#include "token_count.h"

#include <string.h>

/* ---- the prompt ---- */

/* A value as its types and texts, however its JSON is written. Good until the next use of a->text. */
static struct slice plain_value(struct anonymizer *a, jdoc_id value)
{
	const struct jdoc *doc = &a->doc;
	buffer_clear(&a->text);
	for (jdoc_id i = value; value != JDOC_NONE && i < doc->nodes[value].next; i++) {
		const struct jdoc_node *node = &doc->nodes[i];
		const size_t before = a->text.len;
		if (node->type == JDOC_TEXT)
			jdoc_text(doc, i, &a->text);
		else if (node->type != JDOC_LIST && node->type != JDOC_MAP)
			buffer_slice(&a->text, jdoc_raw(doc, i));
		const uint64_t length = a->text.len - before, end[] = {length, node->type, node->count};
		buffer_append(&a->text, end, sizeof end);
	}
	return buffer_all(&a->text);
}

static void mark_value(struct anonymizer *a, jdoc_id value)
{
	block_chain_mark(&a->chain, plain_value(a, value));
}

/* Begins a prompt. Chat templates write tools before all messages. */
static int begin_prompt(struct anonymizer *a, struct slice tools, struct ipf_error *err)
{
	if (tools.data && jdoc_parse(&a->doc, tools.data, tools.len, err) < 0)
		return -1;
	block_chain_begin(&a->chain, tools.data ? plain_value(a, JDOC_ROOT) : (struct slice){0});
	return 0;
}

/* The text of a part of a message, which is one itself or has one. */
static jdoc_id text_of(const struct jdoc *doc, jdoc_id part)
{
	return jdoc_type_of(doc, part) == JDOC_TEXT ? part : jdoc_get(doc, part, "text");
}

/* A text, or a list of parts: the texts joined, and a mark for everything else. */
static void add_content(struct anonymizer *a, jdoc_id content)
{
	const struct jdoc *doc = &a->doc;
	const jdoc_id parts = jdoc_type_of(doc, content) == JDOC_LIST ? content : JDOC_NONE;
	for (struct jdoc_each e = jdoc_each(doc, parts); jdoc_step(&e);)
		if (jdoc_type_of(doc, text_of(doc, e.value)) != JDOC_TEXT)
			mark_value(a, e.value);
	buffer_clear(&a->text);
	if (jdoc_type_of(doc, content) == JDOC_TEXT)
		jdoc_text(doc, content, &a->text);
	for (struct jdoc_each e = jdoc_each(doc, parts); jdoc_step(&e);)
		jdoc_text(doc, text_of(doc, e.value), &a->text);
	block_chain_text(&a->chain, buffer_all(&a->text));
}

static int add_messages(struct anonymizer *a, struct ipf_error *err)
{
	const struct jdoc *doc = &a->doc;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		if (jdoc_type_of(doc, e.value) != JDOC_MAP)
			return jdoc_expected(doc, e.value, "messages", "a list of objects", err);
		mark_value(a, jdoc_get(doc, e.value, "role"));
		for (struct jdoc_each member = jdoc_each(doc, e.value); jdoc_step(&member);)
			if (!jdoc_text_is(doc, member.key, "content") && !jdoc_text_is(doc, member.key, "role")) {
				mark_value(a, member.key);
				mark_value(a, member.value);
			}
		add_content(a, jdoc_get(doc, e.value, "content"));
	}
	return 0;
}

static int add_ids(struct anonymizer *a, const char *member, struct ipf_error *err)
{
	for (struct jdoc_each e = jdoc_each(&a->doc, JDOC_ROOT); jdoc_step(&e);) {
		int64_t id;
		if (!jdoc_to_int(&a->doc, e.value, &id) || id < 0 || id > UINT32_MAX)
			return jdoc_expected(&a->doc, e.value, member, "a list of token ids", err);
		const uint32_t one = (uint32_t)id;
		block_chain_ids(&a->chain, &one, 1);
	}
	return 0;
}

/* The answer of the turn before is in the context. One only the server can give is unlike any other. */
static int add_answer(struct anonymizer *a, struct ipf_error *err)
{
	static const char role[] = "\"assistant\"";
	if (a->answered && *a->answer.data == '[')
		return jdoc_parse(&a->doc, a->answer.data, a->answer.len, err) < 0 ? -1 : add_ids(a, "answer_token_ids", err);
	if (jdoc_parse(&a->doc, role, sizeof role - 1, err) < 0)
		return -1;
	mark_value(a, JDOC_ROOT);
	if (!a->answered) {
		block_chain_mark(&a->chain, (struct slice){(const char *)&a->last_number, sizeof a->last_number});
		return 0;
	}
	if (jdoc_parse(&a->doc, a->answer.data, a->answer.len, err) < 0)
		return -1;
	add_content(a, JDOC_ROOT);
	return 0;
}

static int add_text(struct anonymizer *a, const struct trace_request *r, bool continues, struct ipf_error *err)
{
	struct slice json = trace_prompt(r);
	a->with_text++;
	if ((continues ? add_answer(a, err) : begin_prompt(a, r->tools, err)) < 0)
		return -1;
	if (jdoc_parse(&a->doc, json.data, json.len, err) < 0)
		return -1;
	if (r->messages.data)
		return add_messages(a, err);
	if (r->prompt_token_ids.data)
		return add_ids(a, "prompt_token_ids", err);
	add_content(a, JDOC_ROOT);
	return 0;
}

/* The ids of recorded blocks: of a list of digits and commas, or of a parsed one. */
struct block_ids {
	struct slice plain; /* the rest of it */
	struct jdoc_each each;
};

/* Takes the ids out of blocks ending in "ids":[1,2,3]}, as we write them: the text before them, and an empty list, is
 * put into `rest`. False if they are not so. */
static bool take_plain_ids(struct slice blocks, struct slice *ids, struct buffer *rest)
{
	static const char key[] = "\"ids\":[";
	const char *at = memmem(blocks.data, blocks.len, key, strlen(key)), *end = blocks.data + blocks.len - 2;
	if (!at || end <= at + strlen(key) || memcmp(end, "]}", 2) != 0)
		return false;
	at += strlen(key);
	*ids = (struct slice){at, (size_t)(end - at)};
	for (bool digit = false; at < end; at++) {
		bool comma = *at == ',' && digit;
		digit = *at >= '0' && *at <= '9';
		if (!digit && !comma)
			return false;
	}
	buffer_clear(rest);
	buffer_append(rest, blocks.data, (size_t)(ids->data - blocks.data));
	buffer_append(rest, end, 2);
	return end[-1] != ',' && !rest->failed;
}

static bool next_id(struct block_ids *ids, struct slice *id)
{
	if (!ids->plain.data) {
		bool more = jdoc_step(&ids->each);
		*id = more ? jdoc_raw(ids->each.j, ids->each.value) : (struct slice){0};
		return more;
	}
	const char *begin = ids->plain.data, *end = begin + ids->plain.len, *at = begin;
	while (at < end && *at != ',')
		at++;
	*id = (struct slice){begin, (size_t)(at - begin)};
	at += at < end;
	ids->plain = (struct slice){at, (size_t)(end - at)};
	return id->len > 0;
}

/* The recorded blocks, if they are all of the prompt but for less than a block. 1: added; 0: they are not; -1. */
static int add_blocks(struct anonymizer *a, const struct trace_request *r, struct ipf_error *err)
{
	const struct jdoc *j = &a->doc;
	int64_t each = 0, left = r->input_tokens;
	struct slice blocks = r->blocks, id;
	struct block_ids ids = {.plain = {0}};
	if (!blocks.data || r->context_session || left == IPF_ABSENT)
		return 0;
	if (begin_prompt(a, r->tools, err) < 0)
		return -1;
	if (take_plain_ids(blocks, &ids.plain, &a->text))
		blocks = buffer_all(&a->text);
	else
		ids.plain = (struct slice){0};
	if (jdoc_parse(&a->doc, blocks.data, blocks.len, err) < 0)
		return -1;
	ids.each = jdoc_each(j, jdoc_get(j, JDOC_ROOT, "ids"));
	jdoc_id tokens = jdoc_get(j, JDOC_ROOT, "tokens");
	struct slice scope = jdoc_raw(j, jdoc_get(j, JDOC_ROOT, "scope"));
	const uint64_t scoped = scope.data ? text_hash_mixed(scope) * UINT64_C(0x9e3779b97f4a7c15) : 0;
	struct jdoc_each sizes = jdoc_each(j, tokens);
	const bool listed = jdoc_type_of(j, tokens) == JDOC_LIST;
	if (!listed && (!jdoc_to_int(j, tokens, &each) || each <= 0 || !token_count_is_possible(each)))
		return jdoc_expected(j, tokens, "blocks.tokens", "a count or a list", err);
	while (next_id(&ids, &id) && !a->chain.failed) {
		if (listed && (!jdoc_step(&sizes) || !jdoc_to_int(j, sizes.value, &each) || !token_count_is_possible(each)))
			return jdoc_expected(j, tokens, "blocks.tokens", "a length for each id", err);
		const int64_t used = each < left ? each : left;
		block_chain_piece(&a->chain, PIECE_RECORDED, text_hash_mixed(id) ^ scoped, used);
		left -= used;
	}
	return left < each || !trace_prompt(r).data;
}

/* A prompt with only a length has nothing to hide: one hash is enough for numbers that no other prompt has. */
static int make_own_hashes(struct anonymizer *a, const struct anonymous_request *out, struct ipf_error *err)
{
	struct salted_hash hash;
	struct rng rng = {.state = {0}};
	unsigned char seed[SALTED_BYTES];
	salted_hash_begin(&hash, a->salt, SALTED_FILLER);
	salted_hash_add_number(&hash, out->number);
	salted_hash_end(&hash, a->salt, seed);
	for (size_t i = 0; i < sizeof seed; i++)
		rng.state[i / 8] = rng.state[i / 8] << 8 | seed[i];
	if (!block_hashes_resize(&a->hashes, (size_t)((out->input_tokens + a->block_tokens - 1) / a->block_tokens)))
		return ipf_error_memory(err);
	for (size_t i = 0; i < a->hashes.count; i++)
		a->hashes.ids[i] = rng_next(&rng) >> 1;
	return 0;
}

/* The hashes of the parts added to the chain, and their length. */
static void finish_hashes(struct anonymizer *a, bool from_text, struct anonymous_request *out)
{
	if (from_text && (a->recount || out->input_tokens == IPF_ABSENT))
		out->input_tokens = a->chain.length;
	if (from_text) {
		a->differing += a->chain.length != out->input_tokens;
		a->recorded_tokens += out->input_tokens;
		a->counted_tokens += a->chain.length;
	} else {
		block_chain_piece(&a->chain, PIECE_OWN, out->number, out->input_tokens - a->chain.length);
	}
	block_chain_hashes(&a->chain, out->input_tokens, &a->hashes);
}

static int make_hashes(struct anonymizer *a, const struct trace_request *r, bool continues,
                       struct anonymous_request *out, struct ipf_error *err)
{
	const bool has_text = trace_prompt(r).data;
	const int from_blocks = add_blocks(a, r, err);
	if (from_blocks < 0)
		return -1;
	if (!from_blocks && has_text && add_text(a, r, continues, err) < 0)
		return -1;
	if (from_blocks || has_text)
		finish_hashes(a, !from_blocks, out);
	else if (make_own_hashes(a, out, err) < 0)
		return -1;
	out->hashes = a->hashes.ids;
	out->hash_count = a->hashes.count;
	return 0;
}

/* ---- names and times ---- */

static uint64_t keyed(const struct anonymizer *a, enum salted_use use, struct slice name)
{
	struct salted_hash hash;
	salted_hash_begin(&hash, a->salt, use);
	salted_hash_add(&hash, name.data, name.len);
	return salted_hash_number(&hash, a->salt);
}

/* Different for each request, and for those of different traces. */
static uint64_t number_of(const struct anonymizer *a, const struct trace_request *r)
{
	const int64_t values[] = {a->requests, r->input_tokens, r->output_tokens, r->at_ns};
	return text_hash_mixed((struct slice){(const char *)values, sizeof values});
}

/* The turns of a session move together, so they keep their order. */
static int64_t jitter(const struct anonymizer *a, const struct anonymous_request *out)
{
	struct salted_hash hash;
	salted_hash_begin(&hash, a->salt, SALTED_JITTER);
	salted_hash_add_number(&hash, out->turn == IPF_ABSENT ? out->number : out->session);
	return (int64_t)((unsigned __int128)salted_hash_number(&hash, a->salt) * (uint64_t)a->jitter_ns >> 63);
}

static int make_times(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out,
                      struct ipf_error *err)
{
	out->wait_ns = r->wait_ns;
	out->hang_up_ns = r->hang_up_ns;
	out->recorded_ttft_ns = a->structure ? r->recorded_ttft_ns : IPF_ABSENT;
	out->recorded_e2e_ns = a->structure ? r->recorded_e2e_ns : IPF_ABSENT;
	out->at_ns = out->recorded_ns = r->at_ns;
	if (r->at_ns == IPF_ABSENT)
		return 0;
	if (!a->begun && !a->exact_times)
		a->first_ns = r->at_ns;
	a->begun = true;
	if (r->at_ns < a->first_ns)
		return ipf_error_set(
			err, IPF_INPUT,
			"at_ns: arrives before the first request of the trace: sort it by time, or use --times exact");
	out->at_ns = out->recorded_ns = r->at_ns - a->first_ns;
	if (a->jitter_ns && __builtin_add_overflow(out->at_ns, jitter(a, out), &out->at_ns))
		return ipf_error_set(err, IPF_INPUT, "at_ns: %lld is too late for --jitter", (long long)r->at_ns);
	return 0;
}

static void make_names(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out)
{
	out->turn = IPF_ABSENT;
	out->number = number_of(a, r);
	if (r->session.data) {
		out->turn = r->turn == IPF_ABSENT ? 0 : r->turn;
		out->session = keyed(a, SALTED_SESSION, r->session);
	}
	if (r->model.data && a->models != MODELS_DROPPED) {
		out->model_key = keyed(a, SALTED_MODEL, r->model);
		out->model = a->models == MODELS_KEPT ? r->model : (struct slice){0};
	}
}

/* ---- names, waits, and tags of a request ---- */

static int make_parents(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out,
                        struct ipf_error *err)
{
	struct jdoc *doc = &a->doc;
	if (jdoc_parse(doc, r->parents.data, r->parents.len, err) < 0)
		return -1;
	a->parents.count = 0;
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		if (jdoc_type_of(doc, e.value) != JDOC_TEXT)
			return jdoc_expected(doc, e.value, "parents", "a list of ids", err);
		if (!block_hashes_resize(&a->parents, a->parents.count + 1))
			return ipf_error_memory(err);
		a->parents.ids[a->parents.count - 1] = keyed(a, SALTED_REQUEST, jdoc_raw(doc, e.value));
	}
	out->lists_parents = true;
	out->parents = a->parents.ids;
	out->parent_count = a->parents.count;
	return 0;
}

/* The name of a tag, if it is kept; else NULL. */
static const char *kept_tag(const struct anonymizer *a, jdoc_id name)
{
	for (size_t i = 0; a->kept_tags && i < a->kept_tags->count; i++)
		if (jdoc_text_is(&a->doc, name, a->kept_tags->items[i]))
			return a->kept_tags->items[i];
	return NULL;
}

static int make_tags(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out,
                     struct ipf_error *err)
{
	struct jdoc *doc = &a->doc;
	struct jout w = {.out = &a->tags};
	bool kept = false, dropped = false;
	if (jdoc_parse(doc, r->tags.data, r->tags.len, err) < 0)
		return -1;
	buffer_clear(&a->tags);
	jout_begin_map(&w);
	for (struct jdoc_each e = jdoc_each(doc, JDOC_ROOT); jdoc_step(&e);) {
		const char *name = jdoc_type_of(doc, JDOC_ROOT) == JDOC_MAP ? kept_tag(a, e.key) : NULL;
		if (name)
			jout_member_value(&w, name, jdoc_raw(doc, e.value));
		kept |= name != NULL;
		dropped |= !name;
	}
	jout_end_map(&w);
	out->tags = kept ? buffer_all(&a->tags) : (struct slice){0};
	a->left_out.tags += dropped;
	return 0;
}

/* Members only a trace has. */
static int make_structure(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out,
                          struct ipf_error *err)
{
	if (!a->structure) {
		a->left_out.tags += r->tags.data != NULL;
		a->left_out.parents += trace_has_parents(r);
		a->left_out.hang_ups += r->hang_up_ns != IPF_ABSENT;
		a->left_out.latencies += r->recorded_ttft_ns != IPF_ABSENT || r->recorded_e2e_ns != IPF_ABSENT;
		return 0;
	}
	out->id = keyed(a, SALTED_REQUEST, r->id);
	if (r->parents.data && make_parents(a, r, out, err) < 0)
		return -1;
	return r->tags.data ? make_tags(a, r, out, err) : 0;
}

/* ---- a request ---- */

/* Keeps values for the next request. */
static void remember(struct anonymizer *a, const struct trace_request *r, const struct anonymous_request *out)
{
	a->context = r->context_session;
	if (!a->context)
		return;
	a->turn = out->turn;
	a->last_number = out->number;
	a->answered = trace_answer(r).data != NULL;
	buffer_clear(&a->session);
	buffer_slice(&a->session, r->session);
	buffer_clear(&a->answer);
	buffer_slice(&a->answer, trace_answer(r));
}

static void count_left_out(struct anonymizer *a, const struct trace_request *r)
{
	a->left_out.tools += r->tools.data != NULL;
	a->left_out.response_formats += r->response_format.data != NULL;
	a->left_out.objectives += r->slo.data != NULL;
}

static int check_length(const char *field, int64_t tokens, struct ipf_error *err)
{
	return tokens == IPF_ABSENT || tokens <= ANONYMIZER_TOKENS_MOST
	           ? 0
	           : ipf_error_set(err, IPF_INPUT, "%s: expected at most %lld tokens, got %lld", field,
	                           (long long)ANONYMIZER_TOKENS_MOST, (long long)tokens);
}

int anonymizer_take(struct anonymizer *a, const struct trace_request *r, struct anonymous_request *out,
                    struct ipf_error *err)
{
	*out = (struct anonymous_request){.input_tokens = r->input_tokens, .output_tokens = r->output_tokens};
	if (trace_refuse_inputs(r, "requests of several inputs cannot be anonymized", err) < 0 ||
	    check_length("input_tokens", r->input_tokens, err) < 0 ||
	    check_length("output_tokens", r->output_tokens, err) < 0)
		return -1;
	if (out->output_tokens == IPF_ABSENT)
		return ipf_error_set(err, IPF_INPUT, "output_tokens: missing");
	a->chain.salt = a->salt;
	a->chain.block_tokens = a->block_tokens;
	a->chain.tokens = a->tokens;
	make_names(a, r, out);
	const bool continues = a->context && r->context_session && out->turn == a->turn + 1 &&
	                       slice_equal(r->session, buffer_all(&a->session));
	a->left_out.unchained += r->context_session && out->turn > 0 && !continues;
	if (make_times(a, r, out, err) < 0 || make_hashes(a, r, continues, out, err) < 0 ||
	    make_structure(a, r, out, err) < 0)
		return -1;
	remember(a, r, out);
	count_left_out(a, r);
	a->requests++;
	return a->chain.failed || a->text.failed || a->tags.failed || a->session.failed || a->answer.failed
	           ? ipf_error_memory(err)
	           : 0;
}

void anonymizer_release(struct anonymizer *a)
{
	block_chain_release(&a->chain);
	block_hashes_release(&a->hashes);
	block_hashes_release(&a->parents);
	jdoc_release(&a->doc);
	buffer_release(&a->text);
	buffer_release(&a->tags);
	buffer_release(&a->session);
	buffer_release(&a->answer);
}
