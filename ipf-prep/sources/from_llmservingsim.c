/* LLMServingSim workloads: JSON Lines with input_toks, output_toks and arrival_time_ns; or a session a line, with
 * session_id, arrival_time_ns and sub_requests, each with the whole prompt's length and tool_duration_ns, the pause
 * after its answer. Token ids are those of one model and are not passed on.
 */
#include "absent.h"
#include "sources/detect_format.h"
#include "sources/record_fields.h"

static int one_request(const struct jdoc *j, jdoc_id node, struct draft *d, struct ipf_error *err)
{
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	return need_map(j, node, "sub_requests", err) < 0 || need_uint(j, node, "input_toks", &r->input_tokens, err) < 0 ||
	               need_uint(j, node, "output_toks", &r->output_tokens, err) < 0
	           ? -1
	           : 0;
}

static int take_session(const struct jdoc *j, jdoc_id list, struct draft *d, struct ipf_error *err)
{
	int64_t wait_ns = IPF_ABSENT;
	if (jdoc_type_of(j, list) != JDOC_LIST)
		return jdoc_expected(j, list, "sub_requests", "a list", err);
	if (record_fields_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	if (!d->session.data)
		d->session = draft_format(d, "%lld", (long long)d->number);
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		if (one_request(j, e.value, d, err) < 0)
			return -1;
		if (!d->failed)
			d->requests[d->count - 1].wait_ns = wait_ns;
		wait_ns = IPF_ABSENT;
		if (record_fields_duration(j, e.value, "tool_duration_ns", 1, &wait_ns, err) < 0)
			return -1;
	}
	return 0;
}

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	jdoc_id list = jdoc_get(j, JDOC_ROOT, "sub_requests");
	int64_t at_ns;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_uint(j, JDOC_ROOT, "arrival_time_ns", &at_ns, err) < 0)
		return -1;
	if ((jdoc_is_null(j, list) ? one_request(j, JDOC_ROOT, d, err) : take_session(j, list, d, err)) < 0)
		return -1;
	if (d->count == 0) {
		sink->unusable(sink, "empty conversation");
		return 0;
	}
	d->requests[0].at_ns = at_ns;
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "arrival_time_ns");
}

const struct source_format source_llmservingsim = {
	.name = "llmservingsim",
	.about = "LLMServingSim workloads (JSON Lines): arrivals and lengths, sessions with pauses",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each request",
	.knows = knows,
	.record = one_record,
};
