#include "figures/figures.h"

#include "figures/bursts.h"

#include "absent.h"
#include "figures/completions.h"
#include "figures/edge_rule.h"
#include "figures/in_flight.h"
#include "figures/measured_time.h"
#include "figures/row_samples.h"
#include "figures/load_episodes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Tokens that are spread over an edge are told from this share on. */
#define SPREAD_SHOWN 0.01

/* The rows under figures. */
struct row_selection {
	const struct run_data *run; /* for a member of a grouping: with the rows of that member only */
	const struct run_data *whole;
	const struct figure_options *options;
	int32_t stage; /* -1: all measured stages */
	enum grouping by;
	int32_t member;         /* its number in the grouping; -1: all requests */
	const struct row *rows; /* the range containing them, among others */
	int64_t count;
	bool loads_differ;              /* attainment.h */
	bool bursty;                    /* the run is too short for the bursts of its load */
	const enum metric *same;        /* for each metric: an earlier one with the same values, or itself */
	const struct edge_rules *rules; /* `whole`'s */
};

static bool wanted(const struct row_selection *sel, const struct row *row)
{
	return (sel->stage >= 0 || sel->run->schedule.stages[row->stage].measured) &&
	       (sel->member < 0 || row->group[sel->by] == sel->member);
}

/* for_rows(sel, row) { … } */
#define for_rows(sel_, row_)                                                                                           \
	for (const struct row *row_ = (sel_)->rows, *end_ = (sel_)->rows ? (sel_)->rows + (sel_)->count : NULL;            \
	     row_ < end_; row_++)                                                                                          \
		if (wanted(sel_, row_))

/* The parts of a stage's rates, which the total adds up. */
struct rate_parts {
	int64_t window_ns;
	int64_t scheduled, length_ns; /* the offered rate's, if has_length */
	bool has_length;
	int64_t after_first, span_ns; /* the achieved rate's: starts after the first, and the time of these */
	double in_flight_ns;          /* integral of the requests in flight */
	double busy_ns;               /* sum of end - start, of requests of any stage ending in the window */
	struct completions all, own;  /* completions in the window; own: those of the stage's requests */
	bool biased, corrected;       /* edge_rule.h, of any part */
	int64_t begin_in_flight, end_in_flight;
};

/* The part of `all` that belongs to a stage; -1: to all measured stages. */
static struct row_selection select_rows(const struct row_selection *all, int32_t stage)
{
	const struct run_data *run = all->run;
	struct row_selection sel = *all;
	sel.stage = stage;
	sel.rows = run->rows;
	sel.count = run->row_count;
	if (stage >= 0)
		sel.rows = run_data_stage_rows(run, stage, &sel.count);
	return sel;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/* ---- distributions ---- */

const enum metric waited_metrics[WAITED] = {[WAITED_TTFT] = METRIC_TTFT,
                                            [WAITED_TTFA] = METRIC_TTFA,
                                            [WAITED_TPOT] = METRIC_TPOT,
                                            [WAITED_NTPOT] = METRIC_NTPOT,
                                            [WAITED_E2E] = METRIC_E2E};
const double early_percentiles[EARLY_PERCENTILES] = {90, 95, 97, 99, 99.9};

/* The values of a latency beside its distribution. A metric counting from due replaces its value from start. */
static void build_waited(struct figures *f, const struct figure_options *options, enum metric m, struct samples *s,
                         int64_t failures)
{
	for (int i = 0; i < WAITED; i++) {
		if (waited_metrics[i] != m || s->count == 0)
			continue;
		if (failures > 0 && !options->errors_as_inf)
			metric_summary_of_samples(&f->with_failures[i], s, failures, 1e-6, &options->percentiles);
		for (int k = 0; k < EARLY_PERCENTILES && options->early_stopping; k++)
			f->early[i][k] = early_stopping_estimate(s, failures, early_percentiles[k]) * 1e-6;
	}
}

/* The first metric with the same values in each row of the run and counts in the same way. */
static void find_same_values(enum metric same[METRIC_COUNT], const struct run_data *run)
{
	for (enum metric m = 0; m < METRIC_COUNT; m++) {
		same[m] = m;
		for (enum metric k = 0; k < m && same[m] == m; k++)
			if (metrics[k].from_due == metrics[m].from_due && metrics[k].server == metrics[m].server &&
			    (k < METRIC_LATENCIES) == (m < METRIC_LATENCIES) &&
			    row_columns_same(&run->columns, k, m, run->row_count))
				same[m] = k;
	}
}

static bool has_wrong(const struct picked_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].wrong)
			return true;
	return false;
}

/* Summarises a latency, with intervals unless the run says nothing of the next one. Those of percentiles are of the
 * latencies users wait for, and not of groups. */
static int summarise(struct figures *f, const struct row_selection *sel, enum metric m, struct samples *s,
                     int64_t infinite, struct metric_summary *to)
{
	const struct percentiles *list = &sel->options->percentiles;
	struct percentile_limits(*limits)[PERCENTILES_MOST] = f->limits;
	for (int i = 0; i < WAITED && limits && infinite == 0 && !sel->bursty; i++) {
		if (waited_metrics[i] == m || sel->same[waited_metrics[i]] == m)
			return metric_summary_with_limits(to, s, 1e-6, list, limits[to == &f->due[m] ? WAITED + i : i]);
	}
	metric_summary_of_samples(to, s, infinite, 1e-6, list);
	if (sel->bursty)
		to->low = to->high = NAN;
	return 0;
}

