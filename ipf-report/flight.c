#include "flight.h"

#include <stdlib.h>

struct change {
	int64_t at_ns;
	int64_t by; /* +1, -1 */
};

/* Ends before starts: who leaves at an instant is not there with who comes. */
static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->by > y->by) - (x->by < y->by);
}

static size_t collect(const struct run *run, int32_t model, int part, struct change *changes)
{
	size_t count = 0;
	for (int64_t i = 0; i < run->row_count; i++) {
		const struct row *row = &run->rows[i];
		if ((model >= 0 && row->model != model) || (part >= 0 && row->part != part))
			continue;
		if (row->start_ns == IPF_ABSENT || row->end_ns == IPF_ABSENT || row->end_ns <= row->start_ns)
			continue;
		changes[count++] = (struct change){row->start_ns, 1};
		changes[count++] = (struct change){row->end_ns, -1};
	}
	qsort(changes, count, sizeof *changes, by_time);
	return count;
}

static void sweep(const struct change *changes, size_t count, int64_t begin, int64_t end, double *integral, double *most)
{
	int64_t flying = 0, since = begin;
	for (size_t i = 0; i < count && changes[i].at_ns < end; i++) {
		int64_t at = changes[i].at_ns;
		if (at > since) {
			*integral += (double)flying * (double)(at - since);
			/* the level that held for a while, not what stands between two changes at one instant */
			if ((double)flying > *most)
				*most = (double)flying;
			since = at;
		}
		flying += changes[i].by;
	}
	if (end > since) {
		*integral += (double)flying * (double)(end - since);
		if ((double)flying > *most)
			*most = (double)flying;
	}
}

int flight_measure(const struct run *run, int32_t model, bool drain, double *integral, double *most, struct ipf_error *err)
{
	struct change *changes = malloc((size_t)(2 * run->row_count + 1) * sizeof *changes);
	if (!changes)
		return ipf_error_set(err, IPF_SYSTEM, "out of memory");
	for (size_t s = 0; s < run->plan.count; s++)
		integral[s] = most[s] = 0;
	for (int part = 0; part < run->part_count; part++) {
		size_t count = collect(run, model, run->shards ? -1 : part, changes);
		for (size_t s = 0; s < run->plan.count; s++) {
			struct window w = run->shards ? run_window(run, (int32_t)s) : run->parts[part].windows[s];
			if (w.begin_ns != IPF_ABSENT)
				sweep(changes, count, w.begin_ns, drain ? w.drain_ns : w.end_ns, &integral[s], &most[s]);
		}
		if (run->shards)
			break;
	}
	free(changes);
	return 0;
}
