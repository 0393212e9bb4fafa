/* llmservingsim: LLMServingSim workloads.
 *
 * Origin: github.com/casys-kaist/LLMServingSim, workloads. JSON Lines, each line a request or a session:
 *
 *     arrival_time_ns   arrival, in nanoseconds from 0
 *     input_toks        length of the prompt, in tokens
 *     output_toks       length of the answer, in tokens
 *
 *     session_id        of a session (default: the number of the record)
 *     sub_requests      its turns: list of {"input_toks", "output_toks", "tool_duration_ns"}
 *     tool_duration_ns  pause after the turn's answer, in nanoseconds
 *
 * Prompts are synthetic. The token ids that some workloads hold are those of one model, and are ignored.
 */
#include "absent.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

static int read_request(const struct jdoc *j, jdoc_id node, struct draft *d, struct ipf_error *err)
{
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, node, "sub_requests", err) < 0 ||
	    need_tokens(j, node, "input_toks", &r->input_tokens, err) < 0 ||
	    need_tokens(j, node, "output_toks", &r->output_tokens, err) < 0)
		return -1;
	return 0;
}

static int read_session(const struct jdoc *j, struct draft *d, struct ipf_error *err)
{
	int64_t wait_ns = IPF_ABSENT;
	jdoc_id list;
	if (need_list(j, JDOC_ROOT, "sub_requests", &list, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	if (!d->session.data)
		d->session = draft_format(d, "%lld", (long long)d->number);
	for (struct jdoc_each e = jdoc_each(j, list); jdoc_step(&e);) {
		if (read_request(j, e.value, d, err) < 0)
			return -1;
		if (!d->failed)
			d->requests[d->count - 1].wait_ns = wait_ns;
		wait_ns = IPF_ABSENT;
		if (field_duration(j, e.value, "tool_duration_ns", 1, &wait_ns, err) < 0)
			return -1;
	}
	return 0;
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	int64_t at_ns;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_uint(j, JDOC_ROOT, "arrival_time_ns", &at_ns, err) < 0)
		return -1;
	bool session = !jdoc_is_null(j, jdoc_get(j, JDOC_ROOT, "sub_requests"));
	if ((session ? read_session(j, d, err) : read_request(j, JDOC_ROOT, d, err)) < 0)
		return -1;
	if (d->count == 0) {
		sink->unusable(sink, "empty conversation");
		return 0;
	}
	d->requests[0].at_ns = at_ns;
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "arrival_time_ns");
}

const struct source_format source_llmservingsim = {
	.name = "llmservingsim",
	.about = "LLMServingSim workloads (JSON Lines): arrivals and lengths, sessions with pauses",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each request",
	.read_record = read_record,
	.recognises = recognises,
};
