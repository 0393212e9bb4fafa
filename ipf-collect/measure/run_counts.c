#include "measure/run_counts.h"

#include "absent.h"
#include "cli/units.h"

#include <string.h>

static void count_failure(struct run_counts *counts, struct slice kind)
{
	const size_t size = sizeof counts->failures / sizeof *counts->failures;
	size_t i = 0;
	while (i < size - 1 && counts->failures[i].count && !slice_is(kind, counts->failures[i].kind))
		i++;
	if (!counts->failures[i].count++)
		snprintf(counts->failures[i].kind, sizeof counts->failures[i].kind, "%.*s", (int)kind.len, kind.data);
	counts->failed++;
}

static void widen(struct run_counts *counts, const struct record *record)
{
	if (record->start_ns != IPF_ABSENT && (counts->rows == 0 || record->start_ns < counts->first_ns))
		counts->first_ns = record->start_ns;
	if (record->end_ns != IPF_ABSENT && (counts->rows == 0 || record->end_ns > counts->last_ns))
		counts->last_ns = record->end_ns;
}

void run_counts_add(struct run_counts *counts, const struct observation *o)
{
	const struct result *row = o->row;
	widen(counts, o->record);
	if (row->output_tokens != IPF_ABSENT && row->output_tokens < INT64_MAX / 2 - counts->output_tokens)
		counts->output_tokens += row->output_tokens;
	if (row->ok && row->ttft_ns != IPF_ABSENT) {
		counts->ttft_sum += (double)row->ttft_ns;
		counts->ttft_count++;
	}
	counts->rows++;
	counts->hung_up += result_hung_up(row);
	counts->unseen += result_unseen(row);
	if (!row->ok && !result_uncounted(row)) {
		count_failure(counts, row->error_kind);
		failure_tally_add_row(&counts->why, row);
	}
	counts->tokens_unknown += row->ok && o->measure->tokens_unknown;
}

void run_counts_kinds(const struct run_counts *counts, const char *before, struct buffer *out)
{
	for (size_t i = 0; i < sizeof counts->failures / sizeof *counts->failures && counts->failures[i].count; i++)
		buffer_format(out, "%s%.*s %lld", i ? ", " : before, (int)strlen(counts->failures[i].kind) - 2,
		              counts->failures[i].kind + 1, (long long)counts->failures[i].count);
}

void run_counts_progress(const struct run_counts *counts, struct buffer *out)
{
	char time[32], rate[32];
	int64_t span_ns = counts->last_ns - counts->first_ns;
	buffer_format(out, "%lld requests  %lld failed", (long long)counts->rows, (long long)counts->failed);
	run_counts_kinds(counts, " (", out);
	if (counts->failed)
		buffer_byte(out, ')');
	if (counts->output_tokens && span_ns > 0)
		buffer_format(out, "  %s tokens/s", format_count((double)counts->output_tokens * 1e9 / (double)span_ns, rate));
	if (counts->ttft_count)
		buffer_format(out, "  TTFT %s (mean)",
		              format_duration((int64_t)(counts->ttft_sum / (double)counts->ttft_count), time));
}

void run_counts_describe(const struct run_counts *counts, struct buffer *out)
{
	buffer_format(out, "%lld requests, %lld failed", (long long)counts->rows, (long long)counts->failed);
	run_counts_kinds(counts, ": ", out);
	if (counts->hung_up)
		buffer_format(out, "; %lld disconnected on purpose", (long long)counts->hung_up);
	if (counts->unseen)
		buffer_format(out, "; %lld not wholly in the capture", (long long)counts->unseen);
	buffer_byte(out, '\n');
}
