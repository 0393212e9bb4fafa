#include "analysis/load_objectives.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS_MOST = 4096 };

const char *const load_kind_names[] = {
	[LOAD_OFFERED] = "offered", [LOAD_USERS] = "users", [LOAD_ACHIEVED] = "achieved", [LOAD_COMPLETED] = "completed"};

/* The requests of a load. */
struct load_rows {
	const struct run_data *run;
	int32_t stage;
	int part;                 /* -1: of all parts */
	int64_t begin_ns, end_ns; /* in which they were due */
};

bool has_load_objectives(const struct run_data *run, const struct run_figures *figures)
{
	return figures->loads_differ && (run->slo->count > 0 || figures->total.judged > 0);
}

static bool is_of(const struct load_rows *of, const struct row *row)
{
	return (of->part < 0 || row->part == of->part) && run_data_is_steady(of->run, row) &&
	       (of->begin_ns == IPF_ABSENT ||
	        (row->due_ns != IPF_ABSENT && row->due_ns >= of->begin_ns && row->due_ns < of->end_ns));
}

/* ---- one load ---- */

static bool is_worse(enum objective_state a, enum objective_state than)
{
	static const int ranks[] = {
		[OBJECTIVE_UNJUDGED] = 0, [OBJECTIVE_MET] = 1, [OBJECTIVE_TOO_FEW] = 2, [OBJECTIVE_MISSED] = 3};
	return ranks[a] > ranks[than];
}

static void add_state(struct judged_load *load, enum objective_state state, double percentile, int64_t requests)
{
	const int64_t needed = (int64_t)samples_needed(percentile);
	if (state == OBJECTIVE_TOO_FEW && needed > load->needed) {
		load->needed = needed;
		load->percentile = percentile;
		load->requests = requests;
	}
	load->state = is_worse(state, load->state) ? state : load->state;
}

static void judge_good(struct judged_load *load)
{
	const bool within = (double)load->good * 100 >= OBJECTIVE_EACH * (double)load->judged;
	load->good_state = objective_state(OBJECTIVE_EACH, load->judged, load->judged - load->good, within);
	add_state(load, load->good_state, OBJECTIVE_EACH, load->judged);
}

/* Judges the requests of a load. -1: out of memory. */
static int judge(struct judged_load *load, const struct load_rows *of, bool as_inf)
{
	const struct slo *slo = of->run->slo;
	struct picked_rows picked = {.columns = &of->run->columns};
	struct samples s = {0};
	int64_t count;
	const struct row *rows = run_data_stage_rows(of->run, of->stage, &count);
	for (int k = 0; k < slo->count; k++)
		load->objectives[k] = (struct attainment){.share = NAN, .value_ms = NAN, .waited_ms = NAN};
	for (int64_t i = 0; i < count; i++) {
		if (!is_of(of, &rows[i]))
			continue;
		picked_rows_add(&picked, &rows[i]);
		load->judged += rows[i].goodness == SLO_GOOD || rows[i].goodness == SLO_MISSED;
		load->good += rows[i].goodness == SLO_GOOD;
		for (int k = 0; k < slo->count; k++)
			load->objectives[k].absent += (rows[i].marks.absent >> k) & 1;
	}
	judge_good(load);
	int bad = picked.failed ? -1 : 0;
	for (int k = 0; bad == 0 && k < slo->count; k++) {
		struct attainment *a = &load->objectives[k];
		if (isnan(slo->list[k].percentile))
			continue;
		bad = attainment_of_rows(a, &slo->list[k], &picked, as_inf, &s);
		attainment_judge(a, &slo->list[k]);
		add_state(load, a->state, slo->list[k].percentile, a->requests);
	}
	picked_rows_release(&picked);
	samples_release(&s);
	return bad;
}

/* Figures of another tool have no requests: its percentiles are those of the stage. */
static void judge_stated(struct judged_load *load, const struct figures *f, const struct slo *slo)
{
	for (int k = 0; k < slo->count; k++) {
		load->objectives[k] = f->objectives[k];
		if (!isnan(slo->list[k].percentile))
			add_state(load, f->objectives[k].state, slo->list[k].percentile, f->objectives[k].requests);
	}
}

/* ---- all loads ---- */

