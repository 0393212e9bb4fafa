/* vidur: Vidur's processed traces.
 *
 * Origin: github.com/microsoft/vidur, data/processed_traces. CSV with a header; columns are found by their names:
 *
 *     arrived_at          arrival, in seconds from 0 (in some files)
 *     num_prefill_tokens  length of the prompt, in tokens
 *     num_decode_tokens   length of the answer, in tokens
 *
 * Prompts are synthetic. Other columns (num_total_tokens, pd_ratio) are ignored.
 */
#include "clock.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

struct state {
	int prefill, decode;
	int arrived; /* -1: there is no such column */
};

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	s->arrived = csv_column(csv, "arrived_at");
	if (need_column(csv, "num_prefill_tokens", &s->prefill, err) < 0 ||
	    need_column(csv, "num_decode_tokens", &s->decode, err) < 0)
		return -1;
	return 0;
}

static int read_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct csv *csv = record->csv;
	struct draft_request *r = draft_request(&sink->draft);
	if (!r)
		return 0;
	if ((s->arrived >= 0 && column_time(csv, s->arrived, NS_PER_S, &r->at_ns, err) < 0) ||
	    column_tokens(csv, s->prefill, &r->input_tokens, err) < 0 ||
	    column_tokens(csv, s->decode, &r->output_tokens, err) < 0)
		return -1;
	return sink->take(sink, &sink->draft, err);
}

static bool recognises(const struct sniff *sniff)
{
	return sniff_columns(sniff, "num_prefill_tokens num_decode_tokens");
}

const struct source_format source_vidur = {
	.name = "vidur",
	.about = "Vidur processed traces (CSV): lengths, in some files also arrivals",
	.kind = SOURCE_TRACE,
	.unit = UNIT_CSV,
	.traits = HAS_TIMES | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each row",
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_row,
	.recognises = recognises,
};
