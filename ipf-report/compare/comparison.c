#include "compare/comparison.h"

#include "absent.h"
#include "catalogue/catalogue.h"
#include "difference/block_plan.h"
#include "compare/settings.h"
#include "figures/completions.h"
#include "figures/edge_rule.h"
#include "figures/server_figures.h"
#include "figures/stated_figures.h"
#include "figures/token_times.h"
#include "difference/holm.h"
#include "figures/load_episodes.h"
#include "stream/provenance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One side, while it is compared. */
struct side {
	const struct run_data *run;
	struct block_plan plan;
	struct run_blocks blocks;
	bool from_start; /* latencies count from there, since the other side has no due times */
	bool drain;      /* windows last until the last request of their stage has ended */
	int32_t *cells;  /* each row's */
	int *schedule;   /* each run's */
	struct run_figures figures;
};

struct both_sides {
	struct side side[SIDES];
	int *partner;
	struct comparison_design design;
};

/* ---- which runs have the same requests ---- */

static bool same_schedule(const struct run_data *a, int i, const struct run_data *b, int k)
{
	const int64_t capture_t0_ns = a->parts[i].capture_t0_ns;
	if (capture_t0_ns != IPF_ABSENT && capture_t0_ns == b->parts[k].capture_t0_ns &&
	    !a->parts[i].observed != !b->parts[k].observed)
		return true;
	json_t *x = a->parts[i].header, *y = b->parts[k].header;
	json_t *of_x = schedule_find_header(x), *of_y = schedule_find_header(y);
	json_t *trace = json_object_get(json_object_get(of_x, "trace"), "sha256");
	if (!json_is_string(trace) || !json_equal(trace, json_object_get(json_object_get(of_y, "trace"), "sha256")))
		return false;
	if (!a->shards && !b->shards && !json_equal(json_object_get(of_x, "stages"), json_object_get(of_y, "stages")))
		return false;
	json_t *seed_x = json_object_get(provenance_find(x, "schedule"), "seed"),
		   *seed_y = json_object_get(provenance_find(y, "schedule"), "seed");
	return seed_x == seed_y || json_equal(seed_x, seed_y);
}

/* Numbers the schedules of all runs. Without a trace, as of other tools, repeats of a side are taken for the same. */
static void number_schedules(struct both_sides *both)
{
	int numbers = 0;
	for (int s = 0; s < SIDES; s++) {
		struct side *own = &both->side[s];
		for (int r = 0; r < own->blocks.runs; r++) {
			own->schedule[r] = -1;
			for (int t = 0; t <= s; t++)
				for (int k = 0; k < (t == s ? r : both->side[t].blocks.runs); k++)
					if (own->schedule[r] < 0 && same_schedule(own->run, r, both->side[t].run, k))
						own->schedule[r] = both->side[t].schedule[k];
			if (own->schedule[r] < 0)
				own->schedule[r] = own->run->schedule.trace_sha256[0] || r == 0 ? numbers++ : own->schedule[0];
		}
	}
}

/* Finds a run of the other side for each of the base, in the order in which they were given. */
static bool find_partners(struct both_sides *both)
{
	const struct side *base = &both->side[SIDE_BASE], *other = &both->side[SIDE_NEW];
	bool any = false;
	for (int a = 0; a < base->blocks.runs; a++) {
		both->partner[a] = -1;
		for (int b = 0; b < other->blocks.runs && both->partner[a] < 0; b++) {
			bool taken = false;
			for (int k = 0; k < a; k++)
				taken |= both->partner[k] == b;
			if (!taken && base->schedule[a] == other->schedule[b])
				both->partner[a] = b;
		}
		any |= both->partner[a] >= 0;
	}
	return any;
}

/* ---- sides ---- */

static int begin_side(struct side *side, const struct run_data *run, const struct comparison_options *options,
                      struct ipf_error *err)
{
	side->run = run;
	side->blocks.runs = block_plan_runs(run);
	side->cells = malloc((size_t)(run->row_count + 1) * sizeof *side->cells);
	side->schedule = calloc((size_t)side->blocks.runs, sizeof *side->schedule);
	side->drain = options->figures->window == WINDOW_DRAIN;
	if (!side->cells || !side->schedule)
		return ipf_error_memory(err);
	if (run_figures_build(&side->figures, run, options->figures, err) < 0)
		return -1;
	if (run->stated)
		stated_figures_apply(&side->figures, run->stated, &options->figures->percentiles);
	return 0;
}

