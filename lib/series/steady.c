#include "series/steady.h"

#include "array.h"
#include "cli/units.h"
#include "safe_text.h"
#include "stats/autocorrelation.h"
#include "stats/mser.h"
#include "stats/student.h"
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METHOD   "MSER-5, trend, spread"
#define QUARTERS 4
#define TUKEY    5.31 /* studentized range of four means, 99.9 % */
/* A quarter is short beside the correlation of its windows, which makes its error too small. */
#define FEW_QUARTERS 1.5
#define FEW_DEGREES  7.45  /* 99.5 % point of Student's t with 3 degrees of freedom, two-sided */
#define CHANCE       0.005 /* a trend's, two-sided */
/* By the formula. In simulations it is 80 %: a drift makes noise of its own, and is partly left out as a warm-up. */
#define POWER 0.90

/* The needed figures of a window. */
struct point {
	int64_t number, started, ok, output_tokens, itl_count;
	double in_flight_ns, itl_sum;
};

struct stage {
	int64_t stage, length_ns;
	struct point *points; /* by number */
	size_t count, cap;
};

struct steady {
	struct stage *stages; /* by number */
	size_t count, windows;
	bool full;
	struct jdoc doc;
};

struct steady *steady_new(void)
{
	return calloc(1, sizeof(struct steady));
}

void steady_free(struct steady *s)
{
	for (size_t i = 0; s && i < s->count; i++)
		free(s->stages[i].points);
	if (s) {
		free(s->stages);
		jdoc_release(&s->doc);
	}
	free(s);
}

size_t steady_stages(const struct steady *s)
{
	return s->count;
}

/* ---- windows ---- */

static struct stage *stage_of(struct steady *s, const struct window *w)
{
	size_t at = 0;
	while (at < s->count && s->stages[at].stage < w->stage)
		at++;
	if (at < s->count && s->stages[at].stage == w->stage)
		return &s->stages[at];
	if (!array_one_more(s->stages, s->count))
		return NULL;
	memmove(s->stages + at + 1, s->stages + at, (s->count - at) * sizeof *s->stages);
	s->stages[at] = (struct stage){.stage = w->stage, .length_ns = w->length_ns};
	s->count++;
	return &s->stages[at];
}

/* The point of a number, made if it is new; they mostly come in order. NULL: out of memory. */
static struct point *point_of(struct steady *s, struct stage *stage, int64_t number)
{
	size_t at = stage->count;
	while (at > 0 && stage->points[at - 1].number > number)
		at--;
	if (at > 0 && stage->points[at - 1].number == number)
		return &stage->points[at - 1];
	if (!array_room(stage->points, stage->cap, stage->count + 1))
		return NULL;
	memmove(stage->points + at + 1, stage->points + at, (stage->count - at) * sizeof *stage->points);
	stage->points[at] = (struct point){.number = number};
	stage->count++;
	s->windows++;
	return &stage->points[at];
}

void steady_add(struct steady *s, const struct window *w)
{
	s->full |= s->windows >= STEADY_WINDOWS_MOST;
	struct stage *stage = s->full ? NULL : stage_of(s, w);
	struct point *p = stage ? point_of(s, stage, w->number) : NULL;
	if (!p)
		return;
	window_count(&p->started, w->started);
	window_count(&p->ok, w->ok);
	window_count(&p->output_tokens, w->output_tokens);
	p->in_flight_ns += (double)w->in_flight_ns;
	if (w->itl_ns) {
		window_count(&p->itl_count, histogram_count(w->itl_ns));
		p->itl_sum += histogram_mean(w->itl_ns) * (double)histogram_count(w->itl_ns);
	}
}

int steady_read(struct steady *s, struct slice line, struct ipf_error *err)
{
	if (jdoc_parse(&s->doc, line.data, line.len, err) < 0)
		return -1;
	struct window *w = window_read(&s->doc, JDOC_ROOT, err);
	if (!w)
		return -1;
	steady_add(s, w);
	window_free(w);
	return 0;
}

void steady_merge(struct steady *into, const struct steady *from)
{
	into->full |= from->full;
	for (size_t i = 0; i < from->count; i++) {
		const struct stage *stage = &from->stages[i];
		const struct window like = {.stage = stage->stage, .length_ns = stage->length_ns};
		for (size_t k = 0; k < stage->count && !into->full; k++) {
			const struct point *p = &stage->points[k];
			struct stage *to = stage_of(into, &like);
			struct point *sum = to ? point_of(into, to, p->number) : NULL;
			if (!sum)
				return;
			window_count(&sum->started, p->started);
			window_count(&sum->ok, p->ok);
			window_count(&sum->output_tokens, p->output_tokens);
			window_count(&sum->itl_count, p->itl_count);
			sum->in_flight_ns += p->in_flight_ns;
			sum->itl_sum += p->itl_sum;
		}
	}
}

