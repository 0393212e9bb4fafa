#include "shape/selection.h"

#include "absent.h"
#include "draft/arrivals.h"
#include "clock.h"
#include "draft/reorder.h"

#include <math.h>
#include <stdlib.h>

/* A trace that begins later was cut out of a longer one, or counts from another time, such as 1970. One that begins
 * earlier is as it was recorded: a first gap is a gap. */
#define FIRST_ARRIVAL_MAX_NS (60 * NS_PER_S)

struct selection {
	struct sink sink; /* must be first: take() casts it to the selection */
	const struct prep_config *config;
	struct trace_renderer *renderer;
	struct selection_counts *counts;
	struct rng order;
	struct reorder held;
	int64_t seen;            /* units that were offered to the reservoir */
	int64_t requests, units; /* written */
	bool written;            /* was the last unit written? */
	int64_t last_at_ns;
	int64_t first_at_ns; /* of the data, from which arrivals count; IPF_ABSENT: not known yet */
	struct progress *progress;
};

/* ---- what is left out ---- */

static bool has_limits(const struct token_limits *l)
{
	return l->min_input != IPF_ABSENT || l->max_input != IPF_ABSENT || l->min_output != IPF_ABSENT ||
	       l->max_output != IPF_ABSENT || l->max_total != IPF_ABSENT;
}

/* Why the limits on lengths exclude a draft; NULL if they do not. */
static const char *excluded_by_length(const struct selection *s, struct draft *d)
{
	const struct token_limits *l = &s->config->limits;
	const struct token_counter *tokens = s->config->tokens;
	int64_t special_tokens = s->config->special_tokens, context = 0;
	for (size_t i = 0; i < d->count && has_limits(l); i++) {
		struct draft_request *r = &d->requests[i];
		int64_t answer = answer_tokens(tokens, r) + special_tokens;
		int64_t now = r->input_tokens != IPF_ABSENT ? r->input_tokens : messages_tokens(tokens, d, r) + special_tokens;
		int64_t input = context + now, output = r->output_tokens != IPF_ABSENT ? r->output_tokens : answer;
		bool known = r->output_tokens != IPF_ABSENT || r->answer.len > 0;
		if (l->min_input != IPF_ABSENT && input < l->min_input)
			return "shorter than --min-input";
		if (l->max_input != IPF_ABSENT && input > l->max_input)
			return "longer than --max-input";
		if (l->min_output != IPF_ABSENT && known && output < l->min_output)
			return "shorter than --min-output";
		if (l->max_output != IPF_ABSENT && known && output > l->max_output)
			return "longer than --max-output";
		if (l->max_total != IPF_ABSENT && input + output > l->max_total)
			return "longer than --max-total";
		context = d->chain ? input + answer : 0;
	}
	return NULL;
}

/* The same for a unit, which is kept or left out as a whole. Its time is that of its first request. */
static const char *excluded(const struct selection *s, const struct draft_group *unit)
{
	const struct prep_config *c = s->config;
	int64_t at_ns = unit->drafts[0]->requests[0].at_ns;
	if (at_ns != IPF_ABSENT && c->from_ns != IPF_ABSENT && at_ns < c->from_ns)
		return "before --from";
	if (at_ns != IPF_ABSENT && c->to_ns != IPF_ABSENT && at_ns >= c->to_ns)
		return "not before --to";
	const char *why = NULL;
	for (size_t i = 0; i < unit->count && !why; i++)
		why = excluded_by_length(s, unit->drafts[i]);
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
	const struct prep_config *c = s->config;
	return (c->max_requests != IPF_ABSENT && s->requests >= c->max_requests) ||
	       (c->max_sessions != IPF_ABSENT && s->units >= c->max_sessions);
}

static void move_arrivals(struct draft *d, int64_t ns)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->requests[i].at_ns != IPF_ABSENT)
			d->requests[i].at_ns += ns;
}