/* Captures do not show when a request was due. */
static bool is_observed(const struct run_data *run)
{
	bool observed = false;
	for (int i = 0; i < run->part_count; i++)
		observed |= run->parts[i].observed != NULL;
	return observed;
}

/* Is each part an observed run, or the replay of its trace (observed_replay.h)? */
static bool all_joined(const struct run_data *run)
{
	bool joined = run->part_count > 0;
	for (int i = 0; i < run->part_count; i++)
		joined &= run->parts[i].capture_t0_ns != IPF_ABSENT;
	return joined;
}

static int begin_sides(struct both_sides *both, struct comparison *c, struct ipf_error *err)
{
	for (int s = 0; s < SIDES; s++)
		if (begin_side(&both->side[s], c->runs[s], c->options, err) < 0)
			return -1;
	const bool observed = is_observed(c->runs[SIDE_BASE]) || is_observed(c->runs[SIDE_NEW]);
	both->side[SIDE_BASE].from_start = both->side[SIDE_NEW].from_start = observed;
	both->partner = calloc((size_t)both->side[SIDE_BASE].blocks.runs, sizeof *both->partner);
	if (!both->partner)
		return ipf_error_memory(err);
	number_schedules(both);
	c->paired = find_partners(both);
	c->replays_capture = all_joined(c->runs[SIDE_BASE]) && all_joined(c->runs[SIDE_NEW]);
	for (int s = 0; s < SIDES; s++) {
		struct side *side = &both->side[s];
		const struct run_data *like = c->paired ? c->runs[SIDE_BASE] : side->run;
		if (block_plan_make(&side->plan, like, err) < 0 ||
		    block_plan_place(&side->plan, side->run, side->cells, err) < 0)
			return -1;
		side->blocks.stages = side->plan.stages;
		side->blocks.begin = side->plan.begin;
		both->design.blocks[s] = side->blocks;
		both->design.schedule[s] = side->schedule;
	}
	both->design.partner = both->partner;
	for (int s = 0; s < SIDES; s++) {
		c->episodes[s] = both->side[s].figures.episodes;
		c->bursty |= !c->paired && c->episodes[s] < LOAD_EPISODES_FEWEST;
	}
	both->design.bursty = c->bursty;
	return 0;
}

static void end_sides(struct both_sides *both)
{
	for (int s = 0; s < SIDES; s++) {
		block_plan_release(&both->side[s].plan);
		run_figures_release(&both->side[s].figures);
		free(both->side[s].cells);
		free(both->side[s].schedule);
	}
	free(both->partner);
}

/* ---- figures ---- */

static bool counts(const struct side *side, const struct row *row)
{
	return side->run->schedule.stages[row->stage].measured;
}

/* for_counted(side, row) { … } */
#define for_counted(side_, row_)                                                                                       \
	for (const struct row *row_ = (side_)->run->rows, *end_ = row_ ? row_ + (side_)->run->row_count : NULL;            \
	     row_ < end_; row_++)                                                                                          \
		if (counts(side_, row_))

/* The latencies of successful requests in milliseconds, from due if there is one. */
static int place_latencies(const struct side *side, enum metric metric, struct placed_values *placed,
                           struct ipf_error *err)
{
	for_counted(side, row)
	{
		const int64_t value = row_get(row, (int)metric), lag = row_get(row, METRIC_LAG);
		if (!row->ok || value == IPF_ABSENT)
			continue;
		const bool from_due = metrics[metric].from_due && lag != IPF_ABSENT && !side->from_start;
		const int64_t all = from_due ? value + lag : value;
		if (placed_values_add(placed, (double)all / 1e6, side->cells[row - side->run->rows], err) < 0)
			return -1;
	}
	return 0;
}

