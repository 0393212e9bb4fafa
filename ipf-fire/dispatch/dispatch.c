#include "dispatch/dispatch_private.h"

#include "absent.h"
#include "clock.h"

#include <stdlib.h>

#define LOOK_AHEAD_NS    NS_PER_S
#define LOOK_AHEAD_COUNT 256 /* arrivals that wait for no other */

/* ---- making and freeing ---- */

struct dispatch *dispatch_new(const struct schedule *plan)
{
	struct dispatch *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->stages = calloc(plan->count ? plan->count : 1, sizeof *d->stages);
	d->ends = arrival_ends_new(plan);
	if (!d->stages || !d->ends)
		goto out;
	d->count = plan->count;
	d->last_due = IPF_ABSENT;
	d->parts = plan->shards > 0 ? plan->shards : 1;
	d->part = plan->shards > 0 ? plan->shard - 1 : 0;
	for (size_t i = 0; i < plan->count; i++) {
		struct stage *s = &d->stages[i];
		s->plan = &plan->stages[i];
		s->over_ns = IPF_ABSENT;
		if (!s->plan->closed)
			continue;
		if (s->plan->slots > 0 && (uint64_t)s->plan->slots < SIZE_MAX / sizeof *s->free)
			s->free = malloc((size_t)s->plan->slots * sizeof *s->free);
		if (!s->free)
			goto out;
	}
	stages_know_offsets(d, 0);
	return d;
out:
	dispatch_free(d);
	return NULL;
}

void dispatch_free(struct dispatch *d)
{
	if (!d)
		return;
	/* children that wait are reached from the one of their parents that goes first */
	if (d->stages)
		dispatch_stop(d);
	while (dispatch_dropped(d))
		;
	for (size_t i = 0; d->stages && i < d->count; i++) {
		slots_forget_session(&d->stages[i]);
		free(d->stages[i].thinking.nodes);
		free(d->stages[i].free);
	}
	free(d->stages);
	arrival_ends_free(d->ends);
	free(d->heap.nodes);
	free(d);
}

/* ---- dropping ---- */

void dispatch_drop(struct dispatch *d, struct dispatch_node *node)
{
	if (node->root && !d->stages[node->stage].plan->cycle && node->state <= POOL)
		d->ahead--;
	node->state = DROPPED;
	d->stages[node->stage].live--;
	d->stages[node->stage].unstarted--;
	slots_leave_session(d, node);
	arrival_ends_set(d->ends, node->n, ARRIVAL_ENDS_NEVER);
	list_put(&d->dropped, node);
}

void *dispatch_dropped(struct dispatch *d)
{
	struct dispatch_node *node = list_take(&d->dropped);
	if (!node)
		return NULL;
	void *data = node->data;
	for (struct edge *e = node->children; e; e = e->next) {
		struct dispatch_node *child = e->child;
		child->parents--;
		if (child->state == WAITING)
			dispatch_drop(d, child);
		else if (!child->parents && child->gone)
			node_free(child);
	}
	node->gone = true;
	d->live--;
	/* with parents still under way, the last of them frees it */
	if (!node->parents)
		node_free(node);
	return data;
}

void dispatch_stop(struct dispatch *d)
{
	d->stopped = true;
	for (size_t i = 0; i < d->count; i++)
		stages_over(d, &d->stages[i]);
	while (d->heap.count)
		dispatch_drop(d, d->heap.nodes[--d->heap.count]);
	for (struct dispatch_node *node; (node = list_take(&d->go));)
		dispatch_drop(d, node);
}

/* ---- adding ---- */

