/* The Azure LLM inference traces of 2023, 2024 and 2025: CSV with TIMESTAMP, ContextTokens and GeneratedTokens (2025:
 * NumImages between them), which are found by their names. There is no text: prompts are made to the recorded length.
 * Where the same columns are used for lengths without arrivals, TIMESTAMP is "XXX".
 */
#include "absent.h"
#include "sources/detect_format.h"
#include "sources/record_fields.h"
#include "cli/times.h"

#include <stdlib.h>

struct state {
	int timestamp, context, generated, images; /* columns; images may be -1 */
	int64_t first_ns;                          /* of the file; IPF_ABSENT before its first row */
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	return source_state(opened, sizeof(struct state), err);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *state = opened;
	state->images = csv_column(csv, "NumImages");
	state->first_ns = IPF_ABSENT;
	return need_column(csv, "TIMESTAMP", &state->timestamp, err) < 0 ||
	               need_column(csv, "ContextTokens", &state->context, err) < 0 ||
	               need_column(csv, "GeneratedTokens", &state->generated, err) < 0
	           ? -1
	           : 0;
}

static int one_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *state = opened;
	struct draft *d = &sink->draft;
	const struct csv *csv = record->csv;
	struct ipf_error wrong = {0};
	int64_t ns = 0, context, generated, images = 0;
	bool timed = !slice_is(csv->fields[state->timestamp], "XXX");
	if (timed && time_parse(csv->fields[state->timestamp], &ns, &wrong) < 0)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: %s", wrong.text);
	if (csv_count(csv, state->context, &context, err) < 0 || csv_count(csv, state->generated, &generated, err) < 0 ||
	    (state->images >= 0 && csv_count(csv, state->images, &images, err) < 0))
		return -1;
	if (timed && state->first_ns == IPF_ABSENT)
		state->first_ns = ns;
	if (timed && ns < state->first_ns)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: before the file's first, \"%.*s\"",
		                     (int)csv->fields[state->timestamp].len, csv->fields[state->timestamp].data);
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	if (timed)
		r->at_ns = ns - state->first_ns;
	r->input_tokens = context;
	r->output_tokens = generated;
	if (images > 0)
		r->tags = draft_format(d, "{\"images\":%lld}", (long long)images);
	return sink->take(sink, d, err);
}

static bool knows(const struct sniff *sniff)
{
	return sniff_columns(sniff, "TIMESTAMP ContextTokens GeneratedTokens");
}

const struct source_format source_azure = {
	.name = "azure",
	.about = "Azure LLM inference traces of 2023, 2024 and 2025 (CSV): arrivals and lengths",
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
