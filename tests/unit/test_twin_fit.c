/* Twins of servers whose parameters are known: fitted parameters must be the true ones, or not known. The servers are
 * twins themselves, in virtual time, so every run of this test sees the same. */
#include "fit/twin_check.h"
#include "fit/twin_drafts.h"
#include "fit/twin_fit.h"
#include "fit/twin_make.h"

#include "clock.h"
#include "stats/rng.h"
#include "twin/twin_server.h"

#include "unit.h"

#include <math.h>
#include <stdlib.h>

#define MS     NS_PER_MS
#define EVENTS 400000

struct world {
	struct twin_data data;
	struct twin_server *server;
	struct twin_answer *answers;
	int64_t now_ns;
	struct rng noise;
	double noise_ns; /* each time's, on average: sockets and schedulers only ever make it later */
};

static void note(struct twin_answer *a, void *data)
{
	struct world *w = data;
	int64_t i = a - w->answers, t = w->now_ns + (int64_t)(w->noise_ns * rng_exponential(&w->noise));
	struct measured_request *r = &w->data.requests[i];
	assert_true(w->data.event_count < EVENTS);
	r->first_ns = r->events ? r->first_ns : t;
	r->last_ns = t > r->last_ns ? t : r->last_ns + 1;
	w->data.events[w->data.event_count++] = (struct measured_event){
		.t_ns = r->last_ns, .request = (int32_t)i, .order = (int32_t)r->events++};
}

