#include "series/sample_store.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A reading's value for the time from begin_ns to end_ns. */
struct point {
	int64_t begin_ns, end_ns; /* gauge: end == begin until the next reading of the source */
	double value;             /* gauge: mean; counter: increase; histogram: number of values */
	double top;               /* gauge: maximum; histogram: sum of the values */
	struct bucket_interval *buckets;
	uint32_t buckets_count;
};

struct column {
	char *name;
	enum sample_kind kind;
	struct point *points;
	size_t count, cap;
	double *bounds; /* histogram: all bounds seen, in order */
	size_t bounds_count;
};

struct source {
	char *name;
	int part;
	int64_t first_ns, last_ns;
	bool ticked;
	struct column *columns;
	size_t count;
};

struct sample_store {
	struct source *sources;
	int count;
	size_t bytes, most;
	int full_for; /* joining readings freed too little: that many are left out before it is tried again */
	int64_t dropped;
};

#define FULL_FOR 65536

const struct sample_range sample_range_all = {INT64_MIN, INT64_MAX};

struct sample_store *sample_store_new(size_t max_bytes)
{
	struct sample_store *s = calloc(1, sizeof *s);
	if (s)
		s->most = max_bytes;
	return s;
}

static void free_points(struct column *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->points[i].buckets);
	free(c->points);
}

void sample_store_free(struct sample_store *s)
{
	if (!s)
		return;
	for (int i = 0; i < s->count; i++) {
		struct source *source = &s->sources[i];
		for (size_t k = 0; k < source->count; k++) {
			free_points(&source->columns[k]);
			free(source->columns[k].bounds);
			free(source->columns[k].name);
		}
		free(source->columns);
		free(source->name);
	}
	free(s->sources);
	free(s);
}

/* ---- adding ---- */

int sample_store_source(struct sample_store *s, int part, struct slice name)
{
	for (int i = 0; i < s->count; i++)
		if (s->sources[i].part == part && slice_is(name, s->sources[i].name))
			return i;
	if (s->count == SAMPLE_SOURCES_MOST || name.len > SAMPLE_NAME_BYTES) {
		s->dropped++;
		return -1;
	}
	if (!array_one_more(s->sources, s->count))
		return -2;
	s->sources[s->count] = (struct source){.name = slice_dup(name), .part = part};
	return s->sources[s->count].name ? s->count++ : -2;
}

bool sample_store_tick(struct sample_store *s, int source, int64_t t_ns)
{
	struct source *from = &s->sources[source];
	if (from->ticked && t_ns < from->last_ns) {
		s->dropped++;
		return false;
	}
	for (size_t i = 0; i < from->count; i++) {
		struct column *c = &from->columns[i];
		struct point *last = c->count ? &c->points[c->count - 1] : NULL;
		if (c->kind == SAMPLE_GAUGE && last && last->end_ns == last->begin_ns)
			last->end_ns = t_ns;
	}
	if (!from->ticked)
		from->first_ns = t_ns;
	from->ticked = true;
	from->last_ns = t_ns;
	return true;
}

/* The column of a name, added if it is new. NULL: too many names, another kind of figure, or (*bad) out of memory. */
static struct column *column_for(struct sample_store *s, int source, struct slice name, enum sample_kind kind,
                                 bool *bad)
{
	struct source *from = &s->sources[source];
	for (size_t i = 0; i < from->count; i++)
		if (slice_is(name, from->columns[i].name)) {
			s->dropped += from->columns[i].kind != kind;
			return from->columns[i].kind == kind ? &from->columns[i] : NULL;
		}
	if (from->count == SAMPLE_NAMES_MOST || name.len > SAMPLE_NAME_BYTES || s->bytes > s->most) {
		s->dropped++;
		return NULL;
	}
	struct column *columns = realloc(from->columns, (from->count + 1) * sizeof *columns);
	if (columns)
		from->columns = columns;
	char *copy = columns ? slice_dup(name) : NULL;
	*bad = !copy;
	if (!copy)
		return NULL;
	columns[from->count] = (struct column){.name = copy, .kind = kind};
	s->bytes += sizeof *columns + name.len;
	return &columns[from->count++];
}

