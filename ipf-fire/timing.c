/* What is done to a request at a time of its own: its first token given up, or the client hanging up. */
#include "transport_private.h"
#include "warm.h"

/* Is what it was set for over? */
bool timing_over(const struct alarm *alarm, size_t kind)
{
	const struct exchange *x = alarm->what;
	return !x->job || x->serial != alarm->serial || (kind == 0 && x->job->reads_count);
}

/* Where memory is out, it ends later than it was to. */
void timing_begin(struct transport *t, struct exchange *x)
{
	const struct transport_options *o = t->options;
	int cancel = warm_is(&x->job->arrival) ? -1 : cancels_find(&o->cancels, x->job->arrival.n);
	struct alarm alarm = {.at_ns = x->job->start_ns + o->first_token_ns, .what = x, .serial = x->serial};
	if (o->first_token_ns)
		alarms_set(t->alarms, 0, alarm);
	/* so that nobody wakes up for those that are over */
	for (size_t i = 0; i <= o->cancels.count; i++)
		for (const struct alarm *first; (first = alarms_first(t->alarms, i)) && timing_over(first, i);)
			alarms_drop(t->alarms, i);
	if (cancel < 0)
		return;
	alarm.at_ns = x->job->start_ns + o->cancels.list[cancel].after_ns;
	alarms_set(t->alarms, 1 + (size_t)cancel, alarm);
}