static bool is_shown(const struct load_objectives_input *in, size_t stage)
{
	return in->run->schedule.stages[stage].measured && figures_requests(&in->figures->stages[stage]) > 0;
}

static enum load_kind kind_of(const struct load_objectives_input *in)
{
	bool users = true, offered = true, achieved = true;
	for (size_t i = 0; i < in->figures->count; i++) {
		if (!is_shown(in, i))
			continue;
		users &= in->run->schedule.stages[i].closed && in->run->schedule.stages[i].slots != IPF_ABSENT;
		offered &= !isnan(in->figures->stages[i].offered);
		achieved &= !isnan(in->figures->stages[i].achieved);
	}
	return users ? LOAD_USERS : offered ? LOAD_OFFERED : achieved ? LOAD_ACHIEVED : LOAD_COMPLETED;
}

/* Why the saturation leaves out a stage; NULL: it does not. Too few requests are for the objectives to find. */
static const char *left_out(const struct load_objectives_input *in, int32_t stage)
{
	for (size_t i = 0; i < in->saturation->count; i++) {
		const struct saturation_point *p = &in->saturation->points[i];
		if (p->stage == stage && p->left_out && strcmp(p->left_out, SATURATION_TOO_FEW) != 0)
			return p->left_out;
	}
	return NULL;
}

static int add(struct load_objectives *o, const struct load_objectives_input *in, struct judged_load load,
               const struct load_rows *of)
{
	if (o->count == LOADS_MOST)
		return 0;
	if (in->run->stated)
		judge_stated(&load, &in->figures->stages[load.stage], in->run->slo);
	else if (judge(&load, of, in->as_inf) < 0)
		return -1;
	load.left_out = left_out(in, load.stage);
	if (load.left_out)
		load.state = OBJECTIVE_UNJUDGED;
	o->loads[o->count++] = load;
	return 0;
}

/* How many pieces of a ramp have enough requests on average. */
static int64_t pieces_of(const struct slo *slo, int64_t requests)
{
	int64_t needed = SATURATION_ARRIVALS;
	for (int k = 0; k < slo->count; k++) {
		const double p = isnan(slo->list[k].percentile) ? OBJECTIVE_EACH : slo->list[k].percentile;
		const int64_t n = (int64_t)samples_needed(p);
		needed = n > needed ? n : needed;
	}
	const int64_t pieces = requests / (needed + needed / 10);
	return pieces < 1 ? 1 : pieces > RAMP_PIECES ? RAMP_PIECES : pieces;
}

static int add_ramp(struct load_objectives *o, const struct load_objectives_input *in, int32_t stage)
{
	const struct stage_window w = run_data_window(in->run, stage);
	int64_t count;
	const struct row *rows = run_data_stage_rows(in->run, stage, &count);
	const int64_t length = w.end_ns - w.begin_ns, pieces = pieces_of(in->run->slo, count);
	for (int64_t k = 0; w.begin_ns != IPF_ABSENT && length > 0 && k < pieces; k++) {
		const struct load_rows of = {.run = in->run,
		                             .stage = stage,
		                             .part = -1,
		                             .begin_ns = w.begin_ns + length * k / pieces,
		                             .end_ns = w.begin_ns + length * (k + 1) / pieces};
		int64_t due = 0;
		for (int64_t i = 0; i < count; i++)
			due += is_of(&of, &rows[i]);
		const struct judged_load load = {.stage = stage,
		                                 .part = -1,
		                                 .load = (double)due * 1e9 / (double)(of.end_ns - of.begin_ns),
		                                 .begin_s = (double)(of.begin_ns - w.begin_ns) / 1e9,
		                                 .completed = NAN};
		if (due > 0 && add(o, in, load, &of) < 0)
			return -1;
	}
	return 0;
}

static int add_stage(struct load_objectives *o, const struct load_objectives_input *in, int32_t stage, int part)
{
	const struct figures *f = &in->figures->stages[stage];
	const struct load_rows of = {.run = in->run, .stage = stage, .part = part, .begin_ns = IPF_ABSENT};
	const int64_t slots = part < 0 ? in->run->schedule.stages[stage].slots : in->run->parts[part].loads[stage].slots;
	const struct judged_load load = {.stage = stage,
	                                 .part = part,
	                                 .load = o->kind == LOAD_USERS      ? (double)slots
	                                         : o->kind == LOAD_OFFERED  ? f->offered
	                                         : o->kind == LOAD_ACHIEVED ? f->achieved
	                                                                    : f->completed,
	                                 .begin_s = NAN,
	                                 .completed = part < 0 ? f->completed : NAN};
	return add(o, in, load, &of);
}

