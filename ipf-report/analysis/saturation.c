#include "analysis/saturation.h"

#include "absent.h"
#include "stats/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const saturation_status_names[] = {NULL, "not known", "not saturated", "saturated"};

/* The sources of the points. */
struct source {
	const struct run_data *run;
	struct knee_point *curve;     /* one for each point of the saturation */
	struct plateau_point *levels; /* the same for closed loops */
	int64_t *ends;                /* sorted: when requests of one clock completed */
	int64_t end_count;
	int part; /* whose clock it is; -1: all parts have one */
};

/* A part of a stage, on one clock. */
struct piece {
	const struct row *rows; /* the stage's */
	int64_t count;
	bool closed;              /* a closed loop: its requests are due when they start */
	int64_t begin_ns, end_ns; /* in which its requests were due */
	int64_t shift_ns;         /* how much later completions count */
};

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int by_rate(const void *a, const void *b)
{
	const struct saturation_point *x = a, *y = b;
	if (x->users != y->users) /* all are of closed loops, or none */
		return x->users < y->users ? -1 : 1;
	if (x->offered < y->offered || x->offered > y->offered)
		return x->offered < y->offered ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

static bool is_of(const struct row *row, int part)
{
	return part < 0 || row->part == part;
}

static void collect_ends(struct source *from)
{
	from->end_count = 0;
	for (int64_t i = 0; i < from->run->row_count; i++) {
		const struct row *row = &from->run->rows[i];
		if (row->ok && row->end_ns != IPF_ABSENT && is_of(row, from->part))
			from->ends[from->end_count++] = row->end_ns;
	}
	qsort(from->ends, (size_t)from->end_count, sizeof *from->ends, by_value);
}

static int64_t ends_before(const struct source *from, int64_t at_ns)
{
	int64_t low = 0, high = from->end_count;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (from->ends[middle] < at_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- stages ---- */

static bool has_constant_rate(const struct schedule_stage *stage)
{
	static const char *const kinds[] = {"constant", "poisson", "gamma", "weibull", "uniform"};
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(stage->kind, kinds[i]) == 0)
			return true;
	return false;
}

static bool is_ramp(const struct schedule_stage *stage)
{
	return strcmp(stage->kind, "ramp") == 0;
}

/* Does the run have rates to compare? */
static bool has_curve(const struct run_data *run)
{
	double first = NAN;
	for (size_t i = 0; i < run->schedule.count; i++) {
		const struct schedule_stage *stage = &run->schedule.stages[i];
		if (!stage->measured || stage->closed)
			continue;
		if (is_ramp(stage))
			return true;
		if (!has_constant_rate(stage) || isnan(stage->rate))
			continue;
		if (!isnan(first) && fabs(stage->rate - first) > 0.01 * first)
			return true;
		first = isnan(first) ? stage->rate : first;
	}
	return false;
}

static bool are_repeats(const struct run_data *run)
{
	return run->part_count > 1 && !run->shards;
}

/* The users of a closed loop: of a repeat, or of all shards together (part -1). IPF_ABSENT: it is none. */
static int64_t users_of(const struct run_data *run, int part, size_t stage)
{
	const struct schedule_stage *schedule = &run->schedule.stages[stage];
	if (!schedule->measured || !schedule->closed)
		return IPF_ABSENT;
	return part < 0 ? schedule->slots : run->parts[part].loads[stage].slots;
}

/* Does the run have numbers of users to compare? */
static bool has_users(const struct run_data *run)
{
	int64_t first = IPF_ABSENT;
	for (int part = 0; part < (are_repeats(run) ? run->part_count : 1); part++)
		for (size_t i = 0; i < run->schedule.count; i++) {
			int64_t users = users_of(run, are_repeats(run) ? part : -1, i);
			if (users != IPF_ABSENT && first != IPF_ABSENT && users != first)
				return true;
			first = first == IPF_ABSENT ? users : first;
		}
	return false;
}

/* The pace of the first closed loop; there is one. */
static int64_t first_pace_ns(const struct run_data *run)
{
	size_t i = 0;
	while (i + 1 < run->schedule.count && users_of(run, are_repeats(run) ? 0 : -1, i) == IPF_ABSENT)
		i++;
	return run->schedule.stages[i].pace_ns;
}

/* When a request came to be sent. */
static int64_t moment_of(const struct piece *piece, const struct row *row)
{
	return piece->closed ? row->start_ns : row->due_ns;
}

/* Was the request due in the piece? */
static bool due_here(const struct source *from, const struct piece *piece, const struct row *row)
{
	int64_t at = moment_of(piece, row);
	return is_of(row, from->part) && at != IPF_ABSENT && at >= piece->begin_ns && at < piece->end_ns;
}

static int64_t due_in(const struct source *from, const struct piece *piece)
{
	int64_t due = 0;
	for (int64_t i = 0; i < piece->count; i++)
		due += due_here(from, piece, &piece->rows[i]);
	return due;
}

/* From due to end of the successful requests of a piece, in ns. -1: out of memory. */
static int latencies_of(const struct source *from, const struct piece *piece, struct samples *s)
{
	*s = (struct samples){0};
	for (int64_t i = 0; i < piece->count; i++) {
		const struct row *row = &piece->rows[i];
		if (row->ok && row->end_ns != IPF_ABSENT && due_here(from, piece, row))
			samples_add(s, (double)(row->end_ns - moment_of(piece, row)));
	}
	if (!s->failed)
		return 0;
	samples_release(s);
	return -1;
}

/* 0 if there are none. */
static double percentile_or_0(struct samples *s, double p)
{
	return s->count ? samples_percentile(s, p) : 0;
}

/* Counts arrivals and completions of a piece: those of [begin, end), and completions shift_ns later. */
static void count_piece(const struct source *from, const struct piece *piece, struct knee_point *p)
{
	double length = (double)(piece->end_ns - piece->begin_ns);
	*p = (struct knee_point){.seconds = length / 1e9};
	for (int64_t i = 0; i < piece->count; i++) {
		const struct row *row = &piece->rows[i];
		if (!due_here(from, piece, row))
			continue;
		int batch = (int)((double)(row->due_ns - piece->begin_ns) / length * KNEE_BATCHES);
		p->offered[batch < KNEE_BATCHES ? batch : KNEE_BATCHES - 1]++;
	}
	int64_t before = ends_before(from, piece->begin_ns + piece->shift_ns);
	for (int i = 0; i < KNEE_BATCHES; i++) {
		int64_t end_ns = piece->begin_ns + (int64_t)(length * (i + 1) / KNEE_BATCHES) + piece->shift_ns;
		int64_t until = ends_before(from, i + 1 == KNEE_BATCHES ? piece->end_ns + piece->shift_ns : end_ns);
		p->completed[i] = (double)(until - before);
		before = until;
	}
}

/* Why a stage says nothing of the server's capacity; NULL: it does. */
static const char *left_out(const struct source *from, const struct piece *piece, int32_t stage, int64_t due)
{
	const struct schedule_stage *schedule = &from->run->schedule.stages[stage];
	int64_t waited = 0, started = 0, scheduled = schedule->arrivals;
	if (due < SATURATION_ARRIVALS)
		return SATURATION_TOO_FEW;
	for (int64_t i = 0; i < piece->count; i++) {
		const struct row *row = &piece->rows[i];
		if (!is_of(row, from->part))
			continue;
		int64_t slot_ns = row_get(row, METRIC_SLOT_WAIT);
		started += row->start_ns != IPF_ABSENT;
		waited += (slot_ns != IPF_ABSENT && slot_ns > VERDICT_SLOT_WAIT_NS) ||
		          (row_get(row, ROW_POOL_WAIT_NS) != IPF_ABSENT &&
		           row_get(row, ROW_POOL_WAIT_NS) > VERDICT_SLOT_WAIT_NS);
	}
	if ((double)waited > VERDICT_SLOTS_DOUBTFUL * (double)started)
		return "requests waited for slots or connections of the client";
	if (piece->closed)
		return NULL;
	if (from->part < 0 && schedule->all_arrivals > scheduled)
		scheduled = schedule->all_arrivals;
	if (scheduled != IPF_ABSENT && (double)due < SATURATION_DUE * (double)scheduled && from->run->part_count == 1)
		return "requests depend on earlier answers, or are missing";
	return NULL;
}

static void set_point(struct saturation *s, struct source *from, struct saturation_point point)
{
	if (!point.left_out) {
		point.offered = knee_point_offered(&from->curve[s->count]);
		point.completed = knee_point_completed(&from->curve[s->count]);
	}
	s->points[s->count++] = point;
}

/* A stage of constant rate: one point. -1: out of memory. */
static int add_stage(struct saturation *s, struct source *from, struct piece whole, int32_t stage)
{
	struct saturation_point point = {
		.stage = stage, .part = from->part < 0 ? 0 : from->part, .begin_s = NAN, .completed = NAN};
	struct samples latencies;
	if (latencies_of(from, &whole, &latencies) < 0)
		return -1;
	double length = (double)(whole.end_ns - whole.begin_ns), least = percentile_or_0(&latencies, 5),
		   median = percentile_or_0(&latencies, 50), most = percentile_or_0(&latencies, 99);
	samples_release(&latencies);
	int64_t due = due_in(from, &whole);
	point.offered = (double)due * 1e9 / length;
	point.left_out = left_out(from, &whole, stage, due);
	if (!point.left_out && least * SATURATION_LENGTHS > length)
		point.left_out = "the stage is too short for its latencies";
	if (!point.left_out) {
		double fill = fmin(most, length / 2);
		struct piece steady = whole;
		steady.shift_ns = (int64_t)fmin(median, fill);
		steady.begin_ns += (int64_t)fill - steady.shift_ns;
		steady.end_ns -= steady.shift_ns;
		count_piece(from, &steady, &from->curve[s->count]);
		if (knee_point_offered(&from->curve[s->count]) <= 0)
			point.left_out = SATURATION_TOO_FEW;
	}
	set_point(s, from, point);
	return 0;
}

/* A closed loop's completions from begin to end: each request by the share of its time lying between them, so the
 * position in a batch of answers does not matter. */
static void count_loop(const struct source *from, const struct piece *piece, struct plateau_point *p)
{
	double length = (double)(piece->end_ns - piece->begin_ns), part = length / KNEE_BATCHES;
	p->seconds = length / 1e9;
	for (int64_t i = 0; i < piece->count; i++) {
		const struct row *row = &piece->rows[i];
		if (!row->ok || !is_of(row, from->part) || row->start_ns == IPF_ABSENT || row->end_ns <= row->start_ns)
			continue;
		double start = (double)(row->start_ns - piece->begin_ns), end = (double)(row->end_ns - piece->begin_ns);
		for (int k = 0; k < KNEE_BATCHES; k++) {
			double inside = fmin(end, part * (k + 1)) - fmax(start, part * k);
			p->completed[k] += fmax(inside, 0) / (end - start);
		}
	}
}

/* A closed loop: one point. -1: out of memory. */
static int add_loop(struct saturation *s, struct source *from, struct piece whole, int32_t stage)
{
	const struct schedule_stage *schedule = &from->run->schedule.stages[stage];
	struct saturation_point point = {.stage = stage,
	                                 .part = from->part < 0 ? 0 : from->part,
	                                 .users = (double)users_of(from->run, from->part, (size_t)stage),
	                                 .begin_s = NAN,
	                                 .offered = NAN,
	                                 .completed = NAN};
	struct samples latencies;
	whole.begin_ns += schedule->rampup_ns < whole.end_ns - whole.begin_ns ? schedule->rampup_ns : 0;
	if (latencies_of(from, &whole, &latencies) < 0)
		return -1;
	double length = (double)(whole.end_ns - whole.begin_ns), least = percentile_or_0(&latencies, 5),
		   most = percentile_or_0(&latencies, 99);
	samples_release(&latencies);
	point.left_out = left_out(from, &whole, stage, due_in(from, &whole));
	if (!point.left_out && least * SATURATION_LENGTHS > length)
		point.left_out = "the stage is too short for its latencies";
	if (!point.left_out && schedule->pace_ns != first_pace_ns(from->run))
		point.left_out = "its pace differs from the first closed loop's";
	if (!point.left_out) {
		struct plateau_point *level = &from->levels[s->count];
		level->users = point.users;
		whole.begin_ns += (int64_t)fmin(most, length / 2);
		count_loop(from, &whole, level);
		point.completed = plateau_point_rate(level);
	}
	s->points[s->count++] = point;
	return 0;
}

/* A ramp: a point for each piece of it. -1: out of memory. */
static int add_ramp(struct saturation *s, struct source *from, struct piece whole, int32_t stage)
{
	int64_t length = whole.end_ns - whole.begin_ns, due = due_in(from, &whole);
	struct piece first = whole, second = whole;
	first.end_ns = second.begin_ns = whole.begin_ns + length / 2;
	const char *why = left_out(from, &whole, stage, due);
	if (!why && due_in(from, &first) > due_in(from, &second))
		why = "the ramp falls";
	int64_t pieces = due / SATURATION_ARRIVALS;
	pieces = why || pieces < 1 ? 1 : pieces > RAMP_PIECES ? RAMP_PIECES : pieces;
	first.end_ns = whole.begin_ns + length / 5;
	struct samples latencies;
	if (latencies_of(from, &first, &latencies) < 0)
		return -1;
	double median = percentile_or_0(&latencies, 50);
	samples_release(&latencies);
	if (!why && median * SATURATION_LENGTHS > (double)length)
		why = "the stage is too short for its latencies";
	for (int64_t k = 0; k < pieces; k++) {
		struct piece piece = whole;
		piece.begin_ns = whole.begin_ns + length * k / pieces;
		piece.end_ns = whole.begin_ns + length * (k + 1) / pieces;
		piece.shift_ns = (int64_t)median;
		struct saturation_point point = {.stage = stage,
		                                 .part = from->part < 0 ? 0 : from->part,
		                                 .begin_s = (double)(piece.begin_ns - whole.begin_ns) / 1e9,
		                                 .completed = NAN,
		                                 .left_out = why};
		point.offered = (double)due_in(from, &piece) * 1e9 / (double)(piece.end_ns - piece.begin_ns);
		if (!why && point.offered <= 0)
			point.left_out = SATURATION_TOO_FEW;
		if (!point.left_out)
			count_piece(from, &piece, &from->curve[s->count]);
		set_point(s, from, point);
	}
	return 0;
}

/* The time in which the requests of a stage were due. False: it has none. */
static bool extent(const struct source *from, int32_t stage, struct piece *whole)
{
	const struct run_data *run = from->run;
	struct stage_window w = from->part < 0 ? run_data_window(run, stage) : run->parts[from->part].windows[stage];
	*whole = (struct piece){.closed = run->schedule.stages[stage].closed, .begin_ns = w.begin_ns, .end_ns = w.end_ns};
	whole->rows = run_data_stage_rows(run, stage, &whole->count);
	if (w.begin_ns == IPF_ABSENT)
		return false;
	if (w.counted) { /* the window lasts until the last answer: the load ended before */
		whole->end_ns = w.begin_ns;
		for (int64_t i = 0; i < whole->count; i++)
			if (is_of(&whole->rows[i], from->part) && moment_of(whole, &whole->rows[i]) > whole->end_ns)
				whole->end_ns = moment_of(whole, &whole->rows[i]);
	}
	return whole->end_ns > whole->begin_ns;
}

/* How a stage makes points of the curve; NULL: it makes none. */
typedef int add_points_of(struct saturation *s, struct source *from, struct piece whole, int32_t stage);
static add_points_of *maker_of(const struct saturation *s, const struct source *from, size_t index)
{
	const struct schedule_stage *stage = &from->run->schedule.stages[index];
	if (!stage->measured || stage->closed != s->by_users)
		return NULL;
	if (s->by_users)
		return users_of(from->run, from->part, index) == IPF_ABSENT ? NULL : add_loop;
	return is_ramp(stage) ? add_ramp : has_constant_rate(stage) ? add_stage : NULL;
}

/* The points of all stages on one clock. -1: out of memory. */
static int add_points(struct saturation *s, struct source *from)
{
	collect_ends(from);
	for (size_t i = 0; i < from->run->schedule.count; i++) {
		add_points_of *make = maker_of(s, from, i);
		struct piece whole;
		if (!make || s->count + RAMP_PIECES > KNEE_POINTS_MOST || !extent(from, (int32_t)i, &whole))
			continue;
		if (make(s, from, whole, (int32_t)i) < 0)
			return -1;
	}
	return 0;
}

/* ---- the answer ---- */

/* Says why the capacity is not known. */
static void not_known(struct saturation *s, const char *why, const char *detail)
{
	s->status = SATURATION_NOT_KNOWN;
	snprintf(s->reason, sizeof s->reason, "%s%s%.200s", why, *detail ? ": " : "", detail);
}

/* The points on the curve, at the beginning of `curve`; their number. */
static size_t keep_used(const struct saturation *s, struct knee_point *curve)
{
	size_t used = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!s->points[i].left_out)
			curve[used++] = curve[i];
	return used;
}

static void count_rates(struct saturation *s, size_t used)
{
	char detail[200] = "";
	const char *why = NULL;
	for (size_t i = 0; i < s->count && !why; i++)
		why = s->points[i].left_out;
	if (why)
		snprintf(detail, sizeof detail, "%zu left out: %s", s->count - used, why);
	char text[80];
	snprintf(text, sizeof text, "%zu usable %s%s%s, and %d are needed", used, s->by_users ? "number" : "rate",
	         used == 1 ? "" : "s", s->by_users ? " of users" : "", SATURATION_POINTS);
	not_known(s, text, detail);
}

static int find_knee(struct saturation *s, struct knee_point *curve, struct ipf_error *err)
{
	size_t used = keep_used(s, curve);
	s->highest_offered = s->highest_completed = NAN;
	if (used < SATURATION_POINTS) {
		count_rates(s, used);
		return 0;
	}
	knee_fit(curve, used, &s->knee);
	if (knee_interval(curve, used, &s->low, &s->high, err) < 0)
		return -1;
	for (size_t i = 0; i < used; i++)
		s->highest_offered = fmax(s->highest_offered, knee_point_offered(&curve[i])); /* a number, if one is NAN */
	if (s->knee.misfit > SATURATION_MISFIT)
		not_known(s, "completions do not follow the offered rate and then stay, as they do at a capacity",
		          "requests failed at low rates, or something else limits the server at times");
	else
		s->status = s->high < (1 - SATURATION_SHORTFALL) * s->highest_offered ? SATURATION_REACHED
		                                                                      : SATURATION_NOT_REACHED;
	return 0;
}

static int find_plateau(struct saturation *s, struct plateau_point *levels, struct ipf_error *err)
{
	size_t used = 0;
	for (size_t i = 0; i < s->count; i++)
		if (!s->points[i].left_out)
			levels[used++] = levels[i];
	s->highest_offered = s->highest_completed = NAN;
	if (used < SATURATION_POINTS) {
		count_rates(s, used);
		return 0;
	}
	plateau_find(levels, used, &s->plateau);
	if (plateau_interval(levels, used, &s->plateau, err) < 0)
		return -1;
	s->knee = (struct knee){.rate = s->plateau.rate, .below = s->plateau.below, .above = used - s->plateau.below};
	s->low = s->plateau.rate_low;
	s->high = s->plateau.rate_high;
	if (!(s->plateau.rate > 0))
		not_known(s, "no request succeeded", "");
	else
		s->status = s->plateau.flat ? SATURATION_REACHED : SATURATION_NOT_REACHED;
	return 0;
}

/* Does a point bring more load than the server can handle? */
static bool is_beyond(const struct saturation *s, const struct saturation_point *p)
{
	if (p->left_out)
		return false;
	return s->by_users ? isnan(s->plateau.users) || p->users > s->plateau.users : p->offered > s->knee.rate;
}

/* The highest load, if there are points enough; the points are sorted. */
static void find_highest(struct saturation *s)
{
	size_t used = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (s->points[i].left_out)
			continue;
		used++;
		s->highest = &s->points[i];
	}
	if (used < SATURATION_POINTS)
		s->highest = NULL;
	if (!s->highest)
		return;
	s->highest_offered = s->highest->offered;
	s->highest_users = s->highest->users;
	s->highest_completed = s->highest->completed;
}

