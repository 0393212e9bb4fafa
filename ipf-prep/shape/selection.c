#include "shape/selection.h"

#include "absent.h"
#include "draft/arrivals.h"
#include "clock.h"
#include "draft/reorder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct selection {
	struct sink sink; /* first: a pointer to it is one to the selection */
	const struct prep_plan *plan;
	struct renderer *renderer;
	struct selection_counts *tally;
	struct rng order;
	struct reorder hold;
	int64_t seen;            /* units that reached the reservoir */
	int64_t requests, units; /* written */
	bool written;            /* the last unit was */
	int64_t last_at_ns;
	struct progress *progress;
};

/* No server takes a longer prompt, and a slip in a file must not ask for all the memory there is. */
#define MADE_TOKENS_MAX INT64_C(100000000)

/* ---- what is left out ---- */

static bool has_limits(const struct prep_options *o)
{
	return o->min_input != IPF_ABSENT || o->max_input != IPF_ABSENT || o->min_output != IPF_ABSENT ||
	       o->max_output != IPF_ABSENT || o->max_total != IPF_ABSENT;
}

static const char *why_not(const struct selection *s, struct draft *d)
{
	const struct prep_options *o = s->plan->options;
	const struct token_counter *tokens = s->plan->tokens;
	int64_t context = 0;
	for (size_t i = 0; i < d->count && has_limits(o); i++) {
		struct draft_request *r = &d->requests[i];
		int64_t answer = answer_tokens(tokens, r) + s->plan->around;
		int64_t now = r->input_tokens != IPF_ABSENT ? r->input_tokens : messages_tokens(tokens, d, r) + s->plan->around;
		int64_t input = context + now, output = r->output_tokens != IPF_ABSENT ? r->output_tokens : answer;
		bool known = r->output_tokens != IPF_ABSENT || r->answer.len > 0;
		if (o->min_input != IPF_ABSENT && input < o->min_input)
			return "shorter than --min-input";
		if (o->max_input != IPF_ABSENT && input > o->max_input)
			return "longer than --max-input";
		if (o->min_output != IPF_ABSENT && known && output < o->min_output)
			return "shorter than --min-output";
		if (o->max_output != IPF_ABSENT && known && output > o->max_output)
			return "longer than --max-output";
		if (o->max_total != IPF_ABSENT && input + output > o->max_total)
			return "longer than --max-total";
		context = d->chain ? input + answer : 0;
	}
	return NULL;
}

/* A session stands or falls as a whole, its time is that of its first request. */
static const char *unit_why_not(const struct selection *s, const struct draft_group *unit)
{
	const struct prep_options *o = s->plan->options;
	int64_t at_ns = unit->drafts[0]->requests[0].at_ns;
	if (at_ns != IPF_ABSENT && o->from_ns != IPF_ABSENT && at_ns < o->from_ns)
		return "before --from";
	if (at_ns != IPF_ABSENT && o->to_ns != IPF_ABSENT && at_ns >= o->to_ns)
		return "not before --to";
	const char *why = NULL;
	for (size_t i = 0; i < unit->count && !why; i++)
		why = why_not(s, unit->drafts[i]);
	return why;
}

static int64_t unit_requests(const struct draft_group *unit)
{
	int64_t count = 0;
	for (size_t i = 0; i < unit->count; i++)
		count += (int64_t)unit->drafts[i]->count;
	return count;
}

/* ---- writing ---- */

static bool enough(const struct selection *s)
{
	const struct prep_options *o = s->plan->options;
	return (o->n != IPF_ABSENT && s->requests >= o->n) || (o->sessions != IPF_ABSENT && s->units >= o->sessions);
}

static void move_arrivals(struct draft *d, int64_t ns)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->requests[i].at_ns != IPF_ABSENT)
			d->requests[i].at_ns += ns;
}

/* Writes a unit where it still fits. */
static int write_unit(struct selection *s, const struct draft_group *unit, struct ipf_error *err)
{
	const struct prep_options *o = s->plan->options;
	int64_t requests = unit_requests(unit);
	s->written = false;
	if (enough(s) || (o->n != IPF_ABSENT && s->requests + requests > o->n)) {
		selection_counts_drop(s->tally, "beyond -n or --sessions", 1);
		return 0;
	}
	for (size_t i = 0; i < unit->count; i++) {
		struct draft *d = unit->drafts[i];
		if (o->from_ns != IPF_ABSENT)
			move_arrivals(d, -o->from_ns);
		if (renderer_write(s->renderer, d, err) < 0)
			return -1;
	}
	s->written = true;
	s->requests += requests;
	s->units++;
	s->tally->units++;
	return 0;
}

/* ---- what was held ---- */