static int build_times(struct figures *f, const struct row_selection *sel, const struct picked_rows *rows,
                       struct samples *s)
{
	const struct figure_options *options = sel->options;
	bool copy = !has_wrong(rows) && !options->early_stopping; /* else, metrics differ in the values for failures */
	int64_t failures;
	for (int i = 0; i < WAITED; i++)
		for (int k = 0; k < EARLY_PERCENTILES; k++)
			f->early[i][k] = NAN;
	for (enum metric m = 0; m < METRIC_COUNT; m++) {
		if (copy && sel->same[m] != m) {
			f->start[m] = f->start[sel->same[m]];
			f->due[m] = f->due[sel->same[m]];
			continue;
		}
		if (row_samples_metric(rows, m, FROM_START, s, &failures) < 0)
			return -1;
		if (summarise(f, sel, m, s, options->errors_as_inf ? failures : 0, &f->start[m]) < 0)
			return -1;
		build_waited(f, options, m, s, failures);
		if (!metrics[m].from_due)
			continue;
		if (row_samples_metric(rows, m, FROM_DUE, s, &failures) < 0)
			return -1;
		if (summarise(f, sel, m, s, options->errors_as_inf ? failures : 0, &f->due[m]) < 0)
			return -1;
		build_waited(f, options, m, s, failures);
	}
	return 0;
}

/* Has a request of the selection gaps in this stage? */
static bool has_gaps(const struct row_selection *sel, int32_t stage)
{
	for_rows(sel, row) if (row->stage == stage && row->ok && row_get(row, METRIC_ITL_MEAN) != IPF_ABSENT) return true;
	return false;
}

/* The gaps in the steady part of the stages, from the windows of the run; of a member, and of repeats, they are not
 * known. 0: no stage is narrowed. */
static int build_steady_gaps(struct figures *f, const struct row_selection *sel)
{
	const struct run_data *run = sel->run;
	struct histogram *all = histogram_new_coarse();
	bool any = false;
	for (size_t s = 0; all && s < run->schedule.count; s++) {
		const struct stage_window range = run_data_part_window(run, 0, (int32_t)s);
		if (!range.steady || (sel->stage >= 0 ? (int32_t)s != sel->stage : !run->schedule.stages[s].measured))
			continue;
		any = true;
		const bool known = sel->member < 0 && run->windows && (run->shards || run->part_count == 1);
		const struct window *w;
		for (size_t i = 0; known && (w = series_get(run->windows, i)); i++)
			if (w->stage == (int64_t)s && w->itl_ns && window_begin_ns(w) >= range.begin_ns &&
			    window_begin_ns(w) + w->length_ns <= range.end_ns)
				histogram_merge(all, w->itl_ns);
	}
	if (any && all)
		metric_summary_of_histogram(&f->itl, all, 1e-6, &sel->options->percentiles);
	histogram_free(all);
	return all ? any : -1;
}

/* There are no histograms for each target. Those of a model are complete or none: not of some stages only. */
static int build_gaps(struct figures *f, const struct row_selection *sel)
{
	const int steady = sel->options->window == WINDOW_STEADY ? build_steady_gaps(f, sel) : 0;
	if (steady != 0)
		return steady < 0 ? -1 : 0;
	struct histogram *all = histogram_new(), *none = histogram_new();
	bool complete = sel->member < 0 || sel->by == BY_MODEL;
	for (size_t s = 0; all && none && complete && s < sel->run->schedule.count; s++) {
		bool in = sel->stage >= 0 ? (int32_t)s == sel->stage : sel->run->schedule.stages[s].measured;
		const struct histogram *gaps = in ? run_data_gaps(sel->run, (int32_t)s, sel->member) : NULL;
		if (gaps)
			histogram_merge(all, gaps);
		else if (in && sel->member >= 0)
			complete = !has_gaps(sel, (int32_t)s);
	}
	bool failed = !all || !none;
	if (!failed)
		metric_summary_of_histogram(&f->itl, complete ? all : none, 1e-6, &sel->options->percentiles);
	histogram_free(all);
	histogram_free(none);
	return failed ? -1 : 0;
}

static int build_tokens(struct figures *f, const struct figure_options *options, const struct picked_rows *rows,
                        struct samples *s)
{
	static const enum row_column columns[] = {ROW_INPUT_TOKENS, ROW_OUTPUT_TOKENS, ROW_REASONING_TOKENS,
	                                          ROW_ASKED_INPUT,  ROW_ASKED_OUTPUT,  ROW_INPUTS,
	                                          ROW_TOOL_CALLS};
	struct metric_summary *summaries[] = {&f->input,        &f->output, &f->reasoning, &f->asked_input,
	                                      &f->asked_output, &f->inputs, &f->tool_calls};
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
		if (row_samples_column(rows, columns[i], s) < 0)
			return -1;
		metric_summary_of_samples(summaries[i], s, 0, 1, &options->percentiles);
	}
	return 0;
}

/* ---- counts ---- */

static void count_media(struct figures *f, const struct row *row)
{
	f->images += row_get_or_0(row, ROW_IMAGES);
	f->audio_clips += row_get_or_0(row, ROW_AUDIO_CLIPS);
	f->video_clips += row_get_or_0(row, ROW_VIDEO_CLIPS);
	f->audio_ns += row_get_or_0(row, ROW_AUDIO_NS);
	f->media_bytes += row_get_or_0(row, ROW_MEDIA_BYTES);
	f->output_audio_ns += row_get_or_0(row, ROW_OUTPUT_AUDIO_NS);
	f->played += row_get(row, ROW_PLAYBACK_WAIT_NS) != IPF_ABSENT;
	f->played_on += row_get(row, ROW_PLAYBACK_WAIT_NS) == 0;
}

