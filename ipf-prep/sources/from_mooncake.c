/* mooncake: the traces of the Mooncake project.
 *
 * Origin: github.com/kvcache-ai/Mooncake, FAST25-release/traces. JSON Lines:
 *
 *     timestamp      arrival, in milliseconds from the beginning of the trace
 *     input_length   length of the prompt, in tokens
 *     output_length  length of the answer, in tokens
 *     hash_ids       an id for each block of 512 tokens of the prompt; the last block may be partial
 *
 * Variants have other members (mooncake_row.h). Those of AIPerf have, instead of input_length and hash_ids,
 *
 *     text_input     the prompt itself, or
 *     messages       the prompt as chat messages, a list or a text that contains one, and `tools`, or
 *     payload        the body of the request
 *
 * and also
 *
 *     session_id     requests of the same session are its turns, each with the whole conversation
 *     delay          milliseconds after the previous turn, instead of timestamp
 *     extra          members for the body of the request
 *
 * ipf-prep anonymize writes:
 *
 *     model          the model to request
 *     block_size     tokens of a block of hash_ids, if not 512
 *
 * Dynamo writes request_id, and priority, strict_priority and policy_class, which become tags. Rows waiting for others
 * by name are refused: from_agentic_mooncake.c reads them.
 *
 * Prompts without text are synthetic: equal ids give equal text, so a prefix cache sees the hits the recorded one saw.
 * Other members are ignored.
 */
#include "absent.h"
#include "clock.h"
#include "name_set.h"
#include "sources/chat_fields.h"
#include "sources/mooncake_row.h"
#include "sources/sniff.h"

struct state {
	struct mooncake_blocks blocks;
	struct time_origin origin; /* for timestamp_ms, which counts since 1970 */
	struct name_set ids;
};

static void close_state(void *opened)
{
	name_set_release(&((struct state *)opened)->ids);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	(void)csv;
	(void)err;
	((struct state *)opened)->blocks.tokens = 0;
	return 0;
}

/* The prompt as messages: 0, or -1. They may be in a text. */
static int read_messages(struct draft *d, const struct jdoc *j, jdoc_id messages, struct ipf_error *err)
{
	struct jdoc inner = {0};
	struct ipf_error wrong = {0};
	jdoc_id mode = jdoc_get(j, JDOC_ROOT, "message_mode");
	if (!jdoc_is_null(j, mode) && !jdoc_text_is(j, mode, "history"))
		return jdoc_expected(j, mode, "message_mode", "history, the whole conversation in each row", err);
	if (jdoc_type_of(j, messages) != JDOC_TEXT)
		return chat_prompt(d, j, messages, err);
	struct slice text = draft_text(d, j, messages);
	int status = -1;
	if (text.data && jdoc_parse(&inner, text.data, text.len, &wrong) < 0)
		jdoc_expected(j, messages, "messages", "a list, or a text with one", err);
	else if (text.data)
		status = chat_prompt(d, &inner, JDOC_ROOT, err);
	put_on_one_line(text);
	jdoc_release(&inner);
	return d->failed ? 0 : status;
}

/* Its text, messages or body, or else its length and blocks. */
static int read_prompt(struct state *s, const struct jdoc *j, struct draft *d, struct sink *sink, struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	struct slice text;
	jdoc_id messages = jdoc_get(j, JDOC_ROOT, "messages"), payload = jdoc_get(j, JDOC_ROOT, "payload");
	int got = field_text(d, j, JDOC_ROOT, "text_input", &text, err);
	if (got < 0)
		return -1;
	if (!jdoc_is_null(j, payload)) {
		jdoc_id body = jdoc_get(j, payload, "messages"), prompt = jdoc_get(j, payload, "prompt");
		if (need_object(j, payload, "payload", err) < 0 || (body != JDOC_NONE && chat_prompt(d, j, body, err) < 0) ||
		    chat_parameters(d, j, payload, r, err) < 0)
			return -1;
		if (body == JDOC_NONE && !jdoc_text_empty(j, prompt))
			draft_message(d, ROLE_USER, draft_text(d, j, prompt));
	} else if (!jdoc_is_null(j, messages)) {
		if (read_messages(d, j, messages, err) < 0 ||
		    field_tokens(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0)
			return -1;
		r->tools = chat_tools(d, j, jdoc_get(j, JDOC_ROOT, "tools"));
	} else if (got == 0) {
		if (mooncake_lengths(d, j, r, &s->blocks, err) < 0)
			return -1;
	} else if (text.len > 0) {
		draft_message(d, ROLE_USER, text);
	}
	return mooncake_output(j, got == 1, r, err) < 0
	           ? -1
	           : chat_extra(&sink->draft, j, jdoc_get(j, JDOC_ROOT, "extra"), r, err);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || mooncake_times(j, r, err) < 0)
		return -1;
	if (mooncake_names(record, d, &s->ids, err) < 0)
		return -1;
	if (r->at_ns != IPF_ABSENT && jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, "timestamp")) &&
	    !jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, "timestamp_ms")))
		r->at_ns = since_origin(&s->origin, r->at_ns);
	if (r->at_ns == IPF_ABSENT && !d->session.data)
		return ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	if (read_prompt(s, j, d, sink, err) < 0)
		return -1;
	if (r->count == 0 && (r->input_tokens == IPF_ABSENT || r->input_tokens <= 0)) {
		sink->unusable(sink, "no input token");
		return 0;
	}
	r->tags = mooncake_tags(d, j, (struct slice){0}, (struct slice){0});
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	static const char *const lengths[] = {"input_length output_length", "input_tokens output_tokens hash_ids"};
	static const char *const texts[] = {"timestamp text_input output_length",
	                                    "timestamp messages output_length",
	                                    "session_id messages output_length",
	                                    "timestamp_ms messages output_length",
	                                    "timestamp payload",
	                                    "session_id payload"};
	if (!sniff->json || sniff_members(sniff, "chat_id"))
		return false;
	jdoc_id ids = jdoc_get(sniff->json, JDOC_ROOT, "hash_ids");
	bool timed = sniff_members(sniff, "timestamp") || sniff_members(sniff, "created_time") ||
	             sniff_members(sniff, "timestamp_ms") || sniff_members(sniff, "session_id");
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
		if (sniff_members(sniff, lengths[i]) &&
		    (jdoc_type_of(sniff->json, ids) == JDOC_LIST || (timed && ids == JDOC_NONE)))
			return true;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (sniff_members(sniff, texts[i]))
			return true;
	return false;
}

const struct source_format source_mooncake = {
	.name = "mooncake",
	.about = "Mooncake traces and their variants (JSON Lines): arrivals, lengths, shared blocks, sessions, or texts",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_record,
	.recognises = recognises,
	.close = close_state,
};
