#include "analysis/repeats.h"

#include "figures/completions.h"
#include "figures/measured_time.h"
#include "stats/samples.h"
#include "stats/student.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* for_rows(run, row) { … }: of measured stages */
#define for_rows(run_, row_)                                                                                           \
	for (const struct row *row_ = (run_)->rows, *end_ = row_ ? row_ + (run_)->row_count : NULL; row_ < end_; row_++)   \
		if ((run_)->schedule.stages[row_->stage].measured)

/* ---- figures of each run ---- */

struct work {
	const struct run_data *run;
	const struct figure_options *options;
	int runs;
	struct samples *latencies; /* each run's, for one metric */
	double *over, *under;      /* each run's */
	struct edge_rules *rules;
	struct completions *completed; /* each run's */
	int64_t *measured_ns;          /* the same: its windows */
};

/* In ms, from due if there is one. */
static void read_latencies(struct work *w, enum metric metric)
{
	for (int r = 0; r < w->runs; r++)
		samples_clear(&w->latencies[r]);
	for_rows(w->run, row)
	{
		if (!run_data_is_steady(w->run, row))
			continue;
		const int64_t value = row_get(row, (int)metric), lag = row_get(row, METRIC_LAG);
		if (row->ok && value != IPF_ABSENT)
			samples_add(&w->latencies[row->part],
			            (double)(metrics[metric].from_due && lag != IPF_ABSENT ? value + lag : value) / 1e6);
	}
}

/* The gaps of a request: as many as its mean gap is the mean of. */
static void add_gaps(struct work *w, const struct row *row)
{
	const int64_t mean = row_get(row, METRIC_ITL_MEAN), e2e = row_get(row, METRIC_E2E),
				  ttft = row_get(row, METRIC_TTFT);
	if (!row->ok || mean == IPF_ABSENT || mean <= 0 || e2e == IPF_ABSENT || ttft == IPF_ABSENT || e2e <= ttft)
		return;
	const double gaps = strcmp(run_data_itl(w->run, 0), "request") == 0 ? 1 : (double)(e2e - ttft) / (double)mean;
	w->over[row->part] += gaps * (double)mean / 1e6;
	w->under[row->part] += gaps;
}

static void add_cached(struct work *w, const struct row *row)
{
	const int64_t cached = row_get(row, ROW_CACHED_TOKENS), input = row_get(row, ROW_INPUT_TOKENS);
	if (!row->ok || cached == IPF_ABSENT || input == IPF_ABSENT)
		return;
	w->over[row->part] += (double)cached;
	w->under[row->part] += (double)input;
}

static void add_row(struct work *w, enum figure_kind kind, const struct row *row)
{
	const bool left_out = !row->ok && row->error == VERDICT_HUNG_UP;
	if (kind == FIGURE_GAPS_MEAN) {
		add_gaps(w, row);
	} else if (kind == FIGURE_VALID) {
		w->over[row->part] += row->ok && row->output_check == OUTPUT_VALID;
		w->under[row->part] += row->ok && row->output_check < OUTPUT_UNDECIDED;
	} else if (kind == FIGURE_CACHED) {
		add_cached(w, row);
	} else {
		w->over[row->part] += !row->ok && !left_out;
		w->under[row->part] += !left_out;
	}
}

/* A run's completions in its windows, whichever stage started them, as its report alone has them. */
static int complete(struct work *w, int run, struct ipf_error *err)
{
	struct counted_rows of = {w->run, run, -1};
	struct completions own = {0}, *sum = &w->completed[run];
	struct measured_time time;
	int64_t windows_ns = 0;
	if (measured_time_find(&time, w->run, run, -1, w->options->window == WINDOW_DRAIN, err) < 0)
		return -1;
	w->measured_ns[run] = measured_time_ns(&time, INT64_MIN, INT64_MAX);
	measured_time_release(&time);
	for (size_t s = 0; s < w->run->schedule.count; s++) {
		const struct edge_rule *rule = edge_rule_of(w->rules, run, (int32_t)s);
		if (!w->run->schedule.stages[s].measured || rule->begin_ns == IPF_ABSENT)
			continue;
		const struct stage_window *window = &w->run->parts[run].windows[s];
		windows_ns += (w->options->window == WINDOW_DRAIN ? window->drain_ns : window->end_ns) - window->begin_ns;
		of.stage = (int32_t)s;
		completions_count(sum, &own, &of, w->rules);
	}
	if (windows_ns == w->measured_ns[run])
		return 0;
	of.stage = -1;
	*sum = (struct completions){0};
	return completions_count_all(sum, &of, w->rules, err);
}

