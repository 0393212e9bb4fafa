#include "figures/measured_time.h"

#include "absent.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static void join(struct measured_time *t)
{
	size_t joined = 0;
	for (size_t i = 0; i < t->count; i++) {
		struct time_span *last = joined ? &t->spans[joined - 1] : NULL;
		if (!last || t->spans[i].begin_ns > last->end_ns)
			t->spans[joined++] = t->spans[i];
		else if (t->spans[i].end_ns > last->end_ns)
			last->end_ns = t->spans[i].end_ns;
	}
	t->count = joined;
}

int measured_time_find(struct measured_time *t, const struct run_data *run, int part, int32_t stage, bool drain,
                       struct ipf_error *err)
{
	*t = (struct measured_time){.spans = calloc(run->schedule.count + 1, sizeof *t->spans)};
	if (!t->spans)
		return ipf_error_memory(err);
	for (size_t s = 0; s < run->schedule.count; s++) {
		if (stage >= 0 ? (size_t)stage != s : !run->schedule.stages[s].measured)
			continue;
		const struct stage_window w = run_data_part_window(run, part, (int32_t)s);
		if (w.begin_ns != IPF_ABSENT)
			t->spans[t->count++] = (struct time_span){w.begin_ns, drain ? w.drain_ns : w.end_ns};
	}
	qsort(t->spans, t->count, sizeof *t->spans, by_begin);
	join(t);
	return 0;
}

int64_t measured_time_ns(const struct measured_time *t, int64_t from_ns, int64_t to_ns)
{
	int64_t sum = 0;
	for (size_t i = 0; i < t->count; i++) {
		const int64_t begin_ns = t->spans[i].begin_ns > from_ns ? t->spans[i].begin_ns : from_ns,
					  end_ns = t->spans[i].end_ns < to_ns ? t->spans[i].end_ns : to_ns;
		sum += end_ns > begin_ns ? end_ns - begin_ns : 0;
	}
	return sum;
}

void measured_time_release(struct measured_time *t)
{
	free(t->spans);
	*t = (struct measured_time){0};
}
