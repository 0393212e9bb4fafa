#include "series/energy.h"

#include "absent.h"
#include "array.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *energy_reason_words(const char *name, char words[64])
{
	snprintf(words, 64, "%.60s", name ? name : "");
	for (char *at = words; *at; at++)
		*at = *at == '_' ? ' ' : *at;
	return words;
}

const char *const energy_reason_names[ENERGY_REASONS] = {
	[ENERGY_NO_SAMPLES] = "no_samples",
	[ENERGY_NOT_REPORTED] = "not_reported",
	[ENERGY_TOO_FEW_SAMPLES] = "too_few_samples",
	[ENERGY_BEGAN_LATE] = "began_late",
	[ENERGY_VANISHED] = "vanished",
	[ENERGY_GAP] = "gap",
	[ENERGY_COVERAGE] = "coverage",
	[ENERGY_COUNTER_RESET] = "counter_reset",
	[ENERGY_COUNTER_STALE] = "counter_stale",
	[ENERGY_COUNTER_MISMATCH] = "counter_mismatch",
};

/* Energy since the first sample, at the time of a sample. */
struct point {
	int64_t t_ns;
	double energy_j;
	int64_t gap_ns; /* the longest time between two samples since the point before; 0: the first point */
	bool reset;     /* since the point before, the counter began anew */
};

/* The same thing for both ways to measure energy: a curve that only rises. */
struct curve {
	struct point *points;
	size_t count, cap;
	int64_t last_ns;   /* the last sample's, which the last point is of */
	double last_value; /* the last sample's: power or counter */
	double energy_j;
	bool reset;            /* by the sample being added */
	size_t stride, merged; /* a point for each `stride` samples; those of the last point */
};

struct energy_series {
	struct curve power, counter;
	int64_t samples, last_ns;
	int64_t wraps;
};

/* A curve's energy in a span. */
struct span {
	double energy_j; /* NAN: fewer than two samples, or none near the span */
	int64_t covered_ns, flat_ns;
	int64_t gap_ns;           /* the longest time between two samples */
	int64_t head_ns, tail_ns; /* without a sample at the begin and at the end */
	int64_t samples;
	bool reset;
};

