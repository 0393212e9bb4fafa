/* AIBrix workloads: JSON Lines of instants, {"timestamp": milliseconds, "requests": [{"Prompt Length", "Output Length",
 * "prompt"}, …]}. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "clock.h"

static int one_request(const struct jdoc *j, jdoc_id node, int64_t at_ns, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice prompt;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_map(j, node, "requests", err) < 0 || need_uint(j, node, "Prompt Length", &r->input_tokens, err) < 0 ||
	    need_uint(j, node, "Output Length", &r->output_tokens, err) < 0 ||
	    record_fields_text(d, j, node, "prompt", &prompt, err) < 0)
		return -1;
	r->at_ns = at_ns;
	if (prompt.len > 0)
		draft_message(d, ROLE_USER, prompt);
	return sink->take(sink, d, err);
}

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	jdoc_id requests;
	int64_t at_ns, part = 0;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_list(j, JDOC_ROOT, "requests", &requests, err) < 0)
		return -1;
	int timed = record_fields_duration(j, JDOC_ROOT, "timestamp", NS_PER_MS, &at_ns, err);
	if (timed <= 0)
		return timed < 0 ? -1 : ipf_error_set(err, IPF_INPUT, "timestamp: missing");
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e); part++) {
		draft_reset(d);
		d->number = record->number;
		d->part = part;
		if (one_request(j, e.value, at_ns, sink, err) < 0)
			return -1;
	}
	return 0;
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "timestamp requests") &&
	       (sniff_text(sniff, "\"Prompt Length\"") || sniff_text(sniff, "\"Output Length\""));
}

const struct source_format source_aibrix = {
	.name = "aibrix",
	.about = "AIBrix workloads (JSON Lines): instants, each with its requests' texts and lengths",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | GATHERS,
	.filled = "prose of the recorded length where there is no text",
	.knows = knows,
	.record = one_record,
};