/* Do arrivals count from the first one? Not if the data say when the trace starts, or if they are drawn. */
static bool counts_from_first(const struct selection *s)
{
	return s->config->format->kind != SOURCE_GENERATED && !(s->config->traits & KEEPS_START);
}

/* The first arrival is known: arrivals will count from it, or from where they do. */
static void set_first(struct selection *s, int64_t at_ns)
{
	s->first_at_ns = at_ns > FIRST_ARRIVAL_MAX_NS ? at_ns : 0;
	s->counts->shift_ns = -s->first_at_ns;
}

/* Moves what is held, so that its first arrival is 0. */
static void begin_at_first(struct selection *s)
{
	int64_t first = INT64_MAX;
	for (size_t i = 0; i < reorder_count(&s->held); i++) {
		const struct draft *d = reorder_draft(&s->held, i);
		for (size_t k = 0; k < d->count; k++)
			if (d->requests[k].at_ns != IPF_ABSENT && d->requests[k].at_ns < first)
				first = d->requests[k].at_ns;
	}
	if (first == INT64_MAX)
		return;
	set_first(s, first);
	if (s->first_at_ns == 0)
		return;
	for (size_t i = 0; i < reorder_count(&s->held); i++)
		move_arrivals(reorder_draft(&s->held, i), -s->first_at_ns);
	reorder_update_times(&s->held);
}

/* Writes a unit if it still fits. */
static int write_unit(struct selection *s, const struct draft_group *unit, struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	int64_t requests = unit_requests(unit);
	s->written = false;
	bool full = enough(s), fits = c->max_requests == IPF_ABSENT || s->requests + requests <= c->max_requests;
	if (full || !fits) {
		if (!full)
			selection_counts_too_long(s->counts, requests);
		selection_counts_drop(s->counts, "beyond -n or --sessions", requests);
		return 0;
	}
	for (size_t i = 0; i < unit->count; i++) {
		struct draft *d = unit->drafts[i];
		if (c->from_ns != IPF_ABSENT)
			move_arrivals(d, -c->from_ns);
		if (trace_renderer_write(s->renderer, d, err) < 0)
			return -1;
	}
	s->written = true;
	s->requests += requests;
	s->units++;
	s->counts->units++;
	return 0;
}

/* ---- writing what is held ---- */

static void shuffle(struct selection *s, struct draft_group *units, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t k = (size_t)rng_below(&s->order, i);
		struct draft_group moved = units[i - 1];
		units[i - 1] = units[k];
		units[k] = moved;
	}
}

/* Draws units with replacement until there are enough. */
static int write_with_replacement(struct selection *s, struct draft_group *units, size_t count, struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	while (count > 0 && !enough(s)) {
		struct draft_group *unit = &units[rng_below(&s->order, count)];
		if (c->max_requests != IPF_ABSENT && s->requests + unit_requests(unit) > c->max_requests) {
			selection_counts_too_long(s->counts, unit_requests(unit));
			break;
		}
		if (write_unit(s, unit, err) < 0)
			return -1;
		for (size_t i = 0; i < unit->count; i++)
			unit->drafts[i]->copy++;
	}
	return 0;
}

/* Writes the units that remain and their copies, each at its own time. */
static int write_scaled(struct selection *s, struct draft_group *units, size_t count, struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	size_t scaled;
	struct scaled_group *list = arrivals_scale(units, count, c->scale, c->from_ns == IPF_ABSENT ? 0 : c->from_ns,
	                                           c->common.seed, &scaled);
	int status = list ? 0 : ipf_error_memory(err);
	for (size_t i = 0; i < scaled && status == 0; i++) {
		struct draft_group *unit = &units[list[i].group];
		int64_t shift_ns = list[i].shift_ns;
		for (size_t k = 0; k < unit->count; k++) {
			unit->drafts[k]->copy = list[i].copy;
			move_arrivals(unit->drafts[k], shift_ns);
		}
		status = write_unit(s, unit, err);
		/* write_unit has subtracted --from */
		for (size_t k = 0; k < unit->count; k++)
			move_arrivals(unit->drafts[k], (c->from_ns != IPF_ABSENT && s->written ? c->from_ns : 0) - shift_ns);
	}
	free(list);
	return status;
}

