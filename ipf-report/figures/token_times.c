#include "figures/token_times.h"

#include "absent.h"

#include <math.h>

struct token_times token_times_of(const struct row *row)
{
	const int64_t tokens = row_get(row, ROW_OUTPUT_TOKENS), ttft_ns = row_get(row, METRIC_TTFT),
				  e2e_ns = row_get(row, METRIC_E2E), events = row_get(row, ROW_EVENTS);
	struct token_times t = {
		.tokens = tokens == IPF_ABSENT ? NAN : (double)tokens, .first_ns = row->end_ns, .after_ns = IPF_ABSENT};
	t.last_ns = t.first_ns;
	if (row->start_ns == IPF_ABSENT)
		return t;
	if (e2e_ns != IPF_ABSENT)
		t.first_ns = t.last_ns = row->start_ns + e2e_ns;
	if (row->not_streamed == RESULT_STREAMED && tokens > 1 && (ttft_ns == IPF_ABSENT || e2e_ns == IPF_ABSENT))
		t.after_ns = row->start_ns;
	if (ttft_ns == IPF_ABSENT || e2e_ns == IPF_ABSENT || ttft_ns >= e2e_ns)
		return t;
	t.first_ns = row->start_ns + ttft_ns;
	t.events = (double)(events > 1 ? events : tokens > 1 ? tokens : 2);
	t.edge_count = row_edges(row, &t.edges);
	return t;
}

/* The share of evenly spaced events coming before a time between the first and the last. */
static double even_share(const struct token_times *t, int64_t t_ns)
{
	const double gap = (double)(t->last_ns - t->first_ns) / (t->events - 1),
				 came = ceil((double)(t_ns - t->first_ns) / gap);
	return fmin(fmax(came, 1), t->events - 1) / t->events;
}

/* Between the edges, and from the first event, which has come, to the last one, which has not. */
static double between_edges(const struct token_times *t, int64_t t_ns)
{
	const double an_event = t->tokens / t->events;
	double from = (double)t->first_ns, low = an_event;
	for (int64_t i = 0; i < t->edge_count; i++) {
		const double at = (double)t->edges[2 * i], before = fmin((double)t->edges[2 * i + 1], t->tokens);
		low = fmin(low, before);
		if (t_ns == t->edges[2 * i])
			return before;
		if (t_ns < t->edges[2 * i])
			return low + (before - low) * ((double)t_ns - from) / (at - from);
		from = at;
		low = before;
	}
	const double high = fmax(low, t->tokens - an_event);
	return t_ns == t->last_ns ? high : low + (high - low) * ((double)t_ns - from) / ((double)t->last_ns - from);
}

double token_times_before(const struct token_times *t, int64_t t_ns)
{
	if (isnan(t->tokens) || t->first_ns == IPF_ABSENT || t_ns <= t->first_ns)
		return 0;
	if (t_ns > t->last_ns)
		return t->tokens;
	return t->edge_count == 0 ? t->tokens * even_share(t, t_ns) : between_edges(t, t_ns);
}

bool token_times_exact(const struct token_times *t, int64_t t_ns)
{
	if (t->after_ns != IPF_ABSENT && t_ns > t->after_ns && t_ns <= t->first_ns)
		return false;
	if (t->first_ns == IPF_ABSENT || t_ns <= t->first_ns || t_ns > t->last_ns)
		return true;
	for (int64_t i = 0; i < t->edge_count; i++)
		if (t_ns == t->edges[2 * i])
			return true;
	return false;
}
