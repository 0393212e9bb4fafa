/* Which connection a request goes on: --connections and --streams. Interchangeable connections stand in one shelf:
 * those to a target, or those of a session to a target. The pool knows free connections and how many may be opened; the
 * transport opens, sends and closes.
 *
 *     shelf = pool_shelf(pool, target, key);         // key: of a session that has connections of its own; else 0
 *     if ((c = pool_take(pool, shelf))) …            // there is room on an open connection
 *     else if (pool_must_wait(pool, shelf)) …        // one is being opened that has room for it, or none may be
 *     else …                                         // a connection is to be opened
 *     shelf_leave(pool, shelf);                      // once the request has ended
 */
#ifndef IPF_POOL_H
#define IPF_POOL_H

#include "endpoint/connection_policy.h"
#include "http/connection.h"
#include "job/job_list.h"

struct exchange;

struct shelf {
	size_t target;
	uint64_t key;                        /* 0: of no session */
	struct connection *room, *room_last; /* open ones with room; the last used first */
	size_t open, opening;                /* connections */
	struct exchange *held, *held_last;   /* started requests waiting for one of them */
	size_t held_count;
	bool due; /* there may be room for those it holds */
	struct shelf *next_due;
	size_t users; /* requests and connections: without any, a session's shelf goes */
};

/* The state of a target. */
struct pool_target {
	struct shelf shelf;      /* for requests without a session */
	size_t busy;             /* requests */
	struct job_list waiting; /* for a connection of a pool; not started */
	bool http1_only;         /* the server agreed only to HTTP/1.1 */
	uint32_t max_streams;    /* per connection, by the server's settings; 0: not known */
};

struct pool {
	const struct connection_policy *policy;
	struct pool_target *targets;
	size_t count;
	struct shelf **sessions; /* a hash table with linear probing, at most half full */
	size_t sessions_size, sessions_count;
	struct connection *idle, *idle_last; /* for sessions; the last used first */
	size_t idle_count;
};

int pool_open(struct pool *p, const struct connection_policy *policy, size_t targets, struct ipf_error *err);
void pool_close(struct pool *p);

/* The shelf for a request, which is one of its users until shelf_leave. NULL: out of memory. */
struct shelf *pool_shelf(struct pool *p, size_t target, uint64_t key);
/* One user less. */
void shelf_leave(struct pool *p, struct shelf *s);

/* How many requests a connection to this target carries at once, as far as is known. */
size_t pool_streams(const struct pool *p, size_t target);
/* Is there no room in the target's pool of connections? false if there is no pool. */
bool pool_full(const struct pool *p, size_t target);
/* Must a request wait, if `ahead` wait already? Otherwise a connection may be opened for it. */
bool pool_must_wait(const struct pool *p, const struct shelf *s, size_t ahead);

/* An open connection with room for one request more, which it counts; NULL: none. */
struct connection *pool_take(struct pool *p, struct shelf *s);
/* A connection is being opened in this shelf: it is a user of it. */
void pool_opening(struct shelf *s, struct connection *c);
/* It is open, for its opener; others may use the rest of it. */
void pool_opened(struct pool *p, struct connection *c);
/* One request less on it. It is offered to others unless it is retired. */
void pool_give_back(struct pool *p, struct connection *c);
/* Its capacity may have changed. */
void pool_update(struct pool *p, struct connection *c);
/* No new requests go on it. */
void pool_retire(struct pool *p, struct connection *c);
/* It is closed, or could not be opened. */
void pool_gone(struct pool *p, struct connection *c);
/* The idle connection to close, since there are too many; NULL. */
struct connection *pool_surplus(const struct pool *p);

void shelf_hold(struct shelf *s, struct exchange *x);
void shelf_release(struct shelf *s, struct exchange *x); /* any of those it holds */

#endif
