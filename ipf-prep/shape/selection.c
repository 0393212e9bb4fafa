#include "shape/selection.h"

#include "absent.h"
#include "clock.h"
#include "draft/arrivals.h"
#include "draft/unit_draws.h"
#include "sort/sort_key.h"

#include <math.h>
#include <stdlib.h>

/* A trace beginning later was cut out of a longer one, or counts from another time, such as 1970. An earlier one is as
 * it was recorded: a first gap is a gap. */
#define FIRST_ARRIVAL_MAX_NS (60 * NS_PER_S)

struct selection {
	struct sink sink; /* must be first: take() casts it to the selection */
	const struct prep_config *config;
	struct trace_renderer *renderer;
	struct selection_counts *counts;
	struct rng order;
	struct draft_sorter drafts;    /* held for --dequantise */
	struct draft_sorter reservoir; /* by their place, the newest first */
	struct reorder held;
	struct draft draft;       /* the held draft at hand */
	struct draft_sorter unit; /* the unit at hand, if it has several drafts */
	int64_t seen;             /* units offered to the reservoir */
	int64_t requests, units;  /* written */
	int64_t last_at_ns;
	int64_t earliest_ns; /* the least arrival of all held; INT64_MAX: none */
	int64_t first_at_ns; /* the data's, from which arrivals count; IPF_ABSENT: not known yet */
	struct progress *progress;
};

/* ---- requests left out ---- */

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

