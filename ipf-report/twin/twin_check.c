#include "twin/twin_check.h"

#include "results/run_data.h"
#include "safe_text.h"
#include "stats/samples.h"
#include "twin/twin_limits.h"
#include "twin/twin_server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SERVER_STEPS   50   /* that a server is judged by */
#define SERVER_DIFFERS 0.15 /* of the length of a step: another server */
#define BLOCKED_LEAST  30   /* steps in which requests waited, for a limit to be looked for */
#define LIMIT_BETTER   0.8  /* of the distance without it, at most, for a limit to be known */
#define LIMIT_GAIN     0.01
#define ERROR_MOST     0.5 /* of the median of E2E: another kind of server */

int twin_check_run(const struct report *report, struct ipf_error *err)
{
	const struct run_data *run = report->run;
	const char *first = NULL;
	if (run->shards)
		return ipf_error_set(err, IPF_INPUT,
		                     "no twin of shards: no clock says in which step events of different clients were");
	for (enum verdict_question q = VERDICT_LOAD; q <= VERDICT_SERVER; q++)
		if (report->finding->checks[q].status == VERDICT_INVALID)
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

struct check {
	const struct twin_data *data;
	struct twin_answer *answers; /* of each request */
	int64_t *first_ns, *last_ns;
	int64_t now_ns;
	struct samples measured[TWIN_ERROR_COUNT], predicted[TWIN_ERROR_COUNT], late;
};

static void note(struct twin_answer *a, void *data)
{
	struct check *c = data;
	int64_t i = a - c->answers;
	if (a->sequence.produced == a->sequence.fresh)
		c->first_ns[i] = c->now_ns;
	c->last_ns[i] = c->now_ns;
}

static void run_until(struct check *c, struct twin_server *server, int64_t until_ns)
{
	while ((c->now_ns = twin_server_wake(server)) <= until_ns && c->now_ns != INT64_MAX)
		twin_server_run(server, c->now_ns, note, c);
}

/* The requests of one server, from `from` on; returns the first one of the next. -1: out of memory. */
static int64_t replay(const struct twin *twin, struct check *c, int64_t from, struct ipf_error *err)
{
	struct twin_server *server;
	int64_t i = from;
	bool failed = twin_server_open(&server, twin, 1, 1, err) < 0;
	for (; !failed && i < c->data->request_count && c->data->requests[i].server == c->data->requests[from].server;
	     i++) {
		const struct twin_request *r = &c->data->requests[i];
		struct twin_answer *a = &c->answers[i];
		twin_answer_prompt(a, r->input_tokens - r->cached_tokens);
		a->sequence.output_tokens = r->output_tokens;
		a->sequence.draws = (uint64_t)i;
		c->first_ns[i] = IPF_ABSENT;
		if (r->input_tokens + r->output_tokens > twin_server_room(server))
			continue;
		run_until(c, server, r->start_ns);
		twin_server_send(server, a, r->start_ns);
	}
	if (failed)
		return -1;
	run_until(c, server, INT64_MAX);
	twin_server_close(server);
	return i;
}

static void compare(struct check *c, int64_t i)
{
	const struct twin_request *r = &c->data->requests[i];
	const double times[2][3] = {{(double)r->start_ns, (double)r->first_ns, (double)r->last_ns},
	                            {(double)r->start_ns, (double)c->first_ns[i], (double)c->last_ns[i]}};
	if (c->first_ns[i] == IPF_ABSENT)
		return;
	for (int k = 0; k < 2; k++) {
		struct samples *to = k ? c->predicted : c->measured;
		samples_add(&to[TWIN_ERROR_TTFT], times[k][1] - times[k][0]);
		samples_add(&to[TWIN_ERROR_E2E], times[k][2] - times[k][0]);
		if (r->output_tokens > 1)
			samples_add(&to[TWIN_ERROR_TPOT], (times[k][2] - times[k][1]) / (double)(r->output_tokens - 1));
	}
	samples_add(&c->late, times[0][1] - times[1][1]);
}

static int replay_all(const struct twin *twin, struct check *c, struct ipf_error *err)
{
	for (int m = 0; m < TWIN_ERROR_COUNT; m++) {
		samples_clear(&c->measured[m]);
		samples_clear(&c->predicted[m]);
	}
	samples_clear(&c->late);
	for (int64_t i = 0; i < c->data->request_count; i++)
		twin_answer_release(&c->answers[i]);
	memset(c->answers, 0, (size_t)c->data->request_count * sizeof *c->answers);
	for (int64_t at = 0; at < c->data->request_count;)
		if ((at = replay(twin, c, at, err)) < 0)
			return -1;
	for (int64_t i = 0; i < c->data->request_count; i++)
		compare(c, i);
	bool failed = c->late.failed;
	for (int m = 0; m < TWIN_ERROR_COUNT; m++) {
		failed |= c->measured[m].failed || c->predicted[m].failed;
	}
	return failed ? ipf_error_memory(err) : 0;
}

/* |predicted / measured - 1| */
static double error_at(struct check *c, int m, double percentile)
{
	return c->measured[m].count == 0 ? NAN
	                                 : fabs(samples_percentile(&c->predicted[m], percentile) /
	                                            samples_percentile(&c->measured[m], percentile) -
	                                        1);
}

/* How far off the twin is, over all percentiles that are looked at: the mean of |log(predicted / measured)|. */
static double distance(struct check *c)
{
	static const double percentiles[] = {25, 50, 75, 90, 99};
	double sum = 0, count = 0;
	for (int m = 0; m < TWIN_ERROR_COUNT; m++)
		for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles && c->measured[m].count > 0; i++) {
			double of = samples_percentile(&c->measured[m], percentiles[i]);
			double by = samples_percentile(&c->predicted[m], percentiles[i]);
			sum += of > 0 && by > 0 ? fabs(log(by / of)) : 0;
			count++;
		}
	return count > 0 ? sum / count : 0;
}