static void count_refusals(struct refusal_figures *r, const struct row *row)
{
	int64_t attempts = row_get(row, ROW_ATTEMPTS), refusals = row_get_or_0(row, ROW_REFUSALS),
			asked = row_get_or_0(row, ROW_RETRY_AFTERS);
	r->refused += refusals > 0;
	r->refusals += refusals;
	r->retried += attempts > 1; /* one that was hung up while it waited has an attempt, and was not sent again */
	r->retried_ok += attempts > 1 && row->ok;
	r->attempts += attempts != IPF_ABSENT ? attempts : row->start_ns != IPF_ABSENT;
	r->waited_ns += (double)row_get_or_0(row, ROW_RETRY_WAIT_NS);
	if (row->start_ns != IPF_ABSENT && row->end_ns != IPF_ABSENT)
		r->in_all_ns += (double)(row->end_ns - row->start_ns);
	r->early += row_get_or_0(row, ROW_RETRY_EARLY);
	if (!asked)
		return;
	double least = (double)row_get_or_0(row, ROW_RETRY_AFTER_MIN_NS),
		   most = (double)row_get_or_0(row, ROW_RETRY_AFTER_MAX_NS);
	r->asked_min_ns = !r->asked || least < r->asked_min_ns ? least : r->asked_min_ns;
	r->asked_max_ns = !r->asked || most > r->asked_max_ns ? most : r->asked_max_ns;
	r->asked_ns += (double)row_get_or_0(row, ROW_RETRY_AFTER_NS);
	r->asked += asked;
}

/* The values come together or not at all, so sums of both are of the same turns. */
static void count_history(struct history_figures *h, const struct row *row)
{
	const int64_t before = row_get(row, ROW_HISTORY_TOKENS), same = row_get(row, ROW_HISTORY_SAME),
				  generated = row_get(row, ROW_HISTORY_GENERATED), found = row_get(row, ROW_HISTORY_CACHED),
				  text = row_get(row, ROW_HISTORY_TEXT);
	h->turns += row_get(row, ROW_CONTINUES) != IPF_ABSENT;
	if (before != IPF_ABSENT && same != IPF_ABSENT) {
		h->compared++;
		h->compared_tokens += before;
		h->differing += same < before;
		h->differing_tokens += before - same;
	}
	if (generated != IPF_ABSENT && found != IPF_ABSENT) {
		h->generated_tokens += generated;
		h->found_tokens += found;
	}
	if (generated != IPF_ABSENT && text != IPF_ABSENT) {
		h->read_generated += generated;
		h->read_tokens += text;
	}
}

static void count_requests(struct figures *f, const struct row_selection *sel)
{
	for_rows(sel, row)
	{
		f->started += row->start_ns != IPF_ABSENT;
		count_refusals(&f->refusals, row);
		if (row_get_or_0(row, ROW_AFTER_END) > 0) {
			f->after_end += row_get_or_0(row, ROW_AFTER_END);
			f->went_on++;
		}
		if (row->ok) {
			f->ok++;
			f->empty += row_get(row, ROW_EVENTS) == 0;
			f->not_streamed[row->not_streamed] += row->not_streamed != RESULT_STREAMED;
			if (row->output_check < OUTPUT_COUNT)
				f->outputs[row->output_check]++;
			f->events += row_get_or_0(row, ROW_EVENTS);
			f->reads_known |= row_get(row, ROW_COALESCED) != IPF_ABSENT;
			f->stalls_known |= row_get(row, ROW_STALLS) != IPF_ABSENT;
			f->coalesced += row_get_or_0(row, ROW_COALESCED);
			f->stalls += row_get_or_0(row, ROW_STALLS);
			f->stalled += row_get_or_0(row, ROW_STALLS) > 0;
			f->deadlines += row_get_or_0(row, ROW_DEADLINES);
			f->deadlines_met += row_get_or_0(row, ROW_DEADLINES_MET);
			f->image_tokens += row_get_or_0(row, ROW_IMAGE_TOKENS);
			f->audio_tokens += row_get_or_0(row, ROW_AUDIO_TOKENS);
			f->output_audio_tokens += row_get_or_0(row, ROW_OUTPUT_AUDIO_TOKENS);
			count_media(f, row);
			count_history(&f->history, row);
			token_reads_add(&f->token_reads, row);
			f->spec_drafts += row_get_or_0(row, ROW_SPEC_DRAFTS);
			f->spec_draft_tokens += row_get_or_0(row, ROW_SPEC_DRAFT_TOKENS);
			f->spec_accepted_tokens += row_get_or_0(row, ROW_SPEC_ACCEPTED_TOKENS);
			if (row->source >= 0)
				f->by_source[row->source]++;
			if (row->finish >= 0)
				f->by_finish[row->finish]++;
		} else if (row->error == VERDICT_HUNG_UP) {
			f->hung_up++;
		} else if (row->error == VERDICT_UNSEEN) {
			f->unseen++;
		} else {
			f->failed++;
			f->stale += row->stale;
			if (row->error >= 0)
				f->errors[row->error]++;
			f->cut += row->error >= 0 && strcmp(verdict_kinds[row->error], "cut") == 0;
			f->cancelled += row->error >= 0 && strcmp(verdict_kinds[row->error], "cancelled") == 0;
		}
	}
}

/* The time that figures cover: the window of a stage, or of all measured ones (-1), each moment once. The part of a
 * window of time within the other one. -1: out of memory. */
static int64_t window_of(const struct row_selection *sel, int32_t stage)
{
	const struct run_data *run = sel->run;
	const bool by_time = sel->member >= 0 && sel->by == BY_TIME;
	const int64_t from_ns = (run->time_group_first + sel->member) * run->time_group_ns;
	const bool drain = sel->options->window == WINDOW_DRAIN && !by_time;
	int64_t sum = 0;
	for (int i = 0; i < (run->shards ? 1 : run->part_count); i++) {
		struct measured_time covered;
		if (measured_time_find(&covered, run, i, stage, drain, &(struct ipf_error){0}) < 0)
			return -1;
		sum += by_time ? measured_time_ns(&covered, from_ns, from_ns + run->time_group_ns)
		               : measured_time_ns(&covered, INT64_MIN, INT64_MAX);
		measured_time_release(&covered);
	}
	return sum;
}

