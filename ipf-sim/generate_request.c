#include "generate_request.h"

#include "absent.h"
#include "call_plan.h"
#include "canary/canary.h"
#include "dialect.h"
#include "token_text.h"
#include "tool_results.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOLVED_MOST   4096 /* bytes */
#define MOST_LOGPROBS 20

struct reader {
	struct generate_request *ask;
	struct sequence *sequence;
	const struct generate_request_options *options;
	struct jdoc doc, inner;
	struct buffer inside; /* the text that `inner` was parsed from */
	struct buffer text;   /* one message's */
	struct buffer digest; /* digest of the prompt's text, where it is wanted */
	struct ipf_error *err;
};

static int wrong(struct reader *r, const char *param, const char *text)
{
	snprintf(r->ask->param, sizeof r->ask->param, "%s", param);
	return ipf_error_set(r->err, IPF_INPUT, "%s: %s", param, text);
}

static void push_token(struct reader *r, uint32_t token)
{
	sequence_push(r->sequence, token);
	if (r->ask->keep_tokens)
		buffer_append(&r->ask->tokens, &token, sizeof token);
}

static void push_text(struct reader *r, struct slice text)
{
	for (size_t i = 0; i < text.len; i += TOKEN_BYTES)
		push_token(r, token_of_text((struct slice){text.data + i, text.len - i}));
	if (r->options->digest)
		buffer_slice(&r->digest, text);
}

/* A message's content: a text, a list of parts of which the texts count, or nothing (a tool call). */
static int gather_content(struct reader *r, jdoc_id content)
{
	const struct jdoc *doc = &r->doc;
	buffer_clear(&r->text);
	if (jdoc_is_null(doc, content))
		return 0;
	if (jdoc_type_of(doc, content) == JDOC_TEXT) {
		jdoc_text(doc, content, &r->text);
		return 0;
	}
	if (jdoc_type_of(doc, content) != JDOC_LIST)
		return wrong(r, "messages", "content: expected a text or a list of parts");
	for (struct jdoc_each e = jdoc_each(doc, content); jdoc_step(&e);) {
		if (jdoc_type_of(doc, e.value) == JDOC_TEXT)
			jdoc_text(doc, e.value, &r->text);
		else if (jdoc_type_of(doc, e.value) == JDOC_MAP)
			jdoc_text(doc, jdoc_get(doc, e.value, "text"), &r->text);
		else
			return wrong(r, "messages", "content: expected a list of parts");
	}
	return 0;
}

static uint32_t mark_of(struct slice role)
{
	uint32_t mark = 2166136261u;
	for (size_t i = 0; i < role.len; i++)
		mark = (mark ^ (unsigned char)role.data[i]) * 16777619u;
	return mark;
}

static void begin_message(struct reader *r, struct slice role)
{
	sequence_mark(r->sequence, mark_of(role));
	for (int64_t i = 0; i < r->options->template_tokens; i++)
		push_token(r, token_without_text(i));
}

static int read_messages(struct reader *r, const char *list, const char *content)
{
	jdoc_id messages = jdoc_get(&r->doc, JDOC_ROOT, list);
	if (messages == JDOC_NONE || jdoc_type_of(&r->doc, messages) != JDOC_LIST)
		return wrong(r, list, "expected a list of messages");
	bool first = r->digest.len == 0;
	for (struct jdoc_each e = jdoc_each(&r->doc, messages); jdoc_step(&e);) {
		jdoc_id role = jdoc_get(&r->doc, e.value, "role");
		if (jdoc_type_of(&r->doc, e.value) != JDOC_MAP || jdoc_text_empty(&r->doc, role))
			return wrong(r, list, "expected maps with a role");
		begin_message(r, jdoc_raw(&r->doc, role));
		if (gather_content(r, jdoc_get(&r->doc, e.value, content)) < 0)
			return -1;
		if (r->options->digest && !first)
			buffer_byte(&r->digest, '\n');
		push_text(r, buffer_all(&r->text));
		first = false;
	}
	if (first)
		return wrong(r, list, "expected at least one message");
	/* The model's next text replaces the assistant's message when it comes back in a later prompt. */
	sequence_mark(r->sequence, mark_of(slice_of("\"assistant\"")));
	if (r->sequence->prompt_tokens == 0)
		push_token(r, token_without_text(0));
	return 0;
}