static bool same_bounds(const struct bucket_interval *a, const struct bucket_interval *b)
{
	return !(a->low < b->low) && !(a->low > b->low) && !(a->high < b->high) && !(a->high > b->high);
}

/* Adds the buckets of `from` to those of `into`; both are in order of their bounds. -1: out of memory. */
static int join_buckets(struct sample_store *s, struct point *into, const struct point *from)
{
	size_t most = (size_t)into->buckets_count + from->buckets_count, a = 0, b = 0;
	uint32_t count = 0;
	if (from->buckets_count == 0)
		return 0;
	struct bucket_interval *all = malloc(most * sizeof *all);
	if (!all)
		return -1;
	while (a < into->buckets_count || b < from->buckets_count) {
		const struct bucket_interval *x = a < into->buckets_count ? &into->buckets[a] : NULL,
									 *y = b < from->buckets_count ? &from->buckets[b] : NULL;
		if (x && y && same_bounds(x, y)) {
			all[count] = *x;
			all[count++].count += y->count;
			a++, b++;
		} else if (!y || (x && x->high < y->high)) {
			all[count++] = *x;
			a++;
		} else {
			all[count++] = *y;
			b++;
		}
	}
	s->bytes -= (most - count) * sizeof *all;
	free(into->buckets);
	into->buckets = all;
	into->buckets_count = count;
	return 0;
}

static int join_points(struct sample_store *s, enum sample_kind kind, struct point *into, const struct point *from)
{
	if (kind == SAMPLE_GAUGE) {
		double a = (double)(into->end_ns - into->begin_ns), b = (double)(from->end_ns - from->begin_ns);
		if (a + b > 0)
			into->value = (into->value * a + from->value * b) / (a + b);
		into->top = fmax(into->top, from->top);
	} else {
		into->value += from->value;
		into->top += from->top;
	}
	into->end_ns = from->end_ns;
	return kind == SAMPLE_HISTOGRAM ? join_buckets(s, into, from) : 0;
}

/* Two gauge readings can be joined if no failed reading is between them, and the later one is not still in force. */
static bool may_join(const struct column *c, const struct point *a, const struct point *b)
{
	return c->kind != SAMPLE_GAUGE || (a->end_ns == b->begin_ns && b->end_ns > b->begin_ns);
}

static int halve(struct sample_store *s, struct column *c)
{
	size_t kept = 0, i = 0;
	int bad = 0;
	while (i < c->count) {
		struct point p = c->points[i++];
		if (i < c->count && may_join(c, &p, &c->points[i])) {
			bad |= join_points(s, c->kind, &p, &c->points[i]);
			free(c->points[i++].buckets);
		}
		c->points[kept++] = p;
	}
	s->bytes -= (c->count - kept) * sizeof *c->points;
	c->count = kept;
	return bad;
}

/* Joins readings until a quarter of the memory is free. -1: out of memory. */
static int make_room(struct sample_store *s)
{
	int bad = 0;
	size_t before;
	do {
		before = s->bytes;
		for (int i = 0; i < s->count; i++)
			for (size_t k = 0; k < s->sources[i].count; k++)
				bad |= halve(s, &s->sources[i].columns[k]);
	} while (bad == 0 && s->bytes > s->most / 4 * 3 && s->bytes < before);
	if (s->bytes > s->most / 4 * 3)
		s->full_for = FULL_FOR;
	return bad;
}

/* Takes over the buckets, also when it fails or leaves the reading out. */
static int add_point(struct sample_store *s, struct column *c, const struct point *p)
{
	if (s->bytes > s->most && s->full_for > 0) {
		s->full_for--;
		s->dropped++;
		free(p->buckets);
		return 0;
	}
	if (!array_room(c->points, c->cap, c->count + 1)) {
		free(p->buckets);
		return -1;
	}
	c->points[c->count++] = *p;
	s->bytes += sizeof *p + p->buckets_count * sizeof *p->buckets;
	return s->bytes > s->most ? make_room(s) : 0;
}