/* How many requests a stage scheduled, and its length; IPF_ABSENT if not known. */
static void schedule_of(const struct run_data *run, int32_t stage, int64_t *scheduled, int64_t *length_ns)
{
	const struct schedule_stage *schedule = &run->schedule.stages[stage];
	*scheduled = *length_ns = IPF_ABSENT;
	if (schedule->cycle || schedule->arrivals == IPF_ABSENT)
		return;
	int64_t sum = 0, most = schedule->all_arrivals; /* the schedule of a shard also has the arrivals of all shards */
	for (int i = 0; i < run->part_count; i++) {
		const struct run_part *part = &run->parts[i];
		if (part->stopped_ns != IPF_ABSENT && stage >= part->stopped_stage) /* how many until then is not known */
			return;
		int64_t arrivals = part->loads[stage].arrivals;
		sum += arrivals;
		most = arrivals > most ? arrivals : most;
	}
	*scheduled = run->one_schedule ? most : sum;
	if (!schedule->closed && schedule->end_ns != IPF_ABSENT)
		*length_ns = (schedule->end_ns - schedule->begin_ns) * (run->shards ? 1 : run->part_count);
}

/* How many of a stage's scheduled requests are of the member. Known only if every one of them has a row, since the
 * schedule names no models. */
static int64_t scheduled_of_member(const struct row_selection *sel, int64_t scheduled)
{
	int64_t own = 0, count;
	for_rows(sel, row) own++;
	run_data_stage_rows(sel->whole, sel->stage, &count);
	return count == scheduled ? own : IPF_ABSENT;
}

/* The number of starts after the first, and the time from the first to the last: over all shards, or summed over
 * repeats. */
static void pace_of(const struct row_selection *sel, int64_t *after_first, int64_t *span_ns)
{
	*after_first = *span_ns = 0;
	for (int part = 0; part < sel->run->part_count; part++) {
		int64_t first = IPF_ABSENT, last = IPF_ABSENT, n = 0;
		for_rows(sel, row)
		{
			if ((!sel->run->shards && row->part != part) || row->start_ns == IPF_ABSENT)
				continue;
			first = first == IPF_ABSENT || row->start_ns < first ? row->start_ns : first;
			last = last == IPF_ABSENT || row->start_ns > last ? row->start_ns : last;
			n++;
		}
		if (n > 1) {
			*after_first += n - 1;
			*span_ns += last - first;
		}
		if (sel->run->shards)
			break;
	}
}

/* A figure the window does not cover is absent: answers that all ended after it are no rate of 0. */
static void leave_out_throughput(struct figures *f, bool has_window, double ok, bool has_tokens)
{
	if (figures_requests(f) == 0)
		return;
	if (f->ended == 0 && ok == 0)
		f->no_throughput = has_window ? "no request ended within the window" : "the window has no length";
	else if (ok == 0 && f->ok > 0)
		f->no_throughput = "no successful request ended within the window";
	else if (ok > 0 && !has_tokens && f->input_total + f->output_total > 0)
		f->no_throughput = "no request whose tokens are known ended within the window";
	if (f->no_throughput && ok == 0)
		f->completed = f->completed_own = f->goodput = NAN;
}

/* Are there too many unmeasured requests, beside the measured ones? */
static bool too_many(int64_t unmeasured, int64_t measured)
{
	return (double)unmeasured > GOODPUT_UNMEASURED_MOST * (double)(measured + unmeasured);
}

static void judge_requests(struct figures *f, const struct row_selection *sel)
{
	for_rows(sel, row)
	{
		double prompt = (double)row_get_or_0(row, ROW_INPUT_TOKENS),
			   tokens = (double)row_get_or_0(row, ROW_OUTPUT_TOKENS);
		f->judged += row->goodness == SLO_GOOD || row->goodness == SLO_MISSED;
		f->good += row->goodness == SLO_GOOD;
		f->left_out += row->goodness == SLO_LEFT_OUT;
		f->unmeasured += row->goodness == SLO_UNMEASURED;
		f->input_total += row->ok ? prompt : 0;
		f->output_total += row->ok ? tokens : 0;
		f->good_output_total += row->goodness == SLO_GOOD ? tokens : 0;
	}
}

/* The effects of the window's edges on its counts. */
static void build_edges(struct figures *f, const struct row_selection *sel, const struct rate_parts *parts)
{
	const struct completions *all = &parts->all;
	f->completed_counted = parts->corrected ? ratio((double)all->ended_ok, (double)parts->window_ns / 1e9) : NAN;
	f->begin_in_flight = parts->biased && sel->member < 0 ? (double)parts->begin_in_flight : NAN;
	f->end_in_flight = parts->biased && sel->member < 0 ? (double)parts->end_in_flight : NAN;
	f->tokens_spread = all->output_tokens > 0 ? all->spread_tokens / all->output_tokens : NAN;
	if (!(f->tokens_spread > SPREAD_SHOWN))
		f->tokens_spread = NAN;
}

