#include "dispatch/dispatch.h"

#include "absent.h"
#include "clock.h"
#include "dispatch/arrival_ends.h"
#include "dispatch/dependencies.h"
#include "dispatch/dispatch_node.h"
#include "dispatch/stage_state.h"

#include <stdlib.h>

#define LOOK_AHEAD_NS    NS_PER_S
#define LOOK_AHEAD_COUNT 256 /* arrivals without parents */

struct dispatch {
	struct stage_state *stages;
	size_t count;
	size_t begun; /* stages that have begun */
	size_t known; /* stages whose offset is known */
	struct dependencies dependencies;
	struct node_heap timed;
	struct node_list to_start, dropped;
	struct node_spares spares;
	int64_t live, in_flight, waiting, due;
	int64_t cut_sessions;
	int64_t roots_ahead;   /* roots of the stages that do not cycle: added, not due yet */
	int64_t last_root_due; /* the last one's; IPF_ABSENT: unknown */
	size_t last_root_stage;
	int64_t shard, shards; /* a schedule for one of several clients: which, from 0, of how many */
	bool lead;             /* the first stage comes before the run's start */
	bool at_gate;          /* the next stage waits for the end of all before it, or: */
	size_t gate;           /* the stage that waits for dispatch_open_gate; 0: none */
	size_t opened;         /* the latest that may begin … */
	int64_t opened_ns;     /* … from then on; 0 before the first one */
	bool finished, stopped;
};

/* ---- users of closed stages ---- */

/* The requests of one session, in a stage whose users take whole sessions. */
struct user_session {
	int64_t live;  /* requests that have not ended */
	bool open;     /* more of them may be added */
	bool has_user; /* a user has taken it */
	bool cut;      /* some of its requests are not started */
	struct virtual_user user;
	size_t stage;
};

static void count_due(struct dispatch *d, struct dispatch_node *node)
{
	d->due += !node->due;
	node->due = true;
}

static void let_start(struct dispatch *d, struct dispatch_node *node)
{
	count_due(d, node);
	node->state = NODE_TO_START;
	d->stages[node->stage].in_flight++;
	node_list_put(&d->to_start, node);
	if (node->session && node->has_user) {
		node->session->has_user = true;
		node->session->user = node->user;
		node->has_user = false;
	}
}

/* The node starts when both it and the user are ready. */
static void assign_user(struct dispatch *d, struct stage_state *s, struct dispatch_node *node, struct virtual_user user,
                        int64_t now)
{
	bool from_pool = node->state == NODE_POOLED, first = user.started_ns == IPF_ABSENT;
	int64_t at = user.idle_since_ns + (from_pool && !first ? node->wait_ns : 0);
	if (!from_pool)
		at = greater_of(at, node->ready_ns);
	if (!first)
		at = greater_of(at, user.started_ns + s->definition->pace_ns);
	at = greater_of(at, stage_begin(s));
	node->user = user;
	node->has_user = true;
	if (from_pool)
		node->ready_ns = at;
	else if (at > node->ready_ns)
		node->slot_ns = at;
	if (at <= now) {
		let_start(d, node);
		return;
	}
	node->due_ns = at;
	node_heap_put(&s->thinking, node);
	node->state = NODE_THINKING;
}

/* A user goes on to the last closed stage that has begun in an unbroken row of them, and takes a ready arrival
 * there. */
static void free_user(struct dispatch *d, struct stage_state *s, struct virtual_user user, int64_t now)
{
	const struct stage_state *end = &d->stages[d->begun];
	while (s->over && s + 1 < end && s[1].definition->closed)
		s++;
	if (d->stopped)
		return;
	if (s->leaving) {
		s->leaving--;
		return;
	}
	struct dispatch_node *node = stage_ended(s, now) ? NULL : node_list_take(&s->ready);
	if (!node) {
		stage_put_user(s, user);
		return;
	}
	d->waiting--;
	assign_user(d, s, node, user, now);
}

