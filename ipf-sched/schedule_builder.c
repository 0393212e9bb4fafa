#include "schedule_builder.h"

#include "absent.h"
#include "clock.h"
#include "kinds/arrival_process.h"
#include "seen_numbers.h"
#include "stream/fields.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- preparing --------------------------------------------------------------------------------------------------- */

/* The heads of a stage without a length: n=, or the whole trace once. */
static int count_given(const struct schedule_builder *builder, const struct stage *stage, int64_t *heads,
                       struct ipf_error *err)
{
	*heads = stage->n;
	if (stage->n == IPF_ABSENT && !builder->trace)
		return ipf_error_set(err, IPF_USAGE, "%s: %sn=COUNT is required, or -t TRACE to take the whole trace once",
		                     stage->label, stage->kind->type == STAGE_OPEN ? "for=TIME or " : "");
	if (stage->n == IPF_ABSENT)
		*heads = builder->trace->heads;
	return 0;
}

static int too_many(const struct stage *stage, double arrivals, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: %s: expected at most %.0e arrivals in a schedule, got %.3g", stage->label,
	                     stage->n != IPF_ABSENT ? "n" : "for", (double)BUILDER_MOST_ARRIVALS, arrivals);
}

/* How many heads an open-loop stage has, and when it ends, in its own time. */
struct stage_extent {
	int64_t heads, end_ns;
};

/* Is the head number i of a stage this shard's? Of sessions beginning in their middle, a shard has as many as slots
 * (share_slots), whatever came before. */
static bool is_ours(const struct schedule_builder *builder, const struct stage_layout *layout, int64_t i)
{
	const int64_t before = i < layout->middles ? 0 : layout->before;
	return !builder->shards || (before + i) % builder->shards == builder->shard - 1;
}

static int64_t head_lines(const struct trace_index *trace, int64_t head)
{
	return trace ? trace_index_head(trace, head + 1) - trace_index_head(trace, head) : 1;
}

/* At which turn does a session begin beginning in its middle? 0 where it is no chain of turns. */
static int64_t middle_turn(const struct schedule_builder *builder, int64_t head)
{
	const struct trace_index *trace = builder->trace;
	int64_t first = trace_index_head(trace, head), turns = head_lines(trace, head);
	struct rng rng;

	for (int64_t req = first + 1; req < first + turns; req++) {
		const uint32_t *distance;
		if (trace_index_parents(trace, req, &distance) != 1 || *distance != 1)
			return 0;
	}
	rng_init(&rng, builder->seed, "middle", (uint64_t)head);
	return (int64_t)rng_below(&rng, (uint64_t)turns);
}

/* The requests a stage sends of its head number i. */
struct head_range {
	int64_t first, end;
};

static struct head_range range_of(const struct schedule_builder *builder, const struct stage_layout *layout, int64_t i,
                                  int64_t head)
{
	const struct trace_index *trace = builder->trace;
	if (!trace)
		return (struct head_range){head, head + 1};
	struct head_range all = {trace_index_head(trace, head), trace_index_head(trace, head + 1)};
	if (i >= layout->middles)
		return all;
	int64_t turn = middle_turn(builder, head);
	if (!layout->primer)
		return (struct head_range){all.first + turn, all.end};
	return (struct head_range){all.first + (turn ? turn - 1 : 0), all.first + turn};
}

/* Draws the stage's arrivals up to its end. */
static int measure(const struct schedule_builder *builder, struct stage_layout *layout, struct arrival_process *p,
                   int64_t most, struct stage_extent *extent, struct ipf_error *err)
{
	const struct stage *stage = p->stage;
	int64_t length = stage->for_ns == IPF_ABSENT ? ARRIVAL_LIMIT : stage->for_ns, at, heads = 0;

	while ((at = stage->kind->next(p)) != ARRIVAL_NONE && at < length && heads < most) {
		if (p->picks) {
			int64_t lines = head_lines(builder->trace, p->head);
			layout->lines += lines;
			layout->our_lines += is_ours(builder, layout, heads) ? lines : 0;
		}
		heads++;
	}
	if (heads > BUILDER_MOST_ARRIVALS)
		return too_many(stage, (double)heads, err);
	*extent = (struct stage_extent){heads, stage->for_ns};
	if (at == ARRIVAL_NONE && stage->for_ns == IPF_ABSENT)
		extent->end_ns = p->end_ns;
	else if (at != ARRIVAL_NONE && at < length) /* when the next arrival would be: one gap after the last */
		extent->end_ns = at;
	if (extent->end_ns == IPF_ABSENT && at == ARRIVAL_LIMIT)
		return ipf_error_set(err, IPF_USAGE, "%s: n: the stage is longer than 146 years", stage->label);
	return 0;
}

