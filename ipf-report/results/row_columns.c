#include "results/row_columns.h"

#include "absent.h"

#include <stdlib.h>

#define TIME(member_)                                                                                                  \
	{                                                                                                                  \
		.name = #member_, .offset = offsetof(struct result, member_), .most = ROW_TIME_MOST                            \
	}
#define COUNT(member_)                                                                                                 \
	{                                                                                                                  \
		.name = #member_, .offset = offsetof(struct result, member_), .most = ROW_COUNT_MOST                           \
	}
/* The columns after the metrics. */
static const struct {
	const char *name;
	size_t offset;
	int64_t most;
} others[ROW_COLUMNS - METRIC_COUNT] = {
	[ROW_READY_NS - METRIC_COUNT] = TIME(ready_ns),
	[ROW_POOL_WAIT_NS - METRIC_COUNT] = TIME(pool_wait_ns),
	[ROW_CONNECT_NS - METRIC_COUNT] = TIME(connect_ns),
	[ROW_STALLS - METRIC_COUNT] = COUNT(stalls),
	[ROW_EVENTS - METRIC_COUNT] = COUNT(events),
	[ROW_COALESCED - METRIC_COUNT] = COUNT(coalesced),
	[ROW_AFTER_END - METRIC_COUNT] = COUNT(after_end),
	[ROW_DEADLINES - METRIC_COUNT] = COUNT(deadlines),
	[ROW_DEADLINES_MET - METRIC_COUNT] = COUNT(deadlines_met),
	[ROW_INPUT_TOKENS - METRIC_COUNT] = COUNT(input_tokens),
	[ROW_OUTPUT_TOKENS - METRIC_COUNT] = COUNT(output_tokens),
	[ROW_OUTPUT_USAGE - METRIC_COUNT] = COUNT(output_tokens_usage),
	[ROW_OUTPUT_TOKENIZER - METRIC_COUNT] = COUNT(output_tokens_tokenizer),
	[ROW_INPUT_USAGE - METRIC_COUNT] = COUNT(input_tokens_usage),
	[ROW_INPUT_TOKENIZER - METRIC_COUNT] = COUNT(input_tokens_tokenizer),
	[ROW_REASONING_TOKENS - METRIC_COUNT] = COUNT(reasoning_tokens),
	[ROW_CACHED_TOKENS - METRIC_COUNT] = COUNT(cached_tokens),
	[ROW_ASKED_INPUT - METRIC_COUNT] = COUNT(asked_input_tokens),
	[ROW_ASKED_OUTPUT - METRIC_COUNT] = COUNT(asked_output_tokens),
};

static size_t offset_of(int column)
{
	return column < METRIC_COUNT ? metrics[column].offset : others[column - METRIC_COUNT].offset;
}

static int out_of_range(int column, int64_t value, struct ipf_error *err)
{
	if (column < METRIC_COUNT)
		return ipf_error_set(err, IPF_INPUT, "%s_ns: %lld is out of range", metrics[column].name, (long long)value);
	return ipf_error_set(err, IPF_INPUT, "%s: %lld is out of range", others[column - METRIC_COUNT].name,
	                     (long long)value);
}

static int no_memory(int64_t rows, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_SYSTEM, "out of memory after %lld rows", (long long)rows);
}

static int lengthen(struct row_columns *columns, struct ipf_error *err)
{
	int64_t cap = columns->cap ? 2 * columns->cap : 1024;
	for (int i = 0; i < ROW_COLUMNS; i++) {
		int64_t *longer = columns->list[i] ? realloc(columns->list[i], (size_t)cap * sizeof *longer) : NULL;
		if (columns->list[i] && !longer)
			return no_memory(columns->cap, err);
		columns->list[i] = longer;
	}
	columns->cap = cap;
	return 0;
}

/* A new column, without values up to row `at`. */
static int begin_column(struct row_columns *columns, int column, int64_t at, struct ipf_error *err)
{
	int64_t *list = malloc((size_t)columns->cap * sizeof *list);
	if (!list)
		return no_memory(at, err);
	for (int64_t i = 0; i < at; i++)
		list[i] = IPF_ABSENT;
	columns->list[column] = list;
	return 0;
}

int row_columns_add(struct row_columns *columns, int64_t at, const struct result *result, struct ipf_error *err)
{
	if (at == columns->cap && lengthen(columns, err) < 0)
		return -1;
	for (int i = 0; i < ROW_COLUMNS; i++) {
		int64_t value = *(const int64_t *)((const char *)result + offset_of(i));
		if (value != IPF_ABSENT) {
			int64_t most = i < METRIC_COUNT ? ROW_TIME_MOST : others[i - METRIC_COUNT].most;
			if (value > most || value < -most)
				return out_of_range(i, value, err);
			if (!columns->list[i] && begin_column(columns, i, at, err) < 0)
				return -1;
		}
		if (columns->list[i])
			columns->list[i][at] = value;
	}
	return 0;
}

void row_columns_release(struct row_columns *columns)
{
	for (int i = 0; i < ROW_COLUMNS; i++)
		free(columns->list[i]);
	*columns = (struct row_columns){0};
}