static int add_loads(struct load_objectives *o, const struct load_objectives_input *in)
{
	const bool by_part = repeats_differ(in->run);
	for (size_t i = 0; i < in->figures->count; i++) {
		int bad = 0;
		if (!is_shown(in, i))
			continue;
		if (strcmp(in->run->schedule.stages[i].kind, "ramp") == 0)
			bad = add_ramp(o, in, (int32_t)i);
		else if (!by_part)
			bad = add_stage(o, in, (int32_t)i, -1);
		for (int part = 0; bad == 0 && by_part && part < in->run->part_count; part++)
			bad = add_stage(o, in, (int32_t)i, part);
		if (bad < 0)
			return -1;
	}
	return 0;
}

/* ---- the answer ---- */

static int by_load(const void *a, const void *b)
{
	const struct judged_load *x = a, *y = b;
	if (x->load < y->load || isnan(x->load) < isnan(y->load))
		return -1;
	if (x->load > y->load || isnan(x->load) > isnan(y->load))
		return 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

/* Where a straight line from a to b reaches `limit`, from x0 to x1. */
static double crossing(double a, double b, double limit, double x0, double x1)
{
	return isfinite(a) && isfinite(b) && b != a ? x0 + (x1 - x0) * (limit - a) / (b - a) : NAN;
}

/* The least load at which a straight line between both leaves an objective. NAN: one of them is missed by failures. */
static double between(const struct load_objectives *o, const struct slo *slo)
{
	const struct judged_load *low = o->met, *high = o->missed;
	double least = NAN;
	if (high->good_state == OBJECTIVE_MISSED)
		least = crossing((double)low->good / (double)low->judged, (double)high->good / (double)high->judged,
		                 OBJECTIVE_EACH / 100, low->load, high->load);
	if (high->good_state == OBJECTIVE_MISSED && isnan(least))
		return NAN;
	for (int k = 0; k < slo->count; k++) {
		if (high->objectives[k].state != OBJECTIVE_MISSED)
			continue;
		const double at = crossing(low->objectives[k].waited_ms, high->objectives[k].waited_ms,
		                           (double)slo->list[k].limit_ns / 1e6, low->load, high->load);
		if (isnan(at))
			return NAN;
		least = isnan(least) ? at : fmin(least, at);
	}
	return least;
}

static void find_answer(struct load_objectives *o, const struct load_objectives_input *in)
{
	o->all_met = o->count > 0;
	for (size_t i = 0; i < o->count; i++) {
		const struct judged_load *load = &o->loads[i];
		o->all_met &= load->state == OBJECTIVE_MET;
		if (load->state == OBJECTIVE_MISSED && !o->missed)
			o->missed = load;
		if (load->state == OBJECTIVE_MET)
			*(o->missed ? &o->again : &o->met) = load;
	}
	if (o->met && o->missed && o->missed->load > o->met->load)
		o->between = between(o, in->run->slo);
	const struct saturation *s = in->saturation;
	const double reached = !o->met ? NAN : s->by_users ? o->met->completed : o->met->load;
	if (s->status == SATURATION_REACHED && s->by_users == (o->kind == LOAD_USERS))
		o->headroom = 1 - reached / s->knee.rate;
}

int load_objectives_find(struct load_objectives *o, const struct load_objectives_input *in, struct ipf_error *err)
{
	*o = (struct load_objectives){.between = NAN, .headroom = NAN, .exists = has_load_objectives(in->run, in->figures)};
	if (!o->exists)
		return 0;
	o->kind = kind_of(in);
	o->loads = calloc(LOADS_MOST, sizeof *o->loads);
	if (!o->loads || add_loads(o, in) < 0)
		return ipf_error_memory(err);
	qsort(o->loads, o->count, sizeof *o->loads, by_load);
	find_answer(o, in);
	return 0;
}

void load_objectives_release(struct load_objectives *o)
{
	free(o->loads);
	*o = (struct load_objectives){0};
}
