#include "figures/measured_time.h"

#include "absent.h"

#include <stdlib.h>

static int by_begin(const void *a, const void *b)
{
	const struct time_span *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

size_t time_spans_join(struct time_span *spans, size_t count)
{
	size_t joined = 0;
	qsort(spans, count, sizeof *spans, by_begin);
	for (size_t i = 0; i < count; i++) {
		struct time_span *last = joined ? &spans[joined - 1] : NULL;
		if (!last || spans[i].begin_ns > last->end_ns)
			spans[joined++] = spans[i];
		else if (spans[i].end_ns > last->end_ns)
			last->end_ns = spans[i].end_ns;
	}
	return joined;
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
	t->count = time_spans_join(t->spans, t->count);
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
