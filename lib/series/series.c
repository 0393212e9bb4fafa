#include "series/series.h"

#include "absent.h"
#include "array.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* Times are clamped to this, so the begin of no window overflows. */
#define TIME_MAX (INT64_C(1) << 62)

struct series {
	int64_t every_ns;
	size_t limit, bytes; /* bytes: without the growth of the last window since it was found */
	bool spilling;
	struct window **slots; /* a hash table with linear probing, at most half full */
	size_t slots_count, count;
	struct window **order; /* those from order_at on are the windows in order, if `ordered` */
	size_t order_at, order_cap;
	bool ordered;
	struct window *last; /* the one that was found last, and its time; NULL */
	int64_t last_begin_ns;
	struct jdoc doc;
};

struct series *series_new(int64_t every_ns, size_t limit)
{
	struct series *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->every_ns = every_ns;
	s->limit = limit;
	return s;
}

void series_free(struct series *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->slots_count; i++)
		window_free(s->slots[i]);
	free(s->slots);
	free(s->order);
	jdoc_release(&s->doc);
	free(s);
}

int64_t series_every_ns(const struct series *s)
{
	return s->every_ns;
}

size_t series_count(const struct series *s)
{
	return s->count;
}

/* ---- finding ---- */

static int64_t floor_divide(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static size_t hash(int64_t number, int64_t stage)
{
	uint64_t mixed = ((uint64_t)number + ((uint64_t)stage << 40)) * UINT64_C(0x9e3779b97f4a7c15);
	return (size_t)(mixed ^ mixed >> 32);
}

/* The slot of a window, or the free one where it belongs. */
static size_t slot_of(const struct series *s, int64_t number, int64_t stage)
{
	size_t i = hash(number, stage) & (s->slots_count - 1);
	while (s->slots[i] && (s->slots[i]->number != number || s->slots[i]->stage != stage))
		i = (i + 1) & (s->slots_count - 1);
	return i;
}

static int grow(struct series *s)
{
	size_t old_count = s->slots_count, count = old_count ? 2 * old_count : 64;
	struct window **old = s->slots, **slots = calloc(count, sizeof *slots);
	if (!slots)
		return -1;
	s->slots = slots;
	s->slots_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i])
			slots[slot_of(s, old[i]->number, old[i]->stage)] = old[i];
	free(old);
	return 0;
}

/* Counts the growth of the window found last. */
static void settle(struct series *s)
{
	if (!s->last)
		return;
	size_t now = window_memory(s->last);
	s->bytes += now - s->last->memory;
	s->last->memory = now;
}

static struct window *insert(struct series *s, int64_t number, int64_t stage)
{
	if (2 * s->count >= s->slots_count && grow(s) < 0)
		return NULL;
	struct window *w = window_new(number, stage, s->every_ns);
	if (!w)
		return NULL;
	s->slots[slot_of(s, number, stage)] = w;
	s->count++;
	s->ordered = false;
	return w;
}

static struct window *find(struct series *s, int64_t number, int64_t stage)
{
	struct window *w = s->slots_count ? s->slots[slot_of(s, number, stage)] : NULL;
	if (!w && !(w = insert(s, number, stage)))
		return NULL;
	settle(s);
	s->last = w;
	s->last_begin_ns = window_begin_ns(w);
	return w;
}

struct window *series_at(struct series *s, int64_t t_ns, int64_t stage)
{
	if (s->last && stage == s->last->stage && (uint64_t)t_ns - (uint64_t)s->last_begin_ns < (uint64_t)s->every_ns)
		return s->last;
	t_ns = t_ns > TIME_MAX ? TIME_MAX : t_ns < -TIME_MAX ? -TIME_MAX : t_ns;
	return find(s, floor_divide(t_ns, s->every_ns), stage);
}

/* ---- adding ---- */

int series_add(struct series *s, const struct window *w, int64_t offset_ns, struct ipf_error *err)
{
	int64_t t_ns;
	if (__builtin_add_overflow(window_begin_ns(w), offset_ns, &t_ns))
		t_ns = window_begin_ns(w);
	struct window *into = series_at(s, t_ns, w->stage);
	if (into)
		window_merge(into, w);
	return into && !memory_ran_out() ? 0 : ipf_error_memory(err);
}

int series_read(struct series *s, struct slice line, int64_t offset_ns, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, line.data, line.len, err) < 0)
		return -1;
	struct window *w = window_read(&s->doc, JDOC_ROOT, err);
	int bad = w ? series_add(s, w, offset_ns, err) : -1;
	window_free(w);
	return bad;
}

/* ---- in order ---- */

static int compare(const void *a, const void *b)
{
	const struct window *x = *(struct window *const *)a, *y = *(struct window *const *)b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

static int sort(struct series *s)
{
	if (s->ordered)
		return 0;
	if (!array_room(s->order, s->order_cap, s->count))
		return -1;
	size_t n = 0;
	for (size_t i = 0; i < s->slots_count; i++)
		if (s->slots[i])
			s->order[n++] = s->slots[i];
	if (n)
		qsort(s->order, n, sizeof *s->order, compare);
	s->order_at = 0;
	s->ordered = true;
	return 0;
}

const struct window *series_get(struct series *s, size_t i)
{
	return i < s->count && sort(s) == 0 ? s->order[s->order_at + i] : NULL;
}

struct window *series_total(struct series *s, int64_t stage)
{
	struct window *sum = window_new(0, stage, s->every_ns);
	for (size_t i = 0; sum && i < s->slots_count; i++)
		if (s->slots[i] && (stage == IPF_ABSENT || s->slots[i]->stage == stage))
			window_merge(sum, s->slots[i]);
	return sum;
}

/* Frees the slot, and moves those after it that would no longer be found. */
static void remove_slot(struct series *s, size_t hole)
{
	size_t mask = s->slots_count - 1;
	for (size_t i = (hole + 1) & mask; s->slots[i]; i = (i + 1) & mask) {
		size_t home = hash(s->slots[i]->number, s->slots[i]->stage) & mask;
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			s->slots[hole] = s->slots[i];
			hole = i;
		}
	}
	s->slots[hole] = NULL;
}

bool series_take(struct series *s, struct buffer *line)
{
	if (s->count == 0 || sort(s) < 0)
		return false;
	settle(s);
	s->last = NULL;
	struct window *w = s->order[s->order_at++];
	remove_slot(s, slot_of(s, w->number, w->stage));
	s->count--;
	s->bytes -= w->memory;
	window_write(w, line);
	window_free(w);
	return true;
}

size_t series_memory(struct series *s)
{
	settle(s);
	return s->bytes;
}

bool series_spill(struct series *s, struct buffer *line)
{
	size_t bytes = series_memory(s);
	s->spilling = s->limit && bytes > (s->spilling ? s->limit / 4 * 3 : s->limit);
	return s->spilling && series_take(s, line);
}