/* The lowest load beyond the knee; the points are sorted. */
static void find_beyond(struct saturation *s)
{
	for (size_t i = 0; i < s->count && !s->beyond; i++)
		if (s->status == SATURATION_REACHED && is_beyond(s, &s->points[i]))
			s->beyond = &s->points[i];
}

const char *saturation_excuse(double offered, double completed)
{
	return completed < (1 - SATURATION_SHORTFALL) * offered ? ", by chance as far as stages this short can tell" : "";
}

int saturation_find(struct saturation *s, const struct run_data *run, const struct verdict_finding *finding,
                    struct ipf_error *err)
{
	bool rates = has_curve(run);
	*s = (struct saturation){.by_users = !rates};
	if (!rates && !has_users(run))
		return 0;
	struct source from = {.run = run, .part = -1};
	bool repeats = are_repeats(run);
	s->points = calloc(KNEE_POINTS_MOST, sizeof *s->points);
	from.curve = calloc(KNEE_POINTS_MOST, sizeof *from.curve);
	from.levels = calloc(KNEE_POINTS_MOST, sizeof *from.levels);
	from.ends = malloc((size_t)(run->row_count + 1) * sizeof *from.ends);
	int bad = !s->points || !from.curve || !from.levels || !from.ends ? ipf_error_memory(err) : 0;
	for (int part = 0; bad == 0 && part < (repeats ? run->part_count : 1); part++) {
		from.part = repeats ? part : -1;
		if (add_points(s, &from) < 0)
			bad = ipf_error_memory(err);
	}
	if (bad == 0)
		bad = s->by_users ? find_plateau(s, from.levels, err) : find_knee(s, from.curve, err);
	if (bad == 0) {
		qsort(s->points, s->count, sizeof *s->points, by_rate);
		find_highest(s);
		bool client = finding->checks[VERDICT_CLIENT].status == VERDICT_INVALID;
		if (client || finding->checks[VERDICT_LOAD].status == VERDICT_INVALID)
			not_known(s, client ? "the client was the limit" : "the load was not delivered", "see the verdict");
		else
			find_beyond(s);
	}
	free(from.curve);
	free(from.levels);
	free(from.ends);
	return bad;
}

void saturation_release(struct saturation *s)
{
	free(s->points);
	*s = (struct saturation){0};
}
