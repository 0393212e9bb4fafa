#include "figures/row_samples.h"

#include "array.h"

#include <stdlib.h>

void picked_rows_add(struct picked_rows *rows, const struct row *row)
{
	if (!array_room(rows->list, rows->cap, rows->count + 1)) {
		rows->failed = true;
		return;
	}
	rows->list[rows->count++] = (struct picked_row){.at = row->at,
	                                                .ok = row->ok,
	                                                .wrong = !row->ok && !verdict_uncounted(row->error),
	                                                .checked = row->checked,
	                                                .whole = row->not_streamed != RESULT_STREAMED};
}

void picked_rows_release(struct picked_rows *rows)
{
	free(rows->list);
	*rows = (struct picked_rows){0};
}

/* Do failures count as infinite in a figure that no success has? */
static bool every_answer_has(enum metric m)
{
	return m == METRIC_TTFT || m == METRIC_E2E || m == METRIC_TTFB;
}

int row_samples_metric(const struct picked_rows *rows, enum metric m, enum latency_origin origin, struct samples *s,
                       int64_t *infinite)
{
	const struct column_values *values = &rows->columns->list[m], *lags = &rows->columns->list[METRIC_LAG];
	bool latency = m < METRIC_LATENCIES, waited = origin != FROM_START && metrics[m].from_due, succeeded = false;
	size_t count = 0;
	samples_clear(s);
	*infinite = 0;
	if (!column_exists(values) && !every_answer_has(m))
		return 0;
	double *to = samples_reserve(s, rows->count);
	if (!to)
		return -1;
	for (size_t i = 0; i < rows->count; i++) {
		const struct picked_row *row = &rows->list[i];
		int64_t lag = column_value(lags, row->at), value = column_value(values, row->at);
		if (origin == FROM_DUE && lag == IPF_ABSENT)
			continue;
		if (latency && !row->ok) {
			*infinite += row->wrong && !metrics[m].server;
			continue;
		}
		succeeded |= row->ok;
		if (value == IPF_ABSENT)
			continue;
		to[count++] = (double)(waited && lag != IPF_ABSENT ? value + lag : value);
	}
	s->count = count;
	if (count == 0 && (succeeded || !every_answer_has(m)))
		*infinite = 0;
	return 0;
}

int row_samples_column(const struct picked_rows *rows, enum row_column column, struct samples *s)
{
	const struct column_values *values = &rows->columns->list[column];
	size_t count = 0;
	samples_clear(s);
	if (!column_exists(values))
		return 0;
	double *to = samples_reserve(s, rows->count);
	if (!to)
		return -1;
	for (size_t i = 0; i < rows->count; i++) {
		int64_t value = column_value(values, rows->list[i].at);
		if (rows->list[i].ok && !rows->list[i].checked && value != IPF_ABSENT)
			to[count++] = (double)value;
	}
	s->count = count;
	return 0;
}
