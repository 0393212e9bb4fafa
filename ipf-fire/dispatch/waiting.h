/* An arrival that has not ended, and where it waits. Private to the dispatcher. */
#ifndef IPF_WAITING_H
#define IPF_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum state {
	WAITING,  /* for parents (all others: only until it has its place) */
	HELD,     /* its time is not known: a stage without an end is still to come or under way */
	TIMED,    /* in the heap */
	POOL,     /* of a closed stage: takes a free slot */
	THINKING, /* has a user, whose time has not come */
	READY,    /* due, waits for a slot */
	GO,       /* to be started at once */
	FLIGHT,
	DROPPED,
};

struct edge {
	struct dispatch_node *child;
	struct edge *next;
};

/* Of a closed stage. */
struct user {
	int64_t since_ns;   /* has nothing to do: since the last answer, or (perhaps in the future) when it comes */
	int64_t started_ns; /* its last request; IPF_ABSENT: none yet */
};

struct session;

struct dispatch_node {
	int64_t n, at_ns, wait_ns, parents_end_ns;
	int64_t due_ns, ready_ns, slot_ns, start_ns;
	struct user user;        /* who sends it, or last had it, once it has one … */
	struct session *session; /* … but in a stage of sessions they have the user; NULL elsewhere */
	void *data;
	struct edge *children;
	struct dispatch_node *next;
	struct dispatch_node *next_upcoming;
	size_t parents;   /* that have not ended */
	size_t unstarted; /* of these, those that have not started */
	size_t far;       /* and those that are not near: started, or next to start */
	uint32_t stage;
	int thread; /* which of the sending threads it belongs to; -1: none yet */
	enum state state;
	bool root;     /* waits for nobody */
	bool has_user; /* who is free when it has ended */
	bool gone;     /* dropped and handed back; only edges of its parents lead here */
};

struct list {
	struct dispatch_node *first, *last;
	int64_t count;
};

/* First in, first out; zero-initialise. A node is in one list at most. */
void list_put(struct list *list, struct dispatch_node *node);
struct dispatch_node *list_take(struct list *list); /* NULL: empty */

/* The earliest due first, the lower n where two are due together. */
struct heap {
	struct dispatch_node **nodes; /* nodes[0] is the first */
	size_t count, cap;
};

/* Room for `nodes` and one more, so that heap_put never fails. false: out of memory. */
bool heap_reserve(struct heap *heap, size_t nodes);
void heap_put(struct heap *heap, struct dispatch_node *node); /* its state is TIMED from then on */
struct dispatch_node *heap_take(struct heap *heap);           /* of one that is not empty */

/* Frees it and its edges to its children. */
void node_free(struct dispatch_node *node);

#endif
