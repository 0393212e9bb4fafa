#include "draft/reorder.h"

#include "absent.h"
#include "text_hash.h"

#include <stdlib.h>
#include <string.h>

struct held_draft {
	struct draft *draft;
	int64_t at_ns;       /* of its first request; INT64_MAX if not known */
	int64_t group_at_ns; /* the session's first arrival */
	size_t group;        /* index of the session's first item */
	size_t index;        /* in the order of adding */
	bool timed;          /* every request of the session has an arrival */
};

static int64_t first_arrival(const struct draft *d)
{
	return d->count && d->requests[0].at_ns != IPF_ABSENT ? d->requests[0].at_ns : INT64_MAX;
}

static uint32_t *find_slot(struct reorder *h, struct slice session)
{
	size_t at = (size_t)text_hash_mixed(session) & (h->slot_count - 1);
	while (h->slots[at] && !slice_equal(h->items[h->slots[at] - 1].draft->session, session))
		at = (at + 1) & (h->slot_count - 1);
	return &h->slots[at];
}

static int grow_slots(struct reorder *h)
{
	if (h->sessions * 2 < h->slot_count)
		return 0;
	uint32_t *old = h->slots;
	size_t old_count = h->slot_count;
	h->slot_count = old_count ? old_count * 2 : 256;
	h->slots = calloc(h->slot_count, sizeof *h->slots);
	if (!h->slots) {
		free(old);
		h->slot_count = 0;
		return -1;
	}
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			*find_slot(h, h->items[old[i] - 1].draft->session) = old[i];
	free(old);
	return 0;
}

int reorder_add(struct reorder *h, const struct draft *d)
{
	if (h->count == h->cap) {
		size_t cap = h->cap ? h->cap * 2 : 256;
		struct held_draft *items = cap < UINT32_MAX ? reallocarray(h->items, cap, sizeof *items) : NULL;
		if (!items)
			return -1;
		h->items = items;
		h->cap = cap;
	}
	struct draft *copy = draft_clone(d);
	if (!copy)
		return -1;
	size_t index = h->count++;
	struct held_draft *item = &h->items[index];
	int64_t at_ns = first_arrival(d);
	*item = (struct held_draft){.draft = copy,
	                            .at_ns = at_ns,
	                            .group_at_ns = at_ns,
	                            .group = index,
	                            .index = index,
	                            .timed = at_ns != INT64_MAX};
	if (!d->session.data || d->chain)
		return 0;
	if (grow_slots(h) < 0)
		return -1;
	uint32_t *slot = find_slot(h, copy->session);
	if (!*slot) {
		*slot = (uint32_t)index + 1;
		h->sessions++;
		return 0;
	}
	struct held_draft *first = &h->items[*slot - 1];
	item->group = *slot - 1;
	first->timed &= item->timed;
	if (at_ns < first->group_at_ns)
		first->group_at_ns = at_ns;
	return 0;
}

int reorder_replace(struct reorder *h, size_t index, const struct draft *d)
{
	struct draft *copy = draft_clone(d);
	if (!copy)
		return -1;
	free(h->items[index].draft);
	h->items[index].draft = copy;
	return 0;
}

static int by_arrival(const void *a, const void *b)
{
	const struct held_draft *x = a, *y = b;
	if (x->group_at_ns != y->group_at_ns)
		return x->group_at_ns < y->group_at_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->timed && x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static void shift_arrivals(struct reorder *h, int64_t first)
{
	for (size_t i = 0; i < h->count; i++) {
		struct draft *d = h->items[i].draft;
		for (size_t k = 0; k < d->count; k++)
			if (d->requests[k].at_ns != IPF_ABSENT)
				d->requests[k].at_ns -= first;
	}
}

int reorder_sort(struct reorder *h)
{
	for (size_t i = 0; i < h->count; i++) {
		struct held_draft *item = &h->items[i];
		const struct held_draft *first = &h->items[item->group];
		item->group_at_ns = first->group_at_ns;
		item->timed = first->timed;
	}
	if (h->count)
		qsort(h->items, h->count, sizeof *h->items, by_arrival);
	h->groups = malloc((h->count + 1) * sizeof *h->groups);
	h->drafts = malloc((h->count + 1) * sizeof *h->drafts);
	if (!h->groups || !h->drafts)
		return -1;
	int64_t turn = 0;
	for (size_t i = 0; i < h->count; i++) {
		h->drafts[i] = h->items[i].draft;
		if (i == 0 || h->items[i].group != h->items[i - 1].group) {
			turn = 0;
			h->groups[h->group_count++] = (struct draft_group){.drafts = &h->drafts[i]};
		}
		h->groups[h->group_count - 1].count++;
		h->drafts[i]->turn = turn;
		turn += (int64_t)h->drafts[i]->count;
	}
	if (h->count && h->items[0].group_at_ns < 0)
		shift_arrivals(h, h->items[0].group_at_ns);
	return 0;
}

size_t reorder_count(const struct reorder *h)
{
	return h->count;
}

struct draft *reorder_draft(const struct reorder *h, size_t index)
{
	return h->items[index].draft;
}

void reorder_update_times(struct reorder *h)
{
	for (size_t i = 0; i < h->count; i++) {
		struct held_draft *item = &h->items[i];
		item->at_ns = first_arrival(item->draft);
		item->group_at_ns = item->at_ns;
	}
	for (size_t i = 0; i < h->count; i++) {
		struct held_draft *first = &h->items[h->items[i].group];
		if (h->items[i].at_ns < first->group_at_ns)
			first->group_at_ns = h->items[i].at_ns;
	}
}

void reorder_release(struct reorder *h)
{
	for (size_t i = 0; i < h->count; i++)
		free(h->items[i].draft);
	free(h->items);
	free(h->slots);
	free(h->groups);
	free(h->drafts);
	*h = (struct reorder){0};
}
