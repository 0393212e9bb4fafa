#include "fit/twin_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPUTED_WEIGHT 10 /* no noise is in it */

int twin_replay_begin(struct twin_replay *c, const struct twin_data *data, struct ipf_error *err)
{
	size_t count = (size_t)data->request_count;
	*c = (struct twin_replay){.data = data,
	                          .answers = calloc(count, sizeof *c->answers),
	                          .first_ns = calloc(count, sizeof *c->first_ns),
	                          .last_ns = calloc(count, sizeof *c->last_ns)};
	return c->answers && c->first_ns && c->last_ns ? 0 : ipf_error_memory(err);
}

void twin_replay_end(struct twin_replay *c)
{
	for (int64_t i = 0; c->answers && i < c->data->request_count; i++)
		twin_answer_release(&c->answers[i]);
	free(c->answers);
	free(c->first_ns);
	free(c->last_ns);
	for (int m = 0; m < TWIN_ERROR_COUNT; m++) {
		samples_release(&c->measured[m]);
		samples_release(&c->predicted[m]);
	}
	samples_release(&c->late);
}

static void note(struct twin_answer *a, void *data)
{
	struct twin_replay *c = data;
	int64_t i = a - c->answers;
	if (a->sequence.produced == a->sequence.fresh)
		c->first_ns[i] = c->now_ns;
	c->last_ns[i] = c->now_ns;
	if (c->watch)
		c->watch->on_tokens(i, c->watch->data);
}

static void run_until(struct twin_replay *c, struct twin_server *server, int64_t until_ns)
{
	while ((c->now_ns = twin_server_wake(server)) <= until_ns && c->now_ns != INT64_MAX)
		twin_server_run(server, c->now_ns, note, c);
}

bool twin_replay_shares(const struct twin_replay *c, const struct twin *twin)
{
	return c->data->tree && twin_value(twin, TWIN_PREFIX_CACHE) > 0.5;
}

bool twin_replay_fits(const struct twin_replay *c, int64_t request)
{
	const struct measured_request *r = &c->data->requests[request];
	return r->input_tokens + r->output_tokens <= c->room;
}

static void add_block(void *answer, uint64_t hash)
{
	twin_answer_block(answer, hash);
}

/* The requests of one server, from `from` on; returns the first one of the next. -1: out of memory. */
static int64_t replay_server(const struct twin *twin, struct twin_replay *c, int64_t from, struct ipf_error *err)
{
	struct twin_server *server;
	int64_t i = from;
	const struct replicas_options one = REPLICAS_DEFAULT;
	bool failed = twin_server_open(&server, twin, &one, 1, err) < 0;
	c->room = failed ? 0 : twin_server_room(server);
	if (!failed && c->watch) {
		twin_server_watch(server, c->watch->on_step, c->watch->data);
		twin_server_watch_moves(server, c->watch->on_move, c->watch->data);
	}
	for (; !failed && i < c->data->request_count && c->data->requests[i].server == c->data->requests[from].server;
	     i++) {
		const struct measured_request *r = &c->data->requests[i];
		struct twin_answer *a = &c->answers[i];
		if (twin_replay_shares(c, twin) && r->node != PREFIX_ROOT && twin_data_blocks(c->data, r, add_block, a) < 0)
			failed = true;
		twin_answer_prompt(a, twin_replay_shares(c, twin) ? r->input_tokens : r->input_tokens - r->cached_tokens);
		a->sequence.output_tokens = r->output_tokens;
		a->sequence.draws = (uint64_t)i;
		c->first_ns[i] = IPF_ABSENT;
		if (!twin_replay_fits(c, i))
			continue;
		run_until(c, server, r->start_ns);
		twin_server_send(server, a, r->start_ns);
	}
	if (failed) {
		twin_server_close(server);
		return ipf_error_memory(err);
	}
	run_until(c, server, INT64_MAX);
	twin_server_close(server);
	return i;
}

static void compare(struct twin_replay *c, int64_t i)
{
	const struct measured_request *r = &c->data->requests[i];
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
	c->computed[0] += (double)(r->input_tokens - r->cached_tokens);
	c->computed[1] += (double)(c->answers[i].sequence.prompt_tokens - c->answers[i].sequence.cached_tokens);
}

static void clear(struct twin_replay *c)
{
	for (int m = 0; m < TWIN_ERROR_COUNT; m++) {
		samples_clear(&c->measured[m]);
		samples_clear(&c->predicted[m]);
	}
	samples_clear(&c->late);
	c->computed[0] = c->computed[1] = 1;
}

static int failed(const struct twin_replay *c, struct ipf_error *err)
{
	bool bad = c->late.failed;
	for (int m = 0; m < TWIN_ERROR_COUNT; m++)
		bad |= c->measured[m].failed || c->predicted[m].failed;
	return bad ? ipf_error_memory(err) : 0;
}

int twin_replay_stage(struct twin_replay *c, int32_t stage, struct ipf_error *err)
{
	clear(c);
	for (int64_t i = 0; i < c->data->request_count; i++)
		if (c->data->requests[i].stage == stage)
			compare(c, i);
	return failed(c, err);
}

int twin_replay_run(struct twin_replay *c, const struct twin *twin, struct ipf_error *err)
{
	bool bad = false;
	clear(c);
	for (int64_t i = 0; i < c->data->request_count; i++)
		twin_answer_release(&c->answers[i]);
	memset(c->answers, 0, (size_t)c->data->request_count * sizeof *c->answers);
	for (int64_t at = 0; at < c->data->request_count;)
		if ((at = replay_server(twin, c, at, err)) < 0)
			return -1;
	for (int64_t i = 0; i < c->data->request_count; i++) {
		compare(c, i);
		bad |= twin_answer_failed(&c->answers[i]);
	}
	return bad ? ipf_error_memory(err) : failed(c, err);
}

double twin_replay_error(struct twin_replay *c, enum twin_error_of m, double percentile)
{
	return c->measured[m].count == 0 ? NAN
	                                 : fabs(samples_percentile(&c->predicted[m], percentile) /
	                                            samples_percentile(&c->measured[m], percentile) -
	                                        1);
}

double twin_replay_distance(struct twin_replay *c)
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
	return (count > 0 ? sum / count : 0) + COMPUTED_WEIGHT * fabs(log(c->computed[1] / c->computed[0]));
}

int twin_replay_by_stage(struct twin_replay *c, double *distance, struct ipf_error *err)
{
	struct samples distances = {0};
	for (int32_t stage = 0; stage < c->data->stages; stage++) {
		if (twin_replay_stage(c, stage, err) < 0)
			break;
		if (c->measured[TWIN_ERROR_E2E].count >= TWIN_STAGE_LEAST)
			samples_add(&distances, twin_replay_distance(c));
	}
	*distance = samples_percentile(&distances, 50);
	if (distances.failed)
		ipf_error_memory(err);
	samples_release(&distances);
	return err->kind ? -1 : 0;
}