/* Everything counted in the window. */
static void build_rates(struct figures *f, const struct row_selection *sel, const struct rate_parts *parts)
{
	const struct completions *all = &parts->all;
	const bool has_input = all->has_input, has_output = all->has_output && !all->uncounted;
	judge_requests(f, sel);
	f->ended = all->ended;
	f->ended_own = parts->own.ended;
	double seconds = (double)parts->window_ns / 1e9;
	f->window_s = parts->window_ns > 0 ? seconds : NAN;
	f->completed = ratio(all->ok, seconds);
	f->completed_own = ratio(parts->own.ok, seconds);
	f->inputs_per_s = all->has_inputs ? ratio(all->inputs, seconds) : NAN;
	f->input_per_s = has_input ? ratio(all->input_tokens, seconds) : NAN;
	f->output_per_s = has_output ? ratio(all->output_tokens, seconds) : NAN;
	f->images_per_s = all->images > 0 ? ratio(all->images, seconds) : NAN;
	f->audio_s_per_s = all->audio_ns > 0 ? ratio(all->audio_ns / 1e9, seconds) : NAN;
	f->output_audio_s_per_s = all->output_audio_ns > 0 ? ratio(all->output_audio_ns / 1e9, seconds) : NAN;
	f->total_per_s = has_input && has_output ? ratio(all->input_tokens + all->output_tokens, seconds) : NAN;
	f->little = parts->busy_ns > 0 ? ratio(parts->busy_ns, (double)parts->window_ns) : NAN;
	bool known = f->judged > 0 && !too_many(f->unmeasured, f->judged);
	f->goodput = known ? ratio(all->good, seconds) : NAN;
	f->good_output_per_s = known && has_output ? ratio(all->good_output_tokens, seconds) : NAN;
	f->good_share = known ? ratio((double)f->good, (double)f->judged) : NAN;
	build_edges(f, sel, parts);
	leave_out_throughput(f, parts->window_ns > 0, all->ok, has_input || has_output);
	f->achieved = ratio((double)parts->after_first * 1e9, (double)parts->span_ns);
	f->offered = parts->has_length ? ratio((double)parts->scheduled * 1e9, (double)parts->length_ns) : NAN;
	f->in_flight_mean = ratio(parts->in_flight_ns, (double)parts->window_ns);
	if (isnan(f->in_flight_mean))
		f->in_flight_max = NAN;
}

/* ---- residuals of token counts ---- */

static const struct {
	const char *name;
	enum row_column a, b;
} residual_specs[RESIDUALS] = {
	[OUTPUT_USAGE_TOKENIZER] = {"output_usage_minus_tokenizer", ROW_OUTPUT_USAGE, ROW_OUTPUT_TOKENIZER},
	[OUTPUT_USAGE_EVENTS] = {"output_usage_minus_events", ROW_OUTPUT_USAGE, ROW_EVENTS},
	[OUTPUT_TOKENIZER_EVENTS] = {"output_tokenizer_minus_events", ROW_OUTPUT_TOKENIZER, ROW_EVENTS},
	[INPUT_USAGE_TOKENIZER] = {"input_usage_minus_tokenizer", ROW_INPUT_USAGE, ROW_INPUT_TOKENIZER},
	[INPUT_ASKED] = {"input_minus_asked", ROW_INPUT_USAGE, ROW_ASKED_INPUT},
	[OUTPUT_ASKED] = {"output_minus_asked", ROW_OUTPUT_TOKENS, ROW_ASKED_OUTPUT},
};

/* The difference of two columns, over the successful requests that have both. */
static struct token_difference difference_of(const struct picked_rows *rows, enum row_column a, enum row_column b,
                                             const char *name)
{
	struct token_difference r = {.name = name, .mean = NAN, .min = NAN, .max = NAN, .share = NAN};
	const struct column_values *values_a = &rows->columns->list[a], *values_b = &rows->columns->list[b];
	const bool both = column_exists(values_a) && column_exists(values_b);
	double sum = 0, of = 0;
	for (size_t i = 0; both && i < rows->count; i++) {
		const struct picked_row *row = &rows->list[i];
		const int64_t of_a = column_value(values_a, row->at), of_b = column_value(values_b, row->at);
		const bool unknown = (a == ROW_INPUT_USAGE && of_a == 0) || (b == ROW_EVENTS && row->whole);
		if (!row->ok || of_a == IPF_ABSENT || of_b == IPF_ABSENT || unknown)
			continue;
		double difference = (double)(of_a - of_b);
		r.min = r.n == 0 ? difference : fmin(r.min, difference);
		r.max = r.n == 0 ? difference : fmax(r.max, difference);
		r.n++;
		sum += difference;
		of += (double)of_b;
	}
	r.mean = ratio(sum, (double)r.n);
	r.share = ratio(sum, of);
	return r;
}

static void build_residuals(struct figures *f, const struct picked_rows *rows)
{
	const struct column_values *cached_tokens = &rows->columns->list[ROW_CACHED_TOKENS],
							   *input_tokens = &rows->columns->list[ROW_INPUT_TOKENS];
	double sum = 0, of = 0;
	for (int i = 0; i < RESIDUALS; i++)
		f->residuals[i] = difference_of(rows, residual_specs[i].a, residual_specs[i].b, residual_specs[i].name);
	for (size_t i = 0; column_exists(cached_tokens) && i < rows->count; i++) {
		const int64_t cached = column_value(cached_tokens, rows->list[i].at),
					  input = column_value(input_tokens, rows->list[i].at);
		if (!rows->list[i].ok || cached == IPF_ABSENT || input == IPF_ABSENT)
			continue;
		sum += (double)cached;
		of += (double)input;
	}
	f->cached_share = ratio(sum, of);
}

static int build_objectives(struct figures *f, const struct row_selection *sel, const struct picked_rows *picked,
                            struct samples *s)
{
	const struct slo *slo = sel->run->slo;
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		struct attainment *a = &f->objectives[i];
		*a = (struct attainment){.share = NAN, .value_ms = NAN, .waited_ms = NAN};
		int64_t rows = 0, met = 0;
		for_rows(sel, row)
		{
			if (row->checked)
				continue;
			a->unmeasured += (row->marks.unmeasured >> i) & 1;
			a->absent += (row->marks.absent >> i) & 1;
			rows += !verdict_uncounted(row->error) && !((row->marks.unmeasured >> i) & 1);
			met += (row->marks.met >> i) & 1;
		}
		if (isnan(objective->percentile)) {
			a->share = too_many(a->unmeasured, rows) ? NAN : ratio((double)met, (double)rows);
			continue;
		}
		if (attainment_of_rows(a, objective, picked, sel->options->errors_as_inf, s) < 0)
			return -1;
		if (!sel->loads_differ)
			a->state = a->value_ms * 1e6 <= (double)objective->limit_ns ? OBJECTIVE_MET : OBJECTIVE_MISSED;
		else if (sel->stage >= 0 && stage_has_one_load(sel->whole, (size_t)sel->stage))
			attainment_judge(a, objective);
	}
	return 0;
}

