/* baseten: completion traces of Baseten.
 *
 * Origin: github.com/ai-dynamo/aiperf, src/aiperf/dataset/loader/baseten_trace_models.py. Columns of Parquet, or the
 * same as JSON Lines:
 *
 *     timestamp_start_unix_ms    arrival, in milliseconds since 1970
 *     prompt                     the prompt; if it is empty, input_tokens, total_hashes and block_size describe it
 *     input_tokens, output_tokens
 *     provided_session_id        the session, or else poor_man_session_id (optional)
 *     total_hashes, block_size   an id for each block of the prompt, and its tokens (optional)
 *     request_canceled           1: the client disconnected, after duration_e2e_ms
 *     output_text                the answer, if output_tokens is null
 *
 * model_name, duration_ttft_ms and cached_tokens_reference become the tags "model", "ttft_ms" and "cached_tokens".
 * Other columns are ignored.
 */
#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "sources/record_fields.h"
#include "sources/sniff.h"

static int read_prompt(struct draft *d, const struct jdoc *j, struct draft_request *r, struct ipf_error *err)
{
	struct slice prompt;
	if (field_text(d, j, JDOC_ROOT, "prompt", &prompt, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "input_tokens", &r->input_tokens, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "output_tokens", &r->output_tokens, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "output_text", &r->answer, err) < 0)
		return -1;
	if (prompt.len > 0) {
		draft_message(d, ROLE_USER, prompt);
		return 0;
	}
	jdoc_id hashes = jdoc_get(j, JDOC_ROOT, "total_hashes");
	if (r->input_tokens == IPF_ABSENT || jdoc_count(j, hashes) == 0)
		return 0;
	int got = field_block_tokens(j, JDOC_ROOT, "block_size", &r->blocks.tokens, err);
	if (got <= 0)
		return got < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "block_size: missing");
	if (need_block_ids(d, j, JDOC_ROOT, "total_hashes", &r->blocks, err) < 0)
		return -1;
	int64_t whole = r->input_tokens / r->blocks.tokens, count = (int64_t)r->blocks.count;
	if (d->failed || count == whole || (count == whole + 1 && r->input_tokens % r->blocks.tokens))
		return 0;
	return ipf_error_set(err, IPF_INPUT, "total_hashes: expected length %lld for input_tokens %lld, got %lld",
	                     (long long)whole, (long long)r->input_tokens, (long long)count);
}

/* When the client disconnected. The column is 0 or 1, or a boolean. */
static int read_cancel(const struct jdoc *j, struct draft_request *r, struct ipf_error *err)
{
	int64_t canceled = 0, lasted_ns = IPF_ABSENT;
	jdoc_id node = jdoc_get(j, JDOC_ROOT, "request_canceled");
	if (jdoc_type_of(j, node) == JDOC_BOOL)
		canceled = slice_is(jdoc_raw(j, node), "true");
	else if (jdoc_get_uint(j, JDOC_ROOT, "request_canceled", &canceled, err) < 0)
		return -1;
	if (field_duration(j, JDOC_ROOT, "duration_e2e_ms", NS_PER_MS, &lasted_ns, err) < 0)
		return -1;
	if (canceled)
		r->hang_up_ns = lasted_ns;
	return 0;
}

static struct slice make_tags(struct draft *d, const struct jdoc *j)
{
	static const char *const members[][2] = {{"duration_ttft_ms", "ttft_ms"},
	                                         {"cached_tokens_reference", "cached_tokens"}};
	struct buffer out = {0};
	struct jout w = {.out = &out};
	jdoc_id model = jdoc_get(j, JDOC_ROOT, "model_name");
	jout_begin_map(&w);
	if (!jdoc_text_empty(j, model))
		jout_member_string(&w, "model", draft_text(d, j, model));
	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		jdoc_id value = jdoc_get(j, JDOC_ROOT, members[i][0]);
		if (jdoc_type_of(j, value) == JDOC_NUMBER)
			jout_member_value(&w, members[i][1], jdoc_raw(j, value));
	}
	jout_end_map(&w);
	return tags_written(d, &out);
}

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	int64_t ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 ||
	    need_time(j, JDOC_ROOT, "timestamp_start_unix_ms", NS_PER_MS, &ns, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "provided_session_id", &d->session, err) < 0 ||
	    (!d->session.data && field_name(d, j, JDOC_ROOT, "poor_man_session_id", &d->session, err) < 0) ||
	    read_prompt(d, j, r, err) < 0 || read_cancel(j, r, err) < 0)
		return -1;
	if (r->count == 0 && (r->input_tokens == IPF_ABSENT || r->input_tokens == 0)) {
		sink->unusable(sink, "neither a prompt nor its length");
		return 0;
	}
	r->at_ns = since_origin(opened, ns);
	r->tags = make_tags(d, j);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "timestamp_start_unix_ms output_tokens");
}

const struct source_format source_baseten = {
	.name = "baseten",
	.about = "completion traces of Baseten (Parquet or JSON): arrivals, prompts or their blocks, sessions",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT | HAS_BLOCKS,
	.filled = "prose of the recorded length if there is no prompt, block by block from its hash",
	.state_size = sizeof(struct time_origin),
	.read_record = read_record,
	.recognises = recognises,
};
