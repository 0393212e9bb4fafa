#include "sources/agent_chains.h"

#include "absent.h"
#include "array.h"
#include "json/jout.h"

#include <stdlib.h>
#include <string.h>

#define NO_CALL SIZE_MAX

struct agent_chain {
	size_t parent;
	size_t up; /* a chain nearer to the root, the root at last; its own index: it is the root */
	size_t calls;
	size_t running; /* those running */
	size_t last;    /* the call ending last */
	size_t ended;   /* an ended child, and for which no call has waited yet; the others by `next` */
	size_t next;
	size_t first; /* a root's: the first call of its tree */
};

struct agent_call {
	size_t chain, number;
	int64_t start_ns, end_ns;
};

struct agent_event {
	int64_t ns;
	size_t call;
	bool begins;
};

/* ---- chains ---- */

size_t agent_chains_find(struct agent_chains *c, struct slice name)
{
	const size_t chain = c->failed ? NO_NUMBER : name_number(&c->names, name);
	if (chain < c->count)
		return chain;
	if (chain == NO_NUMBER || !array_room(c->chains, c->cap, c->count + 1)) {
		c->failed = true;
		return NO_CHAIN;
	}
	c->chains[chain] = (struct agent_chain){
		.parent = NO_CHAIN, .up = chain, .last = NO_CALL, .first = NO_CALL, .ended = NO_CHAIN, .next = NO_CHAIN};
	c->count++;
	return chain;
}

static size_t root_of(struct agent_chains *c, size_t chain)
{
	struct agent_chain *chains = c->chains;
	while (chains[chain].up != chain) {
		chains[chain].up = chains[chains[chain].up].up;
		chain = chains[chain].up;
	}
	return chain;
}

void agent_chains_link(struct agent_chains *c, size_t chain, size_t parent)
{
	if (chain == NO_CHAIN || parent == NO_CHAIN || c->chains[chain].parent != NO_CHAIN || root_of(c, parent) == chain)
		return;
	c->chains[chain].parent = parent;
	c->chains[chain].up = parent;
}

struct slice agent_chains_name(const struct agent_chains *c, size_t chain)
{
	return c->names.list[chain];
}

/* ---- calls ---- */

void agent_chains_add(struct agent_chains *c, size_t chain, int64_t start_ns, int64_t end_ns)
{
	if (chain == NO_CHAIN)
		return;
	if (!array_room(c->calls, c->call_cap, c->call_count + 1)) {
		c->failed = true;
		return;
	}
	c->calls[c->call_count++] = (struct agent_call){.chain = chain,
	                                                .number = c->chains[chain].calls++,
	                                                .start_ns = start_ns,
	                                                .end_ns = end_ns > start_ns ? end_ns : start_ns + 1};
	c->chains[chain].running++;
}

static int by_time(const void *a, const void *b)
{
	const struct agent_event *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	if (x->begins != y->begins)
		return x->begins ? 1 : -1;
	return x->call < y->call ? -1 : x->call > y->call;
}

void agent_chains_sort(struct agent_chains *c)
{
	if (c->call_count == 0 || c->failed)
		return;
	c->events = reallocarray(NULL, c->call_count, 2 * sizeof *c->events);
	if (!c->events) {
		c->failed = true;
		return;
	}
	for (size_t i = 0; i < c->call_count; i++) {
		c->events[2 * i] = (struct agent_event){c->calls[i].start_ns, i, true};
		c->events[2 * i + 1] = (struct agent_event){c->calls[i].end_ns, i, false};
	}
	qsort(c->events, 2 * c->call_count, sizeof *c->events, by_time);
}

static void end_call(struct agent_chains *c, size_t call)
{
	size_t at = c->calls[call].chain;
	struct agent_chain *chain = &c->chains[at];
	chain->last = call;
	if (--chain->running > 0 || chain->parent == NO_CHAIN)
		return;
	chain->next = c->chains[chain->parent].ended;
	c->chains[chain->parent].ended = at;
}

static void wait_for(struct agent_chains *c, struct agent_step *step, size_t call)
{
	if (!array_room(c->after, c->after_cap, step->after_count + 1)) {
		c->failed = true;
		return;
	}
	c->after[step->after_count++] = call;
	int64_t end_ns = c->calls[call].end_ns;
	step->ended_ns = end_ns > step->ended_ns ? end_ns : step->ended_ns;
}

bool agent_chains_next(struct agent_chains *c, struct agent_step *step)
{
	*step = (struct agent_step){.ended_ns = IPF_ABSENT};
	while (c->events && c->event < 2 * c->call_count && !c->events[c->event].begins)
		end_call(c, c->events[c->event++].call);
	if (c->failed || !c->events || c->event == 2 * c->call_count)
		return false;
	step->call = c->events[c->event++].call;
	struct agent_chain *own = &c->chains[c->calls[step->call].chain];
	step->root = root_of(c, c->calls[step->call].chain);
	size_t *first = &c->chains[step->root].first;
	*first = *first == NO_CALL ? step->call : *first;
	step->first = *first;
	if (own->last != NO_CALL)
		wait_for(c, step, own->last);
	else if (own->parent != NO_CHAIN && c->chains[own->parent].last != NO_CALL)
		wait_for(c, step, c->chains[own->parent].last);
	for (; own->ended != NO_CHAIN; own->ended = c->chains[own->ended].next)
		wait_for(c, step, c->chains[own->ended].last);
	step->after = c->after;
	return !c->failed;
}

/* Valid until the next one. */
static struct slice id_of(struct agent_chains *c, size_t call)
{
	buffer_clear(&c->id);
	buffer_slice(&c->id, agent_chains_name(c, c->calls[call].chain));
	buffer_format(&c->id, "/%zu", c->calls[call].number);
	c->failed |= c->id.failed;
	return buffer_all(&c->id);
}

int agent_chains_take(struct agent_chains *c, const struct agent_step *step, struct draft *d, struct sink *sink,
                      struct ipf_error *err)
{
	struct draft_request *r = &d->requests[0];
	struct jout w = {.out = &c->list};
	bool overlaps = step->after_count == 0 && step->call != step->first;
	buffer_clear(&c->list);
	jout_begin_list(&w);
	for (size_t i = 0; i < step->after_count; i++)
		jout_string(&w, id_of(c, step->after[i]));
	if (overlaps)
		jout_string(&w, id_of(c, step->first));
	jout_end_list(&w);
	r->id = id_of(c, step->call);
	c->failed |= c->list.failed;
	if (c->failed)
		return ipf_error_memory(err);
	d->session = agent_chains_name(c, step->root);
	if (step->ended_ns != IPF_ABSENT)
		r->wait_ns = c->calls[step->call].start_ns - step->ended_ns;
	if (step->call != step->first)
		r->after = buffer_all(&c->list);
	if (overlaps) {
		r->wait_ns = 0;
		sink->inexact(sink, "it began while the first one was running, and waits for its end instead");
	}
	return sink->take(sink, d, err);
}

void agent_chains_release(struct agent_chains *c)
{
	buffer_release(&c->list);
	buffer_release(&c->id);
	name_numbers_release(&c->names);
	free(c->chains);
	free(c->calls);
	free(c->events);
	free(c->after);
	*c = (struct agent_chains){0};
}
