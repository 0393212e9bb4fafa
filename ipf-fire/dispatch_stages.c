#include "dispatch_private.h"

bool stage_standing(const struct stage *s)
{
	return s->plan->end_ns == IPF_ABSENT;
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
		if (stage_standing(s))
			return;
	}
}

bool stage_ended(const struct stage *s, int64_t due)
{
	return s->over || (s->plan->closed && !stage_standing(s) && due >= s->plan->end_ns + s->offset_ns);
}

static bool stage_complete(const struct dispatch *d, const struct stage *s)
{
	return s->ended == s->added && (s->added >= s->plan->arrivals || d->finished);
}

int64_t stages_next_begin(const struct dispatch *d)
{
	return d->begun < d->known ? d->stages[d->begun].plan->begin_ns + d->stages[d->begun].offset_ns : INT64_MAX;
}

void stages_begin(struct dispatch *d, int64_t now)
{
	while (stages_next_begin(d) <= now) {
		struct stage *s = &d->stages[d->begun++];
		int64_t begin = s->plan->begin_ns + s->offset_ns;
		if (s->last_end_ns < begin)
			s->last_end_ns = begin;
		if (s->free_since)
			for (s->free_count = 0; s->free_count < s->plan->slots; s->free_count++)
				s->free_since[s->free_count] = begin;
	}
}

bool stages_end_standing(struct dispatch *d)
{
	if (!d->known || d->known > d->begun || d->stopped)
		return false;
	struct stage *s = &d->stages[d->known - 1];
	if (!stage_standing(s) || s->over_ns != IPF_ABSENT || !stage_complete(d, s))
		return false;
	s->over_ns = s->last_end_ns;
	stages_know_offsets(d, s->over_ns - s->plan->begin_ns);
	return true;
}

int64_t stage_end(const struct stage *s)
{
	return stage_standing(s) ? INT64_MAX : s->plan->end_ns + s->offset_ns;
}

void dispatch_stage_times(const struct dispatch *d, int64_t stage, int64_t *begin_ns, int64_t *end_ns)
{
	const struct stage *s = &d->stages[stage];
	*begin_ns = *end_ns = IPF_ABSENT;
	if ((size_t)stage >= d->begun)
		return;
	*begin_ns = s->plan->begin_ns + s->offset_ns;
	*end_ns = stage_standing(s) ? s->over_ns : s->plan->end_ns + s->offset_ns;
}
