/* lmcache: LMCache's agent traces.
 *
 * Origin: LMCache/lmcache-agent-trace. JSON Lines, often out of time order:
 *
 *     timestamp   arrival, in microseconds since 1970
 *     input       the whole prompt as one text
 *     output      the answer; empty: none came
 *     session_id  requests of the same session are its turns
 *
 * Arrivals count from the first line read.
 */
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

static int read_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct time_origin *origin = opened;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice input;
	int64_t ns;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_time(j, JDOC_ROOT, "timestamp", NS_PER_US, &ns, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "input", &input, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "output", &r->answer, err) < 0 ||
	    field_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	r->at_ns = since_origin(origin, ns);
	if (r->answer.len == 0) {
		r->output_tokens = 0;
		r->answer = (struct slice){0};
	}
	draft_message(d, ROLE_USER, input);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "timestamp input output session_id");
}

const struct source_format source_lmcache = {
	.name = "lmcache",
	.about = "LMCache agent traces (JSON Lines): arrivals, texts, sessions",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS,
	.state_size = sizeof(struct time_origin),
	.read_record = read_record,
	.recognises = recognises,
};
