#include "scrape/server_sample.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct bucket {
	double bound, count; /* cumulative, as servers give them */
};

/* All series of one common name, or of one name of the user's. */
struct total {
	bool there, has_sum;
	int rank;
	double sum;    /* the sum of a gauge's values; the increases of a counter or a histogram */
	double latest; /* PART_NAMES: the time of the counted series */
	double count;
	size_t series;
	struct bucket *buckets;
	size_t buckets_count, buckets_cap;
};

const char *server_recognize(const struct snapshot *s)
{
	const char *best = NULL;
	size_t most = 0, rows = server_metrics_count;
	bool seen[512] = {false}; /* more than the table has rows */
	for (size_t i = 0; i < s->count; i++)
		if (s->entries[i].metric < rows && s->entries[i].metric < sizeof seen)
			seen[s->entries[i].metric] = true;
	for (size_t begin = 0, end; begin < rows; begin = end) {
		size_t found = 0;
		for (end = begin; end < rows && strcmp(server_metrics[end].server, server_metrics[begin].server) == 0; end++)
			found += seen[end];
		if (found > most) {
			most = found;
			best = server_metrics[begin].server;
		}
	}
	return best;
}

/* ---- adding up ---- */

static bool add_bucket(struct total *t, double bound, double count)
{
	size_t i = 0;
	while (i < t->buckets_count && t->buckets[i].bound < bound)
		i++;
	if (i < t->buckets_count && t->buckets[i].bound == bound) {
		t->buckets[i].count += count;
		return true;
	}
	if (!array_room(t->buckets, t->buckets_cap, t->buckets_count + 1))
		return false;
	memmove(t->buckets + i + 1, t->buckets + i, (t->buckets_count - i) * sizeof *t->buckets);
	t->buckets[i] = (struct bucket){bound, count};
	t->buckets_count++;
	return true;
}

/* Counts a reset; not of sums, which a negative value of a histogram makes smaller. */
static double increase(struct server_sample *s, const struct snapshot_entry *now)
{
	const struct snapshot_entry *then = s->before ? snapshot_find(s->before, now) : NULL;
	if (!then)
		return now->value;
	s->resets += then->value > now->value && now->part != PART_SUM;
	return then->value <= now->value ? now->value - then->value : now->value;
}

static bool add_histogram(struct total *t, const struct snapshot_entry *e, double more)
{
	if (e->is_bucket)
		return add_bucket(t, e->bound, more);
	t->has_sum |= e->part == PART_SUM;
	if (e->part == PART_SUM)
		t->sum += more;
	else
		t->count += more;
	return true;
}

static bool add_entry(struct server_sample *s, struct total *t, const struct snapshot_entry *e, enum metric_kind kind)
{
	t->there |= kind != METRIC_HISTOGRAM || e->part != PART_COUNT; /* a count alone is the requests' */
	t->series++;
	if (e->part == PART_NAMES) {
		if (t->series == 1 || e->value > t->latest)
			t->sum = e->bound;
		t->latest = t->series == 1 || e->value > t->latest ? e->value : t->latest;
	} else if (kind == METRIC_GAUGE) {
		t->sum += e->value;
	} else if (kind == METRIC_COUNTER) {
		t->sum += increase(s, e);
	} else {
		return add_histogram(t, e, increase(s, e));
	}
	return true;
}

/* Where the entry counts; NULL: nowhere. */
static struct total *total_of(const struct server_sample *s, struct total *totals, const struct snapshot_entry *e,
                              enum metric_kind *kind)
{
	if (e->metric >= server_metrics_count) {
		size_t own = e->metric - server_metrics_count;
		*kind = s->own->list[own].kind;
		return &totals[COMMON_METRICS + own];
	}
	const struct server_metric *row = &server_metrics[e->metric];
	if (!s->server || strcmp(row->server, s->server) != 0)
		return NULL;
	size_t common = row->common;
	*kind = common_metrics[common].kind;
	return row->rank == totals[common].rank ? &totals[common] : NULL;
}

