#include "workload/reference.h"

#include "absent.h"
#include "difference/block_plan.h"
#include "verdict/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const enum metric reference_metrics[REFERENCE_LATENCIES] = {METRIC_TTFT, METRIC_E2E, METRIC_TPOT};

/* The requests of the trace that were run, and the blocks of the run for the noise of its figures. */
struct reference_reader {
	struct reference *ref;
	const struct workload *w;
	const struct run_data *run;
	const struct percentiles *percentiles;
	const struct row **answers; /* for each request of the trace: its first answer, or its first row; NULL: none */
	struct block_plan plan;
	int32_t *cells; /* each row's block */
	struct comparison_design design;
	int partner, schedule;
};

/* One latency of all pairs, in the order of their starts. */
struct paired_values {
	struct placed_values sides[SIDES];
	struct samples sorted[SIDES], ratios, differences;
};

/* ---- which requests were run ---- */

static bool is_measured_row(const struct run_data *run, const struct row *row)
{
	return row->stage >= 0 && (size_t)row->stage < run->schedule.count && run->schedule.stages[row->stage].measured;
}

static void find_answers(struct reference_reader *x)
{
	for (int64_t i = 0; i < x->w->started_count; i++) {
		const struct row *row = x->w->started[i];
		const int64_t req = row_get(row, ROW_REQ);
		if (!is_measured_row(x->run, row) || req < 0 || req >= x->w->count)
			continue;
		const struct row **own = &x->answers[req];
		x->ref->run += *own == NULL;
		x->ref->repeats += *own != NULL;
		if (!*own || (row->ok && !(*own)->ok))
			*own = row;
	}
}

/* The request of the trace to which this row is the answer; NULL: the row does not count. */
static const struct workload_request *request_of(const struct reference_reader *x, const struct row *row)
{
	const struct workload_request *r = is_measured_row(x->run, row) ? workload_request_of(x->w, row) : NULL;
	return r && x->answers[r - x->w->requests] == row ? r : NULL;
}

static bool is_recorded(const struct workload_request *r)
{
	return r->recorded_ttft_ns != IPF_ABSENT || r->recorded_e2e_ns != IPF_ABSENT;
}

static void count_requests(struct reference_reader *x)
{
	struct reference *ref = x->ref;
	for (int64_t req = 0; req < x->w->count; req++) {
		const struct row *row = x->answers[req];
		const struct workload_request *r = &x->w->requests[req];
		if (!row)
			continue;
		ref->hang_ups[SIDE_BASE] += r->hang_up_ns != IPF_ABSENT;
		ref->hang_ups[SIDE_NEW] += row->error == VERDICT_HUNG_UP;
		if (!is_recorded(r))
			ref->unrecorded++;
		else if (row->ok)
			ref->compared++;
		else
			*(row->error == VERDICT_HUNG_UP ? &ref->hung_up : &ref->failed) += 1;
	}
}

/* ---- the load ---- */

struct moments {
	int64_t count, first_ns, last_ns;
};

static void add_moment(struct moments *m, int64_t t_ns)
{
	m->first_ns = m->count == 0 || t_ns < m->first_ns ? t_ns : m->first_ns;
	m->last_ns = m->count == 0 || t_ns > m->last_ns ? t_ns : m->last_ns;
	m->count++;
}

static double rate_of(const struct moments *m)
{
	return m->last_ns > m->first_ns ? (double)(m->count - 1) * 1e9 / ((double)m->last_ns - (double)m->first_ns) : NAN;
}

static void add_tokens(struct reference_load *load, int64_t recorded, int64_t replayed)
{
	if (recorded == IPF_ABSENT || replayed == IPF_ABSENT)
		return;
	load->requests++;
	load->recorded += (double)recorded;
	load->replayed += (double)replayed;
}

static void average(struct reference_load *load)
{
	load->recorded = load->requests ? load->recorded / (double)load->requests : NAN;
	load->replayed = load->requests ? load->replayed / (double)load->requests : NAN;
}

static int64_t input_tokens_of(const struct row *row)
{
	const int64_t usage = row_get(row, ROW_INPUT_USAGE);
	return usage != IPF_ABSENT ? usage : row_get(row, ROW_INPUT_TOKENS);
}

