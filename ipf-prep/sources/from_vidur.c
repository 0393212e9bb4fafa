/* Vidur's processed traces: CSV with num_prefill_tokens and num_decode_tokens, and in some arrived_at, seconds from 0.
 */
#include "sources/detect_format.h"
#include "sources/record_fields.h"

#include "clock.h"

#include <stdlib.h>

struct state {
	int arrived, prefill, decode; /* arrived may be -1 */
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	return source_state(opened, sizeof(struct state), err);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	s->arrived = csv_column(csv, "arrived_at");
	return need_column(csv, "num_prefill_tokens", &s->prefill, err) < 0 ||
	               need_column(csv, "num_decode_tokens", &s->decode, err) < 0
	           ? -1
	           : 0;
}

static int one_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct csv *csv = record->csv;
	struct draft_request *r = draft_request(&sink->draft);
	if (!r)
		return 0;
	if ((s->arrived >= 0 && csv_time(csv, s->arrived, NS_PER_S, &r->at_ns, err) < 0) ||
	    csv_count(csv, s->prefill, &r->input_tokens, err) < 0 || csv_count(csv, s->decode, &r->output_tokens, err) < 0)
		return -1;
	return sink->take(sink, &sink->draft, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_columns(sniff, "num_prefill_tokens num_decode_tokens");
}

const struct source_format source_vidur = {
	.name = "vidur",
	.about = "Vidur's processed traces (CSV): lengths, and in some arrivals",
	.kind = SOURCE_TRACE,
	.unit = UNIT_CSV,
	.traits = HAS_TIMES | MAKES_TEXT,
	.filled = "prose of the recorded length, another for each row",
	.open = open_source,
	.begin = begin_file,
	.knows = knows,
	.record = one_row,
	.close = free,
};
