/* The traces of the Mooncake project: JSON Lines with `timestamp` (milliseconds from the trace's start), `input_length`,
 * `output_length` and `hash_ids`, one id for each block of 512 tokens of the prompt. Equal ids are equal text, so that a prefix
 * cache sees the hits that the recorded one saw. Variants carry `text_input`, `session_id` and `delay` (milliseconds after
 * the turn before).
 */
#include "source.h"

#include "clock.h"
#include "times.h"

#define BLOCK_TOKENS 512

/* A time in milliseconds: 1, 0 where it is not there, -1. */
static int milliseconds(const struct jdoc *j, const char *key, int64_t *ns, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, JDOC_ROOT, key);
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) != JDOC_NUMBER || time_from_number(jdoc_raw(j, node), NS_PER_MS, ns) < 0 || *ns < 0)
		return jdoc_expected(j, node, key, "milliseconds of 0 or more", err);
	return 1;
}

static int session_member(const struct jdoc *j, struct draft *d, struct ipf_error *err)
{
	jdoc_id node = jdoc_get(j, JDOC_ROOT, "session_id");
	if (jdoc_is_null(j, node))
		return 0;
	if (jdoc_type_of(j, node) == JDOC_TEXT)
		d->session = draft_text(d, j, node);
	else if (jdoc_type_of(j, node) == JDOC_NUMBER)
		d->session = jdoc_raw(j, node);
	else
		return jdoc_expected(j, node, "session_id", "a string or a number", err);
	return d->session.len > 0 ? 0 : jdoc_expected(j, node, "session_id", "a name", err);
}

/* Hashes fill 64 bits, signed or not, depending on who wrote them. */
static bool take_hash(const struct jdoc *j, jdoc_id node, uint64_t *hash)
{
	int64_t small;
	if (jdoc_to_int(j, node, &small)) {
		*hash = (uint64_t)small;
		return true;
	}
	struct slice raw = jdoc_raw(j, node);
	if (jdoc_type_of(j, node) != JDOC_NUMBER)
		return false;
	*hash = 0;
	for (size_t i = 0; i < raw.len; i++) {
		unsigned digit = (unsigned)(raw.data[i] - '0');
		if (digit > 9 || *hash > (UINT64_MAX - digit) / 10)
			return false;
		*hash = *hash * 10 + digit;
	}
	return true;
}

static int block_ids(const struct jdoc *j, struct draft *d, struct draft_request *r, struct ipf_error *err)
{
	jdoc_id list = jdoc_get(j, JDOC_ROOT, "hash_ids");
	if (jdoc_is_null(j, list))
		return ipf_error_set(err, IPF_INPUT, "hash_ids: missing");
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, "hash_ids", "a list", err);
	size_t count = jdoc_count(j, list), at = 0;
	int64_t blocks = r->input_tokens / BLOCK_TOKENS + (r->input_tokens % BLOCK_TOKENS != 0);
	if ((int64_t)count != blocks)
		return ipf_error_set(err, IPF_INPUT, "hash_ids: expected %lld of them for an input_length of %lld, got %zu", (long long)blocks,
		                     (long long)r->input_tokens, count);
	uint64_t *ids = draft_ids(d, count);
	if (!ids)
		return 0;
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		if (!take_hash(j, e.value, &ids[at++]))
			return jdoc_expected(j, e.value, "hash_ids", "integers of 64 bits", err);
	}
	r->blocks = (struct draft_blocks){.ids = ids, .count = count, .tokens = BLOCK_TOKENS};
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
	int timed = milliseconds(j, "timestamp", &r->at_ns, err), delayed = milliseconds(j, "delay", &r->wait_ns, err);
	if (timed < 0 || delayed < 0 || session_member(j, d, err) < 0)
		return -1;
	if (!timed && !(delayed && d->session.data))
		return ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	int got = jdoc_get_uint(j, JDOC_ROOT, "output_length", &r->output_tokens, err);
	if (got <= 0)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "output_length: missing");
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
		got = jdoc_get_uint(j, JDOC_ROOT, "input_length", &r->input_tokens, err);
		if (got <= 0)
			return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "input_length: missing");
		if (block_ids(j, d, r, err) < 0)
			return -1;
	}
	if (r->input_tokens == 0 || r->output_tokens == 0) {
		sink->unusable(sink, r->input_tokens == 0 ? "no input token" : "no output token");
		return 0;
	}
	return sink->take(sink, d, err);
}

const struct source_format source_mooncake = {
	.name = "mooncake",
	.about = "Mooncake traces (JSON Lines): arrivals, lengths and the hashes of blocks that prompts share",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, block by block from its hash: equal hashes give equal text",
	.record = one_record,
};