static int count_open(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                      struct schedule_stage *s, struct ipf_error *err)
{
	struct arrival_process p;
	struct stage_extent extent = {0};
	int64_t most = INT64_MAX;
	double rate = stage->kind->rate ? stage->kind->rate(stage) : stage->rate;
	int status;

	if (stage->for_ns != IPF_ABSENT && rate * (double)stage->for_ns / 1e9 > 2.0 * (double)BUILDER_MOST_ARRIVALS)
		return too_many(stage, rate * (double)stage->for_ns / 1e9, err);
	if (arrival_process_begin(&p, stage, builder->trace, builder->seed, err) < 0)
		return -1;
	/* A process knowing its end needs neither for= nor n=. */
	if (stage->n != IPF_ABSENT)
		most = stage->n;
	else if (stage->for_ns == IPF_ABSENT && p.first_head == IPF_ABSENT && p.end_ns == IPF_ABSENT &&
	         count_given(builder, stage, &most, err) < 0)
		goto fail;
	if (most != INT64_MAX && most > BUILDER_MOST_ARRIVALS) {
		too_many(stage, (double)most, err);
		goto fail;
	}
	status = measure(builder, layout, &p, most, &extent, err);
	layout->picks = p.picks;
	if (p.first_head != IPF_ABSENT)
		layout->first_head = p.first_head;
	if (p.end_head != IPF_ABSENT) {
		layout->round_first = p.first_head;
		layout->round_end = p.end_head;
	}
	memcpy(layout->note, p.note, sizeof layout->note);
	s->recorded_rate = p.recorded_rate;
	s->speed = p.recorded && p.speed.den ? (double)p.speed.num / (double)p.speed.den : 0;
	arrival_process_end(&p);
	if (status < 0)
		return -1;
	layout->heads = extent.heads;
	s->end_ns = extent.end_ns == IPF_ABSENT ? IPF_ABSENT : s->begin_ns + extent.end_ns;
	s->rate = rate;
	if (isnan(s->rate) && extent.end_ns != IPF_ABSENT && extent.end_ns > 0)
		s->rate = (double)extent.heads / ((double)extent.end_ns / 1e9);
	return 0;
fail:
	arrival_process_end(&p);
	return -1;
}

static int count_at_once(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                         struct schedule_stage *s, struct ipf_error *err)
{
	if (count_given(builder, stage, &layout->heads, err) < 0)
		return -1;
	if (stage->for_ns != IPF_ABSENT) {
		s->end_ns = s->begin_ns + stage->for_ns;
		s->rate = (double)layout->heads / ((double)stage->for_ns / 1e9);
	}
	return 0;
}

/* The think times of a closed stage that cycles are those of its lines: a short trace is repeated up to this many
 * heads, so the times do not repeat too soon. */
#define THINK_LEAST 4096

static int count_closed(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                        struct schedule_stage *s, struct ipf_error *err)
{
	const bool has_sessions = builder->trace && builder->trace->heads < builder->trace->count;

	s->closed = true;
	s->sessions = has_sessions && !stage->by_concurrency;
	if (stage->middle && !has_sessions)
		return ipf_error_set(err, IPF_USAGE, "%s: middle: requires a trace with sessions: -t TRACE", stage->label);
	if (s->sessions && !isnan(stage->rate))
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: rate: does not apply to users= of a trace with sessions, whose turns keep their "
		                     "recorded waits; it applies to concurrency=",
		                     stage->label);
	layout->middles = stage->middle ? stage->slots : 0;
	layout->primer = stage->primer;
	layout->apart = stage->apart;
	s->rampup_ns = stage->rampup_ns == IPF_ABSENT ? 0 : stage->rampup_ns;
	s->pace_ns = isnan(stage->rate) ? 0 : llrint((double)NS_PER_S / stage->rate);
	if (stage->for_ns == IPF_ABSENT)
		return count_given(builder, stage, &layout->heads, err);
	if (!builder->trace)
		return ipf_error_set(err, IPF_USAGE, "%s: for: a closed loop with for= requires a trace: -t TRACE",
		                     stage->label);
	s->cycle = true;
	s->salt = stage->salt;
	s->end_ns = s->begin_ns + stage->for_ns;
	layout->heads = builder->trace->heads + layout->middles;
	if (stage->think_ns != IPF_ABSENT && stage->process_given && layout->heads < THINK_LEAST)
		layout->heads *= (THINK_LEAST + layout->heads - 1) / layout->heads;
	return 0;
}

