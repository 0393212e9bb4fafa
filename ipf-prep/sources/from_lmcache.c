/* LMCache's agent traces: JSON Lines with timestamp (microseconds since 1970), input (the whole prompt as one text),
 * output and session_id. Lines are often out of order.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "absent.h"
#include "clock.h"

#include <stdlib.h>

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	int64_t *first_ns = malloc(sizeof *first_ns);
	if (!first_ns)
		return ipf_error_memory(err);
	*first_ns = IPF_ABSENT;
	*opened = first_ns;
	return 0;
}

static int one_record(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	int64_t *first_ns = opened, ns;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice input;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_map(j, JDOC_ROOT, "record", err) < 0)
		return -1;
	int timed = record_fields_time(d, j, JDOC_ROOT, "timestamp", NS_PER_US, &ns, err);
	if (timed <= 0)
		return timed < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	if (need_text(d, j, JDOC_ROOT, "input", &input, err) < 0 ||
	    need_text(d, j, JDOC_ROOT, "output", &r->answer, err) < 0 ||
	    record_fields_name(d, j, JDOC_ROOT, "session_id", &d->session, err) < 0)
		return -1;
	if (*first_ns == IPF_ABSENT)
		*first_ns = ns;
	r->at_ns = ns - *first_ns;
	if (r->answer.len == 0) { /* nothing came */
		r->output_tokens = 0;
		r->answer = (struct slice){0};
	}
	draft_message(d, ROLE_USER, input);
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "timestamp input output session_id");
}

const struct source_format source_lmcache = {
	.name = "lmcache",
	.about = "LMCache's agent traces (JSON Lines): arrivals and whole texts, by session",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | HAS_SESSIONS | GATHERS,
	.open = open_source,
	.knows = knows,
	.record = one_record,
	.close = free,
};
