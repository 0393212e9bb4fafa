#include "fit/twin_fit.h"

#include "fit/twin_drafts.h"
#include "fit/twin_limits.h"

#include "stats/samples.h"
#include "fit/twin_rows.h"

#include <math.h>

#define STEPS_LEAST  50 /* steps of which all is known */
#define ROWS_LEAST   20 /* a kind's */
#define ALONE_LEAST  5  /* requests finding the server idle */
#define PAUSES_LEAST 3
#define PAUSE_LEAST  0.5e6 /* ns: shorter ones cannot be told from noise of the network */
#define JITTER_MOST  1     /* by spans: more is no variation of steps */
#define FLOOR        0.005 /* a value's: no interval is narrower on each side, since no clock is exact */

/* Before anything is known of the limit: the shortest third of the prompts was computed in one step. Spans cannot show
 * it: the cost of several steps of a prompt is part of the speed of prompts. */
static int guess_limit(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps)
{
	struct samples prompts = {0};
	for (int64_t i = 0; i < data->request_count; i++)
		if (steps->passages[i].alone)
			samples_add(&prompts, (double)(data->requests[i].input_tokens - data->requests[i].cached_tokens));
	double guess = samples_percentile(&prompts, twin->by_spans ? 100 : 33);
	bool failed = prompts.failed;
	samples_release(&prompts);
	twin_set_unknown(twin, TWIN_STEP_TOKENS, isnan(guess) ? 0 : guess, twin->by_spans ? NO_STEPS : "");
	return failed ? -1 : 0;
}

/* ---- parameters ---- */

static int64_t alone_rows(const struct robust_fit *fit)
{
	int64_t count = 0;
	for (int64_t r = 0; r < fit->count; r++)
		count += !fit->rows[r].left_out && fit->rows[r].x[COLUMN_OVERHEAD] > 0;
	return count;
}

static void set_by_fit(struct twin *twin, const struct robust_fit *fit, enum twin_parameter_id id, int column)
{
	double value = fit->value[column], half = 1.96 * fit->deviation[column];
	half = fmax(isnan(half) ? 0 : half, FLOOR * value);
	twin_set(twin, id, value, fmax(value - half, 0), value + half);
}

static void set_prefill(struct twin *twin, const struct robust_fit *fit)
{
	double per_token = fit->value[COLUMN_PROMPT], half = 1.96 * fit->deviation[COLUMN_PROMPT];
	if (!(per_token > 0) || isnan(half) || half > 0.5 * per_token) {
		twin_set_unknown(twin, TWIN_PREFILL, NAN,
		                 "prompts did not make steps longer: longer ones, of different lengths, would tell");
		return;
	}
	half = fmax(half, FLOOR * per_token);
	twin_set(twin, TWIN_PREFILL, 1e9 / per_token, 1e9 / (per_token + half), 1e9 / (per_token - half));
}

static void set_lengths(struct twin *twin, const struct robust_fit *fit)
{
	set_by_fit(twin, fit, TWIN_STEP_BASE, COLUMN_STEP);
	set_by_fit(twin, fit, TWIN_STEP_SEQUENCE, COLUMN_SEQUENCES);
	set_by_fit(twin, fit, TWIN_STEP_CONTEXT, COLUMN_CONTEXT);
	set_prefill(twin, fit);
	if (alone_rows(fit) >= ALONE_LEAST && fit->value[COLUMN_OVERHEAD] > 0)
		set_by_fit(twin, fit, TWIN_OVERHEAD, COLUMN_OVERHEAD);
	else
		twin_set_unknown(twin, TWIN_OVERHEAD, NAN, "too few requests found the server idle: a low rate would tell");
}

/* A context that explains less than can be told is none: steps are then a sum of two parts only. */
static bool context_matters(const struct robust_fit *fit)
{
	double mean = 0, rows = 0;
	for (int64_t r = 0; r < fit->count; r++) {
		if (fit->rows[r].left_out || fit->rows[r].x[COLUMN_OVERHEAD] > 0)
			continue;
		mean += fit->rows[r].x[COLUMN_CONTEXT] * fit->value[COLUMN_CONTEXT] / fit->rows[r].y;
		rows++;
	}
	return fit->value[COLUMN_CONTEXT] > 4 * fit->deviation[COLUMN_CONTEXT] && rows > 0 && mean / rows > 0.01;
}

static void clear_column(struct robust_fit *fit, int column)
{
	for (int64_t r = 0; r < fit->count; r++)
		fit->rows[r].x[column] = 0;
}

/* One round: rows, fit, lengths, and the tokens of a step, by which the next round knows more rows. */
static int fit_lengths(struct twin *twin, struct robust_fit *fit, const struct twin_data *data,
                       const struct twin_steps *steps, struct ipf_error *err)
{
	if (twin->by_spans)
		twin_rows_of_spans(fit, twin, data, steps);
	else
		twin_rows_of_steps(fit, twin, data, steps);
	if (fit->failed)
		return ipf_error_memory(err);
	if (fit->count < STEPS_LEAST)
		return ipf_error_set(
			err, IPF_INPUT,
			"too little for a twin: %lld steps of known length, %d are needed (longer answers, or more "
			"requests at once)",
			(long long)fit->count, STEPS_LEAST);
	bool good = robust_fit_solve(fit);
	if (good && !context_matters(fit)) {
		clear_column(fit, COLUMN_CONTEXT);
		good = robust_fit_solve(fit);
	}
	if (!good)
		return fit->failed ? ipf_error_memory(err)
		                   : ipf_error_set(err, IPF_INPUT, "no twin: the steps cannot be fitted");
	set_lengths(twin, fit);
	return !twin->by_spans && twin_limits_step_tokens(twin, data, steps) < 0 ? ipf_error_memory(err) : 0;
}