static int compare_events(const void *a, const void *b)
{
	const struct measured_event *x = a, *y = b;
	return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

static void run_until(struct world *w, int64_t until_ns)
{
	while ((w->now_ns = twin_server_wake(w->server)) <= until_ns && w->now_ns != INT64_MAX)
		twin_server_run(w->server, w->now_ns, note, w);
}

/* `requests` at a rate that rises from a twentieth of `most_rate` to all of it. */
static void run_ramp(struct world *w, const struct twin *truth, int64_t requests, double most_rate, struct rng *rng)
{
	struct ipf_error err = {0};
	double t_ns = 0;
	w->data = (struct twin_data){.requests = calloc((size_t)requests, sizeof *w->data.requests),
	                             .events = calloc(EVENTS, sizeof *w->data.events),
	                             .stages = 1,
	                             .servers_each = 1};
	w->answers = calloc((size_t)requests, sizeof *w->answers);
	const struct replicas_options one = REPLICAS_DEFAULT;
	assert_int_equal(twin_server_open(&w->server, truth, &one, 7, &err), 0);
	for (int64_t i = 0; i < requests; i++) {
		double rate = most_rate * (0.05 + 0.95 * (double)i / (double)requests);
		struct measured_request *r = &w->data.requests[i];
		t_ns += rng_exponential(rng) / rate * 1e9;
		*r = (struct measured_request){.start_ns = (int64_t)t_ns,
		                               .input_tokens = 20 + (int64_t)(rng_uniform(rng) * 780),
		                               .output_tokens = 10 + (int64_t)(rng_uniform(rng) * 90)};
		w->answers[i].sequence.output_tokens = r->output_tokens;
		w->answers[i].sequence.draws = (uint64_t)i;
		twin_answer_prompt(&w->answers[i], r->input_tokens);
		run_until(w, r->start_ns);
		twin_server_send(w->server, &w->answers[i], r->start_ns);
	}
	w->data.request_count = requests;
	run_until(w, INT64_MAX);
	qsort(w->data.events, (size_t)w->data.event_count, sizeof *w->data.events, compare_events);
}

static void release(struct world *w)
{
	for (int64_t i = 0; i < w->data.request_count; i++)
		twin_answer_release(&w->answers[i]);
	free(w->answers);
	twin_server_close(w->server);
	twin_data_release(&w->data);
}

static double between(struct rng *rng, double least, double most)
{
	return least * pow(most / least, rng_uniform(rng));
}

static void exact(struct twin *t, enum twin_parameter_id id, double value)
{
	twin_set(t, id, value, value, value);
}

/* A server of random parameters; returns the rate at which it is saturated. */
static double draw_server(struct twin *t, struct rng *rng)
{
	double base = between(rng, 3, 30) * MS, sequence = between(rng, 0.02, 1) * MS, prefill = between(rng, 3e3, 5e4);
	double batch = round(between(rng, 8, 48));
	twin_init(t);
	exact(t, TWIN_STEP_BASE, base);
	exact(t, TWIN_STEP_SEQUENCE, sequence);
	exact(t, TWIN_PREFILL, prefill);
	exact(t, TWIN_STEP_TOKENS, round(between(rng, 200, 4000)));
	exact(t, TWIN_SEQUENCES, batch);
	exact(t, TWIN_KV_BLOCKS, round(between(rng, 200, 4000)));
	exact(t, TWIN_JITTER, rng_uniform(rng) < 0.3 ? 0 : 0.1 * rng_uniform(rng));
	exact(t, TWIN_OVERHEAD, 0.3 * MS);
	exact(t, TWIN_STEP_CONTEXT, 0);
	exact(t, TWIN_DRAFT_TOKENS, 0);
	exact(t, TWIN_DRAFT_ACCEPTED, 0);
	return 1e9 / (410 / prefill * 1e9 + 55 * (base / batch + sequence));
}

/* How far off a known value may be, and whether it must be known at all. */
static int off_by(const struct twin *found, const struct twin *truth, enum twin_parameter_id id, double tolerance)
{
	double value = found->p[id].value, right = truth->p[id].value;
	if (isnan(value))
		return 0;
	int wrong = fabs(value - right) > tolerance * right;
	if (wrong)
		print_message("  %s is %g, found %g (%g to %g)\n", twin_parameter_names[id], right, value, found->p[id].low,
		              found->p[id].high);
	return wrong;
}

/* With 30 servers; tests/long/twin.t does the same with ipf-sim. */
enum { SERVERS = 30, LENGTHS = 3 };

static void parameters_are_found(void **state)
{
	static const enum twin_parameter_id lengths[LENGTHS] = {TWIN_STEP_BASE, TWIN_STEP_SEQUENCE, TWIN_PREFILL};
	int wrong = 0, limits = 0, held = 0, parts = 0;
	(void)state;
	for (uint64_t i = 0; i < SERVERS; i++) {
		struct twin truth, found;
		struct world w = {.noise_ns = 30e3};
		struct twin_steps steps;
		struct ipf_error err = {0};
		struct rng rng;
		double distance;
		rng_init(&rng, 11, "server", i);
		rng_init(&w.noise, 11, "noise", i);
		double rate = draw_server(&truth, &rng);
		run_ramp(&w, &truth, 900, 1.2 * rate, &rng);
		assert_int_equal(twin_steps_find(&steps, &w.data, &err), 0);
		if (twin_fit(&found, &w.data, &steps, false, &err) < 0 ||
		    twin_check_errors(&found, &w.data, &steps, &distance, &err) < 0)
			fail_msg("server %d: %s", (int)i, err.text);
		int before = wrong;
		assert_false(isnan(found.p[TWIN_STEP_BASE].value) || isnan(found.p[TWIN_PREFILL].value));
		wrong += off_by(&found, &truth, TWIN_STEP_BASE, 0.05) + off_by(&found, &truth, TWIN_PREFILL, 0.05) +
		         off_by(&found, &truth, TWIN_STEP_TOKENS, 0.05) + off_by(&found, &truth, TWIN_SEQUENCES, 0.001) +
		         off_by(&found, &truth, TWIN_KV_BLOCKS, 0.05);
		/* as a share of a step with 8 sequences */
		double part = fabs(found.p[TWIN_STEP_SEQUENCE].value - truth.p[TWIN_STEP_SEQUENCE].value) * 8;
		wrong += part > 0.03 * (truth.p[TWIN_STEP_BASE].value + 8 * truth.p[TWIN_STEP_SEQUENCE].value);
		wrong += fabs(found.p[TWIN_JITTER].value - truth.p[TWIN_JITTER].value) > 0.01;
		limits += !isnan(found.p[TWIN_SEQUENCES].value) || !isnan(found.p[TWIN_KV_BLOCKS].value);
		parts += !isnan(found.p[TWIN_STEP_TOKENS].value);
		for (int k = 0; k < LENGTHS; k++)
			held += found.p[lengths[k]].low <= truth.p[lengths[k]].value &&
			        found.p[lengths[k]].high >= truth.p[lengths[k]].value;
		if (wrong > before)
			print_message("server %d: base %g sequence %g prefill %g tokens %g batch %g blocks %g jitter %g\n", (int)i,
			              truth.p[TWIN_STEP_BASE].value, truth.p[TWIN_STEP_SEQUENCE].value, truth.p[TWIN_PREFILL].value,
			              truth.p[TWIN_STEP_TOKENS].value, truth.p[TWIN_SEQUENCES].value, truth.p[TWIN_KV_BLOCKS].value,
			              truth.p[TWIN_JITTER].value);
		twin_release(&found);
		twin_steps_release(&steps);
		release(&w);
	}
	print_message(
		"%d parameters wrong; of %d servers, limits known of %d, tokens of a step of %d; %d of %d intervals hold\n",
		wrong, SERVERS, limits, parts, held, LENGTHS * SERVERS);
	assert_true(wrong <= 2);
	assert_true(limits >= SERVERS / 2 && parts >= SERVERS / 4);
	assert_true(held >= LENGTHS * SERVERS * 9 / 10);
}

/* A ramp up to 30 requests per second. */
static void fit_one(struct twin *truth, struct twin *found, struct world *w, uint64_t seed)
{
	struct twin_steps steps;
	struct ipf_error err = {0};
	struct rng rng;
	rng_init(&rng, seed, "server", 0);
	rng_init(&w->noise, seed, "noise", 0);
	run_ramp(w, truth, 600, 30, &rng);
	assert_int_equal(twin_steps_find(&steps, &w->data, &err), 0);
	if (twin_fit(found, &w->data, &steps, false, &err) < 0)
		fail_msg("%s", err.text);
	twin_steps_release(&steps);
}

static void plain_server(struct twin *t)
{
	twin_init(t);
	exact(t, TWIN_STEP_BASE, 10 * MS);
	exact(t, TWIN_STEP_SEQUENCE, 0.2 * MS);
	exact(t, TWIN_PREFILL, 20000);
}

static void drafts_are_found(void **state)
{
	(void)state;
	for (int drafts = 1; drafts <= 5; drafts += 2) {
		struct twin truth, found;
		struct world w = {.noise_ns = 30e3};
		plain_server(&truth);
		exact(&truth, TWIN_DRAFT_TOKENS, drafts);
		exact(&truth, TWIN_DRAFT_ACCEPTED, 0.7);
		fit_one(&truth, &found, &w, (uint64_t)drafts);
		assert_int_equal((int)found.p[TWIN_DRAFT_TOKENS].value, drafts);
		assert_true(fabs(found.p[TWIN_DRAFT_ACCEPTED].value - 0.7) < 0.02);
		twin_release(&found);
		release(&w);
	}
}

/* The context costs as much as the base at 2,000 tokens of it. */
static void contexts_are_found(void **state)
{
	struct twin truth, found;
	struct world w = {.noise_ns = 30e3};
	(void)state;
	plain_server(&truth);
	exact(&truth, TWIN_STEP_CONTEXT, 5000);
	fit_one(&truth, &found, &w, 1);
	assert_int_equal(off_by(&found, &truth, TWIN_STEP_CONTEXT, 0.03), 0);
	assert_int_equal(off_by(&found, &truth, TWIN_STEP_BASE, 0.03), 0);
	twin_release(&found);
	release(&w);
}

/* Steps of half a millisecond whose tokens come up to a millisecond late, and longer ones while requests wait: a single
 * step is not seen, whole answers are. */
static void spans_are_fitted(void **state)
{
	struct twin truth, found;
	struct world w = {.noise_ns = 0.4 * MS};
	struct ipf_error err = {0};
	struct rng rng;
	(void)state;
	twin_init(&truth);
	exact(&truth, TWIN_STEP_BASE, 0.3 * MS);
	exact(&truth, TWIN_STEP_SEQUENCE, 0.15 * MS);
	exact(&truth, TWIN_STEP_WAITING, 0.01 * MS);
	exact(&truth, TWIN_PREFILL, 20000);
	exact(&truth, TWIN_SEQUENCES, 4);
	rng_init(&rng, 3, "server", 0);
	rng_init(&w.noise, 3, "noise", 0);
	run_ramp(&w, &truth, 2500, 50, &rng);
	if (twin_make(&found, &w.data, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(found.by_spans);
	assert_true(off_by(&found, &truth, TWIN_PREFILL, 0.1) + off_by(&found, &truth, TWIN_STEP_WAITING, 0.2) +
	                off_by(&found, &truth, TWIN_SEQUENCES, 0.001) ==
	            0);
	const double length = found.p[TWIN_STEP_BASE].value + 4 * found.p[TWIN_STEP_SEQUENCE].value;
	assert_true(fabs(length / (0.9 * MS) - 1) < 0.1);
	assert_true(found.errors[TWIN_ERROR_TPOT].p50 < 0.1);
	assert_true(isnan(found.p[TWIN_KV_BLOCKS].value) && isnan(found.p[TWIN_STEP_TOKENS].value));
	twin_release(&found);
	release(&w);
}

/* Where single steps are seen, they are fitted. */
static void steps_come_first(void **state)
{
	struct twin truth, found;
	struct world w = {.noise_ns = 30e3};
	struct ipf_error err = {0};
	struct rng rng;
	(void)state;
	plain_server(&truth);
	rng_init(&rng, 5, "server", 0);
	rng_init(&w.noise, 5, "noise", 0);
	run_ramp(&w, &truth, 400, 30, &rng);
	assert_int_equal(twin_make(&found, &w.data, &err), 0);
	assert_false(found.by_spans);
	assert_int_equal(found.level_count, 1);
	assert_true(found.levels[0].in_flight > 0.5 && found.levels[0].errors[TWIN_ERROR_E2E].p50 < 0.03);
	twin_release(&found);
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_are_found), cmocka_unit_test(drafts_are_found),
		cmocka_unit_test(contexts_are_found),   cmocka_unit_test(spans_are_fitted),
		cmocka_unit_test(steps_come_first),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