/* Its parents have ended, if it had any: when is it due? */
static void place(struct dispatch *d, struct dispatch_node *node)
{
	struct stage *s = &d->stages[node->stage];
	bool known = node->stage < d->known;
	if (d->stopped || s->over) {
		dispatch_drop(d, node);
	} else if (node->root && node->at_ns == IPF_ABSENT) {
		/* outside a closed stage: at its stage's beginning */
		node->state = POOL;
		node->due_ns = IPF_ABSENT;
		if (s->plan->closed) {
			list_put(&s->pool, node);
			return;
		}
		node->at_ns = s->plan->begin_ns;
		place(d, node);
	} else if (node->root) {
		node->due_ns = node->at_ns + (known ? s->offset_ns : 0);
		node->state = HELD;
		if (!known)
			list_put(&s->held, node);
		else
			heap_put(&d->heap, node);
	} else {
		/* its parents have run, hence the offset of its stage is known, unless they are of an earlier stage */
		node->due_ns = node->parents_end_ns + node->wait_ns;
		if (node->at_ns != IPF_ABSENT && known && node->at_ns + s->offset_ns > node->due_ns)
			node->due_ns = node->at_ns + s->offset_ns;
		if (stage_ended(s, node->due_ns))
			dispatch_drop(d, node);
		else
			heap_put(&d->heap, node);
	}
}

static void announce(struct dispatch *d, struct dispatch_node *node)
{
	node->next_upcoming = d->upcoming;
	d->upcoming = node;
}

/* It has started, or all that it waits for have: those after it are to be prepared. */
static void near(struct dispatch *d, struct dispatch_node *node)
{
	for (struct edge *e = node->children; e; e = e->next)
		if (--e->child->far == 0 && e->child->state == WAITING)
			announce(d, e->child);
}

static void started(struct dispatch *d, struct dispatch_node *node)
{
	if (node->root)
		near(d, node);
	for (struct edge *e = node->children; e; e = e->next)
		if (--e->child->unstarted == 0)
			near(d, e->child);
}

static bool is_near(const struct dispatch_node *node)
{
	return node->root ? node->state == FLIGHT : node->unstarted == 0;
}

static int add_parents(struct dispatch *d, struct dispatch_node *node, const struct schedule_arrival *a, bool *never,
                       struct ipf_error *err)
{
	for (size_t i = 0; i < a->after_count; i++) {
		struct dispatch_node *parent;
		int64_t end = arrival_ends_get(d->ends, a->after[i], &parent);
		if (parent && parent->state != DROPPED) {
			struct edge *e = malloc(sizeof *e);
			if (!e)
				return ipf_error_memory(err);
			*e = (struct edge){.child = node, .next = parent->children};
			parent->children = e;
			node->parents++;
			node->unstarted += parent->state != FLIGHT;
			node->far += !is_near(parent);
		} else if (end == ARRIVAL_ENDS_NEVER || parent) {
			*never = true;
		} else if (end == ARRIVAL_ENDS_UNKNOWN) {
			return ipf_error_set(err, IPF_INPUT, "after: n %lld waits for n %lld, which does not come before it",
			                     (long long)a->n, (long long)a->after[i]);
		} else if (end > node->parents_end_ns) {
			node->parents_end_ns = end;
		}
	}
	return 0;
}

/* Takes back the edges to a node that is not added after all. */
static void forget_parents(struct dispatch *d, struct dispatch_node *node, const struct schedule_arrival *a)
{
	for (size_t i = 0; i < a->after_count; i++) {
		struct dispatch_node *parent;
		arrival_ends_get(d->ends, a->after[i], &parent);
		if (parent && parent->children && parent->children->child == node) {
			struct edge *e = parent->children;
			parent->children = e->next;
			free(e);
		}
	}
}

static bool fits(const struct dispatch *d, const struct schedule_arrival *a)
{
	const int64_t most = INT64_MAX / 4; /* sums of two never overflow */
	return a->stage >= 0 && (size_t)a->stage < d->count && a->n >= 0 &&
	       (a->at_ns == IPF_ABSENT || (a->at_ns >= 0 && a->at_ns < most)) &&
	       (a->wait_ns == IPF_ABSENT || (a->wait_ns >= 0 && a->wait_ns < most));
}

