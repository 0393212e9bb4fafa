#include "fit/twin_check.h"

#include "results/run_data.h"
#include "safe_text.h"
#include "stats/samples.h"
#include "fit/twin_limits.h"
#include "fit/twin_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_STEPS   50   /* that a server is judged by */
#define SERVER_DIFFERS 0.15 /* as a share of a step's length: another server */
#define ERROR_MOST     0.5  /* as a share of the median E2E, at half of the loads: another kind of server */
#define TAIL_LEAST     100  /* requests, for an error at p99 */

int twin_check_run(const struct run_data *run, const struct verdict_finding *finding, struct ipf_error *err)
{
	const char *first = NULL;
	if (run->shards)
		return ipf_error_set(err, IPF_INPUT,
		                     "no twin of shards: no clock says in which step events of different clients were");
	for (enum verdict_question q = VERDICT_LOAD; q <= VERDICT_SERVER; q++)
		if (finding->checks[q].status == VERDICT_INVALID)
			return ipf_error_set(err, IPF_INPUT, "no twin of a run whose verdict is INVALID (%s)",
			                     verdict_question_names[q]);
	for (int i = 0; i < run->part_count; i++) {
		const char *model = json_string_value(json_object_get(run->parts[i].records, "model"));
		if (first && model && strcmp(first, model) != 0)
			return ipf_error_set(err, IPF_INPUT, "no twin of runs of different models: %s and %s", shown(first).text,
			                     shown(model).text);
		first = first ? first : model;
	}
	return 0;
}

/* ---- one server? ---- */

/* The median excess of steps over the twin's; NAN: too few of which all is known. *at: the first step of the next
 * server. */
static double longer_by(const struct twin *twin, const struct twin_steps *steps, int64_t *at, struct samples *values)
{
	int32_t server = steps->list[*at].server;
	samples_clear(values);
	for (; *at < steps->count && steps->list[*at].server == server; ++*at) {
		const struct twin_step *s = &steps->list[*at];
		if (s->length_ns != IPF_ABSENT && !s->waiting && (!s->firsts || s->timely))
			samples_add(values, (double)s->length_ns / twin_step_length(twin, s->sequences, (double)s->context_tokens,
			                                                            (double)s->prompt_tokens));
	}
	return values->count < SERVER_STEPS ? NAN : samples_percentile(values, 50);
}

/* The same for whole answers. */
static double spans_longer_by(const struct twin *twin, const struct twin_data *data, int64_t *at,
                              struct samples *values)
{
	struct robust_fit fit = {.columns = COLUMN_COUNT};
	struct ipf_error err = {0};
	samples_clear(values);
	values->failed |= twin_rows_of_server(&fit, data, *at, at, &err) < 0 || fit.failed;
	for (int64_t i = 0; i < fit.count; i++) {
		const double *x = fit.rows[i].x;
		samples_add(values, fit.rows[i].y /
		                        (twin_row_length(twin, x) + x[COLUMN_WAITING] * twin_value(twin, TWIN_STEP_WAITING)));
	}
	robust_fit_release(&fit);
	return values->count < SERVER_STEPS ? NAN : samples_percentile(values, 50);
}

int twin_check_servers(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                       struct ipf_error *err)
{
	struct samples values = {0};
	double least = INFINITY, most = 0;
	for (int64_t at = 0; at < (twin->by_spans ? data->request_count : steps->count) && !values.failed;) {
		double by = twin->by_spans ? spans_longer_by(twin, data, &at, &values) : longer_by(twin, steps, &at, &values);
		least = fmin(least, by);
		most = fmax(most, by);
	}
	bool failed = values.failed;
	samples_release(&values);
	if (failed)
		return ipf_error_memory(err);
	return most > least * (1 + SERVER_DIFFERS)
	           ? ipf_error_set(err, IPF_INPUT,
	                           "no twin of several different servers: steps of one take %.0f %% longer than those of "
	                           "another",
	                           100 * (most / least - 1))
	           : 0;
}

/* ---- how far from the runs it is ---- */

static void find_errors(struct twin_error to[TWIN_ERROR_COUNT], struct twin_replay *c)
{
	for (enum twin_error_of m = TWIN_ERROR_TTFT; m < TWIN_ERROR_COUNT; m++)
		to[m] = (struct twin_error){twin_replay_error(c, m, 50),
		                            c->measured[m].count < TAIL_LEAST ? NAN : twin_replay_error(c, m, 99)};
}

