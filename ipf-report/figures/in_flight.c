#include "absent.h"
#include "figures/in_flight.h"

#include <math.h>
#include <stdlib.h>

struct change {
	int64_t at_ns;
	int64_t by; /* +1, -1 */
};

/* Which rows count: those of a member of a grouping, and of a part; -1: all. */
struct row_filter {
	enum grouping by;
	int32_t member;
	int part;
};

/* By time; at the same time ends come before starts, so that such requests do not overlap. */
static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static bool counts(const struct row *row, struct row_filter filter)
{
	return (filter.member < 0 || row->group[filter.by] == filter.member) &&
	       (filter.part < 0 || row->part == filter.part) && row->start_ns != IPF_ABSENT && row->end_ns != IPF_ABSENT &&
	       row->end_ns > row->start_ns;
}

static size_t collect(const struct run_data *run, struct row_filter filter, struct change *changes)
{
	size_t count = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if (!counts(row, filter))
			continue;
		changes[count++] = (struct change){row->start_ns, 1};
		changes[count++] = (struct change){row->end_ns, -1};
	}
	qsort(changes, count, sizeof *changes, by_time);
	return count;
}

static void sweep(const struct change *changes, size_t count, int64_t begin, int64_t end, struct in_flight *load)
{
	int64_t level = 0, since = begin;
	for (size_t i = 0; i < count && changes[i].at_ns < end; i++) {
		int64_t at = changes[i].at_ns;
		if (at > since) {
			load->integral += (double)level * (double)(at - since);
			/* a level counts if it lasts, not if it only exists between two changes at one instant */
			load->most = fmax(load->most, (double)level);
			since = at;
		}
		level += changes[i].by;
	}
	if (end > since) {
		load->integral += (double)level * (double)(end - since);
		load->most = fmax(load->most, (double)level);
	}
}

/* The sum of end - start of the requests that ended in the window, of any stage: the same requests as in the integral.
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

int in_flight_measure(const struct run_data *run, enum grouping by, int32_t member, bool drain,
                      struct in_flight *flights, struct ipf_error *err)
{
	struct change *changes = malloc((size_t)(2 * run->row_count + 1) * sizeof *changes);
	if (!changes)
		return ipf_error_memory(err);
	for (size_t s = 0; s < run->schedule.count; s++)
		flights[s] = (struct in_flight){0};
	for (int i = 0; i < (run->shards ? 1 : run->part_count); i++) {
		struct row_filter filter = {.by = by, .member = member, .part = run->shards ? -1 : i};
		size_t count = collect(run, filter, changes);
		for (size_t s = 0; s < run->schedule.count; s++) {
			struct stage_window w = run->shards ? run_data_window(run, (int32_t)s) : run->parts[i].windows[s];
			if (w.begin_ns == IPF_ABSENT)
				continue;
			int64_t end = drain ? w.drain_ns : w.end_ns;
			sweep(changes, count, w.begin_ns, end, &flights[s]);
			flights[s].busy += busy(run, filter, w.begin_ns, end);
		}
	}
	free(changes);
	return 0;
}
