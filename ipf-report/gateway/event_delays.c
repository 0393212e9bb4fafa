#include "gateway/event_delays.h"

#include <math.h>

static double sum_of(const struct event_times *list)
{
	double sum = 0;
	for (size_t i = 0; i < list->count; i++)
		sum += list->ns[i];
	return sum;
}

static void add_delay(struct event_delays *d, double delay_ns)
{
	histogram_add(d->delays, (int64_t)llround(delay_ns), 1);
}

/* Both sides have equally many events. */
static void add_in_order(struct event_delays *d, double shift_ns)
{
	for (size_t i = 0; i < d->times[0].count; i++)
		add_delay(d, d->times[0].ns[i] + shift_ns - d->times[1].ns[i]);
}

/* By their tokens: both sides have as many. */
static void add_by_tokens(struct event_delays *d, double shift_ns)
{
	double front = 0, back = 0;
	size_t f = 0;
	for (size_t b = 0; b < d->times[1].count; b++) {
		back += d->tokens[1].ns[b];
		while (f < d->times[0].count && front + d->tokens[0].ns[f] < back)
			front += d->tokens[0].ns[f++];
		if (f == d->times[0].count)
			break;
		add_delay(d, d->times[0].ns[f] + shift_ns - d->times[1].ns[b]);
	}
}

/* The event in front with the last part of event `b` behind, in groups of equal size. */
static size_t in_group(const struct event_delays *d, size_t b)
{
	const size_t front = d->times[0].count, back = d->times[1].count;
	return front < back ? b / ((back + front - 1) / front) : (b + 1) * (front / back) - 1;
}

/* Are groups of equal size possible? Only the last one may be smaller, and no event comes before its group. */
static bool in_groups(const struct event_delays *d, double shift_ns)
{
	const size_t front = d->times[0].count, back = d->times[1].count;
	const size_t each = front < back ? (back + front - 1) / front : front / back;
	if (front < back ? front != (back + each - 1) / each : front != back * each)
		return false;
	for (size_t b = 0; b < back; b++)
		if (d->times[0].ns[in_group(d, b)] + shift_ns < d->times[1].ns[b])
			return false;
	return true;
}

static void add_by_groups(struct event_delays *d, double shift_ns)
{
	for (size_t b = 0; b < d->times[1].count; b++)
		add_delay(d, d->times[0].ns[in_group(d, b)] + shift_ns - d->times[1].ns[b]);
}

/* Parses the lists of both sides. false: one has no times. */
static bool read_lists(struct event_delays *d, const struct gateway_requests *const sides[2],
                       const struct gateway_request *const pair[2])
{
	struct result result;
	for (int s = 0; s < 2; s++) {
		if (!run_data_line(sides[s]->run, pair[s]->row, &result) || !event_times_parse(&d->times[s], result.event_ns) ||
		    d->times[s].count == 0)
			return false;
		if (!event_times_parse(&d->tokens[s], result.event_tokens))
			d->tokens[s].count = 0;
	}
	return true;
}

static bool have_tokens(const struct event_delays *d)
{
	for (int s = 0; s < 2; s++)
		if (d->tokens[s].count != d->times[s].count)
			return false;
	return fabs(sum_of(&d->tokens[0]) - sum_of(&d->tokens[1])) < 0.5 && sum_of(&d->tokens[0]) > 0;
}

static int add_times(struct event_delays *d, const struct gateway_requests *const sides[2],
                     const struct gateway_request *const pair[2], struct ipf_error *err)
{
	if (!read_lists(d, sides, pair))
		return 0; /* row_lines_check finds unreadable lines */
	if (!d->delays && !(d->delays = histogram_new()))
		return ipf_error_memory(err);
	const struct run_part *front = &sides[0]->run->parts[pair[0]->row->part],
						  *back = &sides[1]->run->parts[pair[1]->row->part];
	const double shift_ns = (double)(front->t0_ns - back->t0_ns);
	const bool in_order = d->times[0].count == d->times[1].count;
	d->timed++;
	if (in_order)
		add_in_order(d, shift_ns);
	else if (have_tokens(d))
		add_by_tokens(d, shift_ns);
	else if (in_groups(d, shift_ns))
		add_by_groups(d, shift_ns);
	else {
		d->timed--;
		d->unmatched++;
	}
	return 0;
}

static int64_t known(int64_t count)
{
	return count == IPF_ABSENT ? 0 : count;
}

int event_delays_add(struct event_delays *d, const struct gateway_requests *const sides[2],
                     const struct gateway_request *const pair[2], bool one_clock, struct ipf_error *err)
{
	const int64_t front = known(pair[0]->events), back = known(pair[1]->events);
	if (front == 0 || back == 0)
		return 0;
	d->requests++;
	d->same += front == back;
	d->merged += front < back;
	d->split += front > back;
	d->events_front += front;
	d->events_back += back;
	d->coalesced_front += known(pair[0]->coalesced);
	d->coalesced_back += known(pair[1]->coalesced);
	return one_clock ? add_times(d, sides, pair, err) : 0;
}

void event_delays_release(struct event_delays *d)
{
	histogram_free(d->delays);
	for (int s = 0; s < 2; s++) {
		event_times_release(&d->times[s]);
		event_times_release(&d->tokens[s]);
	}
	*d = (struct event_delays){0};
}