/* False: it is not known. */
static bool add_completions(struct work *w, enum figure_kind kind)
{
	bool known = false;
	for (int r = 0; r < w->runs; r++) {
		const struct completions *c = &w->completed[r];
		w->under[r] = (double)w->measured_ns[r] / 1e9;
		w->over[r] = kind == FIGURE_REQUESTS ? c->ok
		             : kind == FIGURE_OUTPUT ? c->output_tokens
		             : kind == FIGURE_INPUTS ? c->inputs
		                                     : c->good;
		known |= kind == FIGURE_REQUESTS ? c->ok > 0 : kind == FIGURE_OUTPUT ? c->has_output : c->has_inputs;
	}
	for (int64_t i = 0; kind == FIGURE_GOOD && i < w->run->row_count && !known; i++) {
		const struct row *row = &w->run->rows[i];
		known = w->run->schedule.stages[row->stage].measured &&
		        (row->goodness == SLO_GOOD || row->goodness == SLO_MISSED);
	}
	return known;
}

static void read_sums(struct work *w, enum figure_kind kind, double *of_runs)
{
	const bool rate = kind == FIGURE_REQUESTS || kind == FIGURE_OUTPUT || kind == FIGURE_INPUTS || kind == FIGURE_GOOD;
	bool known = !rate;
	memset(w->over, 0, (size_t)w->runs * sizeof *w->over);
	memset(w->under, 0, (size_t)w->runs * sizeof *w->under);
	if (rate)
		known = add_completions(w, kind);
	else
		for_rows(w->run, row) add_row(w, kind, row);
	/* the windows, not the rows, have the completions within a steady part */
	known &= !rate || w->options->window != WINDOW_STEADY;
	for (int r = 0; r < w->runs; r++)
		of_runs[r] = known && w->under[r] > 0 ? w->over[r] / w->under[r] : NAN;
}

/* ---- summaries ---- */

double repeats_critical(int n, double level)
{
	const double t = student_critical(level / n, n - 2);
	return (n - 1) / sqrt(n) * sqrt(t * t / (n - 2 + t * t));
}

static void summarise(struct repeated_figure *f, int runs)
{
	double sum = 0, squares = 0;
	f->least = f->most = f->outlier = -1;
	f->std = f->low = f->high = NAN;
	for (int r = 0; r < runs; r++) {
		const double value = f->of_runs[r];
		if (isnan(value))
			continue;
		sum += value;
		f->runs++;
		f->least = f->least < 0 || value < f->of_runs[f->least] ? r : f->least;
		f->most = f->most < 0 || value > f->of_runs[f->most] ? r : f->most;
	}
	f->mean = sum / f->runs;
	if (f->runs < 2)
		return;
	for (int r = 0; r < runs; r++)
		if (!isnan(f->of_runs[r]))
			squares += (f->of_runs[r] - f->mean) * (f->of_runs[r] - f->mean);
	f->std = sqrt(squares / (f->runs - 1));
	const double half = student_critical(0.05, f->runs - 1) * f->std / sqrt(f->runs);
	f->low = fmax(0, f->mean - half);
	f->high = f->unit[0] ? f->mean + half : fmin(1, f->mean + half);
}

static void find_outlier(struct repeated_figure *f, size_t family)
{
	/* equal but for rounding is not far */
	if (f->runs < REPEATS_FOR_OUTLIERS || !(f->std > 1e-9 * f->mean))
		return;
	const double below = f->mean - f->of_runs[f->least], above = f->of_runs[f->most] - f->mean;
	if (fmax(below, above) / f->std > repeats_critical(f->runs, REPEATS_OUTLIER / (double)family))
		f->outlier = below > above ? f->least : f->most;
}

