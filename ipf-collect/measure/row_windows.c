#include "measure/row_windows.h"

#include "absent.h"
#include "memory.h"

static struct window *at(struct series *s, const struct observation *o, int64_t t_ns)
{
	return series_at(s, t_ns + o->offset_ns, o->row->stage);
}

static void count_at(struct series *s, const struct observation *o, int64_t t_ns, size_t member, int64_t n)
{
	struct window *w = at(s, o, t_ns);
	if (w)
		window_count((int64_t *)((char *)w + member), n);
}

static void sample_at(struct series *s, const struct observation *o, int64_t t_ns, size_t member, int64_t value)
{
	struct window *w = at(s, o, t_ns);
	if (w)
		window_sample((struct histogram **)((char *)w + member), value, 1);
}

/* Adds the time from `begin` to `end` to the sums of the windows in which it passed. */
static void spend(struct series *s, const struct observation *o, int64_t begin_ns, int64_t end_ns, size_t member)
{
	int64_t every_ns = series_every_ns(s);
	if (end_ns > begin_ns && end_ns - begin_ns > ROW_WINDOWS_MOST * every_ns)
		end_ns = begin_ns + ROW_WINDOWS_MOST * every_ns;
	while (begin_ns < end_ns) {
		struct window *w = at(s, o, begin_ns);
		if (!w)
			return;
		int64_t left_ns = window_begin_ns(w) + every_ns - (begin_ns + o->offset_ns);
		int64_t part_ns = left_ns < end_ns - begin_ns ? left_ns : end_ns - begin_ns;
		window_count((int64_t *)((char *)w + member), part_ns);
		begin_ns += part_ns;
	}
}

static void add_requests(struct series *s, const struct observation *o)
{
	const struct result *row = o->row;
	if (row->due_ns != IPF_ABSENT)
		count_at(s, o, row->due_ns, offsetof(struct window, scheduled), 1);
	if (row->start_ns != IPF_ABSENT)
		count_at(s, o, row->start_ns, offsetof(struct window, started), 1);
	if (row->start_ns != IPF_ABSENT && row->lag_ns != IPF_ABSENT)
		sample_at(s, o, row->start_ns, offsetof(struct window, lag_ns), row->lag_ns);
}

static void add_times(struct series *s, const struct observation *o)
{
	const struct result *row = o->row;
	if (row->start_ns != IPF_ABSENT && row->end_ns != IPF_ABSENT)
		spend(s, o, row->start_ns, row->end_ns, offsetof(struct window, in_flight_ns));
	if (row->slot_wait_ns != IPF_ABSENT)
		spend(s, o, row->ready_ns, row->ready_ns + row->slot_wait_ns, offsetof(struct window, slot_wait_ns));
	if (row->pool_wait_ns != IPF_ABSENT)
		spend(s, o, row->start_ns - row->pool_wait_ns, row->start_ns, offsetof(struct window, pool_wait_ns));
}

/* When a request ended or, if it is not known, the last known of it: each is counted somewhere. */
static int64_t end_of(const struct result *row)
{
	const int64_t times[] = {row->end_ns, row->start_ns, row->ready_ns, row->due_ns};
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (times[i] != IPF_ABSENT)
			return times[i];
	return 0;
}

static void add_outcome(struct series *s, const struct observation *o)
{
	const struct result *row = o->row;
	struct window *w = at(s, o, end_of(row));
	if (!w)
		return;
	if (row->ok)
		window_count(&w->ok, 1);
	else if (result_hung_up(row))
		window_count(&w->hung_up, 1);
	else if (result_unseen(row))
		window_count(&w->unseen, 1);
	else
		window_fail(w, (struct slice){row->error_kind.data + 1, row->error_kind.len - 2}, 1);
}

static void add_tokens(struct series *s, const struct observation *o)
{
	const struct response *r = o->response;
	const struct result *row = o->row;
	const size_t output = row->ok ? offsetof(struct window, output_tokens)
	                              : offsetof(struct window, failed_output_tokens);
	int64_t first_ns = r->events_count ? r->events[0].t_ns : end_of(row);
	if (row->input_tokens != IPF_ABSENT)
		count_at(s, o, first_ns, offsetof(struct window, input_tokens), row->input_tokens);
	if (row->output_tokens != IPF_ABSENT && !r->events_count)
		count_at(s, o, first_ns, output, row->output_tokens);
	for (size_t i = 0; i < r->events_count; i++) {
		if (row->output_tokens != IPF_ABSENT)
			count_at(s, o, r->events[i].t_ns, output, o->measure->event_tokens[i]);
		if (row->events != IPF_ABSENT)
			count_at(s, o, r->events[i].t_ns, offsetof(struct window, events), 1);
	}
}

static void add_latencies(struct series *s, const struct observation *o)
{
	const struct response *r = o->response;
	const struct measure *m = o->measure;
	if (!o->row->ok || !r->events_count || result_check(o->row) != RESULT_CHECKS)
		return;
	if (o->row->ttft_ns != IPF_ABSENT)
		sample_at(s, o, r->events[0].t_ns, offsetof(struct window, ttft_ns), o->row->ttft_ns);
	if (o->row->e2e_ns != IPF_ABSENT)
		sample_at(s, o, r->events[r->events_count - 1].t_ns, offsetof(struct window, e2e_ns), o->row->e2e_ns);
	for (size_t i = 0; i < m->samples_count; i++) {
		struct window *w = at(s, o, m->samples[i].t_ns);
		if (w)
			window_sample(&w->itl_ns, m->samples[i].value_ns, m->samples[i].count);
	}
}

int row_windows_add(struct series *s, const struct observation *o, struct ipf_error *err)
{
	add_requests(s, o);
	add_times(s, o);
	add_tokens(s, o);
	add_latencies(s, o);
	add_outcome(s, o);
	return memory_ran_out() ? ipf_error_memory(err) : 0;
}