/* ---- variation between steps ---- */

/* The relative residual of a step of which all is known; NAN: of another. */
static double residual(const struct twin *twin, const struct twin_step *s)
{
	if (s->length_ns == IPF_ABSENT || s->waiting || (s->firsts && !s->timely))
		return NAN;
	return (double)s->length_ns /
	           twin_step_length(twin, s->sequences, (double)s->context_tokens, (double)s->prompt_tokens) -
	       1;
}

/* Neighbours share a time: the clock's error is added to one and subtracted from the other, so their covariance is
 * minus the variance of a time, of which a length has twice as much. */
static void set_jitter(struct twin *twin, const struct robust_fit *fit, const struct twin_steps *steps)
{
	const double most = ROBUST_CUT * fit->scale;
	double squares = 0, products = 0, before = NAN;
	int64_t count = 0, pairs = 0;
	for (int64_t k = 0; k < steps->count; k++) {
		double now = residual(twin, &steps->list[k]);
		if (fabs(now) <= most) {
			squares += now * now;
			count++;
			if (fabs(before) <= most) {
				products += now * before;
				pairs++;
			}
		}
		before = now;
	}
	double variance = count ? squares / (double)count : 0;
	if (pairs > ROWS_LEAST)
		variance += 2 * fmin(products / (double)pairs, 0);
	double jitter = sqrt(fmax(variance, 0)), half = count ? 1.96 * fit->scale / sqrt(2.0 * (double)count) : 0;
	twin_set(twin, TWIN_JITTER, jitter, fmax(jitter - half - 0.005, 0), jitter + half + 0.005);
}

/* Steps that are far too long. */
static void set_pauses(struct twin *twin, const struct robust_fit *fit, const struct twin_steps *steps)
{
	double longer = 0, busy = 0;
	int64_t count = 0;
	for (int64_t k = 0; k < steps->count; k++) {
		const struct twin_step *s = &steps->list[k];
		double by = residual(twin, s);
		if (isnan(by))
			continue;
		double extra = by / (1 + by) * (double)s->length_ns;
		busy += (double)s->length_ns;
		if (by > ROBUST_CUT * fit->scale && extra > PAUSE_LEAST) {
			longer += extra;
			count++;
		}
	}
	if (count < PAUSES_LEAST) {
		twin_set(twin, TWIN_PAUSE, 0, 0, 0);
		twin_set_unknown(twin, TWIN_PAUSE_EVERY, busy > 1e6 ? busy : NAN,
		                 "no pauses were seen; a longer run might show some");
		return;
	}
	double mean = longer / (double)count, every = busy / (double)count, part = 1.96 / sqrt((double)count);
	twin_set(twin, TWIN_PAUSE, mean, mean * fmax(1 - part, 0), mean * (1 + part));
	twin_set(twin, TWIN_PAUSE_EVERY, every, every / (1 + part), part < 1 ? every / (1 - part) : 1e15);
}

/* The variation of spans, if their steps varied one by one: the greatest jitter possible, of which the share predicting
 * the runs best is kept (twin_check.h). */
static void set_variation(struct twin *twin, const struct robust_fit *fit)
{
	double steps = 0, rows = 0;
	for (int64_t r = 0; r < fit->count; r++)
		if (!fit->rows[r].left_out && fit->rows[r].x[COLUMN_OVERHEAD] == 0) {
			steps += fit->rows[r].x[COLUMN_STEP];
			rows++;
		}
	double jitter = fmin(fit->scale * sqrt(rows > 0 ? steps / rows : 1), JITTER_MOST);
	twin_set(twin, TWIN_JITTER, jitter, 0, jitter);
	twin_set(twin, TWIN_PAUSE, 0, 0, 0);
	twin_set_unknown(twin, TWIN_PAUSE_EVERY, NAN, NO_STEPS);
}

static void set_prefix_cache(struct twin *twin, const struct twin_data *data)
{
	bool found = false;
	for (int64_t i = 0; i < data->request_count; i++)
		found |= data->requests[i].cached_tokens > 0;
	if (found)
		twin_set(twin, TWIN_PREFIX_CACHE, 1, 1, 1);
	else
		twin_set_unknown(twin, TWIN_PREFIX_CACHE, NAN,
		                 data->cached_reported ? "no prompt was found in a cache: prompts beginning alike would show it"
		                                       : "the server does not report cache hits");
}

int twin_fit(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, bool by_spans,
             struct ipf_error *err)
{
	struct robust_fit fit = {.columns = COLUMN_COUNT};
	int result = 0;
	twin_init(twin);
	twin->by_spans = by_spans;
	if (guess_limit(twin, data, steps) < 0)
		return ipf_error_memory(err);
	const int rounds = by_spans ? 1 : 3; /* nothing a round finds changes which spans there are */
	for (int round = 0; round < rounds && result == 0; round++)
		result = fit_lengths(twin, &fit, data, steps, err);
	if (result == 0) {
		set_by_fit(twin, &fit, TWIN_STEP_WAITING, COLUMN_WAITING); /* 0 by steps, which have none in their rows */
		if (by_spans) {
			set_variation(twin, &fit);
		} else {
			set_jitter(twin, &fit, steps);
			set_pauses(twin, &fit, steps);
		}
		set_prefix_cache(twin, data);
		twin_drafts_fit(twin, data);
		twin->requests = data->request_count;
		twin->steps = fit.used;
	}
	robust_fit_release(&fit);
	return result;
}