/* The first users of a closed stage: those of the closed stage before it, and new ones. */
static void admit_users(struct dispatch *d, struct stage_state *s, struct stage_state *before)
{
	int64_t kept = before ? before->definition->slots + before->leaving : 0, fresh = s->definition->slots - kept;
	s->leaving = fresh < 0 ? -fresh : 0;
	for (; before && before->free_count;)
		free_user(d, before, stage_take_user(before), stage_begin(s));
	/* users of several clients take turns in arriving */
	double gap = (double)s->definition->rampup_ns / ((double)fresh * (double)d->shards);
	for (int64_t k = 0; k < fresh; k++)
		stage_put_user(s, (struct virtual_user){.idle_since_ns = stage_begin(s) +
		                                                         (int64_t)(gap * (double)(k * d->shards + d->shard)),
		                                        .started_ns = IPF_ABSENT});
}

/* Frees the session and its user if nothing of it is left. */
static void end_session(struct dispatch *d, struct user_session *session)
{
	if (session->live || session->open)
		return;
	if (session->has_user) {
		struct stage_state *s = &d->stages[session->stage];
		/* before a turn that would come too late, the user thinks until the stage ends */
		if (session->cut && !s->over && !stage_open_ended(s))
			session->user.idle_since_ns = greater_of(session->user.idle_since_ns, stage_end(s));
		free_user(d, s, session->user, session->user.idle_since_ns);
	}
	free(session);
}

/* Adds the node to the session of its stage, if the stage has any. -1: out of memory. */
static int join_session(struct dispatch *d, struct dispatch_node *node)
{
	struct stage_state *s = &d->stages[node->stage];
	struct user_session *last = s->last_session;
	if (!s->definition->sessions || (!node->root && !last))
		return 0;
	if (node->root) {
		struct user_session *session = calloc(1, sizeof *session);
		if (!session)
			return -1;
		*session = (struct user_session){.open = true, .stage = node->stage};
		s->last_session = session;
		if (last) {
			last->open = false;
			end_session(d, last);
		}
	}
	node->session = s->last_session;
	node->session->live++;
	if (s->added + 1 >= s->definition->arrivals && !s->definition->cycle) {
		s->last_session->open = false;
		s->last_session = NULL;
	}
	return 0;
}

static void leave_session(struct dispatch *d, struct dispatch_node *node)
{
	if (!node->session)
		return;
	node->session->live--;
	end_session(d, node->session);
	node->session = NULL;
}

/* ---- dropping ---- */

/* Neither the node nor its followers will ever be started. */
static void drop(struct dispatch *d, struct dispatch_node *node)
{
	if (node->root && !d->stages[node->stage].definition->cycle && node->state <= NODE_POOLED)
		d->roots_ahead--;
	node->state = NODE_DROPPED;
	d->stages[node->stage].live--;
	d->stages[node->stage].unstarted--;
	if (node->session && node->session->has_user && !node->session->cut) {
		node->session->cut = true;
		d->cut_sessions++;
	}
	leave_session(d, node);
	arrival_ends_set(d->dependencies.ends, node->n, ARRIVAL_ENDS_NEVER);
	node_list_put(&d->dropped, node);
}

void *dispatch_dropped(struct dispatch *d)
{
	struct dispatch_node *node = node_list_take(&d->dropped);
	if (!node)
		return NULL;
	void *data = node->data;
	for (struct dependency_edge *e = node->children; e; e = e->next) {
		struct dispatch_node *child = e->child;
		child->parents--;
		if (child->state == NODE_WAITING)
			drop(d, child);
		else if (!child->parents && child->orphaned)
			node_spares_give(&d->spares, child);
	}
	node->orphaned = true;
	d->live--;
	/* if parents of it are in flight, the last of them frees it */
	if (!node->parents)
		node_spares_give(&d->spares, node);
	return data;
}

static void drop_list(struct dispatch *d, struct node_list *list)
{
	for (struct dispatch_node *node; (node = node_list_take(list));)
		drop(d, node);
}

