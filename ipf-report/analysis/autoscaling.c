#include "analysis/autoscaling.h"

#include "absent.h"
#include "objective/objective.h"
#include "cli/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS 1e9
/* The time of an event is searched for new replicas in so many steps, of a second at least. */
#define REPLICA_STEPS 2000

/* Requests of measured stages in the order of when they were due. */
struct due_rows {
	const struct run_data *run;
	const struct server_figures *servers;
	const struct row **rows;
	int64_t count;
	int64_t window_ns;
};

/* The requests due in a range of time. */
struct judged {
	int64_t requests, judged, missed, missed_tokens;
	bool met; /* meaningless without judged requests */
};

static int by_due(const void *a, const void *b)
{
	const struct row *x = *(const struct row *const *)a, *y = *(const struct row *const *)b;
	if (x->due_ns != y->due_ns)
		return x->due_ns < y->due_ns ? -1 : 1;
	return (x->n > y->n) - (x->n < y->n);
}

/* The first request due at that time or later. */
static int64_t first_due(const struct due_rows *due, int64_t at_ns)
{
	int64_t low = 0, high = due->count;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (due->rows[middle]->due_ns < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Does a request miss an objective? -1: it has none, or cannot be judged. */
static int misses(const struct slo *slo, const struct row *row)
{
	int answer = row->goodness == SLO_MISSED ? 1 : row->goodness == SLO_GOOD ? 0 : -1;
	if (row->error == VERDICT_HUNG_UP || row->checked)
		return -1;
	for (int i = 0; i < slo->count; i++) {
		if (isnan(slo->list[i].percentile) || (row->marks.unmeasured >> i) & 1)
			continue;
		int missed = !((row->marks.met >> i) & 1);
		answer = missed > answer ? missed : answer;
	}
	return answer;
}

static struct judged judge(const struct due_rows *due, int64_t begin_ns, int64_t end_ns)
{
	const struct slo *slo = due->run->slo;
	struct judged j = {.met = true};
	int64_t of = 0, good = 0, with[OBJECTIVES_MOST] = {0}, met[OBJECTIVES_MOST] = {0};
	for (int64_t i = first_due(due, begin_ns); i < due->count && due->rows[i]->due_ns < end_ns; i++) {
		const struct row *row = due->rows[i];
		int missed = misses(slo, row);
		j.requests++;
		if (missed < 0)
			continue;
		j.judged++;
		j.missed += missed;
		j.missed_tokens += missed && row_get(row, ROW_OUTPUT_TOKENS) != IPF_ABSENT ? row_get(row, ROW_OUTPUT_TOKENS)
		                                                                           : 0;
		of += row->goodness == SLO_GOOD || row->goodness == SLO_MISSED;
		good += row->goodness == SLO_GOOD;
		for (int k = 0; k < slo->count; k++) {
			with[k] += !((row->marks.unmeasured >> k) & 1);
			met[k] += (row->marks.met >> k) & 1;
		}
	}
	j.met = of == 0 || (double)good * 100 >= OBJECTIVE_EACH * (double)of;
	for (int k = 0; k < slo->count; k++)
		j.met &= isnan(slo->list[k].percentile) || (double)met[k] >= slo->list[k].percentile / 100 * (double)with[k];
	return j;
}

static double replicas_in(const struct due_rows *due, int64_t begin_ns, int64_t end_ns, bool most)
{
	const struct sample_range range = {begin_ns, end_ns};
	if (due->servers->count == 0)
		return NAN;
	struct gauge_figures g = sample_store_gauge_total(due->run->samples, due->servers->sources,
	                                                  due->servers->sources_count, "replicas_ready", &range, false);
	return most ? g.max : g.mean;
}

/* ---- events ---- */

static struct stage_window window_of(const struct run_data *run, size_t stage)
{
	return run_data_window(run, (int32_t)stage);
}

static void add_event(struct autoscaling *a, size_t stage, int64_t begin_ns, bool ramp)
{
	if (a->count < AUTOSCALING_EVENTS_MOST)
		a->events[a->count++] = (struct autoscaling_event){.stage = (int32_t)stage, .begin_ns = begin_ns, .ramp = ramp};
}

/* A duration of the specification of a stage, such as every=1m; 0: it has none. */
static int64_t key_ns(const char *spec, const char *key)
{
	struct ipf_error ignored = {0};
	size_t len = strlen(key);
	for (const char *at = strpbrk(spec, ":,"); at; at = strpbrk(at + 1, ":,")) {
		char value[32];
		int64_t ns;
		if (strncmp(at + 1, key, len) != 0 || at[1 + len] != '=')
			continue;
		size_t size = strcspn(at + 2 + len, ",");
		if (size >= sizeof value)
			return 0;
		memcpy(value, at + 2 + len, size);
		value[size] = 0;
		return parse_duration(value, &ns, &ignored) < 0 ? 0 : ns;
	}
	return 0;
}

/* The spikes of a stage of that kind: each at the end of a period. */
static void add_spikes(struct autoscaling *a, const struct run_data *run, size_t stage)
{
	const char *spec = run->schedule.stages[stage].spec;
	struct stage_window w = window_of(run, stage);
	int64_t every = key_ns(spec, "every"), width = key_ns(spec, "width");
	if (every <= 0 || width <= 0 || width >= every)
		return;
	for (int64_t at = w.begin_ns + every - width; at < w.end_ns && a->count < AUTOSCALING_EVENTS_MOST; at += every)
		add_event(a, stage, at, false);
}

/* The planned rate of a measured open-loop stage of constant rate; NAN. */
static double constant_rate(const struct run_data *run, size_t stage)
{
	const struct schedule_stage *s = &run->schedule.stages[stage];
	bool varies = strcmp(s->kind, "ramp") == 0 || strcmp(s->kind, "spike") == 0;
	return s->measured && !s->closed && !varies ? s->rate : NAN;
}

/* Do more of a stage's requests start in its second half than in its first? */
static bool rises(const struct run_data *run, size_t stage)
{
	struct stage_window w = window_of(run, stage);
	int64_t count, first = 0;
	const struct row *rows = run_data_stage_rows(run, (int32_t)stage, &count);
	while (first < count && rows[first].start_ns < w.begin_ns + (w.end_ns - w.begin_ns) / 2)
		first++;
	return count > 2 * first;
}

/* Is the stage a spike between two others? */
static bool stands_out(const struct run_data *run, const size_t *stages, size_t count, size_t i)
{
	if (i == 0 || i + 1 >= count)
		return false;
	double before = constant_rate(run, stages[i - 1]), rate = constant_rate(run, stages[i]),
		   after = constant_rate(run, stages[i + 1]);
	return rate >= AUTOSCALING_RISE * before && rate >= AUTOSCALING_RISE * after;
}

static int find_events(struct autoscaling *a, const struct run_data *run)
{
	size_t *stages = malloc((run->schedule.count + 1) * sizeof *stages), count = 0;
	if (!stages)
		return -1;
	for (size_t i = 0; i < run->schedule.count; i++)
		if (run->schedule.stages[i].measured && window_of(run, i).begin_ns != IPF_ABSENT)
			stages[count++] = i;
	for (size_t k = 0; k < count; k++) {
		const char *kind = run->schedule.stages[stages[k]].kind;
		if (strcmp(kind, "spike") == 0)
			add_spikes(a, run, stages[k]);
		else if (stands_out(run, stages, count, k) ||
		         (a->objectives && strcmp(kind, "ramp") == 0 && rises(run, stages[k])))
			add_event(a, stages[k], window_of(run, stages[k]).begin_ns, strcmp(kind, "ramp") == 0);
	}
	free(stages);
	return 0;
}

/* ---- the server's reaction ---- */

/* When the objectives were missed first, and met again. */
static void find_times(struct autoscaling_event *e, const struct due_rows *due)
{
	int64_t missed_at = IPF_ABSENT, met_from = IPF_ABSENT;
	int steady = 0;
	for (int64_t t = e->begin_ns; t < e->end_ns; t += due->window_ns) {
		struct judged j = judge(due, t, t + due->window_ns < e->end_ns ? t + due->window_ns : e->end_ns);
		if (j.judged == 0)
			continue;
		if (missed_at == IPF_ABSENT && !j.met) {
			int64_t i = first_due(due, t);
			while (i < due->count && misses(due->run->slo, due->rows[i]) != 1)
				i++;
			missed_at = i < due->count ? due->rows[i]->due_ns : t;
		} else if (missed_at != IPF_ABSENT && j.met) {
			met_from = steady == 0 ? t : met_from;
			if (++steady == AUTOSCALING_STEADY)
				break;
		} else {
			steady = 0;
		}
	}
	e->missed_after_s = missed_at == IPF_ABSENT ? NAN : (double)(missed_at - e->begin_ns) / NS;
	e->met_after_s = steady == AUTOSCALING_STEADY ? (double)(met_from - e->begin_ns) / NS : NAN;
}

/* The time of several windows, for rates that chance does not decide. */
static int64_t long_ns(const struct due_rows *due)
{
	return AUTOSCALING_STEADY * due->window_ns;
}

static void find_rates(struct autoscaling_event *e, const struct due_rows *due)
{
	int64_t length = long_ns(due);
	int64_t before = first_due(due, e->begin_ns) - first_due(due, e->begin_ns - length);
	e->rate_before = (double)before * NS / (double)length;
	e->rate_peak = NAN;
	for (int64_t t = e->begin_ns; t < e->end_ns; t += due->window_ns) {
		double rate = (double)(first_due(due, t + length) - first_due(due, t)) * NS / (double)length;
		e->rate_peak = isnan(e->rate_peak) || rate > e->rate_peak ? rate : e->rate_peak;
	}
}

static void find_replicas(struct autoscaling_event *e, const struct due_rows *due)
{
	e->replicas_before = replicas_in(due, e->begin_ns - due->window_ns, e->begin_ns, false);
	if (isnan(e->replicas_before)) /* the run begins with it */
		e->replicas_before = replicas_in(due, e->begin_ns, e->begin_ns + due->window_ns, false);
	e->replicas_most = replicas_in(due, e->begin_ns, e->end_ns, true);
	e->added_after_s = NAN;
	int64_t step = (e->end_ns - e->begin_ns) / REPLICA_STEPS;
	step = step > (int64_t)NS ? step : (int64_t)NS;
	for (int64_t t = e->begin_ns; t < e->end_ns && isnan(e->added_after_s); t += step)
		if (replicas_in(due, t, t + step, true) > e->replicas_before + 0.5)
			e->added_after_s = (double)(t - e->begin_ns) / NS;
}

/* The highest rate per replica over several windows at which the objectives were met in all of them; NAN. */
static double rate_per_replica(const struct due_rows *due)
{
	double most = NAN;
	int64_t length = long_ns(due), last = due->rows[due->count - 1]->due_ns;
	for (int64_t t = due->rows[0]->due_ns; t + length <= last; t += due->window_ns) {
		struct judged j = judge(due, t, t + length);
		double replicas = replicas_in(due, t, t + length, true);
		if (j.judged == 0 || !j.met || !(replicas > 0))
			continue;
		double rate = (double)j.requests * NS / (double)length / replicas;
		most = isnan(most) || rate > most ? rate : most;
	}
	return most;
}

static void find_enough(struct autoscaling *a, const struct due_rows *due)
{
	bool known = false;
	for (int i = 0; i < a->count; i++)
		known |= !isnan(a->events[i].replicas_most);
	a->rate_per_replica = known && a->objectives ? rate_per_replica(due) : NAN;
	if (!a->objectives)
		a->no_enough = due->run->slo->count > 0 ? "no request has the figures of the objectives"
		                                        : "no objectives are given (--slo)";
	else if (!known)
		a->no_enough = due->run->parts[0].predicted
		                   ? "the number of replicas was fixed (ipf-twin predict --replicas MIN:MAX)"
		                   : "no samples of the replicas (ipf-collect --scrape, --prometheus)";
	else if (isnan(a->rate_per_replica))
		a->no_enough = "the objectives were met at no rate";
	for (int i = 0; i < a->count; i++)
		a->events[i].replicas_enough = ceil(a->events[i].rate_peak / a->rate_per_replica - 1e-9);
}

/* -1: out of memory. */
static int collect(struct due_rows *due)
{
	const struct run_data *run = due->run;
	due->rows = malloc((size_t)(run->row_count + 1) * sizeof *due->rows);
	if (!due->rows)
		return -1;
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->rows[i].due_ns != IPF_ABSENT && run->schedule.stages[run->rows[i].stage].measured)
			due->rows[due->count++] = &run->rows[i];
	qsort(due->rows, (size_t)due->count, sizeof *due->rows, by_due);
	if (due->count > 0) {
		double span_s = (double)(due->rows[due->count - 1]->due_ns - due->rows[0]->due_ns) / NS;
		double window_s = ceil(AUTOSCALING_REQUESTS * span_s / (double)due->count);
		due->window_ns = (int64_t)(fmin(fmax(window_s, 1), 60) * NS);
	}
	return 0;
}

int autoscaling_find(struct autoscaling *a, const struct run_data *run, const struct server_figures *servers,
                     struct ipf_error *err)
{
	struct due_rows due = {.run = run, .servers = servers};
	*a = (struct autoscaling){.window_s = NAN, .rate_per_replica = NAN};
	if (run->part_count > 1 && !run->shards)
		return 0;
	for (int64_t i = 0; i < run->row_count && !a->objectives; i++)
		a->objectives = misses(run->slo, &run->rows[i]) >= 0;
	if (find_events(a, run) < 0)
		return ipf_error_memory(err);
	if (a->count == 0)
		return 0;
	if (collect(&due) < 0)
		return ipf_error_memory(err);
	a->count = due.count == 0 ? 0 : a->count;
	a->window_s = (double)due.window_ns / NS;
	for (int i = 0; i < a->count; i++) {
		struct autoscaling_event *e = &a->events[i];
		e->end_ns = i + 1 < a->count ? e[1].begin_ns : due.rows[due.count - 1]->due_ns + 1;
		struct judged all = judge(&due, e->begin_ns, e->end_ns),
					  before = judge(&due, e->begin_ns - due.window_ns, e->begin_ns);
		e->requests = all.requests;
		e->missed = all.missed;
		e->missed_tokens = all.missed_tokens;
		e->missed_before = before.judged > 0 && !before.met;
		find_rates(e, &due);
		find_times(e, &due);
		find_replicas(e, &due);
	}
	if (a->count > 0)
		find_enough(a, &due);
	free(due.rows);
	return 0;
}
