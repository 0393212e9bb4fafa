/* The Azure LLM inference traces of 2023, 2024 and 2025: CSV with TIMESTAMP, ContextTokens and GeneratedTokens (2025: NumImages
 * between them), which are found by their names. There is no text: prompts are made to the recorded length.
 */
#include "source.h"

#include "times.h"

#include <stdio.h>
#include <stdlib.h>

struct state {
	int timestamp, context, generated, images; /* columns; images may be -1 */
	int64_t first_ns;                          /* of the file; IPF_ABSENT before its first row */
};

static int open_source(void **opened, const struct source_settings *settings, struct ipf_error *err)
{
	(void)settings;
	*opened = calloc(1, sizeof(struct state));
	return *opened ? 0 : ipf_error_set(err, IPF_SYSTEM, "out of memory");
}

static int column(const struct csv *csv, const char *name, int *at, struct ipf_error *err)
{
	*at = csv_column(csv, name);
	return *at >= 0 ? 0 : ipf_error_set(err, IPF_INPUT, "the header has no column %s", name);
}

static int begin_file(void *opened, const struct csv *csv, struct ipf_error *err)
{
	struct state *state = opened;
	state->images = csv_column(csv, "NumImages");
	state->first_ns = IPF_ABSENT;
	return column(csv, "TIMESTAMP", &state->timestamp, err) < 0 || column(csv, "ContextTokens", &state->context, err) < 0 ||
	       column(csv, "GeneratedTokens", &state->generated, err) < 0 ? -1 : 0;
}

static int count_field(const struct csv *csv, int at, int64_t *count, struct ipf_error *err)
{
	struct slice text = csv->fields[at];
	*count = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.data[i] < '0' || text.data[i] > '9' || i >= 12)
			text.len = 0;
		else
			*count = *count * 10 + (text.data[i] - '0');
	}
	if (text.len > 0)
		return 0;
	text = csv->fields[at];
	return ipf_error_set(err, IPF_INPUT, "%s: expected a count of tokens, got \"%.*s\"", csv->columns[at], (int)(text.len > 40 ? 40 : text.len),
	                     text.data);
}

static int one_row(void *opened, const struct source_record *record, struct sink *sink, struct ipf_error *err)
{
	struct state *state = opened;
	struct draft *d = &sink->draft;
	const struct csv *csv = record->csv;
	struct ipf_error wrong = {0};
	int64_t ns, context, generated, images = 0;
	if (time_parse(csv->fields[state->timestamp], &ns, &wrong) < 0)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: %s", wrong.text);
	if (count_field(csv, state->context, &context, err) < 0 || count_field(csv, state->generated, &generated, err) < 0 ||
	    (state->images >= 0 && count_field(csv, state->images, &images, err) < 0))
		return -1;
	if (state->first_ns == IPF_ABSENT)
		state->first_ns = ns;
	if (ns < state->first_ns)
		return ipf_error_set(err, IPF_INPUT, "TIMESTAMP: before the file's first, \"%.*s\"", (int)csv->fields[state->timestamp].len,
		                     csv->fields[state->timestamp].data);
	if (context == 0 || generated == 0) {
		sink->unusable(sink, context == 0 ? "no input token" : "no output token");
		return 0;
	}
	struct draft_request *r = draft_request(d);
	if (!r)
		return 0;
	r->at_ns = ns - state->first_ns;
	r->input_tokens = context;
	r->output_tokens = generated;
	if (images > 0) {
		char *tags = draft_space(d, 40);
		if (!tags)
			return 0;
		r->tags = (struct slice){tags, (size_t)snprintf(tags, 40, "{\"images\":%lld}", (long long)images)};
	}
	return sink->take(sink, d, err);
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
	.record = one_row,
	.close = free,
};