/* Drops arrivals that wait for their time. */
static void drop_timed(struct dispatch *d, const struct stage_state *s)
{
	size_t count = d->timed.count;
	d->timed.count = 0;
	for (size_t i = 0; i < count; i++) {
		struct dispatch_node *node = d->timed.nodes[i];
		if (&d->stages[node->stage] == s)
			drop(d, node);
		else
			node_heap_put(&d->timed, node);
	}
}

/* The users of a stage that is over are free: the one that pauses before a request, and the one of the last session. */
static void free_users(struct dispatch *d, struct stage_state *s)
{
	while (s->thinking.count) {
		struct dispatch_node *node = node_heap_take(&s->thinking);
		free_user(d, s, node->user, node->user.idle_since_ns);
		node->state = NODE_READY;
		drop(d, node);
	}
	if (s->last_session) { /* no more of it will be added */
		s->last_session->open = false;
		end_session(d, s->last_session);
		s->last_session = NULL;
	}
}

/* Drops arrivals that a closed stage has not started. */
static void close_stage(struct dispatch *d, struct stage_state *s)
{
	s->over = true;
	d->waiting -= s->ready.count;
	free_users(d, s);
	drop_list(d, &s->ready);
	drop_list(d, &s->pool);
	drop_list(d, &s->held);
	drop_timed(d, s);
}

void dispatch_stop(struct dispatch *d)
{
	d->stopped = true;
	for (size_t i = 0; i < d->count; i++)
		close_stage(d, &d->stages[i]);
	drop_list(d, &d->to_start);
}

/* ---- stages begin and end ---- */

/* Once a stage's offset is known, so are those of the stages after it, up to the next one that holds the schedule's
 * time. */
static void set_offsets(struct dispatch *d, int64_t offset)
{
	while (d->known < d->count) {
		struct stage_state *s = &d->stages[d->known++];
		s->offset_ns = offset;
		for (struct dispatch_node *node; (node = node_list_take(&s->held));) {
			node->due_ns += offset;
			node_heap_put(&d->timed, node);
		}
		if (stage_holds_time(s))
			return;
	}
}

void dispatch_lead(struct dispatch *d, int64_t lead_ns)
{
	d->lead = true;
	d->stages[0].offset_ns = d->stages[0].last_end_ns = -lead_ns;
}

/* When the next stage begins; INT64_MAX if that is unknown, or if all have begun. */
static int64_t next_begin(const struct dispatch *d)
{
	return d->begun < d->known ? stage_begin(&d->stages[d->begun]) : INT64_MAX;
}

static void begin_stages(struct dispatch *d, int64_t now)
{
	while (next_begin(d) <= now) {
		struct stage_state *s = &d->stages[d->begun], *before = d->begun && s[-1].definition->closed ? s - 1 : NULL;
		if (before && !before->over)
			close_stage(d, before);
		d->begun++;
		s->last_end_ns = greater_of(s->last_end_ns, stage_begin(s));
		s->last_start_ns = stage_begin(s);
		if (s->definition->closed)
			admit_users(d, s, before);
	}
}

static void close_ended_stages(struct dispatch *d, int64_t now)
{
	for (size_t i = 0; i < d->begun; i++)
		if (d->stages[i].definition->closed && !d->stages[i].over && stage_end(&d->stages[i]) <= now)
			close_stage(d, &d->stages[i]);
}

/* Does the next stage have to wait until the caller has reset the cache? Everything before it has to end first. */
static bool waits_at_gate(struct dispatch *d)
{
	if (d->known >= d->count || !d->stages[d->known].definition->cold || d->opened == d->known)
		return false;
	bool idle = d->in_flight == 0;
	for (size_t i = 0; idle && i < d->known; i++)
		idle = d->stages[i].live == 0;
	d->gate = idle ? d->known : 0;
	d->at_gate = true;
	return true;
}

int64_t dispatch_gate(const struct dispatch *d)
{
	return d->gate && !d->stopped ? (int64_t)d->gate : -1;
}

