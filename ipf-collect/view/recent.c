#include "view/recent.h"

#include "absent.h"
#include "clock.h"

#include <math.h>
#include <string.h>

static int64_t second_of(int64_t t_ns)
{
	return t_ns >= 0 ? t_ns / NS_PER_S : -((-(t_ns + 1)) / NS_PER_S) - 1;
}

static struct recent_second *slot_of(const struct recent *r, int64_t second)
{
	int64_t slot = second % RECENT_SECONDS;
	return (struct recent_second *)&r->seconds[slot < 0 ? slot + RECENT_SECONDS : slot];
}

/* The second of a time, made if it is new; NULL: it is too old. */
static struct recent_second *at(struct recent *r, int64_t t_ns)
{
	int64_t second = second_of(t_ns);
	if (r->used && second <= r->last)
		return second > r->last - RECENT_SECONDS && second >= r->first ? slot_of(r, second) : NULL;
	if (!r->used || second - r->last >= RECENT_SECONDS) {
		memset(r->seconds, 0, sizeof r->seconds);
		r->first = r->used ? second - RECENT_SECONDS + 1 : second;
	}
	for (int64_t s = r->used && r->last >= r->first ? r->last + 1 : second; s <= second; s++)
		*slot_of(r, s) = (struct recent_second){0};
	r->last = second;
	r->used = true;
	if (r->first < second - RECENT_SECONDS + 1)
		r->first = second - RECENT_SECONDS + 1;
	return slot_of(r, second);
}

static void add(struct recent_second *second, enum recent_figure figure, double value)
{
	second->sum[figure] += value;
	second->count[figure] += 1;
}

void recent_row(struct recent *r, const struct observation *o)
{
	const struct result *row = o->row;
	struct recent_second *second = o->record->end_ns == IPF_ABSENT ? NULL : at(r, o->record->end_ns);
	if (!second)
		return;
	add(second, RECENT_REQUESTS, 1);
	add(second, RECENT_FAILED, !row->ok && !result_uncounted(row));
	if (row->output_tokens != IPF_ABSENT)
		add(second, RECENT_OUTPUT_TOKENS, (double)row->output_tokens);
	if (row->ok && row->ttft_ns != IPF_ABSENT)
		add(second, RECENT_TTFT, (double)row->ttft_ns);
	if (row->ok && row->itl_mean_ns != IPF_ABSENT)
		add(second, RECENT_ITL, (double)row->itl_mean_ns);
}

void recent_waiting(struct recent *r, int64_t t_ns, double waiting)
{
	struct recent_second *second = at(r, t_ns);
	if (second)
		add(second, RECENT_WAITING, waiting);
}

static bool is_rate(enum recent_figure figure)
{
	return figure == RECENT_REQUESTS || figure == RECENT_FAILED || figure == RECENT_OUTPUT_TOKENS;
}

static double value_of(const struct recent_second *second, enum recent_figure figure)
{
	if (is_rate(figure))
		return second->sum[figure];
	return second->count[figure] > 0 ? second->sum[figure] / second->count[figure] : NAN;
}

size_t recent_values(const struct recent *r, enum recent_figure figure, double values[RECENT_SECONDS])
{
	size_t count = 0;
	for (int64_t s = r->first; r->used && s <= r->last; s++)
		values[count++] = value_of(slot_of(r, s), figure);
	return count;
}

double recent_mean(const struct recent *r, enum recent_figure figure, int seconds)
{
	double sum = 0, count = 0;
	for (int64_t s = r->last - 1; r->used && s >= r->first && s >= r->last - seconds; s--) {
		sum += slot_of(r, s)->sum[figure];
		count += is_rate(figure) ? 1 : slot_of(r, s)->count[figure];
	}
	return count > 0 ? sum / count : NAN;
}