static int read_ids(struct reader *r, jdoc_id prompt)
{
	for (struct jdoc_each e = jdoc_each(&r->doc, prompt); jdoc_step(&e);) {
		int64_t id;
		if (!jdoc_to_int(&r->doc, e.value, &id) || id < 0 || id > UINT32_MAX)
			return wrong(r, "prompt", "expected token ids from 0 to 4294967295");
		if (r->options->digest)
			buffer_format(&r->digest, "%s%lld", r->digest.len ? "," : "", (long long)id);
		push_token(r, (uint32_t)id);
	}
	return 0;
}

static int read_prompt(struct reader *r)
{
	jdoc_id prompt = jdoc_get(&r->doc, JDOC_ROOT, "prompt");
	/* A batch of one is a prompt; a list of numbers is one, too. */
	if (prompt != JDOC_NONE && jdoc_type_of(&r->doc, prompt) == JDOC_LIST && jdoc_count(&r->doc, prompt) == 1) {
		jdoc_id only = jdoc_at(&r->doc, prompt, 0);
		if (jdoc_type_of(&r->doc, only) != JDOC_NUMBER)
			prompt = only;
	}
	if (prompt != JDOC_NONE && jdoc_type_of(&r->doc, prompt) == JDOC_LIST)
		return read_ids(r, prompt);
	if (prompt == JDOC_NONE || jdoc_type_of(&r->doc, prompt) != JDOC_TEXT)
		return wrong(r, "prompt", "expected a text or a list of token ids");
	buffer_clear(&r->text);
	jdoc_text(&r->doc, prompt, &r->text);
	push_text(r, buffer_all(&r->text));
	return 0;
}

/* An optional whole number of at least `least`. */
static int read_count(struct reader *r, const char *key, int64_t least, int64_t *value)
{
	int64_t n;
	int found = jdoc_get_int(&r->doc, JDOC_ROOT, key, &n, r->err);
	if (found < 0)
		snprintf(r->ask->param, sizeof r->ask->param, "%s", key);
	if (found <= 0)
		return found;
	if (n < least || n > INT32_MAX)
		return wrong(r, key, "out of range");
	*value = n;
	return 1;
}

static int read_lengths(struct reader *r)
{
	struct generate_request *ask = r->ask;
	int64_t n = 1;
	ask->max_tokens = IPF_ABSENT;
	if (read_count(r, "max_tokens", 1, &ask->max_tokens) < 0 ||
	    (ask->chat && read_count(r, "max_completion_tokens", 1, &ask->max_tokens) < 0) ||
	    read_count(r, "min_tokens", 0, &ask->min_tokens) < 0 || read_count(r, "n", 1, &n) < 0)
		return -1;
	if (n != 1)
		return wrong(r, "n", "only 1 is simulated");
	if (ask->max_tokens != IPF_ABSENT && ask->min_tokens > ask->max_tokens)
		return wrong(r, "min_tokens", "more than max_tokens");
	return 0;
}

/* A chat has a switch and a number; a completion has only the number. */
static int read_logprobs(struct reader *r)
{
	bool wanted = false;
	int64_t top = 0;
	int found = r->ask->chat ? jdoc_get_bool(&r->doc, JDOC_ROOT, "logprobs", &wanted, r->err)
	                         : read_count(r, "logprobs", 0, &top);
	if (found < 0 || (r->ask->chat && read_count(r, "top_logprobs", 0, &top) < 0))
		return -1;
	if (top > MOST_LOGPROBS)
		return wrong(r, r->ask->chat ? "top_logprobs" : "logprobs", "expected at most 20");
	r->ask->logprobs = found && (wanted || !r->ask->chat) ? top + 1 : 0;
	return 0;
}

/* Dynamo's extension. */
static void read_nvext(struct reader *r)
{
	jdoc_id fields = jdoc_get(&r->doc, jdoc_get(&r->doc, JDOC_ROOT, "nvext"), "extra_fields");
	for (uint32_t i = 0; i < jdoc_count(&r->doc, fields); i++) {
		jdoc_id field = jdoc_at(&r->doc, fields, i);
		r->ask->nvext_timing = r->ask->nvext_timing || jdoc_text_is(&r->doc, field, "timing");
		r->ask->nvext_worker = r->ask->nvext_worker || jdoc_text_is(&r->doc, field, "worker_id");
	}
}