/* How many gaps (or other samples of --itl) a request has: the number under its mean gap. NAN: none. */
static double gaps_of(const struct row *row, bool by_request)
{
	const int64_t mean = row_get(row, METRIC_ITL_MEAN), e2e = row_get(row, METRIC_E2E),
				  ttft = row_get(row, METRIC_TTFT), events = row_get(row, ROW_EVENTS);
	if (!row->ok || mean == IPF_ABSENT || e2e == IPF_ABSENT || ttft == IPF_ABSENT)
		return NAN;
	if (by_request)
		return 1;
	if (mean > 0 && e2e > ttft)
		return (double)(e2e - ttft) / (double)mean;
	return events > 1 ? (double)(events - 1) : NAN;
}

/* A request's addition to a figure: to the sum, and to its divisor; a sum of NAN: nothing. */
struct addend {
	double over, under;
};

static struct addend addend_of(const struct row *row, enum figure_kind kind, bool by_request)
{
	const int64_t tokens = row_get(row, ROW_OUTPUT_TOKENS), inputs = row_get(row, ROW_INPUTS),
				  cached = row_get(row, ROW_CACHED_TOKENS), input = row_get(row, ROW_INPUT_TOKENS);
	const double gaps = gaps_of(row, by_request);
	switch (kind) {
	case FIGURE_GAPS_MEAN:
		return (struct addend){isnan(gaps) ? NAN : (double)row_get(row, METRIC_ITL_MEAN) / 1e6 * gaps, gaps};
	case FIGURE_FAILURES:
		return (struct addend){row->ok ? 0 : verdict_uncounted(row->error) ? NAN : 1, 1};
	case FIGURE_VALID:
		return (struct addend){
			row->ok && row->output_check < OUTPUT_UNDECIDED ? row->output_check == OUTPUT_VALID : NAN, 1};
	case FIGURE_CACHED:
		return row->ok && cached != IPF_ABSENT && input != IPF_ABSENT ? (struct addend){(double)cached, (double)input}
		                                                              : (struct addend){NAN, 0};
	case FIGURE_REFUSED:
		return (struct addend){!row->ok && verdict_uncounted(row->error) ? NAN : row_get(row, ROW_REFUSALS) > 0, 1};
	case FIGURE_GOOD:
		return (struct addend){row->goodness == SLO_GOOD, 0};
	case FIGURE_OUTPUT:
		return (struct addend){row->ok && tokens != IPF_ABSENT ? (double)tokens : 0, 0};
	case FIGURE_INPUTS:
		return (struct addend){row->ok && inputs != IPF_ABSENT ? (double)inputs : 0, 0};
	default:
		return (struct addend){row->ok, 0};
	}
}

/* The time of a stage in a run, and the cells of its blocks, each a part of equal length. */
struct stage_cells {
	const struct edge_rule *rule;
	int32_t first, count;
	double width_ns;
};

static struct stage_cells cells_of(const struct side *side, int part, size_t stage)
{
	struct stage_cells c = {.rule = edge_rule_of(side->figures.rules, part, (int32_t)stage)};
	const int32_t position = stage < side->plan.positions ? side->plan.position[stage] : -1;
	if (position < 0 || !side->run->schedule.stages[stage].measured || c.rule->begin_ns == IPF_ABSENT ||
	    c.rule->end_ns <= c.rule->begin_ns)
		return c;
	const int run = side->run->shards ? 0 : part;
	c.count = (int32_t)(side->plan.begin[position + 1] - side->plan.begin[position]);
	c.first = (int32_t)((size_t)run * run_blocks_each(&side->blocks) + side->plan.begin[position]);
	c.width_ns = (double)(c.rule->end_ns - c.rule->begin_ns) / c.count;
	return c;
}

static int32_t cell_at(const struct stage_cells *c, int64_t t_ns)
{
	const double cell = floor((double)(t_ns - c->rule->begin_ns) / c->width_ns);
	return cell < 0 ? -1 : cell >= c->count ? c->count : (int32_t)cell;
}

static int64_t cell_begin(const struct stage_cells *c, int32_t cell)
{
	return cell == c->count ? c->rule->end_ns : c->rule->begin_ns + (int64_t)(cell * c->width_ns);
}

/* The time of each block, in seconds. */
static void measure_time(const struct side *side, double *under)
{
	for (int r = 0; r < side->blocks.runs; r++)
		for (size_t s = 0; s < side->run->schedule.count; s++) {
			const struct stage_cells c = cells_of(side, r, s);
			for (int32_t b = 0; b < c.count; b++)
				under[c.first + b] = c.width_ns / 1e9;
		}
}

