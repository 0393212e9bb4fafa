#include "http/pool.h"

#include "http/exchange.h"

#include <stdlib.h>

#define FIRST_SIZE    ((size_t)1024)  /* the initial size of the table of sessions; a power of two */
#define SESSIONS_KEPT ((size_t)16384) /* idle connections of sessions, before the oldest is closed */
#define UNSETTLED     100u            /* streams before the server has said how many: RFC 9113 section 6.5.2 */

int pool_open(struct pool *p, const struct connection_policy *policy, size_t targets, struct ipf_error *err)
{
	*p = (struct pool){.policy = policy, .count = targets, .targets = calloc(targets, sizeof *p->targets)};
	if (!p->targets)
		return ipf_error_memory(err);
	for (size_t i = 0; i < targets; i++)
		p->targets[i].shelf.target = i;
	if (policy->kind == CONNECTION_POLICY_SESSION &&
	    !(p->sessions = calloc(p->sessions_size = FIRST_SIZE, sizeof(struct shelf *))))
		return ipf_error_memory(err);
	return 0;
}

void pool_close(struct pool *p)
{
	for (size_t i = 0; i < p->sessions_size; i++)
		free(p->sessions[i]);
	free(p->sessions);
	free(p->targets);
}

/* ---- shelves of sessions ---- */

