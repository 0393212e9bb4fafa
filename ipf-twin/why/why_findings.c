#include "why/why_findings.h"

#include "clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const why_percentile_names[WHY_PERCENTILES] = {"p50", "p99"};

/* The requests of a percentile, as shares of all of them by their time. */
static const struct {
	double from, to;
} ranges[WHY_PERCENTILES] = {{0.45, 0.55}, {0.98, 1}};

/* A request and its time, to be sorted. */
struct timed {
	int64_t ns, request;
};

static int compare_times(const void *a, const void *b)
{
	const struct timed *x = a, *y = b;
	return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : (x->request > y->request) - (x->request < y->request);
}

enum why_part why_greatest(const double ms[WHY_PARTS])
{
	enum why_part greatest = 0;
	for (enum why_part p = 1; p < WHY_PARTS; p++)
		if (fabs(ms[p]) > fabs(ms[greatest]))
			greatest = p;
	return greatest;
}

static void parts_of(const struct twin_why *why, int64_t i, enum why_latency of, double ms[WHY_PARTS])
{
	for (enum why_part p = 0; p < WHY_PARTS; p++)
		ms[p] = (double)twin_why_ns(why, i, of, p) / 1e6;
}

static const struct row *row_of(const struct run_data *run, const struct twin_why *why, int64_t i)
{
	return &run->rows[why->data->requests[i].row];
}

static void add_worst(struct why_group *g, const struct run_data *run, const struct twin_why *why,
                      const struct timed *one, enum why_latency of)
{
	double ms[WHY_PARTS];
	if (g->worst_count == WHY_WORST)
		return;
	parts_of(why, one->request, of, ms);
	const enum why_part part = why_greatest(ms);
	g->worst[g->worst_count].n = row_of(run, why, one->request)->n;
	g->worst[g->worst_count].ms = (double)one->ns / 1e6;
	g->worst[g->worst_count].part = part;
	g->worst[g->worst_count++].part_ms = ms[part];
}

/* The means over these requests. */
static void fill_group(struct why_group *g, const struct run_data *run, const struct twin_why *why,
                       const struct timed *list, int64_t count, enum why_latency of)
{
	double others_of[WHY_LATENCIES] = {0}, ms[WHY_PARTS];
	*g = (struct why_group){.requests = count};
	for (int64_t k = 0; k < count; k++) {
		const int64_t i = list[k].request, waited_ns = row_get(row_of(run, why, i), METRIC_SLOT_WAIT);
		parts_of(why, i, of, ms);
		for (enum why_part p = 0; p < WHY_PARTS; p++)
			g->ms[p] += ms[p] / (double)count;
		g->measured += (double)twin_why_measured_ns(why, i, of) / 1e6 / (double)count;
		g->slot += waited_ns == IPF_ABSENT ? 0 : (double)waited_ns / 1e6 / (double)count;
		for (enum why_latency m = 0; m < WHY_LATENCIES; m++)
			if (!isnan(why->requests[i].others[m])) {
				g->others[m] += why->requests[i].others[m];
				others_of[m]++;
			}
	}
	for (enum why_latency m = 0; m < WHY_LATENCIES; m++)
		g->others[m] = m <= of && others_of[m] > 0 ? g->others[m] / others_of[m] : NAN;
}

/* Those of this stage (-1: of all measured ones) the twin knows, sorted by their time. */
static int64_t sort_requests(struct timed *list, const struct run_data *run, const struct twin_why *why, int32_t stage,
                             enum why_latency of)
{
	int64_t count = 0;
	for (int64_t i = 0; i < why->data->request_count; i++) {
		const struct row *row = row_of(run, why, i);
		if (run->schedule.stages[row->stage].measured && (stage < 0 || row->stage == stage) && twin_why_knows(why, i))
			list[count++] = (struct timed){twin_why_measured_ns(why, i, of), i};
	}
	if (count > 1)
		qsort(list, (size_t)count, sizeof *list, compare_times);
	return count;
}

static void fill_block(struct why_block *b, struct timed *list, const struct run_data *run, const struct twin_why *why,
                       int32_t stage)
{
	for (enum why_latency of = 0; of < WHY_LATENCIES; of++) {
		const int64_t count = b->requests = sort_requests(list, run, why, stage, of);
		for (enum why_percentile p = 0; p < WHY_PERCENTILES && count > 0; p++) {
			int64_t from = (int64_t)(ranges[p].from * (double)count), to = (int64_t)ceil(ranges[p].to * (double)count);
			struct why_group *g = &b->at[of][p];
			fill_group(g, run, why, &list[from], to - from, of);
			for (int64_t k = to; k > from && p == WHY_P99; k--)
				add_worst(g, run, why, &list[k - 1], of);
		}
	}
}

/* ---- over time ---- */

/* The clock of shards is the first's; repeats have one each. */
static int64_t started_ns(const struct run_data *run, const struct row *row)
{
	return row->start_ns + (run->shards ? run->parts[row->part].shift_ns : 0);
}

