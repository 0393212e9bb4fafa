#include "twin/twin_check.h"

#include "results/run_data.h"
#include "safe_text.h"
#include "stats/samples.h"
#include "twin/twin_limits.h"

#include <math.h>
#include <string.h>

#define SERVER_STEPS   50   /* that a server is judged by */
#define SERVER_DIFFERS 0.15 /* of the length of a step: another server */
#define ERROR_MOST     0.5  /* of the median of E2E: another kind of server */

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

/* The median of what steps take longer than by the twin; NAN: too few of which all is known. *at: the first step of the
 * next server. */
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

int twin_check_servers(const struct twin *twin, const struct twin_steps *steps, struct ipf_error *err)
{
	struct samples values = {0};
	double least = INFINITY, most = 0;
	for (int64_t at = 0; at < steps->count;) {
		double by = longer_by(twin, steps, &at, &values);
		least = fmin(least, by);
		most = fmax(most, by);
	}
	bool failed = values.failed;
	samples_release(&values);
	if (failed)
		return ipf_error_memory(err);
	return most > least * (1 + SERVER_DIFFERS)
	           ? ipf_error_set(err, IPF_INPUT,
	                           "no twin of several servers that differ: steps of one take %.0f %% longer than those of "
	                           "another",
	                           100 * (most / least - 1))
	           : 0;
}

/* ---- how far from the runs it is ---- */

static int set_errors(struct twin *twin, struct twin_replay *c, const struct twin_steps *steps, struct ipf_error *err)
{
	if (twin_limits_try(twin, c, steps, err) < 0 || twin_replay_run(c, twin, err) < 0)
		return -1;
	/* no request found the server idle: what all are later than predicted is the overhead */
	if (isnan(twin->p[TWIN_OVERHEAD].value) && c->late.count > 0) {
		double late = samples_percentile(&c->late, 50);
		double most = twin_value(twin, TWIN_STEP_BASE) + twin_value(twin, TWIN_STEP_SEQUENCE);
		late = fmin(fmax(late, 0), most);
		twin_set(twin, TWIN_OVERHEAD, late, 0, most);
		if (twin_replay_run(c, twin, err) < 0)
			return -1;
	}
	for (enum twin_error_of m = TWIN_ERROR_TTFT; m < TWIN_ERROR_COUNT; m++)
		twin->errors[m] = (struct twin_error){twin_replay_error(c, m, 50), twin_replay_error(c, m, 99)};
	double e2e = twin->errors[TWIN_ERROR_E2E].p50;
	return e2e < ERROR_MOST
	           ? 0
	           : ipf_error_set(err, IPF_INPUT,
	                           "no twin: this is another kind of server: the median E2E of its own runs would be "
	                           "predicted with an error of %.0f %%",
	                           100 * e2e);
}

int twin_check_errors(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                      struct ipf_error *err)
{
	struct twin_replay replay;
	int result = twin_replay_begin(&replay, data, err);
	if (result == 0)
		result = set_errors(twin, &replay, steps, err);
	twin_replay_end(&replay);
	return result;
}
