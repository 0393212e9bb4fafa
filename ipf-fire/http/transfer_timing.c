/* What is done to a request at a time of its own: its first token given up, or the client hanging up. */
#include "http/transport_private.h"
#include "run/warmup.h"

/* Is what it was set for over? */
bool timing_over(const struct alarm *alarm, size_t kind)
{
	const struct transfer *x = alarm->what;
	return !x->job || x->serial != alarm->serial || (kind == 0 && x->job->reads_count);
}

/* Where memory is out, it ends later than it was to. */
void timing_begin(struct transport *t, struct transfer *x)
{
	const struct transport_options *o = t->options;
	int cancel = warmup_is(&x->job->arrival) ? -1 : cancels_find(&o->cancels, x->job->arrival.n);
	struct alarm alarm = {.at_ns = x->job->start_ns + o->first_token_ns, .what = x, .serial = x->serial};
	if (o->first_token_ns)
		deadlines_set(t->alarms, 0, alarm);
	/* so that nobody wakes up for those that are over */
	for (size_t i = 0; i <= o->cancels.count; i++)
		for (const struct alarm *first; (first = deadlines_first(t->alarms, i)) && timing_over(first, i);)
			deadlines_drop(t->alarms, i);
	if (cancel < 0)
		return;
	alarm.at_ns = x->job->start_ns + o->cancels.list[cancel].after_ns;
	deadlines_set(t->alarms, 1 + (size_t)cancel, alarm);
}
