#include "figures/started_together.h"

#include "absent.h"
#include "figures/row_samples.h"

#include <math.h>

#define TOGETHER_SHARE 0.05 /* as a share of the mean E2E */
enum { TOGETHER_FEWEST = 5 };

/* The first start of a repeat, or of all shards (-1), in the stage; IPF_ABSENT. */
static int64_t first_start(const struct row *rows, int64_t count, int32_t part)
{
	int64_t first = IPF_ABSENT;
	for (int64_t i = 0; i < count; i++)
		if ((part < 0 || rows[i].part == part) && rows[i].start_ns != IPF_ABSENT &&
		    (first == IPF_ABSENT || rows[i].start_ns < first))
			first = rows[i].start_ns;
	return first;
}

static double mean_e2e(const struct row *rows, int64_t count)
{
	double sum = 0, n = 0;
	for (int64_t i = 0; i < count; i++)
		if (rows[i].ok && row_get(&rows[i], METRIC_E2E) != IPF_ABSENT) {
			sum += (double)row_get(&rows[i], METRIC_E2E);
			n++;
		}
	return n > 0 ? sum / n : NAN;
}

/* Counts those beginning together, and picks all others. */
static void divide(struct started_together *t, const struct run_data *run, int32_t stage, struct picked_rows *others)
{
	int64_t count;
	const struct row *rows = run_data_stage_rows(run, stage, &count);
	const double limit_ns = TOGETHER_SHARE * mean_e2e(rows, count);
	const int32_t last = run->shards ? -1 : run->part_count - 1;
	for (int32_t part = run->shards ? -1 : 0; part <= last && !isnan(limit_ns); part++) {
		const int64_t first = first_start(rows, count, part);
		for (int64_t i = 0; i < count; i++) {
			const struct row *row = &rows[i];
			if ((part >= 0 && row->part != part) || row->start_ns == IPF_ABSENT)
				continue;
			if ((double)(row->start_ns - first) <= limit_ns)
				t->requests++;
			else
				picked_rows_add(others, row);
		}
	}
}

static double p99_of(const struct picked_rows *rows, enum metric m, struct samples *s)
{
	int64_t infinite;
	return row_samples_metric(rows, m, FROM_START, s, &infinite) == 0 ? samples_percentile(s, 99) / 1e6 : NAN;
}

int started_together_find(struct started_together *t, const struct run_data *run, int32_t stage, struct ipf_error *err)
{
	const struct schedule_stage *schedule = &run->schedule.stages[stage];
	struct picked_rows others = {.columns = &run->columns};
	struct samples s = {0};
	*t = (struct started_together){.ttft_p99_ms = NAN, .e2e_p99_ms = NAN};
	if (!schedule->closed)
		return 0;
	divide(t, run, stage, &others);
	const double users = schedule->slots == IPF_ABSENT ? 0
	                                                   : (double)schedule->slots * (run->shards ? 1 : run->part_count);
	if (t->requests < TOGETHER_FEWEST || (double)t->requests < users / 2 || others.count == 0)
		t->requests = 0;
	if (t->requests > 0) {
		t->ttft_p99_ms = p99_of(&others, METRIC_TTFT, &s);
		t->e2e_p99_ms = p99_of(&others, METRIC_E2E, &s);
	}
	const bool failed = others.failed || s.failed;
	samples_release(&s);
	picked_rows_release(&others);
	return failed ? ipf_error_memory(err) : 0;
}
