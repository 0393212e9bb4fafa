#include "fit/twin_rows.h"

#include "fit/twin_limits.h"
#include "fit/twin_spans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_LEAST  50 /* that only decode, before those count beside which requests waited */
#define ROWS_LEAST   20 /* a kind's */
#define EPISODE_MOST 64 /* steps */
#define SPAN_LEAST   4  /* events of a span after its first one */

/* Steps that only decode. `busy`: also those beside which requests waited, some of which may have computed a part of a
 * prompt: all that is left of a run that is never below saturation. */
static int64_t add_decoding(struct robust_fit *fit, const struct twin_steps *steps, bool busy)
{
	int64_t before = fit->count;
	for (int64_t k = 0; k < steps->count; k++) {
		const struct twin_step *s = &steps->list[k];
		if (s->length_ns == IPF_ABSENT || s->firsts || (s->waiting && !busy))
			continue;
		const double x[COLUMN_COUNT] = {
			[COLUMN_STEP] = 1, [COLUMN_SEQUENCES] = s->sequences, [COLUMN_CONTEXT] = (double)s->context_tokens};
		robust_fit_add(fit, x, (double)s->length_ns);
	}
	return fit->count - before;
}

/* Episodes: steps in a row in which prompts were computed, from the first one that could have a part of one until no
 * request waits. All the prompts were computed in them, in whatever pieces. `busy`: also stretches of EPISODE_MOST
 * steps during which requests wait all the time; at their ends they have a part of a prompt more or less. */
static int64_t add_episodes(struct robust_fit *fit, const struct twin_steps *steps, bool busy)
{
	int64_t before = fit->count, length_ns = 0;
	double x[COLUMN_COUNT] = {0};
	bool known = true;
	for (int64_t k = 0; k < steps->count; k++) {
		const struct twin_step *s = &steps->list[k];
		if (!s->firsts && !s->waiting)
			continue;
		known &= s->length_ns != IPF_ABSENT && (busy || x[COLUMN_STEP] < EPISODE_MOST) &&
		         (x[COLUMN_STEP] > 0 || s->timely || !s->firsts);
		x[COLUMN_STEP]++;
		x[COLUMN_SEQUENCES] += s->sequences + !s->firsts;
		x[COLUMN_CONTEXT] += (double)s->context_tokens;
		x[COLUMN_PROMPT] += (double)s->prompt_tokens;
		length_ns += known ? s->length_ns : 0;
		if (s->waiting && !(busy && x[COLUMN_STEP] >= EPISODE_MOST))
			continue;
		if (known && x[COLUMN_PROMPT] > 0)
			robust_fit_add(fit, x, (double)length_ns);
		memset(x, 0, sizeof x);
		length_ns = 0;
		known = true;
	}
	return fit->count - before;
}

/* Requests finding the server idle: their time besides their steps is the overhead. Only prompts of which it is known
 * in how many steps they were computed: as long as one that was seen in one step, if the limit is not known. */
static int64_t add_alone(struct robust_fit *fit, const struct twin *twin, const struct twin_data *data,
                         const struct twin_steps *steps)
{
	const struct twin_parameter *limit = &twin->p[TWIN_STEP_TOKENS];
	int64_t before = fit->count;
	for (int64_t i = 0; i < data->request_count; i++) {
		const struct measured_request *r = &data->requests[i];
		int64_t prompt = r->input_tokens - r->cached_tokens;
		if (!steps->passages[i].alone || r->first_ns <= r->start_ns ||
		    (isnan(limit->value) && (double)prompt > limit->at_least))
			continue;
		double parts = ceil((double)prompt / twin_value(twin, TWIN_STEP_TOKENS));
		const double x[COLUMN_COUNT] = {
			[COLUMN_STEP] = parts, [COLUMN_SEQUENCES] = parts, [COLUMN_PROMPT] = (double)prompt, [COLUMN_OVERHEAD] = 1};
		robust_fit_add(fit, x, (double)(r->first_ns - r->start_ns));
	}
	return fit->count - before;
}

void twin_rows_of_steps(struct robust_fit *fit, const struct twin *twin, const struct twin_data *data,
                        const struct twin_steps *steps)
{
	fit->count = 0;
	if (add_decoding(fit, steps, false) < STEPS_LEAST) {
		fit->count = 0;
		add_decoding(fit, steps, true);
	}
	if (add_episodes(fit, steps, false) + add_alone(fit, twin, data, steps) < ROWS_LEAST)
		add_episodes(fit, steps, true);
}

/* ---- by spans ---- */

/* How much a request of each stage counts, so all stages count alike: else one beyond saturation, where most requests
 * are and least is as the model has it, would outweigh those below. NULL: out of memory. */
static double *stage_weights(const struct twin_data *data, int64_t first, int64_t next)
{
	double *weights = calloc((size_t)data->stages, sizeof *weights), stages = 0;
	for (int64_t i = first; weights && i < next; i++)
		stages += weights[data->requests[i].stage]++ == 0;
	for (int32_t s = 0; weights && s < data->stages; s++)
		weights[s] = weights[s] > 0 ? (double)(next - first) / stages / weights[s] : 0;
	return weights;
}

static void add_span(struct robust_fit *fit, const struct twin_spans *spans, const struct measured_request *r,
                     double weight)
{
	if (r->events <= SPAN_LEAST || r->last_ns <= r->first_ns)
		return;
	const struct twin_span in = twin_spans_between(spans, r->first_ns, r->last_ns);
	const double count = (double)(r->events - 1);
	const double x[COLUMN_COUNT] = {[COLUMN_STEP] = count,
	                                [COLUMN_SEQUENCES] = in.decoded + in.prompts,
	                                [COLUMN_CONTEXT] = in.context,
	                                [COLUMN_WAITING] = in.waiting * count,
	                                [COLUMN_PROMPT] = in.prompt_tokens};
	robust_fit_add(fit, x, (double)(r->last_ns - r->first_ns));
	if (!fit->failed)
		fit->rows[fit->count - 1].weight = weight;
}

int twin_rows_of_server(struct robust_fit *fit, const struct twin_data *data, int64_t first, int64_t *next,
                        struct ipf_error *err)
{
	struct twin_spans spans;
	int result = twin_spans_open(&spans, data, first, next, err);
	double *weights = result == 0 ? stage_weights(data, first, *next) : NULL;
	if (result == 0 && !weights)
		result = ipf_error_memory(err);
	for (int64_t i = first; result == 0 && i < *next; i++)
		add_span(fit, &spans, &data->requests[i], weights[data->requests[i].stage]);
	free(weights);
	twin_spans_close(&spans);
	return result;
}

void twin_rows_of_spans(struct robust_fit *fit, const struct twin *twin, const struct twin_data *data,
                        const struct twin_steps *steps)
{
	struct ipf_error err = {0};
	fit->count = 0;
	for (int64_t at = 0; at < data->request_count && !fit->failed;)
		fit->failed |= twin_rows_of_server(fit, data, at, &at, &err) < 0;
	add_alone(fit, twin, data, steps);
}

double twin_row_length(const struct twin *twin, const double x[COLUMN_COUNT])
{
	const double steps = x[COLUMN_STEP];
	return steps *
	       twin_step_length(twin, x[COLUMN_SEQUENCES] / steps, x[COLUMN_CONTEXT] / steps, x[COLUMN_PROMPT] / steps);
}
