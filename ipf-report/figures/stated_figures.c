#include "figures/stated_figures.h"

#include "absent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void fill(double *figure, double stated)
{
	if (isnan(*figure))
		*figure = stated;
}

static double stated_at(const struct stated_summary *s, double p)
{
	for (int i = 0; i < s->count; i++)
		if (fabs(s->p[i] - p) < 1e-9)
			return s->value[i];
	return NAN;
}

static void fill_summary(struct metric_summary *to, const struct stated_summary *s, const struct percentiles *list)
{
	if (to->n != 0 || !s->has || s->n == 0)
		return;
	*to = (struct metric_summary){.n = s->n,
	                              .mean = s->mean,
	                              .std = s->std,
	                              .min = s->min,
	                              .max = s->max,
	                              .median = stated_at(s, 50),
	                              .p90 = stated_at(s, 90),
	                              .p99 = stated_at(s, 99),
	                              .n_eff = NAN,
	                              .low = NAN,
	                              .high = NAN};
	for (int i = 0; i < list->count; i++)
		to->at[i] = stated_at(s, list->p[i]);
}

static void fill_counts(struct figures *f, const struct stated_stage *s)
{
	if (figures_requests(f) > 0) {
		if (f->started == 0) /* the rows do not say when */
			f->started = figures_requests(f);
		return;
	}
	f->failures_unknown = s->failed == IPF_ABSENT;
	f->ok = s->ok == IPF_ABSENT ? 0 : s->ok;
	f->failed = s->failed == IPF_ABSENT ? 0 : s->failed;
	f->started = f->ok + f->failed;
	f->completed_own = NAN;
	f->input_total = isnan(s->input_total) ? 0 : s->input_total;
	f->output_total = isnan(s->output_total) ? 0 : s->output_total;
}

static void fill_stage(struct figures *f, const struct stated_stage *s, const struct percentiles *list)
{
	fill_counts(f, s);
	fill(&f->window_s, s->window_s);
	fill(&f->offered, s->offered);
	fill(&f->completed, s->completed);
	fill(&f->input_per_s, s->input_per_s);
	fill(&f->output_per_s, s->output_per_s);
	fill(&f->total_per_s, s->total_per_s);
	fill(&f->in_flight_mean, s->in_flight_mean);
	fill(&f->in_flight_max, s->in_flight_max);
	if (!isnan(f->completed))
		f->no_throughput = NULL;
	for (enum metric m = 0; m < METRIC_COUNT; m++)
		fill_summary(&f->start[m], &s->start[m], list);
	fill_summary(&f->due[METRIC_E2E], &s->due_e2e, list);
	fill_summary(&f->itl, &s->itl, list);
	fill_summary(&f->input, &s->input, list);
	fill_summary(&f->output, &s->output, list);
}

void stated_figures_apply(struct run_figures *figures, const struct stated *stated, const struct percentiles *list)
{
	size_t measured = 0, last = 0;
	bool counted = figures_requests(&figures->total) > 0;
	for (size_t i = 0; i < figures->count && i < stated->count; i++) {
		fill_stage(&figures->stages[i], &stated->stages[i], list);
		if (!figures->stages[i].measured)
			continue;
		measured++;
		last = i;
		if (counted) {
			figures->total.started = figures->total.started ? figures->total.started
			                                                : figures_requests(&figures->total);
			continue;
		}
		figures->total.ok += figures->stages[i].ok;
		figures->total.failed += figures->stages[i].failed;
		figures->total.started += figures->stages[i].started;
		figures->total.failures_unknown |= figures->stages[i].failures_unknown;
		figures->total.input_total += figures->stages[i].input_total;
		figures->total.output_total += figures->stages[i].output_total;
	}
	figures->total.no_throughput = NULL; /* each stage has its own */
	if (measured == 1)
		fill_stage(&figures->total, &stated->stages[last], list);
}

/* ---- objectives ---- */

