#include "fit/twin_steps.h"

#include "batching/kv_cache.h"

#include <stdlib.h>
#include <string.h>

#define GAPS_LEAST 50 /* gaps within answers: below, nothing is known of steps */
#define GAP_SHARE  20 /* one of so many gaps is shorter than the one that is taken */
#define GAP_PART   2  /* and so much of it tells steps apart */
#define GAP_LEAST  5  /* gaps of at least this share of the median */
#define GAPS_TAKEN (1 << 20)

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The last event of each request so far: its number in the list. -1: none. */
static int64_t *last_events(const struct twin_data *data)
{
	int64_t *last = malloc((size_t)data->request_count * sizeof *last);
	for (int64_t i = 0; last && i < data->request_count; i++)
		last[i] = -1;
	return last;
}

static int find_gap(struct twin_steps *s, const struct twin_data *data, struct ipf_error *err)
{
	int64_t *last = last_events(data), *gaps = malloc(GAPS_TAKEN * sizeof *gaps), count = 0;
	if (!last || !gaps) {
		free(last);
		free(gaps);
		return ipf_error_memory(err);
	}
	for (int64_t i = 0; i < data->event_count && count < GAPS_TAKEN; i++) {
		int64_t before = last[data->events[i].request];
		int64_t gap = before < 0 ? 0 : data->events[i].t_ns - data->events[before].t_ns;
		if (gap > 0)
			gaps[count++] = gap;
		last[data->events[i].request] = i;
	}
	qsort(gaps, (size_t)count, sizeof *gaps, compare);
	int64_t first = 0; /* that is no pair of tokens which came in one read */
	while (first < count && gaps[first] * GAP_LEAST < gaps[count / 2])
		first++;
	s->gap_ns = count ? gaps[first + (count - first) / GAP_SHARE] / GAP_PART : 0;
	free(last);
	free(gaps);
	if (count < GAPS_LEAST)
		return ipf_error_set(err, IPF_INPUT,
		                     "too little for a twin: %lld gaps between tokens, %d are needed (more requests, streamed, "
		                     "with answers of several tokens)",
		                     (long long)count, GAPS_LEAST);
	return 0;
}

/* Which step each event belongs to, and where the steps end. `step_of`: of the last event of each request. */
static void group(struct twin_steps *s, const struct twin_data *data, int32_t *step_of, int32_t *of_event)
{
	int64_t before_ns = 0;
	s->count = 0;
	for (int64_t i = 0; i < data->event_count; i++) {
		const struct measured_event *e = &data->events[i];
		int32_t server = data->requests[e->request].server;
		int32_t at = (int32_t)s->count - 1;
		if (at < 0 || s->list[at].server != server || e->t_ns - before_ns > s->gap_ns || step_of[e->request] == at) {
			at = (int32_t)s->count++;
			s->list[at] = (struct twin_step){
				.end_ns = e->t_ns, .length_ns = IPF_ABSENT, .server = server, .timely = true};
		}
		of_event[i] = at;
		step_of[e->request] = at;
		before_ns = e->t_ns;
	}
}

int64_t twin_tokens_before(const struct measured_request *r, int32_t order)
{
	return order == 0 ? 0 : r->events < 2 ? 1 : 1 + (order - 1) * (r->output_tokens - 1) / (r->events - 1);
}

/* A step's part of the event. */
static void count_event(struct twin_step *step, const struct measured_request *r, const struct measured_event *e)
{
	int64_t context = r->input_tokens + twin_tokens_before(r, e->order);
	step->sequences++;
	step->held_blocks += (context + KV_BLOCK - 1) / KV_BLOCK;
	step->own_blocks += (context - r->cached_tokens + KV_BLOCK - 1) / KV_BLOCK;
	if (e->order > 0) {
		step->context_tokens += context - 1;
		return;
	}
	step->firsts++;
	step->prompt_tokens += r->input_tokens - r->cached_tokens;
}

/* Where each request was sent and waited: in each step that began after it was sent and ended before its first token.
 */
static void pass(struct twin_steps *s, const struct twin_data *data)
{
	int32_t at = 0;
	int64_t busy_until = INT64_MIN;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct measured_request *r = &data->requests[i], *next = r + 1;
		struct twin_passage *p = &s->passages[i];
		if (i == 0 || r[-1].server != r->server)
			busy_until = INT64_MIN;
		while (at + 1 < s->count && (s->list[at].server < r->server ||
		                             (s->list[at].server == r->server && s->list[at].end_ns < r->start_ns)))
			at++;
		p->sent = at;
		p->alone = busy_until < r->start_ns &&
		           (i + 1 == data->request_count || next->server != r->server || next->start_ns > r->first_ns);
		for (int32_t k = at + 1; k < p->first; k++)
			s->list[k].waiting++;
		if (p->first != at + 1)
			s->list[p->first].timely = false;
		busy_until = r->last_ns > busy_until ? r->last_ns : busy_until;
	}
}

/* The contents of each step. */
static void describe(struct twin_steps *s, const struct twin_data *data, int32_t *step_of, const int32_t *of_event)
{
	for (int64_t i = 0; i < data->event_count; i++) {
		const struct measured_event *e = &data->events[i];
		int32_t at = of_event[i];
		struct twin_step *step = &s->list[at];
		if (e->order == 0)
			s->passages[e->request].first = at;
		else if (step_of[e->request] == at - 1 && step->end_ns - s->list[at - 1].end_ns > s->gap_ns)
			step->length_ns = step->end_ns - s->list[at - 1].end_ns;
		count_event(step, &data->requests[e->request], e);
		step_of[e->request] = at;
	}
}

int twin_steps_find(struct twin_steps *steps, const struct twin_data *data, struct ipf_error *err)
{
	*steps = (struct twin_steps){0};
	if (find_gap(steps, data, err) < 0)
		return -1;
	size_t requests = (size_t)data->request_count, events = (size_t)data->event_count;
	int32_t *step_of = malloc(requests * sizeof *step_of), *of_event = malloc(events * sizeof *of_event);
	steps->list = calloc(events, sizeof *steps->list);
	steps->passages = calloc(requests, sizeof *steps->passages);
	bool good = step_of && of_event && steps->list && steps->passages;
	if (good) {
		memset(step_of, 0xff, requests * sizeof *step_of);
		group(steps, data, step_of, of_event);
		memset(step_of, 0xff, requests * sizeof *step_of);
		describe(steps, data, step_of, of_event);
		pass(steps, data);
	}
	free(step_of);
	free(of_event);
	if (good)
		return 0;
	twin_steps_release(steps);
	return ipf_error_memory(err);
}

void twin_steps_release(struct twin_steps *s)
{
	free(s->list);
	free(s->passages);
	*s = (struct twin_steps){0};
}