/* One request at a time. choose_alone() says which. */
static int count_alone(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                       struct schedule_stage *s, struct ipf_error *err)
{
	if (!builder->trace || !builder->trace->checked.count)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: the trace has no canaries or repeated requests: see --canaries and --repeats of "
		                     "ipf-prep",
		                     stage->label);
	s->closed = true;
	s->slots = 1;
	layout->alone = true;
	layout->first_head = layout->round_first = 0;
	return 0;
}

/* The head number i of a stage. */
static int64_t head_of(const struct schedule_builder *builder, const struct stage_layout *layout, int64_t i)
{
	if (layout->alone)
		return builder->alone[i % layout->round_end];
	return layout->round_first +
	       (layout->first_head - layout->round_first + i) % (layout->round_end - layout->round_first);
}

/* How many lines this shard has of the first heads, of which the stage begins in the middle; `all`: all shards. */
static int64_t middle_lines(const struct schedule_builder *builder, const struct stage_layout *layout, bool all)
{
	int64_t lines = 0;

	for (int64_t i = 0; i < layout->middles && i < layout->heads; i++) {
		struct head_range r = range_of(builder, layout, i, head_of(builder, layout, i));
		lines += all || is_ours(builder, layout, i) ? r.end - r.first : 0;
	}
	return lines;
}

/* How many lines the heads of a stage have. */
static int64_t layout_lines(const struct schedule_builder *builder, const struct stage_layout *layout)
{
	const struct trace_index *trace = builder->trace;
	int64_t length = layout->round_end - layout->round_first, lines;

	if (layout->picks)
		return layout->lines;
	if (layout->alone) /* none has followers */
		return layout->heads;
	if (layout->middles)
		return middle_lines(builder, layout, true) +
		       trace_index_lines(trace, head_of(builder, layout, layout->middles), layout->heads - layout->middles);
	if (length == trace->heads)
		return trace_index_lines(trace, layout->first_head, layout->heads);
	/* A stage repeating a part of the trace begins with its first head. */
	lines = trace_index_head(trace, layout->round_end) - trace_index_head(trace, layout->round_first);
	return layout->heads / length * lines + trace_index_head(trace, layout->round_first + layout->heads % length) -
	       trace_index_head(trace, layout->round_first);
}

/* How many lines the heads have belonging to this shard. */
static int64_t count_ours(const struct schedule_builder *builder, const struct stage_layout *layout)
{
	int64_t first = (builder->shard - 1 - layout->before % builder->shards + builder->shards) % builder->shards,
			lines = middle_lines(builder, layout, false);

	if (layout->picks)
		return layout->our_lines;
	if (!builder->trace || layout->alone || (!builder->trace->head.count && !layout->middles))
		return layout->heads > first ? (layout->heads - first - 1) / builder->shards + 1 : 0;
	for (int64_t i = first; i < layout->heads; i += builder->shards)
		lines += i < layout->middles ? 0 : head_lines(builder->trace, head_of(builder, layout, i));
	return lines;
}

/* Divides the slots; if they do not divide evenly, the first shards have one more. */
static int share_slots(const struct schedule_builder *builder, const struct stage *stage, struct schedule_stage *s,
                       struct ipf_error *err)
{
	if (s->slots == IPF_ABSENT)
		return 0;
	if (stage->kind == &kind_alone)
		return ipf_error_set(err, IPF_USAGE, "%s: cannot be combined with --shard: several clients are not alone",
		                     stage->label);
	if (s->slots < builder->shards)
		return ipf_error_set(err, IPF_USAGE, "%s: %s: cannot divide %lld among %lld shards", stage->label,
		                     !s->closed              ? "slots"
		                     : stage->by_concurrency ? "concurrency"
		                                             : "users",
		                     (long long)s->slots, (long long)builder->shards);
	s->slots = s->slots / builder->shards + (builder->shard <= s->slots % builder->shards);
	return 0;
}

/* Reduces a stage to this shard. The numbers of a stage that cycles must have no gaps: each shard has a range of them.
 */
static int shard_stage(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                       struct schedule_stage *s, struct ipf_error *err)
{
	if (!builder->shards)
		return 0;
	s->all_arrivals = s->arrivals;
	s->arrivals = count_ours(builder, layout);
	s->rate /= (double)builder->shards;
	const int64_t again = layout->heads - layout->middles; /* those coming again and again */
	if (s->cycle && again < builder->shards)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: for: cannot divide a trace of %lld requests or sessions among %lld shards",
		                     stage->label, (long long)again, (long long)builder->shards);
	if (s->cycle)
		s->first_n += BUILDER_CYCLE_NUMBERS / builder->shards * (builder->shard - 1);
	return share_slots(builder, stage, s, err);
}