/* Lets the schedule's time go on if the stage that holds it has begun and ended. */
static bool resume_time(struct dispatch *d, int64_t now)
{
	if (!d->known || d->known > d->begun || d->stopped)
		return false;
	struct stage_state *s = &d->stages[d->known - 1];
	bool open_ended = stage_open_ended(s);
	if (!stage_holds_time(s) || s->over_ns != IPF_ABSENT || (!open_ended && stage_end(s) > now) ||
	    !stage_complete(s, d->finished) || waits_at_gate(d))
		return false;
	s->over_ns = s->definition->overlap ? s->last_start_ns : s->last_end_ns;
	if (!open_ended)
		s->over_ns = greater_of(s->over_ns, stage_end(s));
	bool leads = d->lead && s == d->stages;
	int64_t from_ns = greater_of(s->over_ns, d->opened_ns);
	set_offsets(d, leads ? 0 : from_ns - (open_ended ? s->definition->begin_ns : s->definition->end_ns));
	return true;
}

void dispatch_open_gate(struct dispatch *d, int64_t now)
{
	d->opened = d->gate;
	d->opened_ns = now;
	d->gate = 0;
	d->at_gate = false;
}

static void update_stages(struct dispatch *d, int64_t now)
{
	do {
		begin_stages(d, now);
		close_ended_stages(d, now);
	} while (resume_time(d, now));
}

/* When a stage begins or ends, unless a request changes that; INT64_MAX. */
static int64_t next_stage_change(const struct dispatch *d)
{
	int64_t wake = next_begin(d);
	for (size_t i = 0; i < d->begun; i++) {
		const struct stage_state *s = &d->stages[i];
		bool waits = s->definition->closed ? !s->over
		                                   : i + 1 == d->known && !d->at_gate && stage_holds_time(s) &&
		                                         s->over_ns == IPF_ABSENT && stage_complete(s, d->finished);
		if (waits && stage_end(s) < wake)
			wake = stage_end(s);
	}
	return wake;
}

int64_t dispatch_cut_sessions(const struct dispatch *d)
{
	return d->cut_sessions;
}

void dispatch_stage_times(const struct dispatch *d, int64_t stage, int64_t *begin_ns, int64_t *end_ns)
{
	const struct stage_state *s = &d->stages[stage];
	*begin_ns = *end_ns = IPF_ABSENT;
	if ((size_t)stage >= d->begun)
		return;
	*begin_ns = stage_begin(s);
	*end_ns = stage_open_ended(s) ? s->over_ns : stage_end(s);
}

/* ---- making and freeing ---- */

struct dispatch *dispatch_new(const struct schedule *schedule)
{
	struct dispatch *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->stages = calloc(schedule->count ? schedule->count : 1, sizeof *d->stages);
	d->dependencies.ends = arrival_ends_new(schedule);
	bool good = d->stages && d->dependencies.ends;
	for (; good && d->count < schedule->count; d->count++)
		good = stage_state_init(&d->stages[d->count], &schedule->stages[d->count]) == 0;
	if (!good) {
		dispatch_free(d);
		return NULL;
	}
	d->last_root_due = IPF_ABSENT;
	d->shards = schedule->shards > 0 ? schedule->shards : 1;
	d->shard = schedule->shards > 0 ? schedule->shard - 1 : 0;
	set_offsets(d, 0);
	return d;
}

void dispatch_free(struct dispatch *d)
{
	if (!d)
		return;
	/* children waiting are reached through the first of their parents that is dropped */
	dispatch_stop(d);
	while (dispatch_dropped(d))
		;
	for (size_t i = 0; i < d->count; i++)
		stage_state_release(&d->stages[i]);
	free(d->stages);
	arrival_ends_free(d->dependencies.ends);
	free(d->timed.nodes);
	node_spares_release(&d->spares);
	free(d);
}

/* ---- adding ---- */

