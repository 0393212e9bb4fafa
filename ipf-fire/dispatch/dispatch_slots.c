#include "absent.h"
#include "dispatch/dispatch_private.h"

#include <stdlib.h>

/* The requests of one session, in a stage whose users take whole sessions. */
struct session {
	int64_t live; /* that have not ended */
	bool open;    /* more of them may be added */
	bool held;    /* a user has taken it */
	struct user user;
	size_t stage;
};

static void go(struct dispatch *d, struct dispatch_node *node)
{
	node->state = GO;
	d->stages[node->stage].in_flight++;
	list_put(&d->go, node);
	if (node->session && node->has_user) {
		node->session->held = true;
		node->session->user = node->user;
		node->has_user = false;
	}
}

/* ---- users ---- */

static void put_user(struct stage *s, struct user user)
{
	s->free[(s->free_first + s->free_count++) % s->plan->slots] = user;
}

static struct user take_user(struct stage *s)
{
	struct user user = s->free[s->free_first];
	s->free_first = (s->free_first + 1) % s->plan->slots;
	s->free_count--;
	return user;
}

/* The user has the request now; it goes when the time has come for both. */
static void give(struct dispatch *d, struct stage *s, struct dispatch_node *node, struct user user, int64_t now)
{
	bool new_one = node->state == POOL, first = user.started_ns == IPF_ABSENT;
	int64_t at = user.since_ns + (new_one && !first ? node->wait_ns : 0);
	if (!new_one && node->ready_ns > at)
		at = node->ready_ns;
	if (!first && user.started_ns + s->plan->pace_ns > at)
		at = user.started_ns + s->plan->pace_ns;
	if (at < stage_begin(s))
		at = stage_begin(s);
	node->user = user;
	node->has_user = true;
	if (new_one)
		node->ready_ns = at;
	else if (at > node->ready_ns)
		node->slot_ns = at;
	if (at <= now) {
		go(d, node);
		return;
	}
	node->due_ns = at;
	heap_put(&s->thinking, node);
	node->state = THINKING;
}

/* A user who is free, in the last of the closed stages that follow one another and have begun. */
static void user_arrives(struct dispatch *d, struct stage *s, struct user user, int64_t now)
{
	const struct stage *end = &d->stages[d->begun];
	while (s->over && s + 1 < end && s[1].plan->closed)
		s++;
	if (d->stopped)
		return;
	if (s->leaving) {
		s->leaving--;
		return;
	}
	struct dispatch_node *node = stage_ended(s, now) ? NULL : list_take(&s->ready);
	if (!node) {
		put_user(s, user);
		return;
	}
	d->waiting--;
	give(d, s, node, user, now);
}

void slots_begin(struct dispatch *d, struct stage *s, struct stage *before)
{
	int64_t there = before ? before->plan->slots + before->leaving : 0, fresh = s->plan->slots - there;
	s->leaving = fresh < 0 ? -fresh : 0;
	for (; before && before->free_count;)
		user_arrives(d, before, take_user(before), stage_begin(s));
	/* those of several clients come in by turns */
	double each = fresh <= 0 ? 0 : (double)s->plan->rampup_ns / ((double)fresh * (double)d->parts);
	for (int64_t k = 0; k < fresh; k++)
		put_user(s, (struct user){.since_ns = stage_begin(s) + (int64_t)(each * (double)(k * d->parts + d->part)),
		                          .started_ns = IPF_ABSENT});
}

/* ---- sessions ---- */

static void session_settle(struct dispatch *d, struct session *session)
{
	if (session->live || session->open)
		return;
	if (session->held)
		user_arrives(d, &d->stages[session->stage], session->user, session->user.since_ns);
	free(session);
}

int slots_join_session(struct dispatch *d, struct dispatch_node *node)
{
	struct stage *s = &d->stages[node->stage];
	struct session *last = s->last_session;
	if (!s->plan->sessions || (!node->root && !last))
		return 0;
	if (node->root) {
		struct session *session = calloc(1, sizeof *session);
		if (!session)
			return -1;
		*session = (struct session){.open = true, .stage = node->stage};
		s->last_session = session;
		if (last) {
			last->open = false;
			session_settle(d, last);
		}
	}
	node->session = s->last_session;
	node->session->live++;
	if (s->added + 1 >= s->plan->arrivals && !s->plan->cycle) {
		s->last_session->open = false;
		s->last_session = NULL;
	}
	return 0;
}

void slots_leave_session(struct dispatch *d, struct dispatch_node *node)
{
	if (!node->session)
		return;
	node->session->live--;
	session_settle(d, node->session);
	node->session = NULL;
}

void slots_over(struct dispatch *d, struct stage *s)
{
	while (s->thinking.count) {
		struct dispatch_node *node = heap_take(&s->thinking);
		node->has_user = false;
		user_arrives(d, s, node->user, node->user.since_ns);
		node->state = READY;
		dispatch_drop(d, node);
	}
	if (s->last_session) { /* nothing comes after it */
		s->last_session->open = false;
		session_settle(d, s->last_session);
		s->last_session = NULL;
	}
}

void slots_forget_session(struct stage *s)
{
	if (!s->last_session)
		return;
	if (!s->last_session->live)
		free(s->last_session);
	s->last_session = NULL;
}

/* ---- requests ---- */

void slots_ready(struct dispatch *d, struct dispatch_node *node, int64_t now)
{
	struct stage *s = &d->stages[node->stage];
	if (node->root && !s->plan->cycle)
		d->ahead--;
	node->ready_ns = node->due_ns;
	if (s->plan->closed && node->at_ns == IPF_ABSENT)
		node->due_ns = IPF_ABSENT;
	node->state = READY;
	bool waits = s->ready.first;
	if (stage_ended(s, node->ready_ns)) {
		dispatch_drop(d, node);
	} else if (node->session && !node->root) {
		go(d, node); /* its user is with the session */
	} else if (!waits && s->plan->closed && s->free_count) {
		give(d, s, node, take_user(s), now);
	} else if (!waits && !s->plan->closed && (s->plan->slots == IPF_ABSENT || s->in_flight < s->plan->slots)) {
		go(d, node);
	} else {
		list_put(&s->ready, node);
		d->waiting++;
	}
}

void slots_serve(struct dispatch *d, struct stage *s, int64_t now)
{
	while (s->pool.first && s->free_count) {
		struct dispatch_node *node = list_take(&s->pool);
		if (!s->plan->cycle)
			d->ahead--;
		give(d, s, node, take_user(s), now);
	}
	while (s->thinking.count && s->thinking.nodes[0]->due_ns <= now) {
		struct dispatch_node *node = heap_take(&s->thinking);
		node->due_ns = node->at_ns == IPF_ABSENT ? IPF_ABSENT : node->ready_ns;
		go(d, node);
	}
}

void slots_returned(struct dispatch *d, struct dispatch_node *node, int64_t t)
{
	struct stage *s = &d->stages[node->stage];
	s->in_flight--;
	if (t != IPF_ABSENT) {
		struct user *user = node->session ? &node->session->user : &node->user;
		if (t > user->since_ns)
			user->since_ns = t;
		user->started_ns = node->start_ns;
	}
	if (s->plan->closed) {
		if (node->has_user)
			user_arrives(d, s, node->user, t == IPF_ABSENT ? node->user.since_ns : t);
		node->has_user = false;
		return;
	}
	struct dispatch_node *next = list_take(&s->ready);
	if (next) {
		d->waiting--;
		next->slot_ns = t;
		go(d, next);
	}
}
