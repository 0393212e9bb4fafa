/* mlperf-samples: samples of MLPerf's benchmarks.
 *
 * Origin: github.com/mlcommons/endpoints, tests/assets/datasets. JSON Lines, or the same as CSV or Parquet:
 *
 *     text_input          the prompt
 *     tok_input_len       its length, in tokens (optional)
 *     ref_output          the reference answer (optional)
 *     tok_ref_output_len  its length, in tokens (optional)
 *
 * The token ids (tok_input, tok_ref_output) are those of one model, and are ignored, like all other members.
 */
#include "sources/sniff.h"
#include "sources/record_fields.h"

static int read_record(void *state, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	(void)state;
	const struct jdoc *j = record->json;
	struct draft *d = &sink->draft;
	struct slice text;
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (need_object(j, JDOC_ROOT, "record", err) < 0 || need_text(d, j, JDOC_ROOT, "text_input", &text, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "tok_input_len", &r->input_tokens, err) < 0 ||
	    field_tokens(j, JDOC_ROOT, "tok_ref_output_len", &r->output_tokens, err) < 0 ||
	    field_text(d, j, JDOC_ROOT, "ref_output", &r->answer, err) < 0)
		return -1;
	if (text.len == 0 || r->output_tokens == 0) {
		sink->unusable(sink, text.len == 0 ? "empty prompt" : "no output token");
		return 0;
	}
	draft_message(d, ROLE_USER, text);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_members(sniff, "text_input tok_input_len") || sniff_members(sniff, "text_input tok_ref_output_len");
}

const struct source_format source_mlperf_samples = {
	.name = "mlperf-samples",
	.about = "MLPerf samples: texts, and lengths in tokens",
	.kind = SOURCE_DATASET,
	.unit = UNIT_TABLE,
	.read_record = read_record,
	.recognises = recognises,
};
