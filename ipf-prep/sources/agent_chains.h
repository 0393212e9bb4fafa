/* Requests of agents and their sub-agents, of which only the times are known: who waited for whom.
 *
 * A chain is one agent's requests in a row; the chain of a sub-agent has its agent's as its parent. A request waits for
 * the last one of its chain ended before it began, or, if there is none, for the last one of the parent, and for the
 * ends of sub-agents ended since. Requests overlapping do not wait for each other.
 *
 *     size_t chain = agent_chains_find(&chains, name);
 *     agent_chains_link(&chains, chain, agent_chains_find(&chains, parent));
 *     agent_chains_add(&chains, chain, start_ns, end_ns); …
 *     struct agent_step step;
 *     agent_chains_sort(&chains);
 *     while (agent_chains_next(&chains, &step))
 *         agent_chains_take(&chains, &step, draft, sink, err) …
 *     agent_chains_release(&chains);
 */
#ifndef PREP_AGENT_CHAINS_H
#define PREP_AGENT_CHAINS_H

#include "buffer.h"
#include "sources/name_numbers.h"
#include "sources/source.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_CHAIN SIZE_MAX

struct agent_chains {
	struct agent_chain *chains;
	size_t count, cap;
	struct name_numbers names; /* the chains' */
	struct agent_call *calls;
	size_t call_count, call_cap;
	struct agent_event *events; /* the beginnings and ends of the calls, in order */
	size_t event;               /* the next one */
	size_t *after;              /* the last step's */
	size_t after_cap;
	struct buffer list, id; /* scratch space */
	bool failed;            /* out of memory; stays set */
};

/* A beginning request. */
struct agent_step {
	size_t call;  /* in the order of adding, from 0 */
	size_t root;  /* the chain at the top of its tree */
	size_t first; /* the first call of the whole tree */
	const size_t *after;
	size_t after_count; /* the calls it waits for */
	int64_t ended_ns;   /* when the last of them ended; IPF_ABSENT if there is none */
};

/* The chain of this name, made if there is none; NO_CHAIN when out of memory. */
size_t agent_chains_find(struct agent_chains *c, struct slice name);
/* Gives a chain its parent. The first one counts; one closing a circle does not. */
void agent_chains_link(struct agent_chains *c, size_t chain, size_t parent);
/* A call of the chain. Its id is the chain's name, a slash, and its number within the chain, from 0. */
void agent_chains_add(struct agent_chains *c, size_t chain, int64_t start_ns, int64_t end_ns);
/* Valid until the release. */
struct slice agent_chains_name(const struct agent_chains *c, size_t chain);

/* After all calls have been added. */
void agent_chains_sort(struct agent_chains *c);
/* The calls in the order in which they began. false: there are no more, or `failed`. */
bool agent_chains_next(struct agent_chains *c, struct agent_step *step);
/* Hands over the request of a step, whose draft lacks its session, its id and its waits. A session has one first
 * request: a request beginning before anything had ended waits for it, and is counted as inexact. 0 or -1. */
int agent_chains_take(struct agent_chains *c, const struct agent_step *step, struct draft *d, struct sink *sink,
                      struct ipf_error *err);
void agent_chains_release(struct agent_chains *c);

#endif
