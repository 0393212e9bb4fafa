#include "figures/token_reads_figures.h"

#include "absent.h"

#include <math.h>

const char *const read_size_names[READ_SIZES] = {"1", "2", "3", "4", "5", "6", "7", "8+"};

/* Each event of the request brought one token, in a read of its own. */
static bool all_single(const struct row *row)
{
	int64_t events = row_get(row, ROW_EVENTS);
	return events > 1 && events == row_get(row, ROW_OUTPUT_TOKENS) && row_get(row, ROW_COALESCED) == 0;
}

void token_reads_add(struct token_reads_figures *t, const struct row *row)
{
	int64_t reads = row_get(row, ROW_READS), tokens = row_get(row, ROW_OUTPUT_TOKENS), several = 0;
	if (reads == IPF_ABSENT && all_single(row)) {
		t->reads += tokens - 1;
		t->tokens += tokens - 1;
		t->by_tokens[0] += tokens - 1;
		return;
	}
	if (reads == IPF_ABSENT || tokens == IPF_ABSENT || tokens < 1)
		return;
	t->reads += reads;
	t->tokens += tokens - 1;
	for (int i = 1; i < READ_SIZES; i++) {
		int64_t of = row_get_or_0(row, ROW_READS_2 + i - 1);
		t->by_tokens[i] += of;
		several += of;
	}
	t->several += several ? several : reads;
	t->by_tokens[0] += several ? reads - several : 0;
	t->gap_one_ns += row_get_or_0(row, ROW_GAP_ONE_NS);
	t->gap_several_ns += row_get_or_0(row, ROW_GAP_SEVERAL_NS);
}

double token_reads_mean(const struct token_reads_figures *t)
{
	return t->several > 0 && t->reads > 0 ? (double)t->tokens / (double)t->reads : NAN;
}

static int64_t sized(const struct token_reads_figures *t, int from)
{
	int64_t sum = 0;
	for (int i = from; i < READ_SIZES; i++)
		sum += t->by_tokens[i];
	return sum;
}

double token_reads_several_share(const struct token_reads_figures *t)
{
	return sized(t, 1) > 0 ? (double)sized(t, 1) / (double)sized(t, 0) : NAN;
}

double token_reads_gap_ratio(const struct token_reads_figures *t)
{
	int64_t several = sized(t, 1), one = t->by_tokens[0];
	if (several < READ_GAPS_LEAST || one < READ_GAPS_LEAST || t->gap_one_ns <= 0)
		return NAN;
	return (double)t->gap_several_ns / (double)several / ((double)t->gap_one_ns / (double)one);
}