static int no_memory(struct ipf_error *err)
{
	return ipf_error_errno(err, ENOMEM, NULL, "no memory to hold what was read");
}

static void shuffle(struct selection *s, struct draft_group *units, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)rng_below(&s->order, i);
		struct draft_group moved = units[i - 1];
		units[i - 1] = units[k];
		units[k] = moved;
	}
}

/* Draws units until there are enough, each as often as it comes up. */
static int write_replaced(struct selection *s, struct draft_group *units, size_t count, struct ipf_error *err)
{
	const struct prep_options *o = s->plan->options;
	while (count > 0 && !enough(s)) {
		struct draft_group *unit = &units[rng_below(&s->order, count)];
		if (o->n != IPF_ABSENT && s->requests + unit_requests(unit) > o->n)
			break;
		if (write_unit(s, unit, err) < 0)
			return -1;
		for (size_t i = 0; i < unit->count; i++)
			unit->drafts[i]->copy++;
	}
	return 0;
}

/* Units that stay and copies of them, each at its own time. */
static int write_scaled(struct selection *s, struct draft_group *units, size_t count, struct ipf_error *err)
{
	const struct prep_options *o = s->plan->options;
	size_t made;
	struct scaled_group *list = arrivals_scale(units, count, o->scale, o->from_ns == IPF_ABSENT ? 0 : o->from_ns,
	                                           o->common.seed, &made);
	int status = list ? 0 : no_memory(err);
	for (size_t i = 0; i < made && status == 0; i++) {
		struct draft_group *unit = &units[list[i].group];
		int64_t shift_ns = list[i].shift_ns;
		for (size_t k = 0; k < unit->count; k++) {
			unit->drafts[k]->copy = list[i].copy;
			move_arrivals(unit->drafts[k], shift_ns);
		}
		status = write_unit(s, unit, err);
		/* writing has taken --from off */
		for (size_t k = 0; k < unit->count; k++)
			move_arrivals(unit->drafts[k], (o->from_ns != IPF_ABSENT && s->written ? o->from_ns : 0) - shift_ns);
	}
	free(list);
	return status;
}

/* Writes what is held. */
static int write_held(struct selection *s, struct ipf_error *err)
{
	struct reorder *h = &s->hold;
	size_t kept = 0;
	if (s->plan->options->dequantise && arrivals_dequantise(h, s->plan->options->common.seed) < 0)
		return no_memory(err);
	if (reorder_sort(h) < 0)
		return no_memory(err);
	for (size_t i = 0; i < h->group_count; i++) {
		const char *why = s->plan->gather ? unit_why_not(s, &h->groups[i]) : NULL;
		if (why)
			selection_counts_drop(s->tally, why, 1);
		else
			h->groups[kept++] = h->groups[i];
	}
	if (!isnan(s->plan->options->scale)) {
		int status = write_scaled(s, h->groups, kept, err);
		reorder_release(h);
		return status;
	}
	if (s->plan->sample == SAMPLE_WITH)
		return write_replaced(s, h->groups, kept, err);
	if (s->plan->sample == SAMPLE_WITHOUT)
		shuffle(s, h->groups, kept);
	for (size_t i = 0; i < kept; i++) {
		if (write_unit(s, &h->groups[i], err) < 0)
			return -1;
		if (s->progress->on && progress_due(s->progress, clock_now()))
			progress_show(s->progress, "%lld requests written, %.0f %%", (long long)s->requests,
			              100.0 * (double)(i + 1) / (double)kept);
	}
	reorder_release(h);
	return 0;
}

/* ---- taking in ---- */

static void cut_turns(const struct selection *s, struct draft *d)
{
	const struct prep_plan *plan = s->plan;
	if (!d->chain || !(plan->traits & HAS_TURNS) || plan->turns.kind == DISTRIBUTION_DATASET)
		return;
	struct rng rng;
	rng_init(&rng, plan->options->common.seed, "turns", (uint64_t)d->number);
	int64_t turns = distribution_draw(&plan->turns, &rng);
	if ((int64_t)d->count > turns)
		d->count = (size_t)turns;
}

/* So many units at most can be wanted, each of one request: the sample is drawn as they come by (algorithm R). */
static int64_t reservoir_size(const struct selection *s)
{
	const struct prep_options *o = s->plan->options;
	if (s->plan->sample != SAMPLE_WITHOUT || s->plan->gather)
		return 0;
	if (o->sessions != IPF_ABSENT && o->n == IPF_ABSENT)
		return o->sessions;
	return o->n != IPF_ABSENT && o->sessions == IPF_ABSENT && s->plan->lone && !(s->plan->traits & HAS_SESSIONS) ? o->n
	                                                                                                             : 0;
}