/* Puts a node whose parents have ended, or that has none, to where it waits for its time. */
static void place(struct dispatch *d, struct dispatch_node *node)
{
	struct stage_state *s = &d->stages[node->stage];
	bool known = node->stage < d->known;
	if (d->stopped || s->over) {
		drop(d, node);
	} else if (node->root && node->at_ns == IPF_ABSENT) {
		node->state = NODE_POOLED;
		node->due_ns = IPF_ABSENT;
		if (s->definition->closed) {
			node_list_put(&s->pool, node);
			return;
		}
		/* in any other stage it is due when the stage begins */
		node->at_ns = s->definition->begin_ns;
		place(d, node);
	} else if (node->root) {
		node->due_ns = node->at_ns + (known ? s->offset_ns : 0);
		node->state = NODE_HELD;
		if (!known)
			node_list_put(&s->held, node);
		else
			node_heap_put(&d->timed, node);
	} else {
		/* its parents have run: the offset of its stage is known, unless they are of an earlier stage */
		node->due_ns = node->parents_end_ns + node->wait_ns;
		if (node->at_ns != IPF_ABSENT && known)
			node->due_ns = greater_of(node->due_ns, node->at_ns + s->offset_ns);
		if (stage_ended(s, node->due_ns))
			drop(d, node);
		else
			node_heap_put(&d->timed, node);
	}
}

static bool is_valid(const struct dispatch *d, const struct schedule_arrival *a)
{
	const int64_t most = INT64_MAX / 4; /* sums of two never overflow */
	return a->stage >= 0 && (size_t)a->stage < d->count && a->n >= 0 &&
	       (a->at_ns == IPF_ABSENT || (a->at_ns >= 0 && a->at_ns < most)) &&
	       (a->wait_ns == IPF_ABSENT || (a->wait_ns >= 0 && a->wait_ns < most));
}

int dispatch_add(struct dispatch *d, const struct schedule_arrival *a, void *data, struct ipf_error *err)
{
	if (!is_valid(d, a))
		return ipf_error_set(err, IPF_INPUT, "arrival n %lld: its stage or its times are out of range",
		                     (long long)a->n);
	struct dispatch_node *node = node_spares_take(&d->spares);
	struct stage_state *s = &d->stages[a->stage];
	struct arrival_ends *ends = d->dependencies.ends;
	if (!node || !node_heap_reserve(&d->timed, (size_t)d->live) || arrival_ends_reserve(ends, a->n) < 0 ||
	    (s->definition->closed && !node_heap_reserve(&s->thinking, (size_t)s->live))) {
		free(node);
		return ipf_error_memory(err);
	}
	bool dropped = false;
	*node = (struct dispatch_node){.n = a->n,
	                               .at_ns = a->at_ns,
	                               .wait_ns = a->wait_ns == IPF_ABSENT ? 0 : a->wait_ns,
	                               .due_ns = IPF_ABSENT,
	                               .ready_ns = IPF_ABSENT,
	                               .slot_ns = IPF_ABSENT,
	                               .data = data,
	                               .stage = (uint32_t)a->stage,
	                               .state = NODE_WAITING,
	                               .thread = -1,
	                               .root = a->after_count == 0};
	if (dependencies_link(&d->dependencies, node, a, &dropped, err) < 0 || join_session(d, node) < 0) {
		ipf_error_memory(err); /* unless it is set */
		dependencies_unlink(&d->dependencies, node, a);
		node_spares_give(&d->spares, node);
		return -1;
	}
	arrival_ends_set_node(ends, node->n, node);
	if (s->definition->cycle)
		arrival_ends_forget(ends, a->n - 2 * s->definition->arrivals, (size_t)a->stage);
	d->live++;
	s->live++;
	s->unstarted++;
	s->added++;
	bool ahead = node->root && !s->definition->cycle;
	d->roots_ahead += ahead;
	if (dropped) {
		drop(d, node);
	} else {
		dependencies_added(&d->dependencies, node);
		if (!node->parents)
			place(d, node);
	}
	if (ahead) {
		d->last_root_due = node->state == NODE_TIMED ? node->due_ns : IPF_ABSENT;
		d->last_root_stage = (size_t)a->stage;
	}
	return 0;
}

void dispatch_finish(struct dispatch *d)
{
	d->finished = true;
}