/* ---- series of figures ---- */

/* The windows between the first and the last start: numbers first … first + count - 1. */
static void extent(const struct stage *stage, int64_t *first, size_t *count)
{
	size_t begin = 0, end = stage->count;
	while (begin < end && !stage->points[begin].started)
		begin++;
	while (end > begin && !stage->points[end - 1].started)
		end--;
	*first = 0;
	*count = 0;
	if (end - begin < 3)
		return;
	*first = stage->points[begin].number + 1;
	int64_t windows = stage->points[end - 1].number - *first;
	*count = windows > STEADY_WINDOWS_MOST ? STEADY_WINDOWS_MOST + 1 : (size_t)windows;
}

static double value_of(const struct stage *stage, const struct point *p, enum steady_measure measure, bool tokens)
{
	const double seconds = (double)stage->length_ns / 1e9;
	if (measure == STEADY_IN_FLIGHT)
		return p->in_flight_ns / (double)stage->length_ns;
	if (measure == STEADY_THROUGHPUT)
		return (double)(tokens ? p->output_tokens : p->ok) / seconds;
	return p->itl_count ? p->itl_sum / (double)p->itl_count : NAN;
}

static bool has_tokens(const struct stage *stage)
{
	for (size_t i = 0; i < stage->count; i++)
		if (stage->points[i].output_tokens)
			return true;
	return false;
}

/* Fills a value for each window; false: too many are absent. */
static bool fill(const struct stage *stage, enum steady_measure measure, double *values, int64_t first, size_t count)
{
	const struct point nothing = {0};
	size_t p = 0;
	const bool tokens = has_tokens(stage);
	double last = NAN;
	size_t absent = 0;
	for (size_t i = 0; i < count; i++) {
		while (p < stage->count && stage->points[p].number < first + (int64_t)i)
			p++;
		bool there = p < stage->count && stage->points[p].number == first + (int64_t)i;
		values[i] = value_of(stage, there ? &stage->points[p] : &nothing, measure, tokens);
		absent += isnan(values[i]) ? 1 : 0;
		values[i] = last = isnan(values[i]) ? last : values[i];
	}
	for (size_t i = count; i-- > 0 && !isnan(last);) /* the first ones, before any value */
		values[i] = last = isnan(values[i]) ? last : values[i];
	return !isnan(last) && 5 * absent <= count;
}

/* ---- the tests ---- */

static const char *const names[STEADY_MEASURES] = {"in flight", "throughput", "inter-token latency"};

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The range of the means of the quarters, and the error of one of them: the middle of their own, so a quarter with a
 * step in it does not excuse the step. */
static double quarter_range(const double *values, size_t count, double *error)
{
	double low = INFINITY, high = -INFINITY, errors[QUARTERS];
	for (size_t q = 0; q < QUARTERS; q++) {
		size_t begin = q * count / QUARTERS, end = (q + 1) * count / QUARTERS;
		struct mean_estimate e = mean_estimate_of(values + begin, end - begin);
		low = fmin(low, e.mean);
		high = fmax(high, e.mean);
		errors[q] = isfinite(e.error) ? e.error : INFINITY;
	}
	qsort(errors, QUARTERS, sizeof *errors, by_size);
	*error = (errors[QUARTERS / 2 - 1] + errors[QUARTERS / 2]) / 2;
	return high - low;
}

/* A trend, and its distance from 0 beyond chance. */
struct seen_trend {
	struct trend t;
	double chance, change; /* over the whole of it, as a share of the mean */
};

static struct seen_trend look(const double *values, size_t count, double mean)
{
	struct seen_trend s = {.t = trend_of(values, count), .chance = FEW_DEGREES};
	/* a smooth curve has few degrees of freedom, chance has many: the quantile of about 3 is enough */
	if (s.t.degrees >= 1)
		s.chance = fmin(student_critical(CHANCE, s.t.degrees), FEW_DEGREES);
	s.change = s.t.slope * (double)(count - 1) / mean;
	return s;
}

static bool is_trend(const struct seen_trend *s)
{
	return fabs(s->change) > STEADY_TREND && fabs(s->t.slope) > s->t.error * s->chance;
}