/* An objective on a percentile needs that percentile: none is computed from others. */
static int no_percentile(const struct run_data *run, const struct objective *objective, const struct stated_summary *s,
                         struct ipf_error *err)
{
	char list[160] = "", name[24];
	for (int i = 0; i < s->count && strlen(list) + 40 < sizeof list; i++) {
		size_t len = strlen(list);
		snprintf(list + len, sizeof list - len, "%s%s", i ? ", " : "", percentile_name(s->p[i], name));
	}
	return ipf_error_at(err, IPF_INPUT, run->parts[0].name, 0, "%s: the file does not state %s of %s; it has %s",
	                    objective->text, percentile_name(objective->percentile, name), metrics[objective->metric].name,
	                    s->count ? list : "no percentiles of it");
}

/* How many of `n` requests took longer than a limit at least: more than the lowest percentile beyond it leaves. */
static int64_t beyond_at_least(const struct stated_summary *s, double limit_ms, int64_t n)
{
	double lowest = 100;
	for (int i = 0; i < s->count; i++)
		if (stated_at(s, s->p[i]) > limit_ms)
			lowest = fmin(lowest, s->p[i]);
	return (int64_t)floor((double)n * (1 - lowest / 100));
}

static int judge_stage(struct figures *f, const struct stated_stage *stage, int number, const struct run_data *run,
                       bool differ, struct ipf_error *err)
{
	const struct objective *objective = &run->slo->list[number];
	struct attainment *a = &f->objectives[number];
	bool due = objective->metric == METRIC_E2E && stage->due_e2e.has;
	const struct stated_summary *s = due ? &stage->due_e2e : &stage->start[objective->metric];
	if (isnan(objective->percentile) || !isnan(a->value_ms) || figures_requests(f) == 0)
		return 0;
	a->value_ms = stated_at(s, objective->percentile);
	a->requests = f->ok;
	const bool within = a->value_ms * 1e6 <= (double)objective->limit_ns;
	a->waited_ms = a->value_ms;
	a->beyond = within ? 0 : beyond_at_least(s, (double)objective->limit_ns / 1e6, f->ok);
	a->state = differ   ? objective_state(objective->percentile, a->requests, a->beyond, within)
	           : within ? OBJECTIVE_MET
	                    : OBJECTIVE_MISSED;
	return isnan(a->value_ms) ? no_percentile(run, objective, s, err) : 0;
}

int stated_figures_judge(struct run_figures *figures, const struct run_data *run, struct ipf_error *err)
{
	for (int k = 0; k < run->slo->count; k++) {
		struct attainment *total = &figures->total.objectives[k];
		bool known = !isnan(total->value_ms);
		for (size_t i = 0; i < figures->count && i < run->stated->count; i++) {
			struct figures *f = &figures->stages[i];
			if (judge_stage(f, &run->stated->stages[i], k, run, figures->loads_differ, err) < 0)
				return -1;
			if (known || !f->measured || isnan(f->objectives[k].value_ms))
				continue;
			/* a percentile of all is at most the largest of the stages */
			total->value_ms = fmax(total->value_ms, f->objectives[k].value_ms);
			total->state = figures->loads_differ                                         ? OBJECTIVE_UNJUDGED
			               : total->value_ms * 1e6 <= (double)run->slo->list[k].limit_ns ? OBJECTIVE_MET
			                                                                             : OBJECTIVE_MISSED;
		}
	}
	return 0;
}

static void add_percentiles(struct percentiles *list, const struct stated_summary *s)
{
	for (int i = 0; i < s->count; i++) {
		int at = 0;
		while (at < list->count && list->p[at] < s->p[i])
			at++;
		if (list->count == PERCENTILES_MOST || (at < list->count && list->p[at] <= s->p[i]))
			continue;
		for (int k = list->count++; k > at; k--)
			list->p[k] = list->p[k - 1];
		list->p[at] = s->p[i];
	}
}

void stated_percentiles(struct percentiles *list, const struct stated *stated)
{
	struct percentiles found = {0};
	for (size_t i = 0; i < stated->count; i++) {
		const struct stated_stage *s = &stated->stages[i];
		for (enum metric m = 0; m < METRIC_COUNT; m++)
			add_percentiles(&found, &s->start[m]);
		add_percentiles(&found, &s->itl);
		add_percentiles(&found, &s->input);
		add_percentiles(&found, &s->output);
	}
	if (found.count > 0)
		*list = found;
}