/* The tokens of an answer, in the blocks in which they arrived. */
static void add_tokens(const struct stage_cells *c, const struct row *row, double *over)
{
	const struct token_times times = token_times_of(row);
	if (!row->ok || isnan(times.tokens) || times.last_ns == IPF_ABSENT)
		return;
	const int32_t last = cell_at(c, times.last_ns);
	int32_t cell = times.first_ns == IPF_ABSENT ? last : cell_at(c, times.first_ns);
	for (cell = cell < 0 ? 0 : cell; cell <= last && cell < c->count; cell++)
		over[c->first + cell] += token_times_before(&times, cell_begin(c, cell + 1)) -
		                         token_times_before(&times, cell_begin(c, cell));
}

/* A request, as edge_rule.h says it counts. */
static void add_request(const struct side *side, const struct stage_cells *c, const struct row *row, size_t stage,
                        double value, double *over)
{
	if (c->rule->counting == EDGE_SHARES) {
		const int32_t last = cell_at(c, row->end_ns);
		int32_t cell = row->start_ns == IPF_ABSENT ? last : cell_at(c, row->start_ns);
		for (cell = cell < 0 ? 0 : cell; cell <= last && cell < c->count; cell++)
			over[c->first + cell] += value * edge_share(row, cell_begin(c, cell), cell_begin(c, cell + 1));
		return;
	}
	const bool starts = c->rule->counting == EDGE_STARTS;
	const int64_t at_ns = starts ? row->start_ns : row->end_ns;
	if (starts ? at_ns == IPF_ABSENT || at_ns < c->rule->begin_ns || at_ns >= c->rule->end_ns
	           : !completions_has(side->run, row, (int32_t)stage, side->drain))
		return;
	int32_t cell = cell_at(c, at_ns);
	cell = cell < 0 ? 0 : cell == c->count ? cell - 1 : cell;
	over[c->first + cell] += value / (starts ? c->rule->stretch : 1);
}

/* Adds a request to the blocks of each window, whichever stage started it. */
static void add_completion(const struct side *side, const struct row *row, enum figure_kind kind, double value,
                           double *over)
{
	for (size_t s = 0; s < side->run->schedule.count; s++) {
		const struct stage_cells c = cells_of(side, row->part, s);
		if (c.count == 0)
			continue;
		if (kind == FIGURE_OUTPUT)
			add_tokens(&c, row, over);
		else
			add_request(side, &c, row, s, value, over);
	}
}

static bool is_rate(enum figure_kind kind)
{
	return kind == FIGURE_REQUESTS || kind == FIGURE_OUTPUT || kind == FIGURE_INPUTS || kind == FIGURE_GOOD;
}

/* Sums for each block, over its part of the time, or its requests. Returns the number of these. */
static double add_up(const struct side *side, enum figure_kind kind, double *over, double *under)
{
	double cases = 0;
	const bool by_request = strcmp(run_data_itl(side->run, 0), "request") == 0;
	if (is_rate(kind))
		measure_time(side, under);
	for (int64_t i = 0; i < side->run->row_count; i++) {
		const struct row *row = &side->run->rows[i];
		const struct addend value = addend_of(row, kind, by_request);
		const int32_t cell = counts(side, row) ? side->cells[i] : -1;
		if (isnan(value.over))
			continue;
		if (is_rate(kind))
			add_completion(side, row, kind, value.over, over);
		else if (cell >= 0) {
			over[cell] += value.over;
			under[cell] += value.under;
			cases++;
		}
	}
	return cases;
}

static double summary_value(const struct metric_summary *d, const struct compared_figure *figure)
{
	if (d->n == 0)
		return NAN;
	return figure->kind == FIGURE_MEAN || figure->kind == FIGURE_GAPS_MEAN ? d->mean
	       : figure->percentile == 50                                      ? d->median
	       : figure->percentile == 90                                      ? d->p90
	                                                                       : d->p99;
}