/* ---- limits ---- */

/* Tries one limit more; keeps it if it is clearly better than what is best so far. */
static int try_limit(struct twin *twin, struct check *c, enum twin_parameter_id id, double value, double *best,
                     struct ipf_error *err)
{
	const struct twin_parameter before = twin->p[id];
	twin_set(twin, id, value, value, value);
	if (replay_all(twin, c, err) < 0)
		return -1;
	double by = distance(c);
	if (by < *best * LIMIT_BETTER && by < *best - LIMIT_GAIN) {
		*best = by;
		return 0;
	}
	twin->p[id] = before;
	return 0;
}

static int find_limits(struct twin *twin, struct check *c, const struct twin_steps *steps, struct ipf_error *err)
{
	struct twin_limit_candidates found;
	if (twin_limits_find(twin, c->data, steps, &found) < 0)
		return ipf_error_memory(err);
	twin_limits_unknown(twin, &found);
	if (found.blocked < BLOCKED_LEAST)
		return 0;
	if (replay_all(twin, c, err) < 0)
		return -1;
	double best = distance(c);
	for (size_t i = 0; i < sizeof found.sequences / sizeof *found.sequences; i++)
		if ((i == 0 || found.sequences[i] != found.sequences[i - 1]) &&
		    try_limit(twin, c, TWIN_SEQUENCES, found.sequences[i], &best, err) < 0)
			return -1;
	if (try_limit(twin, c, TWIN_KV_BLOCKS, found.blocks, &best, err) < 0)
		return -1;
	struct twin_parameter *blocks = &twin->p[TWIN_KV_BLOCKS];
	if (isnan(blocks->value))
		return 0;
	/* if the cache is the limit, that of sequences may have been taken for it */
	const struct twin_parameter sequences = twin->p[TWIN_SEQUENCES];
	const struct twin_parameter room = *blocks;
	twin_limits_unknown(twin, &found);
	*blocks = room;
	blocks->low = floor(0.97 * room.value);
	blocks->high = ceil(1.05 * room.value);
	if (isnan(sequences.value))
		return 0;
	if (replay_all(twin, c, err) < 0)
		return -1;
	if (distance(c) > best + LIMIT_GAIN)
		twin->p[TWIN_SEQUENCES] = sequences;
	return 0;
}

static int set_errors(struct twin *twin, struct check *c, const struct twin_steps *steps, struct ipf_error *err)
{
	if (find_limits(twin, c, steps, err) < 0 || replay_all(twin, c, err) < 0)
		return -1;
	/* no request found the server idle: what all are later than predicted is the overhead */
	if (isnan(twin->p[TWIN_OVERHEAD].value) && c->late.count > 0) {
		double late = samples_percentile(&c->late, 50);
		double most = twin_value(twin, TWIN_STEP_BASE) + twin_value(twin, TWIN_STEP_SEQUENCE);
		late = fmin(fmax(late, 0), most);
		twin_set(twin, TWIN_OVERHEAD, late, 0, most);
		if (replay_all(twin, c, err) < 0)
			return -1;
	}
	for (int m = 0; m < TWIN_ERROR_COUNT; m++)
		twin->errors[m] = (struct twin_error){error_at(c, m, 50), error_at(c, m, 99)};
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
	size_t count = (size_t)data->request_count;
	struct check c = {.data = data,
	                  .answers = calloc(count, sizeof *c.answers),
	                  .first_ns = calloc(count, sizeof *c.first_ns),
	                  .last_ns = calloc(count, sizeof *c.last_ns)};
	int result = c.answers && c.first_ns && c.last_ns ? set_errors(twin, &c, steps, err) : ipf_error_memory(err);
	for (size_t i = 0; c.answers && i < count; i++)
		twin_answer_release(&c.answers[i]);
	free(c.answers);
	free(c.first_ns);
	free(c.last_ns);
	for (int m = 0; m < TWIN_ERROR_COUNT; m++) {
		samples_release(&c.measured[m]);
		samples_release(&c.predicted[m]);
	}
	samples_release(&c.late);
	return result;
}