int sample_store_gauge(struct sample_store *s, int source, struct slice name, int64_t t_ns, double value)
{
	bool bad = false;
	struct column *c = isfinite(value) ? column_for(s, source, name, SAMPLE_GAUGE, &bad) : NULL;
	if (!c)
		return bad ? -1 : 0;
	return add_point(s, c, &(struct point){.begin_ns = t_ns, .end_ns = t_ns, .value = value, .top = value});
}

int sample_store_increase(struct sample_store *s, int source, struct slice name, struct sample_range time,
                          double increase)
{
	bool bad = false;
	struct column *c = isfinite(increase) ? column_for(s, source, name, SAMPLE_COUNTER, &bad) : NULL;
	if (!c)
		return bad ? -1 : 0;
	return add_point(s, c, &(struct point){.begin_ns = time.begin_ns, .end_ns = time.end_ns, .value = increase});
}

/* Remembers a bound; false: out of memory. */
static bool learn_bound(struct sample_store *s, struct column *c, double bound)
{
	size_t at = c->bounds_count;
	while (at > 0 && c->bounds[at - 1] >= bound)
		at--;
	if ((at < c->bounds_count && !(c->bounds[at] > bound)) || !isfinite(bound))
		return true;
	if (c->bounds_count == SAMPLE_BOUNDS_MOST) {
		s->dropped++;
		return true;
	}
	if (!array_one_more(c->bounds, c->bounds_count))
		return false;
	s->bytes += sizeof *c->bounds;
	memmove(c->bounds + at + 1, c->bounds + at, (c->bounds_count - at) * sizeof *c->bounds);
	c->bounds[at] = bound;
	c->bounds_count++;
	return true;
}

int sample_store_histogram(struct sample_store *s, int source, struct slice name, struct sample_range time,
                           const struct bucket_histogram *h)
{
	bool bad = false;
	struct column *c = isfinite(h->n) && isfinite(h->sum) ? column_for(s, source, name, SAMPLE_HISTOGRAM, &bad) : NULL;
	if (!c)
		return bad ? -1 : 0;
	struct point p = {.begin_ns = time.begin_ns, .end_ns = time.end_ns, .value = h->n, .top = h->sum};
	if (h->count > 0 && !(p.buckets = malloc(h->count * sizeof *p.buckets)))
		return -1;
	for (size_t i = 0; i < h->count; i++) {
		/* the lower bound is known when all readings have been seen */
		p.buckets[i] = (struct bucket_interval){.high = h->list[i].high, .count = h->list[i].count};
		bad |= !learn_bound(s, c, h->list[i].high);
	}
	p.buckets_count = (uint32_t)h->count;
	return add_point(s, c, &p) < 0 || bad ? -1 : 0;
}

void sample_store_leave_out(struct sample_store *s)
{
	s->dropped++;
}

/* ---- asking ---- */

int sample_store_sources(const struct sample_store *s)
{
	return s->count;
}

const char *sample_store_source_name(const struct sample_store *s, int source)
{
	return s->sources[source].name;
}

int sample_store_source_part(const struct sample_store *s, int source)
{
	return s->sources[source].part;
}

bool sample_store_extent(const struct sample_store *s, int source, struct sample_range *extent)
{
	const struct source *from = &s->sources[source];
	*extent = (struct sample_range){from->first_ns, from->last_ns};
	return from->ticked;
}

bool sample_store_increases(const struct sample_store *s, int source, struct sample_range *covered)
{
	const struct source *from = &s->sources[source];
	*covered = (struct sample_range){INT64_MAX, INT64_MIN};
	for (size_t i = 0; i < from->count; i++) {
		const struct column *c = &from->columns[i];
		if (c->kind == SAMPLE_GAUGE || c->count == 0)
			continue;
		if (c->points[0].begin_ns < covered->begin_ns)
			covered->begin_ns = c->points[0].begin_ns;
		if (c->points[c->count - 1].end_ns > covered->end_ns)
			covered->end_ns = c->points[c->count - 1].end_ns;
	}
	return covered->end_ns > covered->begin_ns;
}