/* Sets how many heads a stage has, and when it ends; s->begin_ns is set. */
static int count_stage(const struct schedule_builder *builder, const struct stage *stage, struct stage_layout *layout,
                       struct schedule_stage *s, struct ipf_error *err)
{
	int status = 0;

	s->slots = stage->slots;
	s->measured = !stage->primer && !stage->warmup && !stage->cooldown && stage->kind->type != STAGE_REST &&
	              stage->kind != &kind_alone;
	s->end_ns = IPF_ABSENT;
	s->rate = NAN;
	switch (stage->kind->type) {
	case STAGE_OPEN:
		status = count_open(builder, stage, layout, s, err);
		break;
	case STAGE_AT_ONCE:
		status = count_at_once(builder, stage, layout, s, err);
		break;
	case STAGE_CLOSED:
		status = stage->kind == &kind_alone ? count_alone(builder, stage, layout, s, err)
		                                    : count_closed(builder, stage, layout, s, err);
		break;
	case STAGE_REST:
		s->end_ns = s->begin_ns + stage->for_ns;
		break;
	}
	if (status < 0)
		return -1;
	s->drain = stage->drain && s->end_ns != IPF_ABSENT;
	s->overlap = stage->overlap && s->end_ns == IPF_ABSENT;
	s->cold = stage->cold;
	if (layout->heads > BUILDER_MOST_ARRIVALS)
		return too_many(stage, (double)layout->heads, err);
	if (s->end_ns != IPF_ABSENT && s->end_ns >= ARRIVAL_LIMIT)
		return ipf_error_set(err, IPF_USAGE, "%s: for: the stage ends more than 146 years after the beginning",
		                     stage->label);
	return 0;
}

static int describe(struct schedule_stage *s, const struct stage *stage, struct ipf_error *err)
{
	s->name = strdup(stage->name);
	s->kind = strdup(stage->kind->name);
	s->spec = strdup(stage->spec);
	s->by = strdup(stage->kind == &kind_replay && !isnan(stage->rate) ? replay_by_name(stage->by) : "");
	return s->name && s->kind && s->spec && s->by ? 0 : ipf_error_memory(err);
}

/* The first head that is this request or a later one; after the last head, the first one. */
static int64_t head_from(const struct trace_index *trace, int64_t req)
{
	int64_t low = 0, high = trace->heads;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (trace_index_head(trace, middle) < req)
			low = middle + 1;
		else
			high = middle;
	}
	return low == trace->heads ? 0 : low;
}

static int count_stages(struct schedule_builder *builder, struct ipf_error *err)
{
	int64_t now_ns = 0, before = 0;

	for (size_t i = 0; i < builder->stages->count; i++) {
		struct schedule_stage *s = &builder->schedule.stages[builder->schedule.count++];
		struct stage_layout *layout = &builder->layouts[i];
		s->begin_ns = now_ns;
		const int64_t idle_max_ns = builder->stages->list[i].idle_max_ns;
		layout->first_head = IPF_ABSENT;
		layout->idle_max_ns = idle_max_ns == IPF_ABSENT ? INT64_MAX : idle_max_ns;
		s->idle_max_ns = idle_max_ns == IPF_ABSENT ? 0 : idle_max_ns;
		layout->before = before;
		layout->round_end = builder->trace ? builder->trace->heads : 0;
		if (describe(s, &builder->stages->list[i], err) < 0 ||
		    count_stage(builder, &builder->stages->list[i], layout, s, err) < 0)
			return -1;
		before += layout->heads;
		if (s->end_ns != IPF_ABSENT)
			now_ns = s->end_ns;
	}
	return 0;
}

/* How far a closed stage with for= gets in the trace is not known beforehand. The heads the other stages leave are
 * shared among these stages in proportion to their lengths, so the next stage finds requests that were not sent yet, as
 * long as the trace has any. */
static void share_trace(struct schedule_builder *builder)
{
	int64_t heads = builder->trace ? builder->trace->heads : 0, taken = 0, time = 0;

	for (size_t i = 0; i < builder->schedule.count; i++) {
		const struct schedule_stage *s = &builder->schedule.stages[i];
		time += s->cycle ? s->end_ns - s->begin_ns : 0;
		const struct stage_layout *layout = &builder->layouts[i];
		taken += s->cycle || layout->picks || layout->primer || layout->alone ? 0 : layout->heads;
	}
	int64_t left = taken < heads ? heads - taken : heads;
	for (size_t i = 0; i < builder->schedule.count; i++) {
		const struct schedule_stage *s = &builder->schedule.stages[i];
		builder->layouts[i].advance = builder->layouts[i].primer || builder->layouts[i].alone ? 0
		                              : s->cycle
		                                  ? (int64_t)((double)left * ((double)(s->end_ns - s->begin_ns) / (double)time))
		                                  : builder->layouts[i].heads;
	}
}