/* All windows have a trend, and the rest, which alone is too noisy for one, has nothing against its going on: the part
 * left out may be no warm-up, but the beginning of a drift. */
static bool may_go_on(const struct seen_trend *all, const struct seen_trend *rest)
{
	const double off = all->t.slope > 0 ? all->t.slope - rest->t.slope : rest->t.slope - all->t.slope;
	return is_trend(all) && off < rest->t.error * student_critical(2 * CHANCE, fmax(rest->t.degrees, 3));
}

/* The change showing in 80 of 100 such series, as a share of the mean. */
static double visible_in(const struct seen_trend *s, size_t count, double mean)
{
	const double seen = s->chance + student_critical(2 * (1 - POWER), fmax(s->t.degrees, 3));
	return s->t.error * seen * (double)(count - 1) / mean;
}

/* Tests a figure from the window `from` on; false: f->reason says why it is not steady. */
static bool examine(struct steady_finding *f, enum steady_measure measure, const double *values, size_t count,
                    size_t from)
{
	struct steady_figures *figures = &f->figures[measure];
	const size_t left = count - from;
	struct mean_estimate e = mean_estimate_of(values + from, left);
	double error, range = quarter_range(values + from, left, &error);
	*figures = (struct steady_figures){.known = true, .mean = e.mean, .n_eff = e.n_eff, .visible = INFINITY};
	if (!(e.mean > 0)) {
		snprintf(f->reason, sizeof f->reason, "%s is 0", names[measure]);
		return false;
	}
	const struct seen_trend all = look(values, count, e.mean), rest = look(values + from, left, e.mean);
	figures->spread = range / e.mean;
	figures->trend = rest.change;
	figures->visible = fmax(STEADY_TREND, fmin(visible_in(&all, count, e.mean), visible_in(&rest, left, e.mean)));
	if (is_trend(&rest))
		snprintf(f->reason, sizeof f->reason, "trend: %s %s by %.3g %% over the last %zu of %zu windows",
		         names[measure], rest.change > 0 ? "rises" : "falls", 100 * fabs(rest.change), left, f->windows);
	else if (may_go_on(&all, &rest))
		snprintf(f->reason, sizeof f->reason, "trend: %s %s by %.3g %%, and noise hides whether that ends",
		         names[measure], all.change > 0 ? "rises" : "falls", 100 * fabs(all.change));
	else if (figures->spread > STEADY_SPREAD && range > FEW_QUARTERS * TUKEY * error)
		snprintf(f->reason, sizeof f->reason, "spread: %s of the quarters of the last %zu windows differs by %.3g %%",
		         names[measure], left, 100 * figures->spread);
	if (figures->visible < f->visible) {
		f->visible = figures->visible;
		f->visible_in = measure;
	}
	return !f->reason[0];
}

static bool find_part(struct steady_finding *f, double *values[STEADY_MEASURES], size_t count, size_t *from)
{
	*from = 0;
	for (int m = 0; m < STEADY_MEASURES; m++) {
		size_t own;
		if (f->figures[m].known && mser5(values[m], count, &own) && own > *from)
			*from = own;
	}
	f->visible = INFINITY;
	for (int m = 0; m < STEADY_MEASURES; m++)
		if (f->figures[m].known && !examine(f, (enum steady_measure)m, values[m], count, *from))
			return false;
	if (!(f->visible <= STEADY_VISIBLE))
		snprintf(f->reason, sizeof f->reason, "noise: of no figure a drift of less than %.3g %% would show",
		         100 * f->visible);
	return !f->reason[0];
}

struct steady_finding steady_find(const struct steady *s, size_t i)
{
	const struct stage *stage = &s->stages[i];
	struct steady_finding f = {.stage = stage->stage, .tokens = has_tokens(stage)};
	int64_t first;
	size_t count, from;
	extent(stage, &first, &count);
	f.windows = count;
	if (s->full || count > STEADY_WINDOWS_MOST) {
		snprintf(f.reason, sizeof f.reason, "too many windows (more than %d)", STEADY_WINDOWS_MOST);
		return f;
	}
	if (count < MSER_FEWEST) {
		snprintf(f.reason, sizeof f.reason, "too few windows (%zu, %d are needed)", count, MSER_FEWEST);
		return f;
	}
	double *all = malloc(STEADY_MEASURES * count * sizeof *all), *values[STEADY_MEASURES];
	if (!all) {
		snprintf(f.reason, sizeof f.reason, "out of memory");
		return f;
	}
	for (int m = 0; m < STEADY_MEASURES; m++) {
		values[m] = all + (size_t)m * count;
		f.figures[m].known = fill(stage, (enum steady_measure)m, values[m], first, count);
	}
	f.found = find_part(&f, values, count, &from);
	if (f.found) {
		f.windows = count - from;
		f.from_ns = (first + (int64_t)from) * stage->length_ns;
		f.to_ns = (first + (int64_t)count) * stage->length_ns;
	}
	free(all);
	return f;
}

