/* The traces of the Mooncake project: JSON Lines with `timestamp` (milliseconds from the trace's start),
 * `input_length`, `output_length` and `hash_ids`, one id for each block of 512 tokens of the prompt. Equal ids are
 * equal text, so that a prefix cache sees the hits that the recorded one saw. Variants carry `text_input`, `session_id`
 * and `delay` (milliseconds after the turn before).
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "clock.h"

#define BLOCK_TOKENS 512

static int block_ids(const struct jdoc *j, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	struct draft_blocks *b = &r->blocks;
	int64_t blocks = r->input_tokens / BLOCK_TOKENS + (r->input_tokens % BLOCK_TOKENS != 0);
	if (record_fields_block_ids(d, j, jdoc_get(j, JDOC_ROOT, "hash_ids"), "hash_ids", &b->ids, &b->count, err) < 0)
		return -1;
	b->tokens = BLOCK_TOKENS;
	if ((int64_t)b->count != blocks && !d->failed)
		return ipf_error_set(err, IPF_INPUT, "hash_ids: expected %lld of them for an input_length of %lld, got %zu",
		                     (long long)blocks, (long long)r->input_tokens, b->count);
	return 0;
}

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	if (jdoc_type_of(j, JDOC_ROOT) != JDOC_MAP)
		return jdoc_expected(j, JDOC_ROOT, "record", "an object", err);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	int timed = record_fields_duration(j, JDOC_ROOT, "timestamp", NS_PER_MS, &r->at_ns, err),
		delayed = record_fields_duration(j, JDOC_ROOT, "delay", NS_PER_MS, &r->wait_ns, err);
	if (timed < 0 || delayed < 0 || record_fields_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	if (!timed && !(delayed && d->session.data))
		return ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	if (need_uint(j, JDOC_ROOT, "output_length", &r->output_tokens, err) < 0)
		return -1;
	jdoc_id text = jdoc_get(j, JDOC_ROOT, "text_input");
	if (!jdoc_is_null(j, text)) {
		if (jdoc_type_of(j, text) != JDOC_TEXT)
			return jdoc_expected(j, text, "text_input", "a string", err);
		if (jdoc_text_empty(j, text)) {
			sink->unusable(sink, "no input token");
			return 0;
		}
		draft_message(d, ROLE_USER, draft_text(d, j, text));
	} else {
		if (need_uint(j, JDOC_ROOT, "input_length", &r->input_tokens, err) < 0 || block_ids(j, d, r, err) < 0)
			return -1;
	}
	if (r->input_tokens == 0) {
		sink->unusable(sink, "no input token");
		return 0;
	}
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	if (!sniff_has(sniff, "output_length") || sniff_has(sniff, "chat_id"))
		return false;
	jdoc_id ids = jdoc_get(sniff->json, JDOC_ROOT, "hash_ids");
	return jdoc_type_of(sniff->json, ids) == JDOC_LIST || sniff_has(sniff, "timestamp text_input") ||
	       sniff_has(sniff, "session_id delay");
}

const struct source_format source_mooncake = {
	.name = "mooncake",
	.about = "Mooncake traces (JSON Lines): arrivals, lengths and the hashes of blocks that prompts share",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.knows = knows,
	.record = one_record,
};
