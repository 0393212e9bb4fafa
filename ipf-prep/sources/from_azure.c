/* azure: the Azure LLM inference traces of 2023, 2024 and 2025 (multimodal).
 *
 * Origin: github.com/Azure/AzurePublicDataset, files AzureLLMInferenceTrace_….csv. CSV with a header; columns are found
 * by their names:
 *
 *     TIMESTAMP        date and time of the arrival; UTC if no zone is given
 *     NumImages        images in the prompt (only 2025)
 *     ContextTokens    length of the prompt, in tokens
 *     GeneratedTokens  length of the answer, in tokens
 *
 * Arrivals count from the file's first row. There is no text: prompts are synthetic, of the recorded length. NumImages
 * becomes the tag "images". Nanoflow's copies have the literal XXX for TIMESTAMP: lengths without arrivals. Other
 * columns are ignored.
 *
 * A trace in CSV to copy for a new one: a state with the columns' indexes, begin_file() to find them, read_row() to
 * make a request of a row, recognises() for `auto`, and the table at the end.
 */
#include "absent.h"
#include "cli/times.h"
#include "sources/sniff.h"
#include "sources/record_fields.h"

struct state {
	int timestamp, context, generated;
	int images; /* -1: there is no such column */
	struct time_origin origin;
};

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *s = opened;
	s->origin = (struct time_origin){0};
	s->images = csv_column(csv, "NumImages");
	if (need_column(csv, "TIMESTAMP", &s->timestamp, err) < 0 ||
	    need_column(csv, "ContextTokens", &s->context, err) < 0 ||
	    need_column(csv, "GeneratedTokens", &s->generated, err) < 0)
		return -1;
	return 0;
}

/* Sets the arrival, unless the row has none. */
static int read_arrival(struct state *s, struct slice timestamp, struct draft_request *r, struct ipf_error *err)
{
	struct ipf_error wrong = {0};
	int64_t ns;
	if (slice_is(timestamp, "XXX"))
		return 0;
	if (time_parse(timestamp, &ns, &wrong) < 0)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: %s", wrong.text);
	r->at_ns = since_origin(&s->origin, ns);
	if (r->at_ns < 0)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: expected the time of the first row or later, got \"%.*s\"",
		                     (int)timestamp.len, timestamp.data);
	return 0;
}

static int read_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *s = opened;
	const struct csv *csv = record->csv;
	struct draft *d = &sink->draft;
	struct draft_request *r = draft_request(d);
	int64_t images = 0;
	if (!r)
		return 0;
	if (column_tokens(csv, s->context, &r->input_tokens, err) < 0 ||
	    column_tokens(csv, s->generated, &r->output_tokens, err) < 0 ||
	    (s->images >= 0 && column_tokens(csv, s->images, &images, err) < 0) ||
	    read_arrival(s, csv->fields[s->timestamp], r, err) < 0)
		return -1;
	if (images > 0)
		r->tags = draft_format(d, "{\"images\":%lld}", (long long)images);
	return sink->take(sink, d, err);
}

static bool recognises(const struct sniff *sniff)
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
	.state_size = sizeof(struct state),
	.begin_file = begin_file,
	.read_record = read_row,
	.recognises = recognises,
};