/* ---- time passes ---- */

/* Its time has come: it starts, or waits for a slot or a user. */
static void on_due(struct dispatch *d, struct dispatch_node *node, int64_t now)
{
	struct stage_state *s = &d->stages[node->stage];
	const struct schedule_stage *definition = s->definition;
	if (node->root && !definition->cycle)
		d->roots_ahead--;
	node->ready_ns = node->due_ns;
	if (definition->closed && node->at_ns == IPF_ABSENT)
		node->due_ns = IPF_ABSENT;
	node->state = NODE_READY;
	bool waits = s->ready.first;
	if (node->session && !node->root) {
		let_start(d, node); /* its user is with the session */
	} else if (!waits && definition->closed && s->free_count) {
		assign_user(d, s, node, stage_take_user(s), now);
	} else if (!waits && !definition->closed && (definition->slots == IPF_ABSENT || s->in_flight < definition->slots)) {
		let_start(d, node);
	} else {
		node_list_put(&s->ready, node);
		d->waiting++;
		count_due(d, node);
	}
}

static void start_due(struct dispatch *d, int64_t now)
{
	while (d->timed.count && d->timed.nodes[0]->due_ns <= now)
		on_due(d, node_heap_take(&d->timed), now);
}

/* Free users of a closed stage take arrivals of its pool, and those whose pause has ended send. */
static void serve_users(struct dispatch *d, struct stage_state *s, int64_t now)
{
	while (s->pool.first && s->free_count) {
		struct dispatch_node *node = node_list_take(&s->pool);
		if (!s->definition->cycle)
			d->roots_ahead--;
		assign_user(d, s, node, stage_take_user(s), now);
	}
	while (s->thinking.count && s->thinking.nodes[0]->due_ns <= now) {
		struct dispatch_node *node = node_heap_take(&s->thinking);
		node->due_ns = node->at_ns == IPF_ABSENT ? IPF_ABSENT : node->ready_ns;
		let_start(d, node);
	}
}

/* The slot or user of a node that has ended at `t`, or that is not started after all (IPF_ABSENT), is free. */
static void free_slot(struct dispatch *d, struct dispatch_node *node, int64_t t)
{
	struct stage_state *s = &d->stages[node->stage];
	s->in_flight--;
	if (t != IPF_ABSENT) {
		struct virtual_user *user = node->session ? &node->session->user : &node->user;
		user->idle_since_ns = greater_of(user->idle_since_ns, t);
		user->started_ns = node->start_ns;
	}
	if (s->definition->closed) {
		if (node->has_user)
			free_user(d, s, node->user, node->user.idle_since_ns);
		return;
	}
	struct dispatch_node *next = node_list_take(&s->ready);
	if (next) {
		d->waiting--;
		next->slot_ns = t;
		let_start(d, next);
	}
}

static void advance(struct dispatch *d, int64_t now)
{
	update_stages(d, now);
	for (size_t i = 0; i < d->begun; i++)
		serve_users(d, &d->stages[i], now);
	start_due(d, now);
}

/* The next node to start whose stage has not ended meanwhile. */
static struct dispatch_node *take_to_start(struct dispatch *d, int64_t now)
{
	struct dispatch_node *node;
	while ((node = node_list_take(&d->to_start))) {
		struct stage_state *s = &d->stages[node->stage];
		if (!s->definition->closed || stage_end(s) > now)
			return node;
		free_slot(d, node, IPF_ABSENT);
		drop(d, node);
	}
	return NULL;
}

bool dispatch_next(struct dispatch *d, int64_t now, struct dispatch_start *start)
{
	struct dispatch_node *node = take_to_start(d, now);
	if (!node && !d->stopped) {
		advance(d, now);
		node = take_to_start(d, now);
	}
	if (!node)
		return false;
	struct stage_state *s = &d->stages[node->stage];
	node->state = NODE_IN_FLIGHT;
	node->start_ns = now;
	s->unstarted--;
	s->last_start_ns = greater_of(s->last_start_ns, now);
	d->in_flight++;
	dependencies_started(&d->dependencies, node);
	*start = (struct dispatch_start){.data = node->data,
	                                 .ticket = node,
	                                 .due_ns = node->due_ns,
	                                 .ready_ns = node->ready_ns,
	                                 .slot_ns = node->slot_ns,
	                                 .thread = node->thread};
	return true;
}