/* Before a stage with a cold cache, and one whose requests are alone, all requests end: those of the last stage that
 * has any, and the rests after it. */
static int drain_before(struct schedule_builder *builder, size_t i, const char *why, struct ipf_error *err)
{
	for (size_t k = i; k-- > 0;) {
		struct schedule_stage *s = &builder->schedule.stages[k];
		if (s->overlap)
			return ipf_error_set(err, IPF_USAGE, "%s: %s: cannot follow a stage with overlap",
			                     builder->stages->list[i].label, why);
		s->drain = s->end_ns != IPF_ABSENT;
		if (builder->stages->list[k].kind->type != STAGE_REST)
			break;
	}
	return 0;
}

static int drain_stages(struct schedule_builder *builder, struct ipf_error *err)
{
	for (size_t i = 0; i < builder->schedule.count; i++) {
		const bool cold = builder->schedule.stages[i].cold;
		if (cold && builder->shards)
			return ipf_error_set(err, IPF_USAGE,
			                     "%s: cache=cold: cannot be combined with --shard: each client would "
			                     "reset the cache of the others",
			                     builder->stages->list[i].label);
		if ((cold || builder->layouts[i].alone) && drain_before(builder, i, cold ? "cache=cold" : "alone", err) < 0)
			return -1;
	}
	return 0;
}

/* Assigns the first request of each stage. A stage of kind alone leaves the place in the trace where it is. */
static void place_heads(struct schedule_builder *builder)
{
	const struct trace_index *trace = builder->trace;
	int64_t head = trace ? head_from(trace, builder->first_req) : 0;

	for (size_t i = 0; i < builder->schedule.count; i++) {
		struct stage_layout *layout = &builder->layouts[i];
		if (layout->alone)
			continue;
		if (layout->first_head == IPF_ABSENT)
			layout->first_head = head;
		head = layout->picks ? layout->round_end % trace->heads
		       : trace       ? head_of(builder, layout, layout->advance)
		                     : head + layout->heads;
	}
}

/* May the stage send this head? How far one that cycles gets is not known, nor which heads one picks. */
static bool may_send(const struct schedule_stage *s, const struct stage_layout *layout, int64_t head)
{
	const int64_t length = layout->round_end - layout->round_first;
	if (layout->alone || layout->heads == 0)
		return false;
	if (s->cycle || layout->picks || layout->heads >= length)
		return true;
	if (head < layout->round_first || head >= layout->round_end)
		return false;
	return (head - layout->first_head + length) % length < layout->heads;
}

static void measure_alone(const struct schedule_builder *builder, const struct stage *stage,
                          struct stage_layout *layout)
{
	layout->round_end = stage->n != IPF_ABSENT && stage->n < builder->alone_count ? stage->n : builder->alone_count;
	layout->heads = layout->round_end * (stage->times == IPF_ABSENT ? 1 : stage->times);
}

/* A request alone is there to be compared: those that no other stage sends are left out, if there is any other. */
static int choose_alone(struct schedule_builder *builder, struct ipf_error *err)
{
	const struct column *checked = builder->trace ? &builder->trace->checked : NULL;
	const int64_t count = checked ? checked->count : 0;
	builder->alone = calloc(count ? (size_t)count : 1, sizeof *builder->alone);
	if (!builder->alone)
		return ipf_error_memory(err);
	for (int64_t k = 0; k < count; k++) {
		bool sent = false;
		for (size_t i = 0; i < builder->schedule.count && !sent; i++)
			sent = may_send(&builder->schedule.stages[i], &builder->layouts[i], checked->values[k]);
		if (sent)
			builder->alone[builder->alone_count++] = checked->values[k];
	}
	if (builder->alone_count == 0 && count > 0) {
		memcpy(builder->alone, checked->values, (size_t)count * sizeof *builder->alone);
		builder->alone_count = count;
	}
	for (size_t i = 0; i < builder->schedule.count; i++)
		if (builder->layouts[i].alone)
			measure_alone(builder, &builder->stages->list[i], &builder->layouts[i]);
	return 0;
}