static int read_switches(struct reader *r)
{
	struct generate_request *ask = r->ask;
	const struct jdoc *doc = &r->doc;
	jdoc_id options = jdoc_get(doc, JDOC_ROOT, "stream_options");
	if (jdoc_get_bool(doc, JDOC_ROOT, "stream", &ask->stream, r->err) < 0 ||
	    jdoc_get_int(doc, JDOC_ROOT, "priority", &ask->priority, r->err) < 0 ||
	    jdoc_get_bool(doc, JDOC_ROOT, "ignore_eos", &ask->ignore_eos, r->err) < 0 ||
	    jdoc_get_bool(doc, JDOC_ROOT, "return_token_ids", &ask->return_ids, r->err) < 0 ||
	    jdoc_get_bool(doc, JDOC_ROOT, "return_cached_tokens_details", &ask->cached_details, r->err) < 0 ||
	    jdoc_get_text(doc, JDOC_ROOT, "model", &ask->model, r->err) < 0)
		return -1;
	ask->keep_tokens |= ask->return_ids;
	read_nvext(r);
	if (jdoc_is_null(doc, options))
		return 0;
	if (!ask->stream)
		return wrong(r, "stream_options", "only allowed where stream is true");
	if (jdoc_get_bool(doc, options, "include_usage", &ask->include_usage, r->err) < 0 ||
	    jdoc_get_bool(doc, options, "continuous_usage_stats", &ask->continuous_usage, r->err) < 0)
		return -1;
	return 0;
}

static int digest_of(struct reader *r, struct slice bytes, char hex[65])
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	if (!EVP_Digest(bytes.data ? bytes.data : "", bytes.len, sum, &len, EVP_sha256(), NULL))
		return ipf_error_set(r->err, IPF_SYSTEM, "no digest");
	for (unsigned i = 0; i < 32; i++)
		snprintf(hex + 2 * i, 3, "%02x", sum[i]);
	return 0;
}

static int finish_digest(struct reader *r)
{
	if (r->digest.failed)
		return ipf_error_set(r->err, IPF_SYSTEM, "no digest");
	return digest_of(r, buffer_all(&r->digest), r->ask->prompt_sha256);
}

static int read_json(struct reader *r, struct slice body)
{
	if (r->options->digest && digest_of(r, body, r->ask->body_sha256) < 0)
		return -1;
	return jdoc_parse(&r->doc, body.data ? body.data : "", body.len, r->err);
}

/* A chat asks by its last message. */
static void solve(struct reader *r)
{
	if (!canary_solve(buffer_all(&r->text), &r->ask->solved) || r->ask->solved.len > SOLVED_MOST)
		buffer_clear(&r->ask->solved);
}

/* The members after the prompt. */
static int finish_body(struct reader *r)
{
	solve(r);
	if (r->sequence->failed || r->text.failed || r->ask->tokens.failed || r->ask->solved.failed ||
	    r->ask->forced.failed)
		return ipf_error_set(r->err, IPF_SYSTEM, "memory ran out");
	r->ask->fingerprint = r->sequence->chain;
	if (r->sequence->prompt_tokens == 0)
		return wrong(r, "prompt", "empty");
	jdoc_id sim = jdoc_get(&r->doc, JDOC_ROOT, "sim");
	if (!jdoc_is_null(&r->doc, sim) && modes_parse_json(&r->ask->modes, &r->doc, sim, r->err) < 0) {
		snprintf(r->ask->param, sizeof r->ask->param, "sim");
		return -1;
	}
	return r->options->digest ? finish_digest(r) : 0;
}

/* Which tools the answer may call, and which it shall call. */
static int read_tools(struct reader *r)
{
	const struct jdoc *doc = &r->doc;
	jdoc_id calls = jdoc_get(doc, JDOC_ROOT, "sim_calls"), tools = jdoc_get(doc, JDOC_ROOT, "tools");
	if (!jdoc_is_null(doc, calls) && !call_plan_is_list(doc, calls))
		return wrong(r, "sim_calls", "expected a list of [name, arguments]");
	if (!jdoc_is_null(doc, calls) && jdoc_count(doc, calls))
		buffer_slice(&r->ask->calls, jdoc_raw(doc, calls));
	for (struct jdoc_each e = jdoc_each(doc, tools); jdoc_type_of(doc, tools) == JDOC_LIST && jdoc_step(&e);) {
		jdoc_id name = jdoc_get(doc, jdoc_get(doc, e.value, "function"), "name");
		struct slice raw = jdoc_raw(doc, name);
		if (jdoc_type_of(doc, name) != JDOC_TEXT)
			continue;
		buffer_append(&r->ask->tools, raw.data + 1, raw.len - 2);
		buffer_byte(&r->ask->tools, '\0');
	}
	return r->ask->calls.failed || r->ask->tools.failed ? ipf_error_set(r->err, IPF_SYSTEM, "memory ran out") : 0;
}