/* ---- output ---- */

/* Six significant digits, so the text does not depend on the last bit. */
static json_t *number(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.6g", value);
	return json_real(strtod(text, NULL));
}

json_t *steady_json(const struct steady_finding *f)
{
	const char *const members[] = {"in_flight", f->tokens ? "output_tokens_per_s" : "requests_per_s", "itl_ns"};
	json_t *json = json_pack("{s:I, s:b, s:I}", "stage", (json_int_t)f->stage, "found", f->found, "windows",
	                         (json_int_t)f->windows);
	int bad = !json;
	if (!f->found)
		bad |= json_object_set_new(json, "reason", json_string(f->reason));
	else
		bad |= json_object_set_new(json, "from_ns", json_integer((json_int_t)f->from_ns)) |
		       json_object_set_new(json, "to_ns", json_integer((json_int_t)f->to_ns)) |
		       json_object_set_new(json, "method", json_string(METHOD));
	for (int m = 0; f->found && m < STEADY_MEASURES; m++) {
		const struct steady_figures *of = &f->figures[m];
		if (of->known)
			bad |= json_object_set_new(json, members[m],
			                           json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean", number(of->mean), "spread",
			                                     number(of->spread), "trend", number(of->trend), "n_eff",
			                                     number(of->n_eff), "visible", number(of->visible)));
	}
	if (!bad)
		return json;
	json_decref(json);
	return NULL;
}

static bool is_measured(const struct schedule *schedule, int64_t stage)
{
	return stage < 0 || (size_t)stage >= schedule->count || schedule->stages[stage].measured;
}

json_t *steady_list_json(const struct steady *s, const struct schedule *schedule)
{
	json_t *list = json_array();
	int bad = !list;
	for (size_t i = 0; i < s->count && !bad; i++) {
		if (!is_measured(schedule, s->stages[i].stage))
			continue;
		struct steady_finding f = steady_find(s, i);
		bad = json_array_append_new(list, steady_json(&f));
	}
	if (!bad)
		return list;
	json_decref(list);
	return NULL;
}

static const char *name_of(const struct schedule *schedule, int64_t stage, char text[32])
{
	if (stage >= 0 && (size_t)stage < schedule->count && schedule->stages[stage].name)
		return schedule->stages[stage].name;
	snprintf(text, 32, "stage %lld", (long long)stage);
	return text;
}

/* Too short to say, which is no finding against the run; or not steady. */
static bool is_short(const struct steady_finding *f)
{
	return !f->found && f->windows < MSER_FEWEST;
}

bool steady_summary(const struct steady *s, const struct schedule *schedule, struct buffer *out)
{
	struct steady_finding last = {0}, not = {0};
	int stages = 0, found = 0, too_short = 0;
	char a[32], b[32];
	for (size_t i = 0; i < s->count; i++) {
		if (!is_measured(schedule, s->stages[i].stage))
			continue;
		last = steady_find(s, i);
		stages++;
		found += last.found;
		too_short += is_short(&last);
		if (!last.found && !is_short(&last) && !not .reason[0])
			not = last;
	}
	const int unsteady = stages - found - too_short;
	if (stages == 1 && found)
		buffer_format(out, "steady from %s to %s (a drift of %.2g %% would show, in %s)",
		              format_duration(last.from_ns, a), format_duration(last.to_ns, b), 100 * last.visible,
		              names[last.visible_in]);
	else if (stages == 1)
		buffer_format(out, "%s: %s", too_short ? "steady state unknown" : "no steady state", last.reason);
	else if (stages > 1 && found == stages)
		buffer_format(out, "steady state in all %d stages", stages);
	if (stages > 1 && unsteady)
		buffer_format(out, "no steady state in %d of %d stages (%s: %s)", unsteady, stages,
		              shown(name_of(schedule, not .stage, a)).text, not .reason);
	if (stages > 1 && too_short)
		buffer_format(out, "%s%d of %d stages are too short for a steady state (%d windows are needed)",
		              unsteady ? ", " : "", too_short, stages, MSER_FEWEST);
	return found == stages;
}