int dispatch_add(struct dispatch *d, const struct schedule_arrival *a, void *data, struct ipf_error *err)
{
	if (!fits(d, a))
		return ipf_error_set(err, IPF_INPUT, "n %lld: its stage or its times make no sense", (long long)a->n);
	struct dispatch_node *node = calloc(1, sizeof *node);
	struct stage *s = &d->stages[a->stage];
	if (!node || !heap_reserve(&d->heap, (size_t)d->live) || arrival_ends_reserve(d->ends, a->n) < 0 ||
	    (s->plan->closed && !heap_reserve(&s->thinking, (size_t)s->live))) {
		free(node);
		return ipf_error_memory(err);
	}
	bool never = false;
	*node = (struct dispatch_node){.n = a->n,
	                               .at_ns = a->at_ns,
	                               .wait_ns = a->wait_ns == IPF_ABSENT ? 0 : a->wait_ns,
	                               .due_ns = IPF_ABSENT,
	                               .ready_ns = IPF_ABSENT,
	                               .slot_ns = IPF_ABSENT,
	                               .data = data,
	                               .stage = (uint32_t)a->stage,
	                               .state = WAITING,
	                               .thread = -1,
	                               .root = a->after_count == 0};
	if (add_parents(d, node, a, &never, err) < 0 || slots_join_session(d, node) < 0) {
		if (!err->kind)
			ipf_error_memory(err);
		forget_parents(d, node, a);
		node_free(node);
		return -1;
	}
	arrival_ends_set_node(d->ends, node->n, node);
	if (s->plan->cycle)
		arrival_ends_forget(d->ends, a->n - 2 * s->plan->arrivals, (size_t)a->stage);
	d->live++;
	s->live++;
	s->unstarted++;
	s->added++;
	if (node->root && !s->plan->cycle)
		d->ahead++;
	if (!never && !node->root && !node->far)
		announce(d, node);
	if (never)
		dispatch_drop(d, node);
	else if (!node->parents)
		place(d, node);
	if (node->root && !s->plan->cycle) {
		d->last_due = node->state == TIMED ? node->due_ns : IPF_ABSENT;
		d->last_stage = (size_t)a->stage;
	}
	return 0;
}

void dispatch_finish(struct dispatch *d)
{
	d->finished = true;
}

/* ---- time passes ---- */

static void ripen(struct dispatch *d, int64_t now)
{
	while (d->heap.count && d->heap.nodes[0]->due_ns <= now)
		slots_ready(d, heap_take(&d->heap), now);
}

static void pass(struct dispatch *d, int64_t now)
{
	stages_pass(d, now);
	for (size_t i = 0; i < d->begun; i++)
		if (d->stages[i].plan->closed && !d->stages[i].over)
			slots_serve(d, &d->stages[i], now);
	ripen(d, now);
}

/* The next one to go whose stage did not end while it was on its way here. */
static struct dispatch_node *take_go(struct dispatch *d, int64_t now)
{
	struct dispatch_node *node;
	while ((node = list_take(&d->go))) {
		struct stage *s = &d->stages[node->stage];
		if (!s->plan->closed || stage_end(s) > now)
			return node;
		slots_returned(d, node, IPF_ABSENT);
		dispatch_drop(d, node);
	}
	return NULL;
}

bool dispatch_next(struct dispatch *d, int64_t now, struct dispatch_start *start)
{
	struct dispatch_node *node = take_go(d, now);
	if (!node && !d->stopped) {
		pass(d, now);
		node = take_go(d, now);
	}
	if (!node)
		return false;
	struct stage *s = &d->stages[node->stage];
	node->state = FLIGHT;
	node->start_ns = now;
	s->unstarted--;
	if (now > s->last_start_ns)
		s->last_start_ns = now;
	d->in_flight++;
	started(d, node);
	*start = (struct dispatch_start){.data = node->data,
	                                 .ticket = node,
	                                 .due_ns = node->due_ns,
	                                 .ready_ns = node->ready_ns,
	                                 .slot_ns = node->slot_ns,
	                                 .thread = node->thread};
	return true;
}