/* The figures of the side's own report: also for too few requests for blocks, or none. */
static double stated_value(const struct side *side, const struct compared_figure *figure)
{
	const struct figures *f = &side->figures.total;
	if (figure->kind == FIGURE_GAPS_MEAN || figure->kind == FIGURE_GAPS)
		return summary_value(&f->itl, figure);
	if (figure->kind == FIGURE_MEAN || figure->kind == FIGURE_PERCENTILE) {
		const struct metric_summary *due = &f->due[figure->metric], *start = &f->start[figure->metric];
		const bool from_due = metrics[figure->metric].from_due && due->n != 0 && !side->from_start;
		return summary_value(from_due ? due : start, figure);
	}
	if (figure->kind == FIGURE_FAILURES)
		return f->failures_unknown || f->ok + f->failed == 0 ? NAN : (double)f->failed / (double)(f->ok + f->failed);
	if (figure->kind == FIGURE_REFUSED)
		return catalogue_number(catalogue_find("refusals/share"), f);
	if (figure->kind == FIGURE_VALID)
		return catalogue_number(catalogue_find("output_check/share"), f);
	if (figure->kind == FIGURE_CACHED)
		return f->cached_share;
	return figure->kind == FIGURE_REQUESTS ? f->completed
	       : figure->kind == FIGURE_OUTPUT ? f->output_per_s
	       : figure->kind == FIGURE_INPUTS ? f->inputs_per_s
	                                       : f->goodput;
}

static int influence_of_sums(struct influence *i, const struct side *side, const struct compared_figure *figure,
                             struct ipf_error *err)
{
	const size_t count = (size_t)side->blocks.runs * run_blocks_each(&side->blocks);
	double *over = calloc(2 * count + 1, sizeof *over);
	if (!over)
		return ipf_error_memory(err);
	const double cases = add_up(side, figure->kind, over, over + count);
	const int bad = influence_of_ratio(i, &side->blocks, over, over + count,
	                                   figure_is_share(figure) ? INFLUENCE_SHARE : INFLUENCE_RELATIVE, err);
	i->cases = cases;
	free(over);
	return bad;
}

/* Latencies of a side, which several figures are of. */
struct side_latencies {
	struct placed_values placed;
	struct samples sorted;
};

static int influence_of_figure(struct influence *i, const struct side *side, struct side_latencies *latencies,
                               const struct compared_figure *figure, struct ipf_error *err)
{
	int bad = 0;
	*i = (struct influence){.value = NAN, .level = NAN};
	if (figure->kind == FIGURE_MEAN)
		bad = influence_of_mean(i, &side->blocks, &latencies->placed, err);
	else if (figure->kind == FIGURE_PERCENTILE)
		bad = influence_of_percentile(i, &side->blocks, &latencies->placed, &latencies->sorted, figure->percentile,
		                              err);
	else if (figure->kind != FIGURE_GAPS) /* results have percentiles over all requests together: no noise is known */
		bad = influence_of_sums(i, side, figure, err);
	const double shown = stated_value(side, figure);
	/* the report of the side alone is the same figure: a rate of 0 it does not know is none here either, and the mean
	 * gap is over all gaps, also under another tool's definitions */
	if (isnan(shown) || isnan(i->value) || figure->kind == FIGURE_GAPS_MEAN || is_rate(figure->kind))
		i->value = shown;
	i->scale = figure_is_share(figure) ? INFLUENCE_SHARE : i->scale;
	return bad;
}

static int read_latencies(struct side_latencies *to, const struct side *side, enum metric metric, struct ipf_error *err)
{
	if (place_latencies(side, metric, &to->placed, err) < 0)
		return -1;
	double *values = samples_reserve(&to->sorted, to->placed.values.count);
	if (!values)
		return ipf_error_memory(err);
	if (to->placed.values.count)
		memcpy(values, to->placed.values.values, to->placed.values.count * sizeof *values);
	to->sorted.count = to->placed.values.count;
	samples_sort(&to->sorted);
	return 0;
}

