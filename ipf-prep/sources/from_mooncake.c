/* mooncake: the traces of the Mooncake project.
 *
 * Origin: github.com/kvcache-ai/Mooncake, FAST25-release/traces. JSON Lines:
 *
 *     timestamp      arrival, in milliseconds from the beginning of the trace
 *     input_length   length of the prompt, in tokens
 *     output_length  length of the answer, in tokens
 *     hash_ids       an id for each block of 512 tokens of the prompt; the last block may be partial
 *
 * Variants that other tools write also have:
 *
 *     text_input     the prompt itself, instead of input_length and hash_ids
 *     session_id     requests of the same session are its turns
 *     delay          milliseconds after the previous turn, instead of timestamp
 *
 * and what ipf-prep anonymize writes:
 *
 *     model          the model to request
 *     block_size     tokens of a block of hash_ids, if not 512
 *
 * Prompts without text are synthetic: equal ids give equal text, so that a prefix cache sees the hits that the recorded
 * one saw. Other members are ignored.
 *
 * A trace in JSON Lines to copy for a new one: it has no state, so read_record(), recognises() and the table are all.
 */
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

#define BLOCK_TOKENS 512

static int read_times(const struct jdoc *j, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	int timed = field_duration(j, JDOC_ROOT, "timestamp", NS_PER_MS, &r->at_ns, err);
	int delayed = field_duration(j, JDOC_ROOT, "delay", NS_PER_MS, &r->wait_ns, err);
	if (timed < 0 || delayed < 0 || field_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	return timed || (delayed && d->session.data) ? 0 : ipf_error_set(err, IPF_INPUT, "timestamp: missing");
}

/* Its text, or else its length and blocks. */
static int read_prompt(const struct jdoc *j, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	struct slice text;
	int got = field_text(d, j, JDOC_ROOT, "text_input", &text, err);
	if (got < 0)
		return -1;
	if (got == 0) {
		r->blocks.tokens = BLOCK_TOKENS;
		return need_tokens(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 ||
		               field_block_tokens(j, JDOC_ROOT, "block_size", &r->blocks.tokens, err) < 0
		           ? -1
		           : need_covering_blocks(d, j, JDOC_ROOT, "hash_ids", r, err);
	}
	if (text.len > 0)
		draft_message(d, ROLE_USER, text);
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || read_times(j, d, r, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "model", &r->model, err) < 0 ||
	    need_tokens(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0 || read_prompt(j, d, r, err) < 0)
		return -1;
	if (r->count == 0 && r->input_tokens <= 0) {
		sink->unusable(sink, "no input token");
		return 0;
	}
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	if (!sniff_members(sniff, "output_length") || sniff_members(sniff, "chat_id"))
		return false;
	jdoc_id ids = jdoc_get(sniff->json, JDOC_ROOT, "hash_ids");
	return jdoc_type_of(sniff->json, ids) == JDOC_LIST || sniff_members(sniff, "timestamp text_input") ||
	       sniff_members(sniff, "session_id delay");
}

const struct source_format source_mooncake = {
	.name = "mooncake",
	.about = "Mooncake traces (JSON Lines): arrivals, lengths, shared blocks of 512 tokens",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.read_record = read_record,
	.recognises = recognises,
};
