#include "figures/in_flight.h"

#include "absent.h"
#include "figures/measured_time.h"
#include "stats/sort_numbers.h"

#include <math.h>
#include <stdlib.h>

/* When requests started and ended, both in order. */
struct flights {
	int64_t *starts, *ends;
	size_t count;
};

/* Which rows count: those of a member of a grouping, and of a part; -1: all. */
struct row_filter {
	enum grouping by;
	int32_t member;
	int part;
};

/* Which time counts. */
struct time_choice {
	int part;
	int32_t stage;
	bool drain;
};

static bool counts(const struct row *row, struct row_filter filter)
{
	return (filter.member < 0 || row->group[filter.by] == filter.member) &&
	       (filter.part < 0 || row->part == filter.part) && row->start_ns != IPF_ABSENT && row->end_ns != IPF_ABSENT &&
	       row->end_ns > row->start_ns;
}

static void collect(const struct run_data *run, struct row_filter filter, struct flights *f)
{
	f->count = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!counts(row, filter))
			continue;
		f->starts[f->count] = row->start_ns;
		f->ends[f->count++] = row->end_ns;
	}
	sort_integers(f->starts, f->count);
	sort_integers(f->ends, f->count);
}

/* At the same time ends come before starts, so such requests do not overlap. */
static void sweep(const struct flights *f, int64_t begin, int64_t end, struct in_flight *load)
{
	int64_t level = 0, since = begin;
	for (size_t started = 0, ended = 0; ended < f->count;) { /* the last change is an end */
		bool ends = started == f->count || f->ends[ended] <= f->starts[started];
		int64_t at = ends ? f->ends[ended] : f->starts[started];
		if (at >= end)
			break;
		if (at > since) {
			load->integral += (double)level * (double)(at - since);
			/* a level counts if it lasts, not if it only exists between two changes at one instant */
			load->most = fmax(load->most, (double)level);
			since = at;
		}
		level += ends ? -1 : 1;
		started += !ends;
		ended += ends;
	}
	if (end > since) {
		load->integral += (double)level * (double)(end - since);
		load->most = fmax(load->most, (double)level);
	}
}

/* The sum of end - start of the requests ending in the window, of any stage: the same requests as in the integral.
 */
static double busy(const struct run_data *run, struct row_filter filter, int64_t begin, int64_t end)
{
	double sum = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (counts(row, filter) && row->end_ns > begin && row->end_ns <= end)
			sum += (double)(row->end_ns - row->start_ns);
	}
	return sum;
}

/* Adds the time a stage covers; -1: all measured stages. */
static int measure(struct in_flight *load, const struct run_data *run, const struct flights *all,
                   struct row_filter filter, const struct time_choice *time, struct ipf_error *err)
{
	struct measured_time covered;
	if (measured_time_find(&covered, run, time->part, time->stage, time->drain, err) < 0)
		return -1;
	for (size_t i = 0; i < covered.count; i++) {
		sweep(all, covered.spans[i].begin_ns, covered.spans[i].end_ns, load);
		load->busy += busy(run, filter, covered.spans[i].begin_ns, covered.spans[i].end_ns);
	}
	measured_time_release(&covered);
	return 0;
}

int in_flight_measure(const struct run_data *run, enum grouping by, int32_t member, bool drain,
                      struct in_flight *flights, struct ipf_error *err)
{
	int64_t *times = malloc((size_t)(2 * run->row_count + 1) * sizeof *times);
	if (!times)
		return ipf_error_memory(err);
	struct flights all = {.starts = times, .ends = times + run->row_count};
	int bad = 0;
	for (size_t s = 0; s <= run->schedule.count; s++)
		flights[s] = (struct in_flight){0};
	for (int i = 0; i < (run->shards ? 1 : run->part_count) && bad == 0; i++) {
		struct row_filter filter = {.by = by, .member = member, .part = run->shards ? -1 : i};
		struct time_choice time = {.part = i, .drain = drain};
		collect(run, filter, &all);
		for (size_t s = 0; s <= run->schedule.count && bad == 0; s++) {
			time.stage = s < run->schedule.count ? (int32_t)s : -1;
			bad = measure(&flights[s], run, &all, filter, &time, err);
		}
	}
	free(times);
	return bad;
}