static int into_reservoir(struct selection *s, const struct draft *d, int64_t size, struct ipf_error *err)
{
	int64_t place = s->seen++;
	if (place < size)
		return reorder_add(&s->hold, d) < 0 ? no_memory(err) : 0;
	place = (int64_t)rng_below(&s->order, (uint64_t)s->seen);
	selection_counts_drop(s->tally, "beyond -n or --sessions", 1);
	return place < size && reorder_replace(&s->hold, (size_t)place, d) < 0 ? no_memory(err) : 0;
}

/* The data have an answer to it, and it is empty: nobody can be asked for that, unless the length is drawn anyway. */
static bool answer_is_empty(const struct prep_plan *plan, const struct draft *d)
{
	const struct draft_request *r = &d->requests[0];
	return !d->chain && r->answer.data && r->answer.len == 0 && r->output_tokens == IPF_ABSENT &&
	       plan->output.kind == DISTRIBUTION_DATASET;
}

static int take(struct sink *sink, struct draft *d, struct ipf_error *err)
{
	struct selection *s = (struct selection *)sink;
	const struct prep_plan *plan = s->plan;
	struct draft_group unit = {.drafts = &d, .count = 1};
	if (sink->full || d->failed)
		return 0;
	bool failed = false;
	for (size_t i = 0; i < d->count && plan->format->kind == SOURCE_TRACE; i++) {
		d->requests[i].failed |= d->requests[i].output_tokens == 0;
		failed |= d->requests[i].failed;
	}
	if (failed && plan->drop_failed && d->count == 1) {
		selection_counts_drop(s->tally, "failed when it was recorded", 1);
		return 0;
	}
	if (answer_is_empty(plan, d)) {
		selection_counts_drop(s->tally, "empty answer", 1);
		return 0;
	}
	for (size_t i = 0; i < d->count; i++)
		if (d->requests[i].count == 0 && d->requests[i].input_tokens > MADE_TOKENS_MAX)
			return ipf_error_set(err, IPF_INPUT, "a prompt of %lld tokens, more than %lld",
			                     (long long)d->requests[i].input_tokens, (long long)MADE_TOKENS_MAX);
	renderer_meet(s->renderer, d);
	int64_t at_ns = d->requests[0].at_ns;
	if (!plan->gather && at_ns != IPF_ABSENT) {
		if (at_ns < s->last_at_ns)
			return ipf_error_set(err, IPF_INPUT, "arrives before the record above it; sort the file by time");
		s->last_at_ns = at_ns;
	}
	renderer_feed(s->renderer, d);
	cut_turns(s, d);
	if (plan->gather)
		return reorder_add(&s->hold, d) < 0 ? no_memory(err) : 0;
	const char *why = unit_why_not(s, &unit);
	if (why) {
		selection_counts_drop(s->tally, why, 1);
		/* Arrivals only grow here. */
		sink->full = at_ns != IPF_ABSENT && plan->options->to_ns != IPF_ABSENT && at_ns >= plan->options->to_ns;
		return 0;
	}
	int64_t size = reservoir_size(s);
	if (size > 0)
		return into_reservoir(s, d, size, err);
	if (plan->sample != SAMPLE_ALL || renderer_is_hungry(s->renderer))
		return reorder_add(&s->hold, d) < 0 ? no_memory(err) : 0;
	if (s->hold.count > 0 && write_held(s, err) < 0)
		return -1;
	if (write_unit(s, &unit, err) < 0)
		return -1;
	sink->full = enough(s);
	return 0;
}

static void unusable(struct sink *sink, const char *why)
{
	selection_counts_drop(((struct selection *)sink)->tally, why, 1);
}

int selection_finish(struct selection *s, struct ipf_error *err)
{
	int status = write_held(s, err);
	progress_end(s->progress);
	return status;
}

int selection_new(struct selection **made, const struct prep_plan *plan, struct renderer *renderer,
                  struct selection_counts *tally, struct progress *progress, struct ipf_error *err)
{
	struct selection *s = calloc(1, sizeof *s);
	if (!s)
		return no_memory(err);
	s->sink.take = take;
	s->sink.unusable = unusable;
	s->plan = plan;
	s->renderer = renderer;
	s->tally = tally;
	s->progress = progress;
	s->last_at_ns = INT64_MIN;
	rng_init(&s->order, plan->options->common.seed, "order", 0);
	*made = s;
	return 0;
}

struct sink *selection_sink(struct selection *s)
{
	return &s->sink;
}

void selection_free(struct selection *s)
{
	if (!s)
		return;
	draft_release(&s->sink.draft);
	reorder_release(&s->hold);
	free(s);
}