static void find_load(struct reference_reader *x)
{
	struct reference *ref = x->ref;
	struct moments recorded = {0}, replayed = {0};
	for (int64_t i = 0; i < x->w->started_count; i++) {
		const struct row *row = x->w->started[i];
		const struct workload_request *r = request_of(x, row);
		if (!r)
			continue;
		if (r->at_ns != IPF_ABSENT) {
			add_moment(&recorded, r->at_ns);
			add_moment(&replayed, workload_time(x->run, row, row->start_ns));
		}
		if (!row->ok)
			continue;
		add_tokens(&ref->input, r->input_tokens, input_tokens_of(row));
		add_tokens(&ref->output, r->output_tokens, row_get(row, ROW_OUTPUT_TOKENS));
	}
	ref->rate = (struct reference_load){recorded.count, rate_of(&recorded), rate_of(&replayed)};
	average(&ref->input);
	average(&ref->output);
}

/* ---- latencies ---- */

/* In milliseconds; NAN: not known. */
static double per_token_ms(int64_t ttft_ns, int64_t e2e_ns, int64_t tokens)
{
	if (ttft_ns == IPF_ABSENT || e2e_ns == IPF_ABSENT || tokens < 2 || e2e_ns < ttft_ns)
		return NAN;
	return (double)(e2e_ns - ttft_ns) / (double)(tokens - 1) / 1e6;
}

static double in_ms(int64_t ns)
{
	return ns == IPF_ABSENT ? NAN : (double)ns / 1e6;
}

static double recorded_ms(const struct workload_request *r, enum reference_latency latency)
{
	return latency == REFERENCE_TTFT  ? in_ms(r->recorded_ttft_ns)
	       : latency == REFERENCE_E2E ? in_ms(r->recorded_e2e_ns)
	                                  : per_token_ms(r->recorded_ttft_ns, r->recorded_e2e_ns, r->output_tokens);
}

static double replayed_ms(const struct row *row, enum reference_latency latency)
{
	const int64_t ttft_ns = row_get(row, METRIC_TTFT), e2e_ns = row_get(row, METRIC_E2E);
	return latency == REFERENCE_TTFT  ? in_ms(ttft_ns)
	       : latency == REFERENCE_E2E ? in_ms(e2e_ns)
	                                  : per_token_ms(ttft_ns, e2e_ns, row_get(row, ROW_OUTPUT_TOKENS));
}

static int pair_up(struct reference_reader *x, enum reference_latency latency, struct paired_values *v,
                   struct ipf_error *err)
{
	for (int64_t i = 0; i < x->w->started_count; i++) {
		const struct row *row = x->w->started[i];
		const struct workload_request *r = request_of(x, row);
		if (!r || !row->ok)
			continue;
		const double values[SIDES] = {recorded_ms(r, latency), replayed_ms(row, latency)};
		if (isnan(values[SIDE_BASE]) || isnan(values[SIDE_NEW]))
			continue;
		for (int s = 0; s < SIDES; s++) {
			if (placed_values_add(&v->sides[s], values[s], x->cells[row - x->run->rows], err) < 0)
				return -1;
			samples_add(&v->sorted[s], values[s]);
		}
		samples_add(&v->differences, values[SIDE_NEW] - values[SIDE_BASE]);
		if (values[SIDE_BASE] > 0)
			samples_add(&v->ratios, values[SIDE_NEW] / values[SIDE_BASE]);
	}
	return v->sorted[SIDE_BASE].failed || v->sorted[SIDE_NEW].failed || v->differences.failed || v->ratios.failed
	           ? ipf_error_memory(err)
	           : 0;
}

/* The values are in the order of time. */
static int median_of(const struct samples *values, struct reference_median *m, struct ipf_error *err)
{
	struct samples sorted = {0};
	*m = (struct reference_median){NAN, NAN, NAN};
	if (values->count == 0)
		return 0;
	double *copy = samples_reserve(&sorted, values->count);
	if (!copy)
		return ipf_error_memory(err);
	memcpy(copy, values->values, values->count * sizeof *copy);
	sorted.count = values->count;
	const struct percentile_limits limits = percentile_limits_of(values->values, values->count, &sorted, 50);
	*m = (struct reference_median){samples_percentile(&sorted, 50), limits.low, limits.high};
	samples_release(&sorted);
	return 0;
}

static int influence_of(struct influence *i, const struct reference_reader *x, struct paired_values *v, int side,
                        const struct compared_figure *figure, struct ipf_error *err)
{
	const struct run_blocks *blocks = &x->design.blocks[side];
	return figure->kind == FIGURE_MEAN
	           ? influence_of_mean(i, blocks, &v->sides[side], err)
	           : influence_of_percentile(i, blocks, &v->sides[side], &v->sorted[side], figure->percentile, err);
}