static int compare_figure(struct comparison *c, struct both_sides *both, struct side_latencies latencies[SIDES],
                          const struct compared_figure *figure, struct ipf_error *err)
{
	struct influence i[SIDES] = {0};
	int bad = 0;
	for (int s = 0; s < SIDES && bad == 0; s++)
		bad = influence_of_figure(&i[s], &both->side[s], &latencies[s], figure, err);
	if (bad == 0 && !(isnan(i[SIDE_BASE].value) && isnan(i[SIDE_NEW].value))) {
		struct figure_difference *f = &c->figures[c->count++];
		*f = (struct figure_difference){.figure = figure,
		                                .d = difference_of(&i[SIDE_BASE], &i[SIDE_NEW], &both->design)};
		for (int s = 0; s < SIDES; s++) {
			f->of_runs[s] = i[s].of_runs;
			i[s].of_runs = NULL;
		}
	}
	influence_release(&i[SIDE_BASE]);
	influence_release(&i[SIDE_NEW]);
	return bad;
}

/* A picture of the distributions. */
static void keep_distribution(struct comparison *c, enum metric metric, struct side_latencies latencies[SIDES])
{
	struct compared_distribution *to = &c->distributions[c->distribution_count];
	if (metric == METRIC_COUNT || c->distribution_count == COMPARED_DISTRIBUTIONS ||
	    latencies[SIDE_BASE].sorted.count == 0 || latencies[SIDE_NEW].sorted.count == 0)
		return;
	to->metric = metric;
	for (int s = 0; s < SIDES; s++)
		for (int p = 0; p < DISTRIBUTION_POINTS; p++)
			to->at[s][p] = samples_percentile(&latencies[s].sorted, p);
	c->distribution_count++;
}

/* The figures of one measure after another, so only its values are in memory. */
static int compare_figures(struct comparison *c, struct both_sides *both, struct ipf_error *err)
{
	struct side_latencies latencies[SIDES] = {0};
	enum metric have = METRIC_COUNT;
	int bad = 0;
	for (size_t k = 0; k < COMPARED_FIGURES && bad == 0; k++) {
		const struct compared_figure *figure = &compared_figures[k];
		for (int s = 0; s < SIDES && bad == 0 && figure->metric != have; s++) {
			placed_values_release(&latencies[s].placed);
			samples_release(&latencies[s].sorted);
			if (figure->metric != METRIC_COUNT)
				bad = read_latencies(&latencies[s], &both->side[s], figure->metric, err);
		}
		if (bad == 0 && figure->metric != have)
			keep_distribution(c, figure->metric, latencies);
		have = figure->metric;
		if (bad == 0)
			bad = compare_figure(c, both, latencies, figure, err);
	}
	for (int s = 0; s < SIDES; s++) {
		placed_values_release(&latencies[s].placed);
		samples_release(&latencies[s].sorted);
	}
	return bad;
}

/* ---- outcomes ---- */

static void judge_figures(struct comparison *c)
{
	const struct difference_limits least = {.effect = c->options->effect, .share_effect = c->options->share_effect};
	for (size_t k = 0; k < c->count; k++)
		if (c->figures[k].d.noise > c->noise)
			c->noise = c->figures[k].d.noise;
	c->family = figure_differences_judge(c->figures, c->count, &least);
}

static int read_conditions(struct comparison *c, const struct string_list *list, struct ipf_error *err)
{
	for (size_t i = 0; list && i < list->count; i++) {
		if (i == FAIL_IF_MOST)
			return ipf_error_set(err, IPF_USAGE, "--fail-if: at most %d conditions", FAIL_IF_MOST);
		if (fail_if_parse(&c->conditions[i], list->items[i], err) < 0)
			return -1;
		c->condition_count++;
	}
	return 0;
}

static void judge_conditions(struct comparison *c)
{
	const struct difference *of[FAIL_IF_MOST] = {0};
	double p[FAIL_IF_MOST];
	size_t family = 0;
	for (size_t i = 0; i < c->condition_count; i++) {
		for (size_t k = 0; k < c->count; k++)
			if (c->figures[k].figure == c->conditions[i].figure)
				of[i] = &c->figures[k].d;
		const bool tests = of[i] && c->conditions[i].form != FAIL_IF_VALUE &&
		                   c->conditions[i].word == FAIL_IF_SIGNIFICANT;
		p[i] = tests ? of[i]->p : NAN;
		family += isnan(p[i]) ? 0 : 1;
	}
	holm_adjust(p, c->condition_count);
	for (size_t i = 0; i < c->condition_count; i++) {
		fail_if_judge(&c->conditions[i], of[i], p[i], family);
		c->conditions[i].failed |= c->conditions[i].undecided && !c->options->undecided_passes;
	}
}

