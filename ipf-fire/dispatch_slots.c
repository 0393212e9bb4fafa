#include "dispatch_private.h"

static bool slot_free(const struct stage *s)
{
	return s->plan->slots == IPF_ABSENT || s->in_flight < s->plan->slots;
}

/* Since when the slot that is taken now was free. */
static int64_t slot_since(struct stage *s)
{
	if (!s->free_since || !s->free_count)
		return IPF_ABSENT;
	int64_t since = s->free_since[s->free_first];
	s->free_first = (s->free_first + 1) % s->plan->slots;
	s->free_count--;
	return since;
}

static void go(struct dispatch *d, struct dispatch_node *node)
{
	node->state = GO;
	d->stages[node->stage].in_flight++;
	list_put(&d->go, node);
}

void slots_ready(struct dispatch *d, struct dispatch_node *node)
{
	struct stage *s = &d->stages[node->stage];
	if (node->root && !s->plan->cycle)
		d->ahead--;
	node->ready_ns = node->due_ns;
	if (s->plan->closed && node->at_ns == IPF_ABSENT)
		node->due_ns = IPF_ABSENT;
	node->state = READY;
	if (stage_ended(s, node->ready_ns)) {
		dispatch_drop(d, node);
	} else if (!s->ready.first && slot_free(s)) {
		slot_since(s);
		go(d, node);
	} else {
		list_put(&s->ready, node);
		d->waiting++;
	}
}

void slots_serve_pool(struct dispatch *d, struct stage *s)
{
	while (s->pool.first && slot_free(s)) {
		struct dispatch_node *node = list_take(&s->pool);
		if (!s->plan->cycle)
			d->ahead--;
		int64_t since = slot_since(s);
		node->ready_ns = since == IPF_ABSENT ? s->plan->begin_ns + s->offset_ns : since;
		go(d, node);
	}
}

void slots_returned(struct dispatch *d, struct stage *s, int64_t t)
{
	s->in_flight--;
	struct dispatch_node *node = stage_ended(s, t) ? NULL : list_take(&s->ready);
	if (node) {
		d->waiting--;
		node->slot_ns = t;
		go(d, node);
	} else if (s->free_since) {
		s->free_since[(s->free_first + s->free_count) % s->plan->slots] = t;
		s->free_count++;
	}
}