void dispatch_set_thread(struct dispatch_node *ticket, int thread)
{
	ticket->thread = thread;
}

void *dispatch_upcoming(struct dispatch *d)
{
	struct dispatch_node *node = dependencies_upcoming(&d->dependencies);
	return node ? node->data : NULL;
}

void dispatch_ended(struct dispatch *d, struct dispatch_node *node, int64_t t)
{
	struct stage_state *s = &d->stages[node->stage];
	d->in_flight--;
	d->live--;
	s->live--;
	s->last_end_ns = greater_of(s->last_end_ns, t);
	arrival_ends_set(d->dependencies.ends, node->n, t);
	update_stages(d, t);
	start_due(d, t); /* arrivals due before now precede those ready now */
	free_slot(d, node, t);
	for (struct dependency_edge *e = node->children; e; e = e->next) {
		struct dispatch_node *child = e->child;
		child->thread = node->thread;
		child->parents_end_ns = greater_of(child->parents_end_ns, t);
		if (--child->parents)
			continue;
		if (child->state == NODE_WAITING)
			place(d, child);
		else if (child->orphaned)
			node_spares_give(&d->spares, child);
	}
	leave_session(d, node);
	node_spares_give(&d->spares, node);
}

/* ---- queries ---- */

int64_t dispatch_wake(const struct dispatch *d)
{
	if (d->to_start.first || d->stopped)
		return d->to_start.first ? INT64_MIN : INT64_MAX;
	int64_t wake = next_stage_change(d);
	if (d->timed.count && d->timed.nodes[0]->due_ns < wake)
		wake = d->timed.nodes[0]->due_ns;
	for (size_t i = 0; i < d->begun; i++) {
		const struct stage_state *s = &d->stages[i];
		const struct node_heap *thinking = &s->thinking;
		if (s->pool.first && s->free_count) /* a user came back */
			return INT64_MIN;
		if (thinking->count && thinking->nodes[0]->due_ns < wake)
			wake = thinking->nodes[0]->due_ns;
	}
	return wake;
}

int dispatch_wake_thread(const struct dispatch *d)
{
	return d->timed.count ? d->timed.nodes[0]->thread : -1;
}

bool dispatch_done(const struct dispatch *d)
{
	if (d->live || d->dropped.first)
		return false;
	if (d->stopped)
		return true;
	if (!d->finished)
		return false;
	for (size_t i = 0; i < d->count; i++) {
		const struct schedule_stage *definition = d->stages[i].definition;
		if (definition->cycle && definition->arrivals > 0 && !d->stages[i].over)
			return false;
	}
	return true;
}

bool dispatch_wants(const struct dispatch *d, int64_t stage, int64_t now)
{
	if (d->stopped)
		return false;
	if (stage >= 0) {
		const struct stage_state *s = &d->stages[stage];
		return !s->over && s->pool.count < LOOK_AHEAD_COUNT / 4 + s->definition->slots;
	}
	if (d->finished)
		return false;
	const struct schedule_stage *last = d->count ? d->stages[d->last_root_stage].definition : NULL;
	int64_t slots = last && last->closed && last->slots != IPF_ABSENT ? last->slots : 0;
	return d->roots_ahead < LOOK_AHEAD_COUNT + slots ||
	       (d->last_root_due != IPF_ABSENT && d->last_root_due <= now + LOOK_AHEAD_NS);
}

int64_t dispatch_in_flight(const struct dispatch *d)
{
	return d->in_flight;
}

int64_t dispatch_waiting(const struct dispatch *d)
{
	return d->waiting;
}

int64_t dispatch_due(const struct dispatch *d)
{
	return d->due;
}