static int compare_figures(struct reference_reader *x, enum metric metric, struct paired_values *v,
                           struct ipf_error *err)
{
	struct reference *ref = x->ref;
	int bad = 0;
	for (size_t k = 0; k < COMPARED_FIGURES && bad == 0; k++) {
		const struct compared_figure *figure = &compared_figures[k];
		struct influence i[SIDES] = {0};
		if (figure->metric != metric || (figure->kind != FIGURE_MEAN && figure->kind != FIGURE_PERCENTILE) ||
		    ref->count == REFERENCE_FIGURES)
			continue;
		for (int s = 0; s < SIDES && bad == 0; s++)
			bad = influence_of(&i[s], x, v, s, figure, err);
		if (bad == 0)
			ref->figures[ref->count++] = (struct figure_difference){
				.figure = figure, .d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &x->design)};
		influence_release(&i[SIDE_BASE]);
		influence_release(&i[SIDE_NEW]);
	}
	return bad;
}

static int compare_latency(struct reference_reader *x, enum reference_latency latency, struct ipf_error *err)
{
	struct reference_pairs *pairs = &x->ref->latencies[latency];
	struct paired_values v = {0};
	int bad = pair_up(x, latency, &v, err);
	pairs->count = (int64_t)v.differences.count;
	if (bad == 0 && pairs->count > 0) {
		metric_summary_of_samples(&pairs->recorded, &v.sorted[SIDE_BASE], 0, 1, x->percentiles);
		metric_summary_of_samples(&pairs->replayed, &v.sorted[SIDE_NEW], 0, 1, x->percentiles);
		bad = median_of(&v.ratios, &pairs->ratio, err) < 0 ||
		              median_of(&v.differences, &pairs->difference_ms, err) < 0 ||
		              compare_figures(x, reference_metrics[latency], &v, err) < 0
		          ? -1
		          : 0;
	}
	for (int s = 0; s < SIDES; s++) {
		placed_values_release(&v.sides[s]);
		samples_release(&v.sorted[s]);
	}
	samples_release(&v.ratios);
	samples_release(&v.differences);
	return bad;
}

/* ---- all of it ---- */

/* Both sides are one run of the same blocks: a request counts once, whichever repeat answered it. */
static int plan_blocks(struct reference_reader *x, struct ipf_error *err)
{
	x->cells = malloc((size_t)(x->run->row_count + 1) * sizeof *x->cells);
	if (!x->cells)
		return ipf_error_memory(err);
	if (block_plan_make(&x->plan, x->run, err) < 0 || block_plan_place(&x->plan, x->run, x->cells, err) < 0)
		return -1;
	for (int s = 0; s < SIDES; s++) {
		x->design.blocks[s] = (struct run_blocks){.runs = 1, .stages = x->plan.stages, .begin = x->plan.begin};
		x->design.schedule[s] = &x->schedule;
	}
	x->design.partner = &x->partner;
	const int32_t each = (int32_t)x->plan.begin[x->plan.stages];
	for (int64_t i = 0; i < x->run->row_count; i++)
		x->cells[i] = x->cells[i] < 0 ? -1 : x->cells[i] % each;
	return 0;
}

int reference_find(struct reference *ref, const struct workload *w, const struct run_data *run,
                   const struct percentiles *percentiles, struct ipf_error *err)
{
	*ref = (struct reference){.given = w->with_latencies > 0, .of_trace = w->of_trace, .outcome = OUTCOME_UNJUDGED};
	struct reference_reader x = {.ref = ref, .w = w, .run = run, .percentiles = percentiles};
	if (!ref->given)
		return 0;
	x.answers = calloc((size_t)w->count + 1, sizeof *x.answers);
	int bad = x.answers ? plan_blocks(&x, err) : ipf_error_memory(err);
	if (bad == 0) {
		find_answers(&x);
		count_requests(&x);
		find_load(&x);
	}
	for (enum reference_latency l = 0; l < REFERENCE_LATENCIES && bad == 0; l++)
		bad = compare_latency(&x, l, err);
	if (bad == 0) {
		const struct difference_limits least = {.effect = DIFFERENCE_EFFECT};
		ref->outcome = figure_differences_outcome(ref->figures, ref->count,
		                                          figure_differences_judge(ref->figures, ref->count, &least));
	}
	block_plan_release(&x.plan);
	free(x.cells);
	free(x.answers);
	return bad;
}