const char *sample_store_name(const struct sample_store *s, int source, size_t i, enum sample_kind *kind)
{
	const struct source *from = &s->sources[source];
	if (i >= from->count)
		return NULL;
	*kind = from->columns[i].kind;
	return from->columns[i].name;
}

int64_t sample_store_dropped(const struct sample_store *s)
{
	return s->dropped;
}

static const struct column *find_column(const struct sample_store *s, int source, const char *name,
                                        enum sample_kind kind)
{
	const struct source *from = &s->sources[source];
	for (size_t i = 0; i < from->count; i++)
		if (strcmp(from->columns[i].name, name) == 0)
			return from->columns[i].kind == kind ? &from->columns[i] : NULL;
	return NULL;
}

/* When a reading ceases to count. The last gauge of all has no successor: it lasts as long as the one before it. */
static int64_t end_of(const struct column *c, size_t i)
{
	const struct point *p = &c->points[i];
	if (p->end_ns > p->begin_ns || c->kind != SAMPLE_GAUGE)
		return p->end_ns;
	int64_t before = i > 0 ? p->begin_ns - c->points[i - 1].begin_ns : 0;
	return p->begin_ns + (before > 0 ? before : 1);
}

/* The part of a reading in the range, as seconds and as a share of it. */
static bool overlap(const struct column *c, size_t i, const struct sample_range *range, struct sample_range *inside)
{
	const struct point *p = &c->points[i];
	int64_t end_ns = end_of(c, i);
	*inside = (struct sample_range){p->begin_ns > range->begin_ns ? p->begin_ns : range->begin_ns,
	                                end_ns < range->end_ns ? end_ns : range->end_ns};
	return inside->end_ns > inside->begin_ns;
}

static double share_of(const struct column *c, size_t i, const struct sample_range *inside)
{
	return (double)(inside->end_ns - inside->begin_ns) / (double)(end_of(c, i) - c->points[i].begin_ns);
}

/* The first reading that can overlap the range. */
static size_t first_in(const struct column *c, const struct sample_range *range)
{
	size_t low = 0, high = c->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (end_of(c, middle) <= range->begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct weighted {
	double value, seconds;
};

static int by_value(const void *a, const void *b)
{
	const struct weighted *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

static double percentile_over_time(const struct weighted *list, size_t count, double seconds, double p)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		sum += list[i].seconds;
		if (sum >= seconds * p / 100)
			return list[i].value;
	}
	return count ? list[count - 1].value : NAN;
}

/* Sorts the list. */
static struct gauge_figures figures_of(struct weighted *list, size_t count, double top)
{
	struct gauge_figures f = {NAN, NAN, NAN, NAN, 0};
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		f.seconds += list[i].seconds;
		sum += list[i].seconds * list[i].value;
	}
	if (count == 0 || !(f.seconds > 0))
		return f;
	qsort(list, count, sizeof *list, by_value);
	f.mean = sum / f.seconds;
	f.max = top;
	f.p50 = percentile_over_time(list, count, f.seconds, 50);
	f.p90 = percentile_over_time(list, count, f.seconds, 90);
	return f;
}

struct gauge_figures sample_store_gauge_figures(const struct sample_store *s, int source, const char *name,
                                                const struct sample_range *range)
{
	return sample_store_gauge_total(s, &source, 1, name, range, true);
}

struct counter_figures sample_store_counter_figures(const struct sample_store *s, int source, const char *name,
                                                    const struct sample_range *range)
{
	const struct column *c = find_column(s, source, name, SAMPLE_COUNTER);
	struct counter_figures f = {NAN, 0, 0};
	struct sample_range inside;
	for (size_t i = c ? first_in(c, range) : 0; c && i < c->count && c->points[i].begin_ns < range->end_ns; i++) {
		if (!overlap(c, i, range, &inside))
			continue;
		double share = share_of(c, i, &inside);
		f.sum = (isnan(f.sum) ? 0 : f.sum) + c->points[i].value * share;
		f.unsure += share < 1 ? c->points[i].value * fmax(share, 1 - share) : 0;
		f.seconds += (double)(inside.end_ns - inside.begin_ns) / 1e9;
	}
	return f;
}