/* ---- stages, total, groups ---- */

static struct picked_rows pick(const struct row_selection *sel)
{
	struct picked_rows picked = {.columns = &sel->whole->columns};
	for_rows(sel, row) if (run_data_is_steady(sel->run, row)) picked_rows_add(&picked, row);
	return picked;
}

/* Builds all figures except the caller's: name, window, schedule, requests in flight. */
static int build_figures(struct figures *f, const struct row_selection *sel, const struct rate_parts *parts,
                         struct ipf_error *err)
{
	struct samples s = {0};
	struct picked_rows picked = pick(sel);
	f->by_finish = calloc((size_t)sel->run->finishes.count + 1, sizeof *f->by_finish);
	f->limits = sel->member < 0 ? calloc((size_t)2 * WAITED, sizeof *f->limits) : NULL;
	int bad = !f->by_finish || picked.failed || (sel->member < 0 && !f->limits);
	if (!bad) {
		count_requests(f, sel);
		if (!f->token_reads.several)
			f->token_reads = (struct token_reads_figures){0};
		build_rates(f, sel, parts);
		build_residuals(f, &picked);
		bad = build_times(f, sel, &picked, &s) < 0 || build_gaps(f, sel) < 0 ||
		      build_tokens(f, sel->options, &picked, &s) < 0 || build_objectives(f, sel, &picked, &s) < 0;
	}
	samples_release(&s);
	picked_rows_release(&picked);
	return bad ? ipf_error_memory(err) : 0;
}

static void add_edges(struct rate_parts *parts, const struct row_selection *sel)
{
	for (int i = 0; i < (sel->run->shards ? 1 : sel->run->part_count); i++) {
		const struct edge_rule *rule = edge_rule_of(sel->rules, i, sel->stage);
		parts->biased |= rule->biased;
		parts->corrected |= rule->counting != EDGE_ENDS;
		parts->begin_in_flight += rule->begin_in_flight;
		parts->end_in_flight += rule->end_in_flight;
	}
}

static int set_stage(struct figures *f, struct rate_parts *parts, const struct row_selection *sel,
                     const struct in_flight *load, struct ipf_error *err)
{
	const struct schedule_stage *schedule = &sel->run->schedule.stages[sel->stage];
	bool by_time = sel->member >= 0 && sel->by == BY_TIME;
	f->name = schedule->name;
	f->kind = schedule->kind;
	f->measured = schedule->measured;
	f->in_flight_max = by_time ? NAN : load->most;
	f->scheduled = IPF_ABSENT;
	*parts = (struct rate_parts){.window_ns = window_of(sel, sel->stage),
	                             .in_flight_ns = by_time ? NAN : load->integral,
	                             .busy_ns = by_time ? 0 : load->busy};
	if (parts->window_ns < 0)
		return ipf_error_memory(err);
	if (sel->member < 0 ||
	    (sel->by != BY_TARGET && sel->by != BY_REPLICA)) { /* ipf-fire decides on targets, not the schedule */
		schedule_of(sel->run, sel->stage, &f->scheduled, &parts->length_ns);
		if (sel->member >= 0)
			f->scheduled = scheduled_of_member(sel, f->scheduled);
		if (by_time && parts->length_ns != IPF_ABSENT)
			parts->length_ns = parts->window_ns;
		parts->has_length = f->scheduled != IPF_ABSENT && parts->length_ns != IPF_ABSENT && parts->length_ns > 0;
		parts->scheduled = f->scheduled == IPF_ABSENT ? 0 : f->scheduled;
	}
	pace_of(sel, &parts->after_first, &parts->span_ns);
	completions_count(&parts->all, &parts->own, &(struct counted_rows){sel->run, -1, sel->stage}, sel->rules);
	if (by_time) /* which is the time when requests were due: it has no others */
		parts->all = parts->own;
	add_edges(parts, sel);
	return 0;
}

/* The stages of a level, and the parts of their rates. */
struct level {
	struct figures *stages;
	struct rate_parts *parts;
	size_t count;
};

/* Adds up the stages; with `parts_only`, those with a window. The total has an offered rate only if every stage has
 * one. */
static struct rate_parts set_total(struct figures *f, const struct level *level, bool parts_only)
{
	struct rate_parts sum = {.has_length = true};
	f->name = "total";
	f->total = f->measured = true;
	f->scheduled = 0;
	for (size_t i = 0; i < level->count; i++) {
		const struct figures *stage = &level->stages[i];
		const struct rate_parts *parts = &level->parts[i];
		if (!stage->measured || (parts_only && parts->window_ns == 0))
			continue;
		sum.window_ns += parts->window_ns;
		sum.corrected |= parts->corrected;
		completions_add(&sum.all, &parts->all);
		completions_add(&sum.own, &parts->own);
		f->in_flight_max = fmax(f->in_flight_max, stage->in_flight_max); /* fmax of a NAN and a number is the number */
		sum.after_first += parts->after_first;
		sum.span_ns += parts->span_ns;
		sum.has_length = sum.has_length && parts->has_length;
		if (parts->has_length) {
			sum.length_ns += parts->length_ns;
			sum.scheduled += parts->scheduled;
		}
		f->scheduled = f->scheduled == IPF_ABSENT || stage->scheduled == IPF_ABSENT ? IPF_ABSENT
		                                                                            : f->scheduled + stage->scheduled;
	}
	return sum;
}

