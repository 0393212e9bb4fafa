#include "endpoint/balance.h"

#include "text_hash.h"

#include <pthread.h>
#include <stdlib.h>

struct balance {
	enum balance_kind kind;
	size_t targets;
	pthread_mutex_t lock; /* of what follows */
	size_t next;
	int64_t in_flight[];
};

const char *const balance_names[] = {
	[BALANCE_ROUND_ROBIN] = "round-robin", [BALANCE_LEAST] = "least", [BALANCE_SESSION] = "session", NULL};

struct balance *balance_new(enum balance_kind kind, size_t targets)
{
	struct balance *b = calloc(1, sizeof *b + targets * sizeof *b->in_flight);
	if (!b)
		return NULL;
	b->kind = kind;
	b->targets = targets;
	pthread_mutex_init(&b->lock, NULL);
	return b;
}

void balance_free(struct balance *b)
{
	if (b)
		pthread_mutex_destroy(&b->lock);
	free(b);
}

static size_t least(const struct balance *b)
{
	size_t best = b->next;
	for (size_t i = 1; i < b->targets; i++) {
		size_t target = (b->next + i) % b->targets;
		if (b->in_flight[target] < b->in_flight[best])
			best = target;
	}
	return best;
}

size_t balance_choose(struct balance *b, struct slice session)
{
	if (b->targets == 1)
		return 0;
	pthread_mutex_lock(&b->lock);
	size_t target = b->next;
	if (b->kind == BALANCE_SESSION && session.data)
		target = (size_t)(text_hash_mixed(session) % b->targets);
	else if (b->kind == BALANCE_LEAST)
		target = least(b);
	if (b->kind != BALANCE_SESSION || !session.data)
		b->next = (target + 1) % b->targets;
	b->in_flight[target]++;
	pthread_mutex_unlock(&b->lock);
	return target;
}

void balance_ended(struct balance *b, size_t target)
{
	if (b->targets == 1)
		return;
	pthread_mutex_lock(&b->lock);
	b->in_flight[target]--;
	pthread_mutex_unlock(&b->lock);
}