/* The highest bound below `high` that the source has. */
static double lower_bound(const struct column *c, double high)
{
	double found = 0;
	for (size_t i = 0; i < c->bounds_count && c->bounds[i] < high; i++)
		found = c->bounds[i];
	return found < high ? found : high;
}

bool sample_store_histogram_figures(const struct sample_store *s, int source, const char *name,
                                    const struct sample_range *range, struct bucket_histogram *into)
{
	const struct column *c = find_column(s, source, name, SAMPLE_HISTOGRAM);
	struct sample_range inside;
	bool any = false;
	for (size_t i = c ? first_in(c, range) : 0; c && i < c->count && c->points[i].begin_ns < range->end_ns; i++) {
		if (!overlap(c, i, range, &inside))
			continue;
		const struct point *p = &c->points[i];
		double share = share_of(c, i, &inside);
		for (uint32_t k = 0; k < p->buckets_count; k++)
			bucket_histogram_add(into, lower_bound(c, p->buckets[k].high), p->buckets[k].high,
			                     p->buckets[k].count * share);
		if (p->buckets_count == 0)
			bucket_histogram_add_unplaced(into, p->value * share);
		into->sum += p->top * share;
		any = true;
	}
	return any;
}

/* ---- one gauge of several sources ---- */

/* At t_ns, `value` is added to the sum over the sources, and `sources` to the number of those with one. */
struct change {
	int64_t t_ns;
	double value, top;
	int sources;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

/* All changes in the range, in order; *count is their number. NULL: none, or out of memory. */
static struct change *changes_of(const struct sample_store *s, const int *sources, int count, const char *name,
                                 const struct sample_range *range, size_t *changes_count)
{
	size_t most = 0, used = 0;
	for (int i = 0; i < count; i++) {
		const struct column *c = find_column(s, sources[i], name, SAMPLE_GAUGE);
		most += c ? 2 * c->count : 0;
	}
	struct change *changes = most ? malloc(most * sizeof *changes) : NULL;
	for (int i = 0; changes && i < count; i++) {
		const struct column *c = find_column(s, sources[i], name, SAMPLE_GAUGE);
		struct sample_range inside;
		for (size_t k = c ? first_in(c, range) : 0; c && k < c->count && c->points[k].begin_ns < range->end_ns; k++) {
			const struct point *p = &c->points[k];
			if (!overlap(c, k, range, &inside))
				continue;
			changes[used++] = (struct change){inside.begin_ns, p->value, p->top, 1};
			changes[used++] = (struct change){inside.end_ns, -p->value, -p->top, -1};
		}
	}
	if (used > 0)
		qsort(changes, used, sizeof *changes, by_time);
	*changes_count = used;
	return changes;
}

struct gauge_figures sample_store_gauge_total(const struct sample_store *s, const int *sources, int count,
                                              const char *name, const struct sample_range *range, bool mean)
{
	size_t used = 0, steps = 0;
	struct change *changes = changes_of(s, sources, count, name, range, &used);
	struct weighted *list = used ? malloc(used * sizeof *list) : NULL;
	double value = 0, top = 0, most = -INFINITY;
	int present = 0;
	for (size_t i = 0; list && i < used; i++) {
		present += changes[i].sources;
		value = present ? value + changes[i].value : 0;
		top = present ? top + changes[i].top : 0;
		if (present == 0 || i + 1 == used || changes[i + 1].t_ns == changes[i].t_ns)
			continue;
		double by = mean ? present : 1;
		list[steps++] = (struct weighted){value / by, (double)(changes[i + 1].t_ns - changes[i].t_ns) / 1e9};
		most = fmax(most, top / by);
	}
	struct gauge_figures f = figures_of(list, steps, most);
	free(list);
	free(changes);
	return f;
}
