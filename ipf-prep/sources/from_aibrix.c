/* aibrix: AIBrix workloads.
 *
 * Origin: github.com/vllm-project/aibrix, benchmarks/scenarios/autoscaling/workload. JSON Lines, a line for each
 * instant at which requests arrive:
 *
 *     timestamp  milliseconds from the beginning
 *     requests   list of {"Prompt Length", "Output Length", "prompt"}: lengths in tokens, and the text
 *
 * A request without text gets a synthetic prompt of the recorded length.
 */
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

static int read_request(const struct jdoc *j, jdoc_id node, int64_t at_ns, struct sink *sink, struct ipf_error *err)
{
	struct draft *d = &sink->draft;
	struct slice prompt;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, node, "requests", err) < 0 || need_tokens(j, node, "Prompt Length", &r->input_tokens, err) < 0 ||
	    need_tokens(j, node, "Output Length", &r->output_tokens, err) < 0 ||
	    field_text(d, j, node, "prompt", &prompt, err) < 0)
		return -1;
	r->at_ns = at_ns;
	if (prompt.len > 0)
		draft_message(d, ROLE_USER, prompt);
	return sink->take(sink, d, err);
}

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	jdoc_id requests;
	int64_t at_ns, part = 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_list(j, JDOC_ROOT, "requests", &requests, err) < 0 ||
	    need_duration(j, JDOC_ROOT, "timestamp", NS_PER_MS, &at_ns, err) < 0)
		return -1;
	for (struct jdoc_each e = jdoc_each(j, requests); jdoc_step(&e); part++) {
		draft_begin(&sink->draft, record->number, part);
		if (read_request(j, e.value, at_ns, sink, err) < 0)
			return -1;
	}
	return 0;
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "timestamp requests") &&
	       (sniff_text(sniff, "\"Prompt Length\"") || sniff_text(sniff, "\"Output Length\""));
}

const struct source_format source_aibrix = {
	.name = "aibrix",
	.about = "AIBrix workloads (JSON Lines): arrivals, lengths, texts",
	.kind = SOURCE_TRACE,
	.unit = UNIT_JSON,
	.traits = HAS_TIMES | GATHERS,
	.filled = "prose of the recorded length where there is no text",
	.read_record = read_record,
	.recognises = recognises,
};