/* The same for a draft with which a unit begins; its time is its first request's. */
static const char *excluded(const struct selection *s, struct draft *d)
{
	const struct prep_config *c = s->config;
	int64_t at_ns = d->requests[0].at_ns;
	if (at_ns != IPF_ABSENT && c->from_ns != IPF_ABSENT && at_ns < c->from_ns)
		return "before --from";
	if (at_ns != IPF_ABSENT && c->to_ns != IPF_ABSENT && at_ns >= c->to_ns)
		return "not before --to";
	return excluded_by_length(s, d);
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

/* Decides whether a unit is still written, and counts it: all of its drafts follow. */
static bool begin_unit(struct selection *s, int64_t requests)
{
	const struct prep_config *c = s->config;
	bool full = enough(s), fits = c->max_requests == IPF_ABSENT || s->requests + requests <= c->max_requests;
	if (full || !fits) {
		if (!full)
			selection_counts_too_long(s->counts, requests);
		selection_counts_drop(s->counts, "beyond -n or --sessions", requests);
		return false;
	}
	s->requests += requests;
	s->units++;
	s->counts->units++;
	return true;
}

static int write_draft(struct selection *s, struct draft *d, struct ipf_error *err)
{
	if (s->config->from_ns != IPF_ABSENT)
		move_arrivals(d, -s->config->from_ns);
	return trace_renderer_write(s->renderer, d, err);
}

/* ---- writing held requests ---- */

/* Reads the next unit out of held ones: 1, 0, -1. One of a single draft is in s->draft, any other in s->unit. *why: it
 * is left out; else NULL. */
static int next_unit(struct selection *s, struct unit *unit, const char **why, struct ipf_error *err)
{
	int got = reorder_next(&s->held, unit, &s->draft, err);
	if (got <= 0)
		return got;
	*why = s->config->hold_all ? excluded(s, &s->draft) : NULL;
	if (unit->drafts == 1 && s->draft.may_be_alone)
		s->draft.session = (struct slice){0};
	if (unit->drafts == 1)
		return 1;
	draft_sorter_clear(&s->unit);
	for (uint64_t left = unit->drafts;; left--) {
		if (draft_sorter_add(&s->unit, unit, sizeof *unit, &s->draft, err) < 0)
			return -1;
		if (left == 1)
			break;
		if (reorder_next(&s->held, unit, &s->draft, err) < 0)
			return -1;
		if (!*why && s->config->hold_all)
			*why = excluded_by_length(s, &s->draft);
	}
	return draft_sorter_begin(&s->unit, err) < 0 ? -1 : 1;
}

/* Reads the next of its drafts into s->draft. */
static int next_draft(struct selection *s, struct unit *unit, struct ipf_error *err)
{
	return unit->drafts == 1 ? 0 : draft_sorter_next(&s->unit, unit, sizeof *unit, &s->draft, err) < 0 ? -1 : 0;
}

static int write_in_order(struct selection *s, struct ipf_error *err)
{
	struct unit unit;
	const char *why;
	int64_t read = 0;
	int got;
	while ((got = next_unit(s, &unit, &why, err)) > 0) {
		read += (int64_t)unit.drafts;
		if (why)
			selection_counts_drop(s->counts, why, unit.requests);
		else if (begin_unit(s, unit.requests))
			for (uint64_t i = 0; i < unit.drafts; i++)
				if (next_draft(s, &unit, err) < 0 || write_draft(s, &s->draft, err) < 0)
					return -1;
		if (s->progress->on && progress_due(s->progress, clock_now()))
			progress_show(s->progress, "%lld requests written, %.0f %%", (long long)s->requests,
			              100.0 * (double)read / (double)s->held.drafts);
	}
	return got;
}

/* Lists the units not left out; returns how many there are in *count. */
static int list_kept(struct selection *s, struct draft_sorter *kept, uint64_t *count, struct ipf_error *err)
{
	struct unit unit;
	const char *why;
	int got;
	*count = 0;
	while ((got = next_unit(s, &unit, &why, err)) > 0) {
		if (why) {
			selection_counts_drop(s->counts, why, unit.requests);
			continue;
		}
		for (uint64_t i = 0; i < unit.drafts; i++)
			if (next_draft(s, &unit, err) < 0 || draft_sorter_add(kept, &unit, sizeof unit, &s->draft, err) < 0)
				return -1;
		++*count;
	}
	return got;
}

static int draw(struct selection *s, struct draft_sorter *kept, uint64_t count, struct draft_sorter *drawn,
                struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	if (!isnan(c->scale)) {
		const struct scaling scaling = {
			.factor = c->scale, .from_ns = c->from_ns == IPF_ABSENT ? 0 : c->from_ns, .seed = c->common.seed};
		return unit_draws_scale(kept, count, &scaling, drawn, err);
	}
	if (c->sample == SAMPLE_WITHOUT)
		return unit_draws_shuffle(kept, count, &s->order, drawn, err);
	struct draw_limits limits = {.requests = c->max_requests, .units = c->max_sessions};
	if (unit_draws_replacing(kept, count, &limits, &s->order, drawn, err) < 0)
		return -1;
	if (limits.too_long)
		selection_counts_too_long(s->counts, limits.too_long);
	return 0;
}

static int write_drawn(struct selection *s, struct draft_sorter *drawn, struct ipf_error *err)
{
	struct unit unit;
	uint64_t left = 0; /* requests left in the unit */
	bool write = false;
	int got = draft_sorter_begin(drawn, err);
	while (got == 0 && (got = draft_sorter_next(drawn, &unit, sizeof unit, &s->draft, err)) > 0) {
		if (left == 0) {
			write = begin_unit(s, unit.requests);
			left = unit.drafts;
		}
		left--;
		got = write ? write_draft(s, &s->draft, err) : 0;
	}
	return got;
}

/* Draws before it writes. */
static int write_sample(struct selection *s, struct ipf_error *err)
{
	struct draft_sorter kept = {0}, drawn = {0};
	uint64_t count;
	int status = list_kept(s, &kept, &count, err);
	reorder_release(&s->held);
	if (status == 0)
		status = draw(s, &kept, count, &drawn, err);
	draft_sorter_release(&kept);
	if (status == 0)
		status = write_drawn(s, &drawn, err);
	draft_sorter_release(&drawn);
	return status;
}

/* Hands over the newest draft of each place. */
static int empty_reservoir(struct selection *s, struct ipf_error *err)
{
	int64_t place, last = -1;
	int got = draft_sorter_begin(&s->reservoir, err);
	while (got == 0 && (got = draft_sorter_next(&s->reservoir, &place, sizeof place, &s->draft, err)) > 0) {
		got = place != last ? reorder_add(&s->held, &s->draft, err) : 0;
		last = place;
	}
	draft_sorter_release(&s->reservoir);
	return got;
}

static int write_held(struct selection *s, struct ipf_error *err)
{
	const struct prep_config *c = s->config;
	if (c->hold_all && counts_from_first(s) && s->earliest_ns != INT64_MAX)
		set_first(s, s->earliest_ns);
	if (c->dequantise && arrivals_dequantise(&s->drafts, c->common.seed, &s->held, err) < 0)
		return -1;
	draft_sorter_release(&s->drafts);
	if (empty_reservoir(s, err) < 0 || reorder_sort(&s->held, err) < 0)
		return -1;
	if (c->hold_all && s->first_at_ns != IPF_ABSENT)
		s->held.shift_ns = s->first_at_ns;
	int status = isnan(c->scale) && c->sample == SAMPLE_ALL ? write_in_order(s, err) : write_sample(s, err);
	reorder_release(&s->held);
	return status;
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

/* How many units the sample has if known and each unit is one request: it is then drawn while reading (reservoir
 * sampling, algorithm R). Otherwise 0. */
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
	if (place >= size) {
		place = (int64_t)rng_below(&s->order, (uint64_t)s->seen);
		selection_counts_drop(s->counts, "beyond -n or --sessions", (int64_t)d->count);
	}
	if (place >= size)
		return 0;
	sort_key_number(&s->reservoir.key, place);
	sort_key_number(&s->reservoir.key, -s->seen);
	return draft_sorter_add(&s->reservoir, &place, sizeof place, d, err);
}

/* Keeps a copy of the draft until all have been read. */
static int hold(struct selection *s, const struct draft *d, struct ipf_error *err)
{
	for (size_t i = 0; i < d->count; i++)
		if (d->requests[i].at_ns != IPF_ABSENT && d->requests[i].at_ns < s->earliest_ns)
			s->earliest_ns = d->requests[i].at_ns;
	return s->config->dequantise ? draft_sorter_add(&s->drafts, NULL, 0, d, err) : reorder_add(&s->held, d, err);
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
		sink->unusable(sink, "empty answer");
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
		return hold(s, d, err);
	const char *why = excluded(s, d);
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
		return hold(s, d, err);
	if (s->held.drafts > 0 && write_held(s, err) < 0)
		return -1;
	if (begin_unit(s, (int64_t)d->count) && write_draft(s, d, err) < 0)
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
	s->earliest_ns = INT64_MAX;
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
	draft_release(&s->draft);
	draft_sorter_release(&s->drafts);
	draft_sorter_release(&s->reservoir);
	draft_sorter_release(&s->unit);
	reorder_release(&s->held);
	free(s);
}