/* The only measured stage with a window; NULL: there are several or none. */
static const struct figures *only_stage(const struct level *level)
{
	const struct figures *only = NULL;
	for (size_t i = 0; i < level->count; i++) {
		if (!level->stages[i].measured)
			continue;
		if (only || level->parts[i].window_ns == 0)
			return NULL;
		only = &level->stages[i];
	}
	return only;
}

/* Sets the figures of the windows of all measured stages together. */
static int measure_total(struct rate_parts *parts, const struct row_selection *sel, const struct in_flight *load,
                         struct ipf_error *err)
{
	const bool by_time = sel->member >= 0 && sel->by == BY_TIME;
	const int64_t window_ns = window_of(sel, -1);
	const bool overlapping = window_ns != parts->window_ns;
	if (window_ns < 0)
		return ipf_error_memory(err);
	parts->window_ns = window_ns;
	parts->in_flight_ns = by_time ? NAN : load->integral;
	parts->busy_ns = by_time ? 0 : load->busy;
	if (by_time || !overlapping)
		return 0;
	parts->all = (struct completions){0};
	parts->corrected = false;
	return completions_count_all(&parts->all, &(struct counted_rows){sel->run, -1, -1}, sel->rules, err);
}

/* The total of one stage is the stage. */
static int build_total(struct figures *total, const struct level *level, const struct row_selection *all,
                       const struct in_flight *load, struct ipf_error *err)
{
	const struct figures *only = only_stage(level);
	struct row_selection sel = select_rows(all, -1);
	struct rate_parts parts = set_total(total, level, all->member >= 0 && all->by == BY_TIME);
	if (!only)
		return measure_total(&parts, &sel, load, err) < 0 ? -1 : build_figures(total, &sel, &parts, err);
	size_t finishes = (size_t)all->run->finishes.count + 1;
	struct figures same = *only;
	same.by_finish = malloc(finishes * sizeof *same.by_finish);
	if (!same.by_finish)
		return ipf_error_memory(err);
	memcpy(same.by_finish, only->by_finish, finishes * sizeof *same.by_finish);
	same.limits = NULL; /* those of the stage, which its distributions have */
	same.name = total->name;
	same.kind = total->kind;
	same.total = true;
	*total = same;
	return 0;
}

/* Builds stages and total for all requests, or for a member of a grouping. */
static int build_level(struct figures *stages, struct figures *total, const struct row_selection *all,
                       struct ipf_error *err)
{
	const struct run_data *run = all->run;
	struct level level = {.stages = stages, .count = run->schedule.count};
	struct in_flight *flights = calloc(level.count + 1, sizeof *flights);
	level.parts = calloc(level.count + 1, sizeof *level.parts);
	int bad = flights && level.parts
	              ? in_flight_measure(run, all->by, -1, all->options->window == WINDOW_DRAIN, flights, err)
	              : ipf_error_memory(err);
	for (size_t i = 0; bad == 0 && i < level.count; i++) {
		struct row_selection sel = select_rows(all, (int32_t)i);
		bad = set_stage(&stages[i], &level.parts[i], &sel, &flights[i], err);
		if (bad == 0 && all->member < 0 && all->options->window != WINDOW_STEADY)
			bad = started_together_find(&stages[i].together, run, (int32_t)i, err);
		if (bad == 0)
			bad = build_figures(&stages[i], &sel, &level.parts[i], err);
	}
	if (bad == 0)
		bad = build_total(total, &level, all, &flights[level.count], err);
	free(level.parts);
	free(flights);
	return bad;
}

/* The rows of each member, one member after the other, in the order of the run. `begins` has one more than there are
 * members. NULL: out of memory. */
static struct row *rows_by_member(const struct run_data *run, enum grouping by, size_t members, int64_t *begins)
{
	struct row *rows = malloc((size_t)(run->row_count + 1) * sizeof *rows);
	if (!rows)
		return NULL;
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->rows[i].group[by] >= 0 && (size_t)run->rows[i].group[by] < members)
			begins[run->rows[i].group[by] + 1]++;
	for (size_t m = 0; m < members; m++)
		begins[m + 1] += begins[m];
	for (int64_t i = 0; i < run->row_count; i++)
		if (run->rows[i].group[by] >= 0 && (size_t)run->rows[i].group[by] < members)
			rows[begins[run->rows[i].group[by]]++] = run->rows[i];
	for (size_t m = members; m > 0; m--) /* each begin has become the next one's */
		begins[m] = begins[m - 1];
	begins[0] = 0;
	return rows;
}

/* Stages and total of each member into `all`, of which each has `level`. */
static int build_members(struct figures *all, size_t members, size_t level, const struct row_selection *whole,
                         struct ipf_error *err)
{
	int64_t *begins = calloc(members + 1, sizeof *begins);
	struct row *rows = begins ? rows_by_member(whole->run, whole->by, members, begins) : NULL;
	int bad = rows ? 0 : ipf_error_memory(err);
	for (size_t m = 0; bad == 0 && m < members; m++) {
		struct run_data own = *whole->run;
		own.rows = rows + begins[m];
		own.row_count = begins[m + 1] - begins[m];
		struct row_selection those = *whole;
		those.run = &own;
		those.member = (int32_t)m;
		bad = build_level(all + m * level, all + (m + 1) * level - 1, &those, err);
	}
	free(begins);
	free(rows);
	return bad;
}