static int read_chat(struct reader *r)
{
	if (r->options->strict_tools && tool_results_check(&r->doc, jdoc_get(&r->doc, JDOC_ROOT, "messages"), r->err) < 0) {
		snprintf(r->ask->param, sizeof r->ask->param, "messages");
		return -1;
	}
	return read_messages(r, "messages", "content") < 0 ? -1 : read_tools(r);
}

static int read_body(struct reader *r)
{
	if (jdoc_type_of(&r->doc, JDOC_ROOT) != JDOC_MAP)
		return ipf_error_set(r->err, IPF_INPUT, "expected a map");
	if (read_switches(r) < 0 || read_lengths(r) < 0 || read_logprobs(r) < 0)
		return -1;
	if ((r->ask->chat ? read_chat(r) : read_prompt(r)) < 0)
		return -1;
	return finish_body(r);
}

/* ---- dialects ---- */

/* The node at a path of names with dots between, in *doc. ">" goes on in the JSON a text holds, parsed into
 * r->inner. */
static jdoc_id at_path(struct reader *r, const char *path, const struct jdoc **doc)
{
	jdoc_id node = JDOC_ROOT;
	*doc = &r->doc;
	while (path && *path && node != JDOC_NONE) {
		char name[48];
		size_t len = strcspn(path, ".>");
		snprintf(name, sizeof name, "%.*s", (int)len, path);
		bool list = jdoc_type_of(*doc, node) == JDOC_LIST && strspn(name, "0123456789") == len;
		node = list ? jdoc_at(*doc, node, (uint32_t)strtoul(name, NULL, 10)) : jdoc_get(*doc, node, name);
		path += len;
		if (*path == '>') {
			buffer_clear(&r->inside);
			jdoc_text(*doc, node, &r->inside);
			struct ipf_error ignored = {0};
			*doc = &r->inner;
			node = r->inside.data && jdoc_parse(&r->inner, r->inside.data, r->inside.len, &ignored) == 0 ? JDOC_ROOT
			                                                                                             : JDOC_NONE;
		}
		path += *path != '\0';
	}
	return path ? node : JDOC_NONE;
}

/* An optional count of at least `least`; another type or range is wrong. */
static int count_at(struct reader *r, const char *path, int64_t least, int64_t *value)
{
	const struct jdoc *doc;
	jdoc_id node = at_path(r, path, &doc);
	int64_t n;
	if (node == JDOC_NONE || jdoc_is_null(doc, node))
		return 0;
	if (!jdoc_to_int(doc, node, &n) || n < least || n > INT32_MAX)
		return wrong(r, path, "expected a count");
	*value = n;
	return 0;
}

static void flag_at(struct reader *r, const char *path, bool *value)
{
	const struct jdoc *doc;
	jdoc_id node = at_path(r, path, &doc);
	if (node != JDOC_NONE && jdoc_type_of(doc, node) == JDOC_BOOL)
		*value = slice_is(jdoc_raw(doc, node), "true");
}

static int text_at(struct reader *r, const char *path)
{
	const struct jdoc *doc;
	jdoc_id node = at_path(r, path, &doc);
	if (node == JDOC_NONE || jdoc_type_of(doc, node) != JDOC_TEXT)
		return wrong(r, path, "expected a text");
	buffer_clear(&r->text);
	jdoc_text(doc, node, &r->text);
	push_text(r, buffer_all(&r->text));
	struct slice raw = jdoc_raw(doc, node);
	if (r->ask->dialect->echoes)
		buffer_append(&r->ask->prompt, raw.data + 1, raw.len - 2);
	return 0;
}

static int read_dialect_prompt(struct reader *r)
{
	const struct dialect *d = r->ask->dialect;
	const struct jdoc *doc;
	jdoc_id ids = at_path(r, d->ids, &doc);
	if (ids != JDOC_NONE && jdoc_type_of(doc, ids) == JDOC_LIST)
		return read_ids(r, ids);
	if (!d->messages)
		return text_at(r, d->prompt);
	if (at_path(r, d->system, &doc) != JDOC_NONE && text_at(r, d->system) < 0)
		return -1;
	return read_messages(r, d->messages, d->content);
}