static int write_held(struct selection *s, struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	struct reorder *held = &s->held;
	size_t kept = 0;
	if (c->hold_all && counts_from_first(s))
		begin_at_first(s);
	if (c->dequantise && arrivals_dequantise(held, c->common.seed) < 0)
		return ipf_error_memory(err);
	if (reorder_sort(held) < 0)
		return ipf_error_memory(err);
	for (size_t i = 0; i < held->group_count; i++) {
		const char *why = c->hold_all ? excluded(s, &held->groups[i]) : NULL;
		if (why)
			selection_counts_drop(s->counts, why, unit_requests(&held->groups[i]));
		else
			held->groups[kept++] = held->groups[i];
	}
	if (!isnan(c->scale)) {
		int status = write_scaled(s, held->groups, kept, err);
		reorder_release(held);
		return status;
	}
	if (c->sample == SAMPLE_WITH)
		return write_with_replacement(s, held->groups, kept, err);
	if (c->sample == SAMPLE_WITHOUT)
		shuffle(s, held->groups, kept);
	for (size_t i = 0; i < kept; i++) {
		if (write_unit(s, &held->groups[i], err) < 0)
			return -1;
		if (s->progress->on && progress_due(s->progress, clock_now()))
			progress_show(s->progress, "%lld requests written, %.0f %%", (long long)s->requests,
			              100.0 * (double)(i + 1) / (double)kept);
	}
	reorder_release(held);
	return 0;
}

/* ---- receiving drafts ---- */

static void cut_turns(const struct selection *s, struct draft *d)
{
	const struct prep_config *c = s->config;
	if (!d->chain || !(c->traits & HAS_TURNS) || c->turns.distribution.kind == DISTRIBUTION_DATASET)
		return;
	struct rng rng;
	rng_init(&rng, c->common.seed, "turns", (uint64_t)d->number);
	int64_t turns = distribution_draw(&c->turns.distribution, &rng);
	if ((int64_t)d->count > turns)
		d->count = (size_t)turns;
}

/* How many units the sample has if that is known and each unit is one request: it is then drawn while reading
 * (reservoir sampling, algorithm R). Otherwise 0. */
static int64_t reservoir_size(const struct selection *s)
{
	const struct prep_config *c = s->config;
	if (c->sample != SAMPLE_WITHOUT || c->hold_all)
		return 0;
	if (c->max_sessions != IPF_ABSENT && c->max_requests == IPF_ABSENT)
		return c->max_sessions;
	return c->max_requests != IPF_ABSENT && c->max_sessions == IPF_ABSENT && c->first_turn_only &&
	               !(c->traits & HAS_SESSIONS)
	           ? c->max_requests
	           : 0;
}

static int put_into_reservoir(struct selection *s, const struct draft *d, int64_t size, struct ipf_error *err)
{
	int64_t place = s->seen++;
	if (place < size)
		return reorder_add(&s->held, d) < 0 ? ipf_error_memory(err) : 0;
	place = (int64_t)rng_below(&s->order, (uint64_t)s->seen);
	selection_counts_drop(s->counts, "beyond -n or --sessions", (int64_t)d->count);
	return place < size && reorder_replace(&s->held, (size_t)place, d) < 0 ? ipf_error_memory(err) : 0;
}

/* Is the recorded answer empty? A server cannot be asked for one, unless its length is drawn. */
static bool answer_is_empty(const struct prep_config *config, const struct draft *d)
{
	const struct draft_request *r = &d->requests[0];
	return !d->chain && r->answer.data && r->answer.len == 0 && r->output_tokens == IPF_ABSENT &&
	       config->output.distribution.kind == DISTRIBUTION_DATASET;
}

