#include "analysis/answer_trends.h"

#include "clock.h"
#include "stats/sort_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A canary under load, and the value by which it is put in order. */
struct point {
	double value;
	bool wrong;
};

struct work {
	const struct run_data *run;
	const struct server_figures *servers;
	struct point *points;
	double *starts, *ends, *places;
	size_t started, ended;
};

static bool is_alone(const struct run_data *run, const struct row *row)
{
	const char *kind = run->schedule.stages[row->stage].kind;
	return kind && strcmp(kind, "alone") == 0;
}

static bool is_judged(const struct row *row)
{
	return row->checked && row->check < RESULT_CHECK_REPEAT && row->judged < RESULT_UNDECIDED;
}

/* ---- values of a canary ---- */

static double time_of(const struct work *w, const struct row *row)
{
	(void)w;
	return row->start_ns == IPF_ABSENT ? NAN : (double)row->start_ns / NS_PER_S;
}

static size_t up_to(const double *sorted, size_t count, double value)
{
	size_t low = 0, high = count;
	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		if (sorted[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Itself not counted. */
static double in_flight_of(const struct work *w, const struct row *row)
{
	if (row->start_ns == IPF_ABSENT)
		return NAN;
	const double at = (double)row->start_ns;
	return (double)up_to(w->starts, w->started, at) - (double)up_to(w->ends, w->ended, at) - 1;
}

static double kv_cache_of(const struct work *w, const struct row *row)
{
	if (row->end_ns == IPF_ABSENT || w->servers->sources_count == 0)
		return NAN;
	const struct sample_range range = {row->end_ns - 1, row->end_ns};
	return sample_store_gauge_total(w->run->samples, w->servers->sources, w->servers->sources_count, "kv_cache_usage",
	                                &range, true)
	    .mean;
}

/* ---- groups ---- */

static int compare_points(const void *a, const void *b)
{
	const double x = ((const struct point *)a)->value, y = ((const struct point *)b)->value;
	return (x > y) - (x < y);
}

/* Equal values are in one group. */
static void group_points(const struct point *points, size_t count, struct answer_trend *trend)
{
	size_t from = 0;
	for (int g = 0; g < ANSWER_GROUPS && from < count; g++) {
		size_t to = g == ANSWER_GROUPS - 1 ? count : (count * (size_t)(g + 1) + ANSWER_GROUPS - 1) / ANSWER_GROUPS;
		while (to < count && to > 0 && points[to].value <= points[to - 1].value)
			to++;
		if (to <= from)
			continue;
		struct answer_group *group = &trend->groups[trend->count++];
		*group = (struct answer_group){.from = points[from].value, .to = points[to - 1].value};
		for (; from < to; from++) {
			group->canaries++;
			group->wrong += points[from].wrong;
		}
	}
	if (trend->count == 1)
		trend->count = 0;
}

static void find_trend(struct work *w, double (*value)(const struct work *, const struct row *),
                       struct answer_trend *trend)
{
	const struct run_data *run = w->run;
	size_t count = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!is_judged(row) || !run->schedule.stages[row->stage].measured)
			continue;
		const double v = value(w, row);
		if (!isnan(v))
			w->points[count++] = (struct point){v, row->judged == RESULT_WRONG};
	}
	qsort(w->points, count, sizeof *w->points, compare_points);
	group_points(w->points, count, trend);
}

/* ---- counts ---- */

static void count_kinds(struct answer_trends *a, const struct run_data *run)
{
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!is_judged(row))
			continue;
		struct answer_kind *kind = &a->kinds[row->check];
		const bool wrong = row->judged == RESULT_WRONG;
		if (is_alone(run, row)) {
			kind->alone++;
			kind->alone_wrong += wrong;
		} else if (run->schedule.stages[row->stage].measured) {
			kind->load++;
			kind->load_wrong += wrong;
		}
	}
}

static void count_load(struct answer_trends *a, const struct run_data *run)
{
	double checked = 0, all = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!run->schedule.stages[row->stage].measured)
			continue;
		const double tokens = (double)row_get_or_0(row, ROW_INPUT_TOKENS) +
		                      (double)row_get_or_0(row, ROW_OUTPUT_TOKENS);
		all += tokens;
		if (row->checked) {
			a->checked++;
			checked += tokens;
		}
	}
	a->load_share = all > 0 ? checked / all : NAN;
}

static void find_differences(struct work *w, struct answer_trends *a)
{
	const struct run_data *run = w->run;
	for (int column = ROW_DIFFERS_AT_TOKEN; column <= ROW_DIFFERS_AT_CHAR && !a->differing; column++) {
		size_t count = 0;
		for (int64_t i = 0; i < run->row_count; i++) {
			const struct row *row = &run->rows[i];
			const int64_t at = row_get(row, column);
			if (row->check == RESULT_CHECK_REPEAT && at != IPF_ABSENT && run->schedule.stages[row->stage].measured)
				w->places[count++] = (double)at;
		}
		if (!count)
			continue;
		sort_doubles(w->places, count);
		a->differing = (int64_t)count;
		a->differs_at_median = w->places[count / 2];
		a->in_tokens = column == ROW_DIFFERS_AT_TOKEN;
	}
}

static void sort_times(struct work *w)
{
	for (int64_t i = 0; i < w->run->row_count; i++) {
		const struct row *row = &w->run->rows[i];
		if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT)
			continue;
		w->starts[w->started++] = (double)row->start_ns;
		w->ends[w->ended++] = (double)row->end_ns;
	}
	sort_doubles(w->starts, w->started);
	sort_doubles(w->ends, w->ended);
}

int answer_trends_find(struct answer_trends *a, const struct run_data *run, const struct server_figures *servers,
                       struct ipf_error *err)
{
	*a = (struct answer_trends){.load_share = NAN, .differs_at_median = NAN};
	for (int64_t i = 0; i < run->row_count && !a->given; i++)
		a->given = run->rows[i].checked;
	if (!a->given)
		return 0;
	const size_t rows = (size_t)run->row_count;
	struct work w = {.run = run, .servers = servers};
	w.points = malloc(rows * sizeof *w.points);
	w.starts = malloc(3 * rows * sizeof *w.starts);
	if (w.points && w.starts) {
		w.ends = w.starts + rows;
		w.places = w.ends + rows;
		sort_times(&w);
		count_kinds(a, run);
		count_load(a, run);
		find_trend(&w, time_of, &a->by_time);
		find_trend(&w, in_flight_of, &a->by_in_flight);
		find_trend(&w, kv_cache_of, &a->by_kv_cache);
		find_differences(&w, a);
	}
	const bool failed = !w.points || !w.starts;
	free(w.points);
	free(w.starts);
	return failed ? ipf_error_memory(err) : 0;
}