static int64_t smaller(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* ---- adding ---- */

static void thin(struct curve *c)
{
	size_t kept = 1;
	for (size_t i = 1; i < c->count; i++) {
		struct point *p = &c->points[i];
		if (i % 2 == 1 && i + 1 < c->count) {
			p[1].gap_ns = greater_of(p->gap_ns, p[1].gap_ns);
			p[1].reset |= p->reset;
		} else {
			c->points[kept++] = *p;
		}
	}
	c->count = kept;
	c->stride *= 2;
	c->merged = c->stride;
}

static int make_room(struct curve *c)
{
	if (c->count == 0)
		c->stride = 1;
	if (c->count == ENERGY_POINTS)
		thin(c);
	return array_room(c->points, c->cap, c->count + 1) ? 0 : -1;
}

/* Adds a sample whose energy since the last one is `step_j`. With a stride the last point moves on to the latest sample
 * until it stands for `stride` of them, so the curve always ends at the last sample. */
static int add_step(struct curve *c, int64_t t_ns, double value, double step_j)
{
	struct point next = {
		.t_ns = t_ns, .energy_j = c->energy_j + step_j, .gap_ns = c->count ? t_ns - c->last_ns : 0, .reset = c->reset};
	if (c->merged < c->stride) {
		struct point *last = &c->points[c->count - 1];
		next.gap_ns = greater_of(next.gap_ns, last->gap_ns);
		next.reset |= last->reset;
		*last = next;
		c->merged++;
	} else if (make_room(c) < 0) {
		return -1;
	} else {
		c->points[c->count++] = next;
		c->merged = c->count == 1 ? c->stride : 1;
	}
	c->reset = false;
	c->energy_j = next.energy_j;
	c->last_ns = t_ns;
	c->last_value = value;
	return 0;
}

static int add_power(struct energy_series *s, int64_t t_ns, double power_w)
{
	struct curve *c = &s->power;
	double step_j = c->count ? (c->last_value + power_w) / 2 * (double)(t_ns - c->last_ns) / 1e9 : 0;
	return add_step(c, t_ns, power_w, step_j);
}

/* The increase of a counter that fell, if it wrapped: as much as the power says. 0: it was reset. */
static double wrapped_step(const struct energy_series *s, int64_t t_ns, double power_w, double fall_j)
{
	static const double widths_j[] = {4294967296e-3, 4294967296e-6, 4294967296 * 15.259e-6};
	double mean_w = s->power.count ? (s->power.last_value + power_w) / 2 : power_w;
	double expected_j = mean_w * (double)(t_ns - s->counter.last_ns) / 1e9;
	for (size_t i = 0; i < sizeof widths_j / sizeof *widths_j; i++) {
		double step_j = widths_j[i] - fall_j;
		if (step_j > expected_j / 2 && step_j < expected_j * 2)
			return step_j;
	}
	return 0;
}

static int add_counter(struct energy_series *s, int64_t t_ns, double power_w, double counter_j)
{
	struct curve *c = &s->counter;
	double step_j = c->count ? counter_j - c->last_value : 0;
	if (step_j < 0) {
		step_j = wrapped_step(s, t_ns, power_w, -step_j);
		s->wraps += step_j > 0;
		c->reset |= !(step_j > 0);
	}
	return add_step(c, t_ns, counter_j, step_j);
}

struct energy_series *energy_series_new(void)
{
	return calloc(1, sizeof(struct energy_series));
}

void energy_series_free(struct energy_series *s)
{
	if (!s)
		return;
	free(s->power.points);
	free(s->counter.points);
	free(s);
}

int energy_series_add(struct energy_series *s, int64_t t_ns, double power_w, double counter_j)
{
	bool power = isfinite(power_w) && power_w >= 0, counter = isfinite(counter_j) && counter_j >= 0;
	if (s->samples && t_ns <= s->last_ns)
		return 0;
	s->samples++;
	s->last_ns = t_ns;
	/* the counter first: whether it wrapped is judged by the power since its last sample */
	if (counter && add_counter(s, t_ns, power ? power_w : NAN, counter_j) < 0)
		return -1;
	return power ? add_power(s, t_ns, power_w) : 0;
}

/* ---- asking ---- */

static int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* The median time between two samples; 0: unknown. */
static int64_t usual_gap(const struct curve *c)
{
	int64_t gaps[ENERGY_POINTS], median = 0;
	if (c->count < 2)
		return 0;
	for (size_t i = 1; i < c->count; i++)
		gaps[i - 1] = c->points[i].gap_ns;
	qsort(gaps, c->count - 1, sizeof *gaps, compare_int64);
	median = gaps[(c->count - 1) / 2];
	return median;
}

/* How far apart samples of this span may be. */
static int64_t gap_limit(const struct curve *c, int64_t length_ns)
{
	int64_t share_ns = (int64_t)((double)length_ns * ENERGY_GAP_SHARE);
	return greater_of(ENERGY_GAP_INTERVALS * usual_gap(c), smaller(share_ns, ENERGY_GAP_MOST_NS));
}

/* The part of the step from point `b - 1` to `b` that is within the span. */
static void add_segment(struct span *s, const struct point *b, int64_t from_ns, int64_t to_ns, int64_t limit_ns)
{
	const struct point *a = b - 1;
	int64_t begin = greater_of(a->t_ns, from_ns), end = smaller(b->t_ns, to_ns);
	s->energy_j += (b->energy_j - a->energy_j) * (double)(end - begin) / (double)(b->t_ns - a->t_ns);
	s->reset |= b->reset;
	s->gap_ns = greater_of(s->gap_ns, smaller(b->gap_ns, end - begin));
	if (b->gap_ns <= limit_ns)
		s->covered_ns += end - begin;
}

static struct span span_of(const struct curve *c, int64_t from_ns, int64_t to_ns, int64_t limit_ns)
{
	struct span s = {.energy_j = NAN};
	if (c->count == 0)
		return s;
	s.head_ns = smaller(greater_of(0, c->points[0].t_ns - from_ns), to_ns - from_ns);
	s.tail_ns = smaller(greater_of(0, to_ns - c->last_ns), to_ns - from_ns);
	if (c->count >= 2 && s.head_ns + s.tail_ns < to_ns - from_ns)
		s.energy_j = 0;
	int64_t changed_ns = from_ns + s.head_ns;
	for (size_t i = 0; i < c->count; i++) {
		const struct point *p = &c->points[i];
		s.samples += p->t_ns >= from_ns && p->t_ns <= to_ns;
		if (i == 0 || p->t_ns <= from_ns || p[-1].t_ns >= to_ns)
			continue;
		add_segment(&s, p, from_ns, to_ns, limit_ns);
		int64_t end = smaller(p->t_ns, to_ns);
		if (p->energy_j > p[-1].energy_j)
			changed_ns = end;
		s.flat_ns = greater_of(s.flat_ns, end - changed_ns);
	}
	return s;
}

/* Did the counter stand still for longer than samples may be apart, although the device drew power? */
static bool is_stale(const struct span *counter, const struct span *power, int64_t limit_ns)
{
	return counter->flat_ns > limit_ns && (isnan(power->energy_j) || power->energy_j > 0);
}

static unsigned judge(const struct energy *e, const struct span *by, int64_t limit_ns)
{
	unsigned reasons = 0;
	if (by->samples < ENERGY_SAMPLES_LEAST)
		reasons |= 1u << ENERGY_TOO_FEW_SAMPLES;
	if (by->head_ns > limit_ns)
		reasons |= 1u << ENERGY_BEGAN_LATE;
	if (by->tail_ns > limit_ns)
		reasons |= 1u << ENERGY_VANISHED;
	if (by->gap_ns > limit_ns)
		reasons |= 1u << ENERGY_GAP;
	if (e->coverage < ENERGY_COVERAGE_LEAST)
		reasons |= 1u << ENERGY_COVERAGE;
	return reasons;
}

void energy_between(const struct energy_series *s, int64_t from_ns, int64_t to_ns, struct energy *e)
{
	*e = (struct energy){.energy_j = NAN, .counter_j = NAN, .integral_j = NAN, .wraps = s ? s->wraps : 0};
	if (!s || !s->samples || to_ns <= from_ns) {
		e->reasons = 1u << ENERGY_NO_SAMPLES;
		return;
	}
	if (!s->power.count && !s->counter.count) {
		e->reasons = 1u << ENERGY_NOT_REPORTED;
		return;
	}
	int64_t limit_ns = gap_limit(s->power.count ? &s->power : &s->counter, to_ns - from_ns);
	struct span power = span_of(&s->power, from_ns, to_ns, limit_ns);
	struct span counter = span_of(&s->counter, from_ns, to_ns, limit_ns);
	const struct span *by = s->power.count ? &power : &counter;
	bool stale = is_stale(&counter, &power, limit_ns);
	e->counter_j = counter.reset ? NAN : counter.energy_j;
	e->integral_j = power.energy_j;
	e->by_counter = !isnan(e->counter_j) && (!stale || isnan(e->integral_j));
	e->energy_j = e->by_counter ? e->counter_j : e->integral_j;
	e->coverage = (double)by->covered_ns / (double)(to_ns - from_ns);
	e->largest_gap_ns = greater_of(by->gap_ns, greater_of(by->head_ns, by->tail_ns));
	e->samples = by->samples;
	e->reasons = judge(e, by, limit_ns);
	if (counter.reset)
		e->reasons |= 1u << ENERGY_COUNTER_RESET;
	if (stale)
		e->reasons |= 1u << ENERGY_COUNTER_STALE;
	if (e->by_counter && fabs(e->counter_j - e->integral_j) > ENERGY_TOLERANCE * e->integral_j)
		e->reasons |= 1u << ENERGY_COUNTER_MISMATCH;
}

static int compare_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double energy_idle_power(const struct energy_series *s, int64_t before_ns, enum energy_idle *how)
{
	const struct curve *c = s && s->power.count >= 2 ? &s->power : s ? &s->counter : NULL;
	double steps[ENERGY_POINTS];
	size_t before = 0, count = 0;
	*how = ENERGY_IDLE_UNKNOWN;
	if (!c)
		return NAN;
	for (size_t i = 0; i < c->count; i++) {
		const struct point *p = &c->points[i];
		before += p->t_ns <= before_ns;
		if (i && !p->reset)
			steps[count++] = (p->energy_j - p[-1].energy_j) * 1e9 / (double)(p->t_ns - p[-1].t_ns);
	}
	if (before >= 3) {
		const struct point *last = &c->points[before - 1];
		*how = ENERGY_IDLE_BEFORE;
		return last->energy_j * 1e9 / (double)(last->t_ns - c->points[0].t_ns);
	}
	if (count < 20)
		return NAN;
	*how = ENERGY_IDLE_LOWEST;
	qsort(steps, count, sizeof *steps, compare_double);
	return steps[count / 20];
}

/* ---- writing ---- */

static void member_double(struct jout *to, const char *key, double value)
{
	if (!isfinite(value))
		return;
	jout_key(to, key);
	jout_double(to, value);
}

void energy_write(const struct energy *e, struct jout *to)
{
	member_double(to, "energy_j", e->energy_j);
	member_double(to, "energy_counter_j", e->counter_j);
	member_double(to, "energy_integral_j", e->integral_j);
	member_double(to, "coverage", e->coverage);
	jout_member_int(to, "largest_gap_ns", e->largest_gap_ns);
	jout_member_int(to, "samples", e->samples);
	if (e->wraps)
		jout_member_int(to, "wraps", e->wraps);
	jout_key(to, "valid");
	jout_bool(to, e->reasons == 0);
	jout_key(to, "reasons");
	jout_begin_list(to);
	for (size_t i = 0; i < ENERGY_REASONS; i++)
		if (e->reasons & 1u << i)
			jout_string0(to, energy_reason_names[i]);
	jout_end_list(to);
}