static int take(struct sink *sink, struct draft *d, struct ipf_error *err)
{
	struct selection *s = (struct selection *)sink;
	const struct prep_config *c = s->config;
	struct draft_group unit = {.drafts = &d, .count = 1};
	if (sink->full || d->failed)
		return 0;
	bool failed = false;
	for (size_t i = 0; i < d->count && c->format->kind == SOURCE_TRACE; i++) {
		d->requests[i].failed |= d->requests[i].output_tokens == 0;
		failed |= d->requests[i].failed;
	}
	if (failed && c->failed == DROP && d->count == 1) {
		selection_counts_drop(s->counts, "failed when it was recorded", (int64_t)d->count);
		return 0;
	}
	if (answer_is_empty(c, d)) {
		selection_counts_drop(s->counts, "empty answer", (int64_t)d->count);
		return 0;
	}
	if (draft_check_names(d, err) < 0)
		return -1;
	if (draft_check_lengths(d, err) < 0)
		return -1;
	trace_renderer_learn_blocks(s->renderer, d);
	if (!c->hold_all && counts_from_first(s) && d->requests[0].at_ns != IPF_ABSENT) {
		if (s->first_at_ns == IPF_ABSENT)
			set_first(s, d->requests[0].at_ns);
		move_arrivals(d, -s->first_at_ns);
	}
	int64_t at_ns = d->requests[0].at_ns;
	if (!c->hold_all && at_ns != IPF_ABSENT) {
		if (at_ns < s->last_at_ns)
			return ipf_error_set(err, IPF_INPUT, "arrives before the previous record; sort the file by time");
		s->last_at_ns = at_ns;
	}
	trace_renderer_learn_text(s->renderer, d);
	cut_turns(s, d);
	if (c->hold_all)
		return reorder_add(&s->held, d) < 0 ? ipf_error_memory(err) : 0;
	const char *why = excluded(s, &unit);
	if (why) {
		selection_counts_drop(s->counts, why, (int64_t)d->count);
		/* Arrivals never decrease here. */
		sink->full = at_ns != IPF_ABSENT && c->to_ns != IPF_ABSENT && at_ns >= c->to_ns;
		return 0;
	}
	int64_t size = reservoir_size(s);
	if (size > 0)
		return put_into_reservoir(s, d, size, err);
	if (c->sample != SAMPLE_ALL || trace_renderer_wants_more(s->renderer))
		return reorder_add(&s->held, d) < 0 ? ipf_error_memory(err) : 0;
	if (s->held.count > 0 && write_held(s, err) < 0)
		return -1;
	if (write_unit(s, &unit, err) < 0)
		return -1;
	sink->full = enough(s);
	return 0;
}

static void unusable(struct sink *sink, const char *why)
{
	selection_counts_drop(((struct selection *)sink)->counts, why, 1);
	record_notes_left_out(sink->notes, why);
}

static void no_request(struct sink *sink, const char *why)
{
	selection_counts_drop(((struct selection *)sink)->counts, why, 1);
	record_notes_skip(sink->notes);
}

static void inexact(struct sink *sink, const char *how)
{
	selection_counts_inexact(((struct selection *)sink)->counts, how);
}

int selection_finish(struct selection *s, struct ipf_error *err)
{
	int status = write_held(s, err);
	progress_end(s->progress);
	return status;
}

int selection_new(struct selection **made, const struct prep_config *config, struct trace_renderer *renderer,
                  struct selection_counts *counts, struct progress *progress, struct ipf_error *err)
{
	struct selection *s = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->sink.take = take;
	s->sink.unusable = unusable;
	s->sink.no_request = no_request;
	s->sink.inexact = inexact;
	s->config = config;
	s->renderer = renderer;
	s->counts = counts;
	s->progress = progress;
	s->last_at_ns = INT64_MIN;
	s->first_at_ns = IPF_ABSENT;
	rng_init(&s->order, config->common.seed, "order", 0);
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
	reorder_release(&s->held);
	free(s);
}
