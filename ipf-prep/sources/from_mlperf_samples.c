/* Samples of MLPerf's benchmarks: {"text_input", "tok_input_len", "ref_output", "tok_ref_output_len", …}. */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

static int one_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice text;
	if (need_map(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "text_input", &text, err) < 0)
		return -1;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (jdoc_get_uint(j, JDOC_ROOT, "tok_input_len", &r->input_tokens, err) < 0 ||
	    jdoc_get_uint(j, JDOC_ROOT, "tok_ref_output_len", &r->output_tokens, err) < 0 ||
	    record_fields_text(d, j, JDOC_ROOT, "ref_output", &r->answer, err) < 0)
		return -1;
	if (text.len == 0 || r->output_tokens == 0) {
		sink->unusable(sink, text.len == 0 ? "empty prompt" : "no output token");
		return 0;
	}
	draft_message(d, ROLE_USER, text);
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_has(sniff, "text_input tok_input_len") || sniff_has(sniff, "text_input tok_ref_output_len");
}

const struct source_format source_mlperf_samples = {
	.name = "mlperf-samples",
	.about = "MLPerf's samples: text, and lengths in tokens",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.knows = knows,
	.record = one_record,
};