/* For each common name, the lowest rank present. */
static void find_ranks(const struct server_sample *s, struct total *totals)
{
	for (size_t i = 0; i < COMMON_METRICS; i++)
		totals[i].rank = INT32_MAX;
	for (size_t i = 0; i < s->now->count; i++) {
		const struct snapshot_entry *e = &s->now->entries[i];
		if (e->metric >= server_metrics_count || !s->server || strcmp(server_metrics[e->metric].server, s->server) != 0)
			continue;
		struct total *t = &totals[server_metrics[e->metric].common];
		if (server_metrics[e->metric].rank < t->rank)
			t->rank = server_metrics[e->metric].rank;
	}
}

static bool add_all(struct server_sample *s, struct total *totals)
{
	find_ranks(s, totals);
	for (size_t i = 0; i < s->now->count; i++) {
		enum metric_kind kind;
		struct total *t = total_of(s, totals, &s->now->entries[i], &kind);
		if (t && !add_entry(s, t, &s->now->entries[i], kind))
			return false;
	}
	return true;
}

/* ---- writing ---- */

/* Not cumulative; the bound of the last bucket is null: +Inf. `whole`: the sum is a number of nanoseconds or tokens. */
static void write_histogram(const struct total *t, bool whole, struct jout *w)
{
	double below = 0;
	jout_begin_map(w);
	jout_key(w, "count");
	jout_double(w, t->count > 0 || !t->buckets_count ? t->count : t->buckets[t->buckets_count - 1].count);
	if (t->has_sum) {
		jout_key(w, "sum");
		jout_double(w, whole ? nearbyint(t->sum) : t->sum);
	}
	if (t->buckets_count) {
		jout_key(w, "buckets");
		jout_begin_list(w);
	}
	for (size_t i = 0; i < t->buckets_count; i++) {
		double own = t->buckets[i].count - below;
		below = fmax(below, t->buckets[i].count);
		jout_begin_list(w);
		jout_double(w, t->buckets[i].bound); /* infinity becomes null */
		jout_double(w, fmax(own, 0));
		jout_end_list(w);
	}
	if (t->buckets_count)
		jout_end_list(w);
	jout_end_map(w);
}

static void write_value(const struct total *t, enum metric_kind kind, const struct common_metric *common,
                        struct jout *w)
{
	if (kind == METRIC_HISTOGRAM)
		write_histogram(t, common != NULL, w);
	else
		jout_double(w, common && common->averaged ? t->sum / (double)t->series : t->sum);
}

static void write_key(const char *name, struct jout *w)
{
	jout_string0(w, name);
	buffer_byte(w->out, ':');
	w->comma = false;
}

/* The member of one kind, if any metric of it is there. */
static void write_kind(const struct server_sample *s, const struct total *totals, enum metric_kind kind, struct jout *w)
{
	static const char *const members[] = {"gauges", "counters", "histograms"};
	bool begun = false;
	for (size_t i = 0; i < COMMON_METRICS + s->own->count; i++) {
		const struct common_metric *common = i < COMMON_METRICS ? &common_metrics[i] : NULL;
		const struct own_metric *own = common ? NULL : &s->own->list[i - COMMON_METRICS];
		if (!totals[i].there || kind != (common ? common->kind : own->kind))
			continue;
		if (!begun) {
			jout_key(w, members[kind]);
			jout_begin_map(w);
			begun = true;
		}
		write_key(common ? common->name : own->name, w);
		write_value(&totals[i], kind, common, w);
	}
	if (begun)
		jout_end_map(w);
}

bool server_sample_write(struct server_sample *s, struct jout *w)
{
	size_t count = COMMON_METRICS + s->own->count;
	struct total *totals = calloc(count, sizeof *totals);
	s->resets = 0;
	bool good = totals && add_all(s, totals);
	for (size_t i = 0; good && s->seen && i < COMMON_METRICS; i++)
		s->seen[i] |= totals[i].there;
	for (int kind = METRIC_GAUGE; good && kind <= (s->before ? METRIC_HISTOGRAM : METRIC_GAUGE); kind++)
		write_kind(s, totals, (enum metric_kind)kind, w);
	if (good && s->resets > 0)
		jout_member_int(w, "resets", s->resets);
	for (size_t i = 0; totals && i < count; i++)
		free(totals[i].buckets);
	free(totals);
	return good;
}