static bool same_requests(const struct run_data *run)
{
	for (int i = 1; i < run->part_count; i++)
		for (size_t k = 0; k < 2; k++) {
			static const char *const members[] = {"seed", "trace"};
			json_t *a = json_object_get(provenance_find(run->parts[0].header, "schedule"), members[k]),
				   *b = json_object_get(provenance_find(run->parts[i].header, "schedule"), members[k]);
			if (!a || !b || !json_equal(a, b))
				return false;
		}
	return true;
}

static bool has_repeats(const struct run_data *run)
{
	for (int i = 1; i < run->part_count; i++)
		if (run_data_find_duplicate(run, i))
			return false;
	return run->part_count > 1 && !run->shards && run->row_count > 0;
}

static bool of_requests(const struct compared_figure *spec)
{
	return spec->kind == FIGURE_MEAN || spec->kind == FIGURE_PERCENTILE;
}

static int add_figure(struct repeats *r, struct work *w, const struct compared_figure *spec, struct ipf_error *err)
{
	struct repeated_figure *f = &r->figures[r->count];
	*f = (struct repeated_figure){.name = spec->name,
	                              .label = spec->label,
	                              .unit = spec->unit,
	                              .of_runs = malloc((size_t)w->runs * sizeof *f->of_runs)};
	if (!f->of_runs)
		return ipf_error_memory(err);
	if (!of_requests(spec))
		read_sums(w, spec->kind, f->of_runs);
	for (int k = 0; of_requests(spec) && k < w->runs; k++)
		f->of_runs[k] = spec->kind == FIGURE_MEAN ? samples_mean(&w->latencies[k])
		                                          : samples_percentile(&w->latencies[k], spec->percentile);
	summarise(f, w->runs);
	if (f->runs >= 2)
		r->count++;
	else
		free(f->of_runs);
	return 0;
}

int repeats_build(struct repeats *r, const struct run_data *run, const struct figure_options *options,
                  struct ipf_error *err)
{
	struct work w = {.run = run, .options = options, .runs = run->part_count};
	enum metric have = METRIC_COUNT;
	int bad = 0;
	*r = (struct repeats){.runs = run->part_count, .one_schedule = same_requests(run)};
	if (!has_repeats(run))
		return 0;
	w.latencies = calloc((size_t)w.runs, sizeof *w.latencies);
	w.over = calloc(2 * (size_t)w.runs, sizeof *w.over);
	w.under = w.over ? w.over + w.runs : NULL;
	w.rules = edge_rules_new(run, options->window == WINDOW_DRAIN);
	w.completed = calloc((size_t)w.runs, sizeof *w.completed);
	w.measured_ns = calloc((size_t)w.runs, sizeof *w.measured_ns);
	if (!w.latencies || !w.over || !w.rules || !w.completed || !w.measured_ns)
		bad = ipf_error_memory(err);
	for (int k = 0; k < w.runs && bad == 0; k++)
		bad = complete(&w, k, err);
	for (size_t i = 0; i < COMPARED_FIGURES && bad == 0; i++) {
		const struct compared_figure *spec = &compared_figures[i];
		if (!spec->repeated)
			continue;
		if (of_requests(spec) && spec->metric != have)
			read_latencies(&w, spec->metric);
		have = spec->metric;
		bad = add_figure(r, &w, spec, err);
	}
	for (size_t i = 0; i < r->count; i++)
		find_outlier(&r->figures[i], r->count);
	for (int k = 0; w.latencies && k < w.runs; k++) {
		if (bad == 0 && w.latencies[k].failed)
			bad = ipf_error_memory(err);
		samples_release(&w.latencies[k]);
	}
	free(w.latencies);
	free(w.over);
	edge_rules_free(w.rules);
	free(w.completed);
	free(w.measured_ns);
	return bad;
}

void repeats_release(struct repeats *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->figures[i].of_runs);
	*r = (struct repeats){0};
}
