#include "fit/twin_spans.h"

#include "fit/twin_steps.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	const struct twin_moment *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* Weights become their sums. */
static void sum_up(struct twin_series *series)
{
	qsort(series->list, (size_t)series->count, sizeof *series->list, compare);
	for (int64_t i = 1; i < series->count; i++)
		for (int k = 0; k < 2; k++)
			series->list[i].sums[k] += series->list[i - 1].sums[k];
}

static void add(struct twin_series *series, int64_t t_ns, double first, double second)
{
	series->list[series->count++] = (struct twin_moment){t_ns, {first, second}};
}

static void add_requests(struct twin_spans *s, const struct twin_data *data, int64_t first, int64_t next)
{
	for (int64_t i = first; i < next; i++) {
		const struct measured_request *r = &data->requests[i];
		add(&s->starts, r->start_ns, (double)(r->start_ns - s->begin_ns), 0);
		add(&s->firsts, r->first_ns, (double)(r->first_ns - s->begin_ns), (double)(r->input_tokens - r->cached_tokens));
		add(&s->lasts, r->last_ns, 0, 0);
	}
}

/* Events are sorted by the servers of their requests, and requests by servers: those of one follow each other. */
static int64_t first_event(const struct twin_data *data, int64_t first)
{
	int64_t low = 0, high = data->event_count;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (data->events[middle].request < first)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_events(struct twin_spans *s, const struct twin_data *data, int64_t first, int64_t next)
{
	for (int64_t i = first_event(data, first); i < data->event_count && data->events[i].request < next; i++) {
		const struct measured_event *e = &data->events[i];
		if (e->order == 0)
			continue;
		const struct measured_request *r = &data->requests[e->request];
		add(&s->events, e->t_ns, (double)(r->input_tokens + twin_tokens_before(r, e->order) - 1), 0);
	}
}

int twin_spans_open(struct twin_spans *s, const struct twin_data *data, int64_t first, int64_t *next,
                    struct ipf_error *err)
{
	size_t events = 1;
	*next = first;
	*s = (struct twin_spans){.begin_ns = data->requests[first].start_ns};
	for (; *next < data->request_count && data->requests[*next].server == data->requests[first].server; ++*next)
		events += (size_t)data->requests[*next].events;
	struct twin_series *all[] = {&s->starts, &s->firsts, &s->lasts, &s->events};
	for (size_t i = 0; i < 4; i++)
		if (!(all[i]->list = malloc((i < 3 ? (size_t)(*next - first) : events) * sizeof *all[i]->list)))
			return ipf_error_memory(err);
	add_requests(s, data, first, *next);
	add_events(s, data, first, *next);
	for (size_t i = 0; i < 4; i++)
		sum_up(all[i]);
	return 0;
}

void twin_spans_close(struct twin_spans *s)
{
	free(s->starts.list);
	free(s->firsts.list);
	free(s->lasts.list);
	free(s->events.list);
	*s = (struct twin_spans){0};
}

/* How many moments there are up to this one. */
static int64_t until(const struct twin_series *series, int64_t t_ns)
{
	int64_t low = 0, high = series->count;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (series->list[middle].t_ns <= t_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static double sum_of(const struct twin_series *series, int64_t count, int weight)
{
	return count > 0 ? series->list[count - 1].sums[weight] : 0;
}

/* The waits of all requests up to this moment together, in ns. */
static double waited(const struct twin_spans *s, int64_t t_ns)
{
	const int64_t started = until(&s->starts, t_ns), answered = until(&s->firsts, t_ns);
	return (double)(started - answered) * (double)(t_ns - s->begin_ns) - sum_of(&s->starts, started, 0) +
	       sum_of(&s->firsts, answered, 0);
}

struct twin_span twin_spans_between(const struct twin_spans *s, int64_t from_ns, int64_t to_ns)
{
	const int64_t e[2] = {until(&s->events, from_ns), until(&s->events, to_ns)};
	const int64_t f[2] = {until(&s->firsts, from_ns), until(&s->firsts, to_ns)};
	return (struct twin_span){
		.decoded = (double)(e[1] - e[0]),
		.context = sum_of(&s->events, e[1], 0) - sum_of(&s->events, e[0], 0),
		.prompts = (double)(f[1] - f[0]),
		.prompt_tokens = sum_of(&s->firsts, f[1], 1) - sum_of(&s->firsts, f[0], 1),
		.waiting = (waited(s, to_ns) - waited(s, from_ns)) / (double)(to_ns - from_ns),
	};
}

int64_t twin_spans_decoding(const struct twin_spans *s, int64_t at_ns)
{
	return until(&s->firsts, at_ns) - until(&s->lasts, at_ns);
}

int64_t twin_spans_waiting(const struct twin_spans *s, int64_t at_ns)
{
	return until(&s->starts, at_ns) - until(&s->firsts, at_ns);
}