static size_t home(const struct pool *p, size_t target, uint64_t key)
{
	return (size_t)(((key + target) * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (p->sessions_size - 1);
}

/* The index of the session, or of the free entry where it belongs. */
static size_t find(const struct pool *p, size_t target, uint64_t key)
{
	size_t i = home(p, target, key);
	while (p->sessions[i] && (p->sessions[i]->key != key || p->sessions[i]->target != target))
		i = (i + 1) & (p->sessions_size - 1);
	return i;
}

static bool grow(struct pool *p)
{
	struct pool larger = *p;
	larger.sessions_size = 2 * p->sessions_size;
	if (!(larger.sessions = calloc(larger.sessions_size, sizeof(struct shelf *))))
		return false;
	for (size_t i = 0; i < p->sessions_size; i++)
		if (p->sessions[i])
			larger.sessions[find(&larger, p->sessions[i]->target, p->sessions[i]->key)] = p->sessions[i];
	free(p->sessions);
	p->sessions = larger.sessions;
	p->sessions_size = larger.sessions_size;
	return true;
}

struct shelf *pool_shelf(struct pool *p, size_t target, uint64_t key)
{
	if (!key) {
		p->targets[target].shelf.users++;
		return &p->targets[target].shelf;
	}
	struct shelf *s = p->sessions[find(p, target, key)];
	if (!s) {
		if ((2 * (p->sessions_count + 1) > p->sessions_size && !grow(p)) || !(s = calloc(1, sizeof *s)))
			return NULL;
		s->target = target;
		s->key = key;
		p->sessions[find(p, target, key)] = s;
		p->sessions_count++;
	}
	s->users++;
	return s;
}

void shelf_leave(struct pool *p, struct shelf *s)
{
	if (--s->users || !s->key)
		return;
	size_t hole = find(p, s->target, s->key), mask = p->sessions_size - 1;
	p->sessions[hole] = NULL;
	p->sessions_count--;
	free(s);
	/* move up the entries behind it, which would be lost */
	for (size_t i = (hole + 1) & mask; p->sessions[i]; i = (i + 1) & mask)
		if (((i - home(p, p->sessions[i]->target, p->sessions[i]->key)) & mask) >= ((i - hole) & mask)) {
			p->sessions[hole] = p->sessions[i];
			p->sessions[i] = NULL;
			hole = i;
		}
}

/* ---- lists ---- */

static void put_room(struct connection *c)
{
	struct shelf *s = c->shelf;
	c->has_room = true;
	c->previous = NULL;
	c->next = s->room;
	*(s->room ? &s->room->previous : &s->room_last) = c;
	s->room = c;
}

static void take_room(struct connection *c)
{
	struct shelf *s = c->shelf;
	if (!c->has_room)
		return;
	c->has_room = false;
	*(c->previous ? &c->previous->next : &s->room) = c->next;
	*(c->next ? &c->next->previous : &s->room_last) = c->previous;
}

static void put_idle(struct pool *p, struct connection *c)
{
	if (!c->shelf->key || c->idle)
		return;
	c->idle = true;
	c->idle_previous = NULL;
	c->idle_next = p->idle;
	*(p->idle ? &p->idle->idle_previous : &p->idle_last) = c;
	p->idle = c;
	p->idle_count++;
}

static void take_idle(struct pool *p, struct connection *c)
{
	if (!c->idle)
		return;
	c->idle = false;
	*(c->idle_previous ? &c->idle_previous->idle_next : &p->idle) = c->idle_next;
	*(c->idle_next ? &c->idle_next->idle_previous : &p->idle_last) = c->idle_previous;
	p->idle_count--;
}

struct connection *pool_surplus(const struct pool *p)
{
	return p->idle_count > SESSIONS_KEPT ? p->idle_last : NULL;
}

void shelf_hold(struct shelf *s, struct exchange *x)
{
	x->held = true;
	x->held_next = NULL;
	x->held_previous = s->held_last;
	*(s->held ? &s->held_last->held_next : &s->held) = x;
	if (s->held == x)
		x->held_previous = NULL;
	s->held_last = x;
	s->held_count++;
}

void shelf_release(struct shelf *s, struct exchange *x)
{
	x->held = false;
	*(x->held_previous ? &x->held_previous->held_next : &s->held) = x->held_next;
	*(x->held_next ? &x->held_next->held_previous : &s->held_last) = x->held_previous;
	s->held_count--;
}

/* ---- how much there is room for ---- */

size_t pool_streams(const struct pool *p, size_t target)
{
	const struct pool_target *t = &p->targets[target];
	size_t streams = t->http1_only ? 1 : (size_t)connection_policy_streams(p->policy);
	return t->max_streams && t->max_streams < streams ? t->max_streams : streams;
}

/* How many requests this connection may carry now. */
static size_t room_of(const struct pool *p, const struct connection *c)
{
	size_t most = c->h2 ? pool_streams(p, c->target) : 1;
	if (!c->h2)
		return most;
	uint32_t server = http2_streams_most(c->h2);
	if (!http2_settled(c->h2) && !p->targets[c->target].max_streams)
		server = UNSETTLED;
	return server < most ? server : most;
}

bool pool_full(const struct pool *p, size_t target)
{
	return p->policy->kind == CONNECTION_POLICY_POOL &&
	       p->targets[target].busy >= (size_t)p->policy->pool * pool_streams(p, target);
}

bool pool_must_wait(const struct pool *p, const struct shelf *s, size_t ahead)
{
	if (p->policy->kind == CONNECTION_POLICY_FRESH)
		return false;
	if (p->policy->kind == CONNECTION_POLICY_POOL && s->open + s->opening >= (size_t)p->policy->pool)
		return true;
	/* each being opened has room for its opener, and more */
	return ahead < s->opening * (pool_streams(p, s->target) - 1);
}

/* ---- connections ---- */

struct connection *pool_take(struct pool *p, struct shelf *s)
{
	struct connection *c = s->room;
	if (!c)
		return NULL;
	take_idle(p, c);
	if (!c->streams++)
		c->kept = c->existed;
	if (c->streams >= room_of(p, c))
		take_room(c);
	return c;
}

void pool_opening(struct shelf *s, struct connection *c)
{
	c->shelf = s;
	c->opening = true;
	s->users++;
	s->opening++;
}

void pool_opened(struct pool *p, struct connection *c)
{
	c->opening = false;
	c->shelf->opening--;
	c->shelf->open++;
	pool_update(p, c);
}

void pool_update(struct pool *p, struct connection *c)
{
	bool room = c->step == STEP_OPEN && !c->retired && p->policy->kind != CONNECTION_POLICY_FRESH &&
	            c->streams < room_of(p, c);
	if (room && !c->has_room)
		put_room(c);
	else if (!room)
		take_room(c);
}

void pool_give_back(struct pool *p, struct connection *c)
{
	if (--c->streams == 0)
		c->idle_ns = c->network->event_ns;
	if (c->step == STEP_OPEN && !c->retired && !c->streams)
		put_idle(p, c);
	take_room(c); /* the last used comes first */
	pool_update(p, c);
}

void pool_retire(struct pool *p, struct connection *c)
{
	c->retired = true;
	take_room(c);
	take_idle(p, c);
}

void pool_gone(struct pool *p, struct connection *c)
{
	take_room(c);
	take_idle(p, c);
	if (c->opening)
		c->shelf->opening--;
	else
		c->shelf->open--;
	shelf_leave(p, c->shelf);
	c->shelf = NULL;
}
