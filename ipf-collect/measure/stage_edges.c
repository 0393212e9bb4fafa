#include "measure/stage_edges.h"

#include "absent.h"
#include "json/jout.h"

#include <stdlib.h>

struct stage_edges {
	const struct schedule *schedule;
	struct stage_end {
		int64_t last_ns, requests; /* the ended stages'; last_ns: IPF_ABSENT */
	} * ends;                      /* one for each stage holding the schedule's time */
	struct edge {
		int64_t t_ns;
		size_t stage; /* whose begin or end it is; of several, the first */
	} * list;         /* in order, each time once */
	size_t count;
};

/* As ipf-fire does. With `overlap` it goes on after the last start, which is not known until its request ends. */
static bool holds_time(const struct schedule_stage *stage)
{
	return (stage->end_ns == IPF_ABSENT || stage->drain) && !stage->overlap;
}

/* Has every request of the stage ended? Those of a stage repeating its requests are not counted. */
static bool is_over(const struct schedule_stage *stage, const struct stage_end *end)
{
	return end->last_ns != IPF_ABSENT &&
	       (stage->cycle || stage->arrivals == IPF_ABSENT || stage->arrivals == 0 || end->requests >= stage->arrivals);
}

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;
	if (x->t_ns != y->t_ns)
		return x->t_ns < y->t_ns ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

static void find_times(struct stage_edges *e)
{
	int64_t shift_ns = 0;
	e->count = 0;
	for (size_t i = 0; i < e->schedule->count; i++) {
		const struct schedule_stage *stage = &e->schedule->stages[i];
		if (stage->begin_ns == IPF_ABSENT)
			continue;
		e->list[e->count++] = (struct edge){stage->begin_ns + shift_ns, i};
		if (stage->end_ns != IPF_ABSENT)
			e->list[e->count++] = (struct edge){stage->end_ns + shift_ns, i};
		const bool has_none = stage->arrivals == 0 && e->ends[i].last_ns == IPF_ABSENT; /* a rest */
		if (!holds_time(stage) || has_none)
			continue;
		if (!is_over(stage, &e->ends[i])) /* nor does a later one begin */
			break;
		if (stage->end_ns == IPF_ABSENT) /* its window includes that moment */
			e->list[e->count++] = (struct edge){e->ends[i].last_ns + 1, i + 1};
		const int64_t planned_ns = stage->end_ns == IPF_ABSENT ? stage->begin_ns : stage->end_ns;
		if (e->ends[i].last_ns > planned_ns + shift_ns)
			shift_ns = e->ends[i].last_ns - planned_ns;
	}
	qsort(e->list, e->count, sizeof *e->list, by_time);
	size_t kept = 0;
	for (size_t i = 0; i < e->count; i++)
		if (!kept || e->list[i].t_ns != e->list[kept - 1].t_ns)
			e->list[kept++] = e->list[i];
	e->count = kept;
}

struct stage_edges *stage_edges_new(const struct schedule *schedule)
{
	struct stage_edges *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	e->schedule = schedule;
	e->list = calloc(2 * schedule->count + 1, sizeof *e->list);
	e->ends = calloc(schedule->count + 1, sizeof *e->ends);
	if (!e->list || !e->ends) {
		stage_edges_free(e);
		return NULL;
	}
	for (size_t i = 0; i < schedule->count; i++)
		e->ends[i].last_ns = IPF_ABSENT;
	find_times(e);
	return e;
}

void stage_edges_free(struct stage_edges *e)
{
	if (!e)
		return;
	free(e->list);
	free(e->ends);
	free(e);
}

void stage_edges_add(struct stage_edges *e, const struct result *row)
{
	if (!e || row->end_ns == IPF_ABSENT || row->stage < 0 || (size_t)row->stage >= e->schedule->count)
		return;
	const struct schedule_stage *stage = &e->schedule->stages[row->stage];
	struct stage_end *end = &e->ends[row->stage];
	if (!holds_time(stage))
		return;
	end->requests++;
	end->last_ns = row->end_ns > end->last_ns ? row->end_ns : end->last_ns;
	if (is_over(stage, end))
		find_times(e);
}

/* No later stage begins while a request of one is in flight that holds the schedule's time. */
static size_t last_stage(const struct stage_edges *e, int64_t stage)
{
	const size_t own = stage < 0 ? 0 : (size_t)stage;
	return own < e->schedule->count && holds_time(&e->schedule->stages[own]) ? own : e->schedule->count;
}

void stage_edges_measure(const struct stage_edges *e, const struct response *r, const int64_t *tokens,
                         struct edge_lists *lists, struct result *row)
{
	struct jout times = {.out = &lists->times}, counts = {.out = &lists->tokens};
	int64_t before = 0;
	size_t event = 0;
	if (!e || r->events_count < 2 || row->output_tokens == IPF_ABSENT)
		return;
	const int64_t first_ns = r->events[0].t_ns, last_ns = r->events[r->events_count - 1].t_ns;
	buffer_clear(&lists->times);
	buffer_clear(&lists->tokens);
	jout_begin_list(&times);
	jout_begin_list(&counts);
	const size_t last = last_stage(e, row->stage);
	bool any = false;
	for (size_t i = 0; i < e->count && e->list[i].t_ns <= last_ns; i++) {
		if (e->list[i].t_ns <= first_ns || e->list[i].stage > last)
			continue;
		while (event < r->events_count && r->events[event].t_ns < e->list[i].t_ns)
			before += tokens[event++];
		jout_int(&times, e->list[i].t_ns);
		jout_int(&counts, before);
		any = true;
	}
	jout_end_list(&times);
	jout_end_list(&counts);
	if (any) {
		row->edge_ns = buffer_all(&lists->times);
		row->edge_tokens = buffer_all(&lists->tokens);
	}
}