static bool share_records(const struct run_data *a, const struct run_data *b)
{
	json_t *x, *y;
	size_t i, k;
	for (int p = 0; p < a->part_count; p++)
		for (int q = 0; q < b->part_count; q++)
			json_array_foreach(a->parts[p].digests, i, x)
			{
				json_array_foreach(b->parts[q].digests, k, y)
				{
					if (a->parts[p].rows > 0 && json_equal(x, y))
						return true;
				}
			}
	return false;
}

/* The headers of a side, one of each run: shards of a run have the same settings. */
static json_t *headers_of(const struct run_data *run)
{
	json_t *headers = json_array();
	for (int r = 0; r < block_plan_runs(run); r++)
		json_array_append(headers, run->parts[r].header);
	return headers;
}

static json_t *compare_settings(const struct run_data *const runs[SIDES])
{
	json_t *headers[SIDES] = {headers_of(runs[SIDE_BASE]), headers_of(runs[SIDE_NEW])};
	json_t *settings = settings_compare(headers[SIDE_BASE], headers[SIDE_NEW]);
	json_decref(headers[SIDE_BASE]);
	json_decref(headers[SIDE_NEW]);
	return settings;
}

/* NAN: it says nothing of drafts. */
static int draft_acceptance(double *share, const struct run_data *run, const struct figures *total,
                            struct ipf_error *err)
{
	if (server_draft_acceptance(share, run, err) < 0)
		return -1;
	if (isnan(*share) && total->spec_draft_tokens > 0)
		*share = (double)total->spec_accepted_tokens / (double)total->spec_draft_tokens;
	return 0;
}

int comparison_build(struct comparison *c, const struct run_data *const runs[SIDES],
                     const struct comparison_options *options, struct ipf_error *err)
{
	struct both_sides both = {0};
	*c = (struct comparison){.options = options};
	if (read_conditions(c, options->fail_if, err) < 0)
		return -1;
	for (int s = 0; s < SIDES; s++) {
		c->runs[s] = runs[s];
		c->run_count[s] = block_plan_runs(runs[s]);
		if (!(c->verdicts[s] = verdict_judge(runs[s]->verdict)))
			return ipf_error_memory(err);
	}
	if (!(c->settings = compare_settings(runs)))
		return ipf_error_memory(err);
	c->same_records = share_records(runs[SIDE_BASE], runs[SIDE_NEW]);
	int bad = begin_sides(&both, c, err);
	for (int s = 0; s < SIDES; s++) {
		c->requests[s] = bad == 0 ? figures_requests(&both.side[s].figures.total) : 0;
		c->output_tokens[s] = bad == 0 ? both.side[s].figures.total.output.mean : NAN;
		c->cached[s] = bad == 0 ? both.side[s].figures.total.cached_share : NAN;
	}
	for (int s = 0; bad == 0 && s < SIDES; s++) {
		bad = draft_acceptance(&c->accepted[s], runs[s], &both.side[s].figures.total, err);
		if (bad == 0)
			bad = later_turns_read(&c->later[s], runs[s], err);
	}
	const bool invalid = c->verdicts[SIDE_BASE]->status == VERDICT_INVALID ||
	                     c->verdicts[SIDE_NEW]->status == VERDICT_INVALID;
	if (bad == 0 && !invalid)
		bad = compare_figures(c, &both, err);
	if (bad == 0)
		judge_figures(c);
	if (invalid)
		c->condition_count = 0;
	judge_conditions(c);
	c->answers = compare_answers(runs);
	c->outcome = invalid                               ? OUTCOME_INVALID
	             : compared_answers_worse(&c->answers) ? OUTCOME_WRONG
	                                                   : figure_differences_outcome(c->figures, c->count, c->family);
	end_sides(&both);
	return bad;
}

void comparison_release(struct comparison *c)
{
	for (size_t k = 0; k < c->count; k++)
		for (int s = 0; s < SIDES; s++)
			free(c->figures[k].of_runs[s]);
	json_decref(c->settings);
	*c = (struct comparison){0};
}