/* Assigns numbers to the requests of each stage. */
static int place_stages(struct schedule_builder *builder, struct ipf_error *err)
{
	int64_t n = 0;

	for (size_t i = 0; i < builder->schedule.count; i++) {
		struct schedule_stage *s = &builder->schedule.stages[i];
		struct stage_layout *layout = &builder->layouts[i];
		s->first_n = n;
		s->arrivals = builder->trace ? layout_lines(builder, layout) : layout->heads;
		s->once = s->cycle && layout->middles ? middle_lines(builder, layout, false) : 0;
		if (shard_stage(builder, &builder->stages->list[i], layout, s, err) < 0)
			return -1;
		n += s->cycle ? BUILDER_CYCLE_NUMBERS : builder->shards ? s->all_arrivals : s->arrivals;
		builder->arrivals += s->arrivals;
	}
	return 0;
}

/* The stages are copies of their requests, from the first that no earlier run was. */
static int number_copies(struct schedule_builder *builder, struct ipf_error *err)
{
	int64_t copy = builder->sent ? builder->sent->next_copy : 0;

	for (size_t i = 0; i < builder->schedule.count; i++) {
		struct schedule_stage *s = &builder->schedule.stages[i];
		if (builder->stages->list[i].kind->type == STAGE_REST)
			continue;
		if (schedule_has_copies(s))
			return ipf_error_set(err, IPF_USAGE, "%s: by=copies: cannot be combined with --new-prompts",
			                     builder->stages->list[i].label);
		if (copy > SCHEDULE_COPIES)
			return ipf_error_set(err, IPF_USAGE, "%s: --new-prompts: expected at most %d stages",
			                     builder->stages->list[i].label, SCHEDULE_COPIES + 1);
		s->copy = copy++;
	}
	return 0;
}

/* Have earlier runs sent prompts of this trace? */
static bool continues_trace(const struct schedule_builder *builder)
{
	return builder->trace && builder->sent && strcmp(builder->sent->trace_sha256, builder->trace->sha256) == 0;
}

static int count_sent_before(struct schedule_builder *builder, struct ipf_error *err)
{
	struct seen_numbers here = {0};

	for (size_t i = 0; continues_trace(builder) && i < builder->schedule.count; i++) {
		struct schedule_stage *s = &builder->schedule.stages[i];
		const struct stage_layout *layout = &builder->layouts[i];
		for (int64_t k = 0; !layout->picks && !layout->alone && k < layout->heads; k++) {
			struct head_range r = range_of(builder, layout, k, head_of(builder, layout, k));
			for (int64_t req = r.first; req < r.end; req++) {
				int64_t prompt = schedule_prompt_number(req, s->copy, builder->trace->count);
				s->sent_before += seen_numbers_has(&builder->sent->seen, prompt) && !seen_numbers_add(&here, prompt) &&
				                  is_ours(builder, layout, k);
			}
		}
	}
	bool failed = here.failed;
	seen_numbers_release(&here);
	return failed ? ipf_error_memory(err) : 0;
}