/* Division that rounds down, also below 0. */
static int64_t interval_of(int64_t ns, int64_t every_ns)
{
	return ns / every_ns - (ns % every_ns < 0);
}

/* 1, 2, 5, 10, … ms. */
static int64_t interval_length(int64_t first_ns, int64_t last_ns)
{
	static const int64_t steps[] = {1, 2, 5};
	for (int64_t power_ns = NS_PER_MS;; power_ns *= 10)
		for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
			const int64_t every_ns = steps[i] * power_ns;
			if (interval_of(last_ns, every_ns) - interval_of(first_ns, every_ns) < WHY_INTERVALS)
				return every_ns;
		}
}

static void fill_over_time(struct why_findings *f, struct timed *list, const struct run_data *run,
                           const struct twin_why *why)
{
	const int64_t count = sort_requests(list, run, why, -1, WHY_TTFT);
	if (count == 0)
		return;
	for (int64_t k = 0; k < count; k++)
		list[k].ns = started_ns(run, row_of(run, why, list[k].request));
	qsort(list, (size_t)count, sizeof *list, compare_times);
	f->every_ns = interval_length(list[0].ns, list[count - 1].ns);
	for (int64_t from = 0, to; from < count; from = to) {
		const int64_t number = interval_of(list[from].ns, f->every_ns);
		struct why_interval *interval = &f->over_time[f->interval_count++];
		for (to = from; to < count && interval_of(list[to].ns, f->every_ns) == number; to++)
			;
		interval->from_ns = number * f->every_ns;
		for (enum why_latency of = 0; of < WHY_LATENCIES; of++)
			fill_group(&interval->of[of], run, why, &list[from], to - from, of);
	}
}

/* How far the twin is off at the median of the measured stages. */
static int find_errors(struct why_findings *f, const struct run_data *run, const struct twin_why *why,
                       struct ipf_error *err)
{
	bool failed = false;
	f->describes = true;
	for (enum why_latency of = 0; of < WHY_LATENCIES; of++) {
		struct samples measured = {0}, predicted = {0};
		for (int64_t i = 0; i < why->data->request_count; i++) {
			const int64_t ns = twin_why_measured_ns(why, i, of);
			if (!run->schedule.stages[row_of(run, why, i)->stage].measured || !twin_why_knows(why, i))
				continue;
			samples_add(&measured, (double)ns);
			samples_add(&predicted, (double)(ns - twin_why_ns(why, i, of, WHY_UNEXPLAINED)));
		}
		failed |= measured.failed || predicted.failed;
		const double median = samples_percentile(&measured, 50);
		f->errors[of] = median > 0 ? samples_percentile(&predicted, 50) / median - 1 : NAN;
		f->describes &= !(fabs(f->errors[of]) > WHY_ERROR_MOST);
		samples_release(&measured);
		samples_release(&predicted);
	}
	return failed ? ipf_error_memory(err) : 0;
}

static int fill(struct why_findings *f, const struct run_data *run, const struct twin_why *why, struct ipf_error *err)
{
	struct timed *list = calloc((size_t)why->data->request_count + 1, sizeof *list);
	f->stage_count = run->schedule.count;
	f->stages = calloc(f->stage_count + 1, sizeof *f->stages);
	f->over_time = calloc(WHY_INTERVALS, sizeof *f->over_time);
	const bool fine = list && f->stages && f->over_time;
	if (fine) {
		fill_block(&f->total, list, run, why, -1);
		for (size_t s = 0; s < f->stage_count; s++)
			fill_block(&f->stages[s], list, run, why, (int32_t)s);
		fill_over_time(f, list, run, why);
	}
	free(list);
	f->left_out = -f->total.requests;
	for (int64_t i = 0; i < run->row_count; i++)
		f->left_out += run->rows[i].ok && run->schedule.stages[run->rows[i].stage].measured;
	if (f->total.requests == 0)
		ipf_error_set(&f->absent, IPF_INPUT, "no request of a measured stage has all needed values");
	return fine ? find_errors(f, run, why, err) : ipf_error_memory(err);
}

int why_findings_build(struct why_findings *f, const struct twin *twin, const struct run_data *run,
                       const struct workload *workload, struct ipf_error *err)
{
	struct twin_data data;
	struct twin_why why;
	if (twin_data_read_rows(&data, run, workload, &f->absent) < 0) {
		if (f->absent.kind != IPF_INPUT)
			*err = f->absent;
		return f->absent.kind == IPF_INPUT ? 0 : -1;
	}
	int result = twin_why_find(&why, twin, &data, err);
	if (result == 0)
		result = fill(f, run, &why, err);
	twin_why_release(&why);
	twin_data_release(&data);
	return result;
}

void why_findings_release(struct why_findings *f)
{
	free(f->stages);
	free(f->over_time);
	f->stages = NULL;
	f->over_time = NULL;
}
