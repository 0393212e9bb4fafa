#include "run/balance.h"

#include "text_hash.h"

#include <pthread.h>
#include <stdlib.h>

struct balance {
	enum balance_kind kind;
	size_t targets;
	pthread_mutex_t lock; /* protects the members below */
	size_t next, in;
	struct balance_target {
		int64_t in_flight;
		bool out;
	} list[];
};

struct balance *balance_new(enum balance_kind kind, size_t targets)
{
	struct balance *b = calloc(1, sizeof *b + targets * sizeof *b->list);
	if (!b)
		return NULL;
	b->kind = kind;
	b->targets = b->in = targets;
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

void balance_free(struct balance *b)
{
	if (b)
		pthread_mutex_destroy(&b->lock);
	free(b);
}

/* The first one that is in, from this one on. */
static size_t next_in(const struct balance *b, size_t target)
{
	while (b->list[target].out)
		target = (target + 1) % b->targets;
	return target;
}

static size_t least(const struct balance *b)
{
	size_t best = next_in(b, b->next);
	for (size_t i = 1; i < b->targets; i++) {
		size_t target = (b->next + i) % b->targets;
		if (!b->list[target].out && b->list[target].in_flight < b->list[best].in_flight)
			best = target;
	}
	return best;
}

static size_t of_session(const struct balance *b, struct slice session)
{
	size_t target = next_in(b, 0);
	for (uint64_t skip = text_hash_mixed(session) % b->in; skip; skip--)
		target = next_in(b, target + 1);
	return target;
}

size_t balance_choose(struct balance *b, struct slice session)
{
	if (b->targets == 1)
		return 0;
	pthread_mutex_lock(&b->lock);
	size_t target = next_in(b, b->next);
	if (b->kind == BALANCE_SESSION && session.data)
		target = of_session(b, session);
	else if (b->kind == BALANCE_LEAST)
		target = least(b);
	if (b->kind != BALANCE_SESSION || !session.data)
		b->next = (target + 1) % b->targets;
	b->list[target].in_flight++;
	pthread_mutex_unlock(&b->lock);
	return target;
}

void balance_ended(struct balance *b, size_t target)
{
	if (b->targets == 1)
		return;
	pthread_mutex_lock(&b->lock);
	b->list[target].in_flight--;
	pthread_mutex_unlock(&b->lock);
}

void balance_set_in(struct balance *b, size_t target, bool in)
{
	pthread_mutex_lock(&b->lock);
	if (b->list[target].out == in)
		b->in = in ? b->in + 1 : b->in - 1;
	b->list[target].out = !in;
	pthread_mutex_unlock(&b->lock);
}