int schedule_builder_prepare(struct schedule_builder *builder, struct ipf_error *err)
{
	size_t count = builder->stages->count;

	builder->schedule = (struct schedule){
		.trace_requests = IPF_ABSENT, .shard = builder->shard, .shards = builder->shards};
	builder->schedule.stages = calloc(count ? count : 1, sizeof *builder->schedule.stages);
	builder->layouts = calloc(count ? count : 1, sizeof *builder->layouts);
	builder->arrivals = 0;
	if (!builder->schedule.stages || !builder->layouts)
		return ipf_error_memory(err);
	if (builder->trace) {
		memcpy(builder->schedule.trace_sha256, builder->trace->sha256, sizeof builder->schedule.trace_sha256);
		builder->schedule.trace_requests = builder->trace->count;
		builder->schedule.trace_repeated_prompts = builder->trace->repeats;
		builder->schedule.trace_reuse = builder->trace->reuse;
	}
	if (count_stages(builder, err) < 0 || drain_stages(builder, err) < 0)
		return -1;
	share_trace(builder);
	place_heads(builder);
	if (choose_alone(builder, err) < 0 || place_stages(builder, err) < 0 ||
	    (builder->new_prompts && number_copies(builder, err) < 0))
		return -1;
	return count_sent_before(builder, err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct line_writer {
	const struct schedule_builder *builder;
	struct stream_writer *writer;
	struct progress *progress;
	int64_t *after; /* room for the parents of any request */
	int64_t n;
	struct seen_numbers seen; /* prompts of the trace that were sent (schedule_prompt_number) */
	const struct schedule_stage *stage;
	struct stage_layout *layout; /* for that stage */
	bool expected;               /* this head is sent before the next stage begins */
	int64_t due_ns;              /* the latest due time of the stage so far */
};

/* Is the prompt sent sent before? Copies of a replay do not count. */
static bool send_prompt(struct line_writer *w, int64_t req, int64_t copy)
{
	const struct trace_index *trace = w->builder->trace;

	return trace && w->expected && (copy == 0 || copy == w->stage->copy) &&
	       seen_numbers_add(&w->seen, schedule_prompt_number(req, copy, trace->count));
}

/* The recorded wait of a follower; without one, the think time of a closed stage, if it has any. */
static int64_t follower_wait(const struct line_writer *w, int64_t req, struct arrival_process *p)
{
	int64_t wait_ns = trace_index_wait(w->builder->trace, req);

	if (wait_ns != IPF_ABSENT && wait_ns > w->layout->idle_max_ns)
		return w->layout->idle_max_ns;
	if (wait_ns != IPF_ABSENT)
		return p && p->recorded ? ratio_divide(wait_ns, p->speed) : wait_ns;
	return p && p->stage->kind->think ? p->stage->kind->think(p) : IPF_ABSENT;
}

/* Another shard sends these requests, with the times drawn here. */
static void skip(struct line_writer *w, const struct head_range *r, int64_t copy, struct arrival_process *p)
{
	for (int64_t req = r->first; w->builder->trace && req < r->end; req++) {
		send_prompt(w, req, copy);
		if (req > r->first)
			follower_wait(w, req, p);
	}
}

/* Looks for long times in which nothing is due. A follower without a due time is taken to be due after its wait, or
 * later: that finds no gap where requests are sent. */
static void note_gap(struct line_writer *w, const struct schedule_arrival *a)
{
	struct stage_layout *layout = w->layout;
	if (a->at_ns == IPF_ABSENT) {
		w->due_ns += a->after_count && a->wait_ns > 0 && a->wait_ns < INT64_MAX - w->due_ns ? a->wait_ns : 0;
		return;
	}
	if (layout->lead_ns == IPF_ABSENT)
		layout->lead_ns = a->at_ns - w->due_ns;
	else if (a->at_ns - w->due_ns > layout->gap_ns) {
		layout->gap_ns = a->at_ns - w->due_ns;
		layout->gap_at_ns = w->due_ns;
	}
	if (a->at_ns > w->due_ns)
		w->due_ns = a->at_ns;
}

static int put(struct line_writer *w, const struct schedule_arrival *arrival, struct ipf_error *err)
{
	if (arrival->wait_ns > FIELD_INT_MAX)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: a wait of %.3g s before a request: expected less than 2^61 ns (73 years)",
		                     w->stage->name, (double)arrival->wait_ns / 1e9);
	note_gap(w, arrival);
	bool again = send_prompt(w, arrival->req, arrival->copy);
	w->layout->sent += !w->stage->cycle;
	w->layout->repeated += again && !w->stage->cycle;
	schedule_arrival_write(arrival, stream_writer_begin_line(w->writer));
	if ((arrival->n & 0xfff) == 0 && progress_due(w->progress, clock_now()))
		progress_show(w->progress, "%lld of %lld arrivals", (long long)stream_writer_lines(w->writer),
		              (long long)w->builder->arrivals);
	return stream_writer_end_line(w->writer, err);
}

/* The followers of `head`, up to the request end_req. */
static int put_followers(struct line_writer *w, struct arrival_process *p, int64_t begin_ns,
                         const struct schedule_arrival *head, int64_t end_req, struct ipf_error *err)
{
	const struct trace_index *trace = w->builder->trace;
	struct schedule_arrival a = {.stage = head->stage, .copy = head->copy, .after = w->after};
	const uint32_t *distance;

	for (a.req = head->req + 1; a.req < end_req; a.req++) {
		a.n = w->n++;
		a.at_ns = IPF_ABSENT;
		a.after_count = trace_index_parents(trace, a.req, &distance);
		for (size_t i = 0; i < a.after_count; i++)
			w->after[i] = a.n - distance[i];
		a.wait_ns = follower_wait(w, a.req, p);
		if (p && p->recorded) {
			int64_t at = trace_index_at(trace, a.req);
			if (at != IPF_ABSENT)
				a.at_ns = begin_ns + (at > p->zero_ns ? ratio_divide(at - p->zero_ns, p->speed) : 0);
		}
		if (put(w, &a, err) < 0)
			return -1;
	}
	return 0;
}

/* Arrivals drawn in batches: the processor overlaps the drawing of several, which it cannot across the writing of a
 * line. */
struct arrival_batch {
	int64_t times[64];
	int64_t count, taken;
};

static int64_t next_time(struct arrival_batch *ahead, struct arrival_process *p, int64_t left)
{
	if (p->recorded) /* each arrival sets more than its time */
		return p->stage->kind->next(p);
	if (ahead->taken == ahead->count) {
		int64_t most = (int64_t)(sizeof ahead->times / sizeof *ahead->times);
		ahead->count = left < most ? left : most;
		for (int64_t i = 0; i < ahead->count; i++)
			ahead->times[i] = p->stage->kind->next(p);
		ahead->taken = 0;
	}
	return ahead->times[ahead->taken++];
}

static int write_heads(struct line_writer *w, size_t stage_index, struct arrival_process *p, struct ipf_error *err)
{
	const struct schedule_stage *s = &w->builder->schedule.stages[stage_index];
	const struct stage_layout *layout = &w->builder->layouts[stage_index];
	const struct trace_index *trace = w->builder->trace;
	struct schedule_arrival a = {.stage = (int64_t)stage_index, .copy = s->copy, .wait_ns = IPF_ABSENT};
	struct arrival_batch ahead = {.count = 0};
	int64_t head = layout->first_head;

	for (int64_t i = 0; i < layout->heads; i++, head++) {
		if (trace && head == layout->round_end)
			head = layout->round_first;
		a.at_ns = s->closed ? IPF_ABSENT : s->begin_ns + (p ? next_time(&ahead, p, layout->heads - i) : 0);
		if (layout->picks) {
			head = p->head;
			a.copy = p->copy;
		}
		if (layout->alone)
			head = head_of(w->builder, layout, i);
		if (layout->apart)
			a.copy = (s->copy + (i < layout->middles ? SCHEDULE_COPIES : 0)) % (SCHEDULE_COPIES + 1);
		w->expected = !layout->alone && (!s->cycle || i < layout->advance);
		if (s->closed && p)
			a.wait_ns = p->stage->kind->think(p);
		struct head_range r = range_of(w->builder, layout, i, head);
		if (!is_ours(w->builder, layout, i)) {
			w->n += s->cycle ? 0 : r.end - r.first;
			skip(w, &r, a.copy, p);
			continue;
		}
		if (r.first == r.end)
			continue;
		a.n = w->n++;
		a.req = r.first;
		a.session_requests = r.end - r.first;
		if (put(w, &a, err) < 0 || (trace && put_followers(w, p, s->begin_ns, &a, r.end, err) < 0))
			return -1;
	}
	return 0;
}

static int write_stage(struct line_writer *w, size_t index, struct ipf_error *err)
{
	const struct stage *stage = &w->builder->stages->list[index];
	struct arrival_process p;
	int status;

	w->stage = &w->builder->schedule.stages[index];
	w->layout = &w->builder->layouts[index];
	w->n = w->stage->first_n;
	w->due_ns = w->stage->begin_ns;
	w->layout->lead_ns = IPF_ABSENT;
	if (w->stage->cold)
		seen_numbers_release(&w->seen); /* no cache knows their prompts */
	if (stage->kind->type != STAGE_OPEN && stage->think_ns == IPF_ABSENT)
		return write_heads(w, index, NULL, err);
	if (arrival_process_begin(&p, stage, w->builder->trace, w->builder->seed, err) < 0)
		return -1;
	status = write_heads(w, index, &p, err);
	arrival_process_end(&p);
	return status;
}

int schedule_builder_write(struct schedule_builder *builder, struct stream_writer *writer, struct progress *progress,
                           struct ipf_error *err)
{
	size_t parents = builder->trace && builder->trace->most_parents > 1 ? builder->trace->most_parents : 1;
	struct line_writer w = {.builder = builder, .writer = writer, .progress = progress};
	int status = 0;

	w.after = calloc(parents, sizeof *w.after);
	if (!w.after)
		return ipf_error_memory(err);
	if (continues_trace(builder))
		seen_numbers_copy(&w.seen, &builder->sent->seen);
	for (size_t i = 0; status == 0 && i < builder->stages->count; i++)
		status = write_stage(&w, i, err);
	free(w.after);
	if (status == 0 && w.seen.failed)
		status = ipf_error_memory(err);
	seen_numbers_release(&w.seen);
	return status;
}

void schedule_builder_release(struct schedule_builder *builder)
{
	schedule_release(&builder->schedule);
	free(builder->alone);
	builder->alone = NULL;
	free(builder->layouts);
	builder->layouts = NULL;
}