/* vLLM's trace_decode_token_ids, which decide the length as well. */
static int read_forced(struct reader *r)
{
	const struct jdoc *doc;
	jdoc_id ids = at_path(r, r->ask->dialect->forced, &doc);
	if (ids == JDOC_NONE || jdoc_is_null(doc, ids) || r->options->replay == REPLAY_IGNORED)
		return 0;
	if (r->options->replay == REPLAY_REFUSED)
		return ipf_error_set(r->err, IPF_INPUT,
		                     "trace_decode_token_ids is set but trace replay is not enabled. Start the engine with "
		                     "--enable-trace-replay to use it.");
	for (struct jdoc_each e = jdoc_each(doc, ids); jdoc_type_of(doc, ids) == JDOC_LIST && jdoc_step(&e);) {
		int64_t id;
		uint32_t token;
		if (!jdoc_to_int(doc, e.value, &id) || id < 0 || id > UINT32_MAX)
			return wrong(r, "trace_decode_token_ids", "must contain non-negative integers");
		token = (uint32_t)id;
		buffer_append(&r->ask->forced, &token, sizeof token);
	}
	if (!r->ask->forced.len)
		return wrong(r, "trace_decode_token_ids", "must be a non-empty list");
	const int64_t length = (int64_t)(r->ask->forced.len / sizeof(uint32_t));
	if (r->ask->max_tokens == IPF_ABSENT || r->ask->max_tokens > length)
		r->ask->max_tokens = length;
	r->ask->min_tokens = 0;
	r->ask->ignore_eos = true;
	return 0;
}

static int read_dialect(struct reader *r)
{
	const struct dialect *d = r->ask->dialect;
	const struct jdoc *doc;
	if (jdoc_type_of(&r->doc, JDOC_ROOT) != JDOC_MAP)
		return ipf_error_set(r->err, IPF_INPUT, "expected a map");
	r->ask->max_tokens = IPF_ABSENT;
	if (count_at(r, d->max_tokens, 1, &r->ask->max_tokens) < 0 ||
	    count_at(r, d->min_tokens, 0, &r->ask->min_tokens) < 0)
		return -1;
	flag_at(r, d->ignore_eos, &r->ask->ignore_eos);
	flag_at(r, d->stream, &r->ask->stream);
	if (read_forced(r) < 0)
		return -1;
	jdoc_id model = at_path(r, d->model, &doc);
	if (model != JDOC_NONE)
		jdoc_text(doc, model, &r->ask->model);
	return read_dialect_prompt(r) < 0 ? -1 : finish_body(r);
}

static void reader_release(struct reader *r)
{
	jdoc_release(&r->doc);
	jdoc_release(&r->inner);
	buffer_release(&r->text);
	buffer_release(&r->inside);
	buffer_release(&r->digest);
}

int generate_request_parse_dialect(struct generate_request *ask, struct sequence *sequence, bool streamed,
                                   struct slice body, const struct generate_request_options *options,
                                   struct ipf_error *err)
{
	const struct dialect *dialect = ask->dialect;
	struct reader r = {.ask = ask, .sequence = sequence, .options = options, .err = err};
	/* a body that may say it but does not gets the default of its API: Ollama streams, others do not */
	ask->stream = dialect->stream ? !strncmp(dialect->name, "ollama", 6) : streamed;
	int result = read_json(&r, body);
	if (result == 0)
		result = read_dialect(&r);
	reader_release(&r);
	return result;
}

int generate_request_parse(struct generate_request *ask, struct sequence *sequence, bool chat, struct slice body,
                           const struct generate_request_options *options, struct ipf_error *err)
{
	struct reader r = {.ask = ask, .sequence = sequence, .options = options, .err = err};
	ask->chat = chat;
	int result = read_json(&r, body);
	if (result == 0)
		result = read_body(&r);
	reader_release(&r);
	return result;
}

void generate_request_release(struct generate_request *ask)
{
	buffer_release(&ask->model);
	buffer_release(&ask->prompt);
	buffer_release(&ask->tokens);
	buffer_release(&ask->calls);
	buffer_release(&ask->tools);
	buffer_release(&ask->solved);
	buffer_release(&ask->forced);
}
