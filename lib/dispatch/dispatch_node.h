/* An arrival from the time it is added to the dispatcher until it has ended, and its waiting places: a list (first in,
 * first out) or a heap (earliest first).
 */
#ifndef IPF_DISPATCH_NODE_H
#define IPF_DISPATCH_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_state {
	NODE_WAITING,   /* for its parents; nodes without parents are in it only until they are placed */
	NODE_HELD,      /* its due time is unknown: a stage without a fixed end comes before it */
	NODE_TIMED,     /* in the heap of due times */
	NODE_POOLED,    /* in a closed stage, without a time: takes a free user */
	NODE_THINKING,  /* has a user, and waits for the end of the user's pause */
	NODE_READY,     /* due, waits for a slot or a user */
	NODE_TO_START,  /* has all it needs: dispatch_next returns it */
	NODE_IN_FLIGHT, /* dispatch_next returned it */
	NODE_DROPPED,   /* will never be started */
};

/* A virtual user of a closed stage. */
struct virtual_user {
	int64_t idle_since_ns; /* end of the last request, or, before the first, when the user arrives (may be to come) */
	int64_t started_ns;    /* start of the last request; IPF_ABSENT before the first */
};

struct user_session;
struct dispatch_node;

/* `child` waits for the node listing the edge. */
struct dependency_edge {
	struct dispatch_node *child;
	struct dependency_edge *next;
};

struct dispatch_node {
	int64_t n, at_ns, wait_ns; /* as in struct schedule_arrival; wait_ns is 0 if it has none */
	int64_t parents_end_ns;    /* the latest end of the parents so far */
	int64_t due_ns, ready_ns, slot_ns, start_ns;
	struct virtual_user user;     /* who sends it or sent it last; used in closed stages only */
	struct user_session *session; /* in a stage of whole sessions, the session holds the user; NULL elsewhere */
	void *data;
	struct dependency_edge *children;
	struct dispatch_node *next; /* in a node_list */
	struct dispatch_node *next_upcoming;
	size_t parents;   /* that have not ended */
	size_t unstarted; /* those of them that have not started */
	size_t far;       /* those of them that are not near: neither in flight nor next after one in flight */
	uint32_t stage;
	int thread; /* the sending thread it belongs to; -1: not decided */
	enum node_state state;
	bool root;     /* has no parents in the schedule */
	bool has_user; /* its user is free once it ends */
	bool due;      /* it became due: it may start, or waits only for a slot or a user */
	bool orphaned; /* dropped and handed back; only edges of its parents still lead to it */
};

/* Nodes that have ended, for later ones; zero-initialise. The node freed last is used first. */
struct node_spares {
	struct dispatch_node *first;
	size_t count;
};

/* Its members have any value. NULL: out of memory. */
struct dispatch_node *node_spares_take(struct node_spares *spares);
/* Frees the node's edges to its children, and the node or keeps it. */
void node_spares_give(struct node_spares *spares, struct dispatch_node *node);
void node_spares_release(struct node_spares *spares);

/* First in, first out; zero-initialise. A node is in one list at most. */
struct node_list {
	struct dispatch_node *first, *last;
	int64_t count;
};

void node_list_put(struct node_list *list, struct dispatch_node *node);
struct dispatch_node *node_list_take(struct node_list *list); /* NULL: empty */

/* Earliest due_ns first; of equal ones the lower n. Zero-initialise; free `nodes`. */
struct node_heap {
	struct dispatch_node **nodes; /* nodes[0] is the first */
	size_t count, cap;
};

/* Makes room for `nodes` and one more, so node_heap_put cannot fail. false: out of memory. */
bool node_heap_reserve(struct node_heap *heap, size_t nodes);
void node_heap_put(struct node_heap *heap, struct dispatch_node *node); /* sets its state to NODE_TIMED */
struct dispatch_node *node_heap_take(struct node_heap *heap);           /* the heap must not be empty */

#endif