/* Requests in flight on average while those of a stage were sent; 0: not known. */
static double in_flight_of(const struct twin_data *data, int32_t stage)
{
	int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
	double busy_ns = 0;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct measured_request *r = &data->requests[i];
		if (r->stage != stage)
			continue;
		first_ns = r->start_ns < first_ns ? r->start_ns : first_ns;
		last_ns = r->last_ns > last_ns ? r->last_ns : last_ns;
		busy_ns += (double)(r->last_ns - r->start_ns);
	}
	return last_ns > first_ns ? busy_ns / (double)(last_ns - first_ns) : 0;
}

/* The error for each stage with enough requests. */
static int find_levels(struct twin *twin, struct twin_replay *c, struct ipf_error *err)
{
	for (int32_t stage = 0; stage < c->data->stages && twin->level_count < TWIN_LEVELS; stage++) {
		struct twin_level *level = &twin->levels[twin->level_count];
		if (twin_replay_stage(c, stage, err) < 0)
			return -1;
		level->in_flight = in_flight_of(c->data, stage);
		if (c->measured[TWIN_ERROR_E2E].count < TWIN_STAGE_LEAST || !(level->in_flight > 0))
			continue;
		find_errors(level->errors, c);
		twin->level_count++;
	}
	return 0;
}

/* Keeps the share of the greatest possible jitter predicting the runs best. */
static int choose_jitter(struct twin *twin, struct twin_replay *c, struct ipf_error *err)
{
	static const double parts[] = {0, 0.25, 0.5, 1};
	const double most = twin_value(twin, TWIN_JITTER);
	double best = 0, nearest = INFINITY;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		twin_set(twin, TWIN_JITTER, parts[i] * most, 0, most);
		double distance;
		if (twin_replay_run(c, twin, err) < 0 || twin_replay_by_stage(c, &distance, err) < 0)
			return -1;
		if (distance < nearest) {
			nearest = distance;
			best = parts[i];
		}
	}
	twin_set(twin, TWIN_JITTER, best * most, 0, most);
	return 0;
}

static int set_errors(struct twin *twin, struct twin_replay *c, const struct twin_steps *steps, struct ipf_error *err)
{
	if (twin_limits_try(twin, c, steps, err) < 0 || (twin->by_spans && choose_jitter(twin, c, err) < 0) ||
	    twin_replay_run(c, twin, err) < 0)
		return -1;
	/* no request found the server idle: the common lateness is the overhead */
	if (isnan(twin->p[TWIN_OVERHEAD].value) && c->late.count > 0) {
		double late = samples_percentile(&c->late, 50);
		double most = twin_value(twin, TWIN_STEP_BASE) + twin_value(twin, TWIN_STEP_SEQUENCE);
		late = fmin(fmax(late, 0), most);
		twin_set(twin, TWIN_OVERHEAD, late, 0, most);
		if (twin_replay_run(c, twin, err) < 0)
			return -1;
	}
	find_errors(twin->errors, c);
	return 0;
}

int twin_check_errors(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, double *distance,
                      struct ipf_error *err)
{
	struct twin_replay replay;
	int result = twin_replay_begin(&replay, data, err);
	if (result == 0)
		result = set_errors(twin, &replay, steps, err);
	const double all = result == 0 ? twin_replay_distance(&replay) : NAN;
	if (result == 0 && (result = twin_replay_by_stage(&replay, distance, err)) == 0)
		result = find_levels(twin, &replay, err);
	if (result == 0 && isnan(*distance))
		*distance = all;
	twin_replay_end(&replay);
	return result;
}

static int compare_errors(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The error of the median E2E, at the median of the loads. */
static double middle_error(const struct twin *twin)
{
	double list[TWIN_LEVELS];
	for (int i = 0; i < twin->level_count; i++)
		list[i] = twin->levels[i].errors[TWIN_ERROR_E2E].p50;
	qsort(list, (size_t)twin->level_count, sizeof *list, compare_errors);
	return twin->level_count ? list[(twin->level_count - 1) / 2] : twin->errors[TWIN_ERROR_E2E].p50;
}

int twin_check_kind(const struct twin *twin, struct ipf_error *err)
{
	const double error = middle_error(twin);
	return error < ERROR_MOST
	           ? 0
	           : ipf_error_set(err, IPF_INPUT,
	                           "no twin: this is another kind of server: the median E2E of its own runs would be "
	                           "predicted with an error of %.0f %%",
	                           100 * error);
}