void dispatch_give(struct dispatch_node *ticket, int thread)
{
	ticket->thread = thread;
}

void *dispatch_upcoming(struct dispatch *d)
{
	struct dispatch_node *node = d->upcoming;
	d->upcoming = node ? node->next_upcoming : NULL;
	return node ? node->data : NULL;
}

void dispatch_ended(struct dispatch *d, struct dispatch_node *node, int64_t t)
{
	struct stage *s = &d->stages[node->stage];
	d->in_flight--;
	d->live--;
	s->live--;
	if (t > s->last_end_ns)
		s->last_end_ns = t;
	arrival_ends_set(d->ends, node->n, t);
	stages_pass(d, t);
	ripen(d, t); /* who was due before now stands before who is ready now */
	slots_returned(d, node, t);
	for (struct edge *e = node->children; e; e = e->next) {
		struct dispatch_node *child = e->child;
		child->thread = node->thread;
		if (t > child->parents_end_ns)
			child->parents_end_ns = t;
		if (--child->parents)
			continue;
		if (child->state == WAITING)
			place(d, child);
		else if (child->gone)
			node_free(child);
	}
	slots_leave_session(d, node);
	node_free(node);
}

int64_t dispatch_wake(const struct dispatch *d)
{
	if (d->go.first || d->stopped)
		return d->go.first ? INT64_MIN : INT64_MAX;
	int64_t wake = stages_wake(d);
	if (d->heap.count && d->heap.nodes[0]->due_ns < wake)
		wake = d->heap.nodes[0]->due_ns;
	for (size_t i = 0; i < d->begun; i++) {
		const struct stage *s = &d->stages[i];
		const struct heap *thinking = &s->thinking;
		if (s->pool.first && s->free_count && !s->over) /* a session ended when what was left of it was dropped */
			return INT64_MIN;
		if (thinking->count && thinking->nodes[0]->due_ns < wake)
			wake = thinking->nodes[0]->due_ns;
	}
	return wake;
}

int dispatch_wake_thread(const struct dispatch *d)
{
	return d->heap.count ? d->heap.nodes[0]->thread : -1;
}

bool dispatch_done(const struct dispatch *d)
{
	if (d->live || d->dropped.first)
		return false;
	if (d->stopped)
		return true;
	if (!d->finished)
		return false;
	for (size_t i = 0; i < d->count; i++)
		if (d->stages[i].plan->cycle && d->stages[i].plan->arrivals > 0 && !d->stages[i].over)
			return false;
	return true;
}

bool dispatch_wants(const struct dispatch *d, int64_t stage, int64_t now)
{
	if (d->stopped)
		return false;
	if (stage >= 0) {
		const struct stage *s = &d->stages[stage];
		return !s->over && s->pool.count < LOOK_AHEAD_COUNT / 4 + (s->plan->slots == IPF_ABSENT ? 0 : s->plan->slots);
	}
	if (d->finished)
		return false;
	const struct stage *last = &d->stages[d->last_stage];
	int64_t slots = d->count && last->plan->closed && last->plan->slots != IPF_ABSENT ? last->plan->slots : 0;
	return d->ahead < LOOK_AHEAD_COUNT + slots || (d->last_due != IPF_ABSENT && d->last_due <= now + LOOK_AHEAD_NS);
}

bool dispatch_stage_over(const struct dispatch *d, int64_t stage)
{
	return d->stages[stage].over;
}

int64_t dispatch_in_flight(const struct dispatch *d)
{
	return d->in_flight;
}

int64_t dispatch_waiting(const struct dispatch *d)
{
	return d->waiting;
}
