#include "absent.h"
#include "dispatch/dispatch_private.h"

static bool standing(const struct stage *s)
{
	return s->plan->end_ns == IPF_ABSENT;
}

/* Does the schedule's time stand still until it is over? */
static bool holds(const struct stage *s)
{
	return standing(s) || s->plan->drain;
}

int64_t stage_begin(const struct stage *s)
{
	return s->plan->begin_ns + s->offset_ns;
}

int64_t stage_end(const struct stage *s)
{
	return standing(s) ? INT64_MAX : s->plan->end_ns + s->offset_ns;
}

bool stage_ended(const struct stage *s, int64_t due)
{
	return s->over || (s->plan->closed && due >= stage_end(s));
}

void stages_know_offsets(struct dispatch *d, int64_t offset)
{
	while (d->known < d->count) {
		struct stage *s = &d->stages[d->known++];
		s->offset_ns = offset;
		for (struct dispatch_node *node; (node = list_take(&s->held));) {
			node->due_ns += offset;
			heap_put(&d->heap, node);
		}
		if (holds(s))
			return;
	}
}

void dispatch_lead(struct dispatch *d, int64_t lead_ns)
{
	d->lead = true;
	d->stages[0].offset_ns = d->stages[0].last_end_ns = d->stages[0].last_start_ns = -lead_ns;
}

static bool complete(const struct dispatch *d, const struct stage *s)
{
	bool all_came = s->plan->cycle ? s->over : s->added >= s->plan->arrivals || d->finished;
	return all_came && (s->plan->overlap ? s->unstarted : s->live) == 0;
}

/* When the next stage begins; INT64_MAX where that is not known, or it was the last. */
static int64_t next_begin(const struct dispatch *d)
{
	return d->begun < d->known ? stage_begin(&d->stages[d->begun]) : INT64_MAX;
}

static void drop_list(struct dispatch *d, struct list *list)
{
	for (struct dispatch_node *node; (node = list_take(list));)
		dispatch_drop(d, node);
}

/* Later turns that are due after the end. */
static void drop_timed(struct dispatch *d, const struct stage *s)
{
	size_t count = d->heap.count;
	d->heap.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct dispatch_node *node = d->heap.nodes[i];
		if (&d->stages[node->stage] == s && node->due_ns >= stage_end(s))
			dispatch_drop(d, node);
		else
			heap_put(&d->heap, node);
	}
}

void stages_over(struct dispatch *d, struct stage *s)
{
	s->over = true;
	d->waiting -= s->ready.count;
	slots_over(d, s);
	drop_list(d, &s->ready);
	drop_list(d, &s->pool);
	drop_list(d, &s->held);
	if (!d->stopped && !standing(s))
		drop_timed(d, s);
}

static void begin_stages(struct dispatch *d, int64_t now)
{
	while (next_begin(d) <= now) {
		struct stage *s = &d->stages[d->begun], *before = d->begun && s[-1].plan->closed ? s - 1 : NULL;
		if (before && !before->over)
			stages_over(d, before);
		d->begun++;
		if (s->last_end_ns < stage_begin(s))
			s->last_end_ns = stage_begin(s);
		s->last_start_ns = stage_begin(s);
		if (s->plan->closed)
			slots_begin(d, s, before);
	}
}

/* The stage that holds up the schedule's time, where it has begun and ended: the time goes on. */
static bool release(struct dispatch *d, int64_t now)
{
	if (!d->known || d->known > d->begun || d->stopped)
		return false;
	struct stage *s = &d->stages[d->known - 1];
	if (!holds(s) || s->over_ns != IPF_ABSENT || (!standing(s) && stage_end(s) > now) || !complete(d, s))
		return false;
	s->over_ns = s->plan->overlap ? s->last_start_ns : s->last_end_ns;
	if (!standing(s) && s->over_ns < stage_end(s))
		s->over_ns = stage_end(s);
	stages_know_offsets(
		d, d->lead && s == d->stages ? 0 : s->over_ns - (standing(s) ? s->plan->begin_ns : s->plan->end_ns));
	return true;
}

static void end_closed(struct dispatch *d, int64_t now)
{
	for (size_t i = 0; i < d->begun; i++)
		if (d->stages[i].plan->closed && !d->stages[i].over && stage_end(&d->stages[i]) <= now)
			stages_over(d, &d->stages[i]);
}

void stages_pass(struct dispatch *d, int64_t now)
{
	do {
		begin_stages(d, now);
		end_closed(d, now);
	} while (release(d, now));
}

int64_t stages_wake(const struct dispatch *d)
{
	int64_t wake = next_begin(d);
	for (size_t i = 0; i < d->begun; i++) {
		const struct stage *s = &d->stages[i];
		bool waits = s->plan->closed ? !s->over
		                             : i + 1 == d->known && holds(s) && s->over_ns == IPF_ABSENT && complete(d, s);
		if (waits && stage_end(s) < wake)
			wake = stage_end(s);
	}
	return wake;
}

void dispatch_stage_times(const struct dispatch *d, int64_t stage, int64_t *begin_ns, int64_t *end_ns)
{
	const struct stage *s = &d->stages[stage];
	*begin_ns = *end_ns = IPF_ABSENT;
	if ((size_t)stage >= d->begun)
		return;
	*begin_ns = stage_begin(s);
	*end_ns = standing(s) ? s->over_ns : stage_end(s);
}
