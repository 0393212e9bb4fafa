#include "exports/pulses.h"

#include "array.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#define TOGETHER_NS 1e5
#define LEAST_S     1e-6 /* duration of the last moment */

void pulses_add(struct pulses *p, struct pulse_train train)
{
	if (train.count < 1)
		return;
	if (!array_room(p->list, p->cap, p->count + 1))
		return;
	train.done = 0;
	p->list[p->count++] = train;
}

void pulses_release(struct pulses *p)
{
	free(p->list);
	*p = (struct pulses){0};
}

static double next_ns(const struct pulse_train *t)
{
	return t->done == 0 ? t->first_ns
	                    : t->first_ns + (t->last_ns - t->first_ns) * (double)t->done / (double)(t->count - 1);
}

/* The trains are a heap: the one whose next pulse is the earliest is the first. */
static void sift_down(struct pulses *p, size_t i)
{
	struct pulse_train moved = p->list[i];
	double key = next_ns(&moved);
	for (size_t child; (child = 2 * i + 1) < p->count; i = child) {
		if (child + 1 < p->count && next_ns(&p->list[child + 1]) < next_ns(&p->list[child]))
			child++;
		if (next_ns(&p->list[child]) >= key)
			break;
		p->list[i] = p->list[child];
	}
	p->list[i] = moved;
}

static void make_heap(struct pulses *p)
{
	for (size_t i = p->count / 2; i-- > 0;)
		sift_down(p, i);
}

struct moment {
	double s, amount;
};

/* Takes the pulses of the next moment out. false: there is none. */
static bool next_moment(struct pulses *p, struct moment *moment)
{
	if (p->count == 0)
		return false;
	double begin_ns = next_ns(&p->list[0]);
	*moment = (struct moment){begin_ns / 1e9, 0};
	while (p->count && next_ns(&p->list[0]) <= begin_ns + TOGETHER_NS) {
		struct pulse_train *first = &p->list[0];
		moment->amount += first->done == 0 ? first->first : first->others;
		if (++first->done == first->count)
			*first = p->list[--p->count];
		if (p->count)
			sift_down(p, 0);
	}
	return true;
}

int64_t pulses_rates(struct pulses *p, struct weighted_values *v)
{
	struct moment now, next;
	int64_t moments = 0;
	double begin_s; /* begin of the time around `now` */
	make_heap(p);
	if (!next_moment(p, &now))
		return 0;
	for (begin_s = now.s; next_moment(p, &next); now = next, moments++) {
		double end_s = (now.s + next.s) / 2;
		weighted_values_add(v, now.amount / (end_s - begin_s), end_s - begin_s);
		begin_s = end_s;
	}
	if (moments > 0)
		weighted_values_add(v, now.amount / fmax(now.s - begin_s, LEAST_S), fmax(now.s - begin_s, LEAST_S));
	return moments + 1;
}

void pulses_levels(struct pulses *p, struct weighted_values *v)
{
	struct moment now, next;
	double level = 0;
	make_heap(p);
	if (!next_moment(p, &now))
		return;
	for (level = now.amount; next_moment(p, &next); now = next, level += next.amount)
		weighted_values_add(v, fmax(level, 0), next.s - now.s);
}