static int build_groups(struct run_figures *figures, const struct row_selection *run_rows, enum grouping by,
                        struct ipf_error *err)
{
	const struct run_data *run = run_rows->run;
	size_t members = (size_t)figures->group_counts[by], level = figures->count + 1;
	struct figures *all = calloc(members * level, sizeof *all);
	if (!all)
		return ipf_error_memory(err);
	struct row_selection whole = *run_rows;
	whole.by = by;
	int bad = build_members(all, members, level, &whole, err);
	for (size_t i = 0; bad == 0 && i < level; i++) {
		struct figures *to = i < figures->count ? &figures->stages[i] : &figures->total;
		to->groups[by] = calloc(members, sizeof **to->groups);
		if (!to->groups[by]) {
			bad = ipf_error_memory(err);
			break;
		}
		for (size_t m = 0; m < members; m++) {
			to->groups[by][m] = all[m * level + i];
			to->groups[by][m].name = run->groups[by].list[m];
			all[m * level + i].by_finish = NULL;
		}
		if (by == BY_TAG)
			to->fairness = fairness_of(to->groups[by], (int)members);
	}
	for (size_t i = 0; i < members * level; i++)
		free(all[i].by_finish);
	free(all);
	return bad;
}

static bool window_shows(const struct figures *f)
{
	return !f->measured || (double)f->ended >= VERDICT_ENDED_DOUBTFUL * (double)f->started;
}

/* Do the windows show the run? Rates count the requests ending within. The first stage whose window does not is named:
 * there may be hundreds. */
static void judge_windows(const struct run_figures *figures, const struct run_data *run)
{
	const struct figures *first = NULL;
	int others = 0;
	char more[48] = "", what[120];
	for (size_t i = 0; i < figures->count; i++)
		if (!window_shows(&figures->stages[i])) {
			others += first != NULL;
			first = first ? first : &figures->stages[i];
		}
	if (!first)
		return;
	if (others > 0)
		snprintf(more, sizeof more, "; so it is in %d other stage%s", others, verdict_plural(others));
	if (first->ended > first->ended_own)
		snprintf(what, sizeof what, "%lld requests started, and only %lld, of any stage,", (long long)first->started,
		         (long long)first->ended);
	else
		snprintf(what, sizeof what, "only %lld of %lld started requests", (long long)first->ended,
		         (long long)first->started);
	verdict_note(run->verdict, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "%s: %s " VERDICT_SHORT_WINDOWS "%s%s", first->name,
	             what,
	             isnan(first->completed_counted) ? ", which its requests/s count (--window drain counts all)"
	                                             : ": its requests/s are an estimate",
	             more);
}

int run_figures_build(struct run_figures *figures, const struct run_data *run, const struct figure_options *options,
                      struct ipf_error *err)
{
	enum metric same[METRIC_COUNT];
	struct row_selection all = {.run = run, .whole = run, .options = options, .member = -1, .same = same};
	*figures = (struct run_figures){.rules = edge_rules_new(run, options->window == WINDOW_DRAIN),
	                                .stages = calloc(run->schedule.count + 1, sizeof *figures->stages),
	                                .count = run->schedule.count};
	all.rules = figures->rules;
	find_same_values(same, run);
	int bad = figures->stages && figures->rules ? bursts_seen(&figures->episodes, run, err) : ipf_error_memory(err);
	all.loads_differ = figures->loads_differ = loads_differ(run);
	all.bursty = figures->episodes < LOAD_EPISODES_FEWEST;
	if (bad == 0)
		bad = build_level(figures->stages, &figures->total, &all, err);
	for (enum grouping by = 0; by < GROUPINGS; by++) {
		int most = (int)(FIGURES_MOST / (figures->count + 1));
		figures->group_counts[by] = run->groups[by].count < most || most < 1 ? run->groups[by].count : most;
		/* a single model may be of interest; the figures of a single target are those of the total */
		if (bad == 0 && options->by[by] && run->groups[by].count > (by == BY_TARGET))
			bad = build_groups(figures, &all, by, err);
	}
	if (bad == 0 && options->window != WINDOW_STEADY)
		judge_windows(figures, run);
	return bad;
}

int64_t figures_requests(const struct figures *f)
{
	return f->ok + f->failed + f->hung_up + f->unseen;
}

static void figures_release(struct figures *f, const struct run_figures *figures)
{
	for (enum grouping by = 0; by < GROUPINGS; by++) {
		for (int m = 0; f->groups[by] && m < figures->group_counts[by]; m++)
			free(f->groups[by][m].by_finish);
		free(f->groups[by]);
	}
	free(f->by_finish);
	free(f->limits);
}

int figures_samples(const struct samples_query *query, struct samples *s, int64_t *infinite)
{
	const struct row_selection all = {.run = query->run, .whole = query->run, .options = query->options, .member = -1};
	const struct row_selection sel = select_rows(&all, query->stage);
	struct picked_rows picked = pick(&sel);
	int status = picked.failed ? -1 : row_samples_metric(&picked, query->metric, query->origin, s, infinite);
	picked_rows_release(&picked);
	if (!query->options->errors_as_inf)
		*infinite = 0;
	return status;
}

struct histogram *figures_gaps(const struct run_data *run, int32_t stage)
{
	struct histogram *all = histogram_new();
	for (size_t s = 0; all && s < run->schedule.count; s++) {
		bool in = stage >= 0 ? (int32_t)s == stage : run->schedule.stages[s].measured;
		const struct histogram *gaps = in ? run_data_gaps(run, (int32_t)s, -1) : NULL;
		if (gaps)
			histogram_merge(all, gaps);
	}
	return all;
}

void run_figures_release(struct run_figures *figures)
{
	for (size_t i = 0; figures->stages && i < figures->count; i++)
		figures_release(&figures->stages[i], figures);
	figures_release(&figures->total, figures);
	edge_rules_free(figures->rules);
	free(figures->stages);
	*figures = (struct run_figures){0};
}
