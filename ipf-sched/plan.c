#include "plan.h"

#include "absent.h"
#include "clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counting --------------------------------------------------------------------------------------------------- */

/* What a stage of n= takes, or the whole trace once. */
static int count_given(const struct plan *plan, const struct stage *stage, int64_t *heads, struct ipf_error *err)
{
	*heads = stage->n;
	if (stage->n == IPF_ABSENT && !plan->requests)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: n: missing: expected %sn=COUNT, or -t TRACE to take the whole trace once",
		                     stage->label, stage->kind->type == STAGE_OPEN ? "for=TIME or " : "");
	if (stage->n == IPF_ABSENT)
		*heads = plan->requests->heads;
	return 0;
}

static int too_many(const struct stage *stage, double arrivals, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_USAGE, "%s: %s: %.3g arrivals, and a schedule holds %.0e at most", stage->label,
	                     stage->n != IPF_ABSENT ? "n" : "for", arrivals, (double)PLAN_MOST_ARRIVALS);
}

/* Where an open-loop stage ends, in its own time, and how many heads it has. */
struct extent {
	int64_t heads, end_ns;
};

/* Is a stage's head number i this shard's? */
static bool is_ours(const struct plan *plan, const struct plan_part *part, int64_t i)
{
	return !plan->shards || (part->before + i) % plan->shards == plan->shard - 1;
}

static int64_t head_lines(const struct requests *requests, int64_t head)
{
	return requests ? requests_head(requests, head + 1) - requests_head(requests, head) : 1;
}

/* Draws the stage's arrivals up to its end. */
static int measure(const struct plan *plan, struct plan_part *part, struct arrival_process *p, int64_t most,
                   struct extent *extent, struct ipf_error *err)
{
	const struct stage *stage = p->stage;
	int64_t length = stage->for_ns == IPF_ABSENT ? ARRIVAL_LIMIT : stage->for_ns, at, heads = 0;

	while ((at = stage->kind->next(p)) != ARRIVAL_NONE && at < length && heads < most) {
		if (p->picks) {
			int64_t lines = head_lines(plan->requests, p->head);
			part->lines += lines;
			part->our_lines += is_ours(plan, part, heads) ? lines : 0;
		}
		heads++;
	}
	if (heads > PLAN_MOST_ARRIVALS)
		return too_many(stage, (double)heads, err);
	*extent = (struct extent){heads, stage->for_ns};
	if (at == ARRIVAL_NONE && stage->for_ns == IPF_ABSENT)
		extent->end_ns = p->end_ns;
	else if (at != ARRIVAL_NONE && at < length) /* the arrival that would have been the next: one gap after the last */
		extent->end_ns = at;
	if (extent->end_ns == IPF_ABSENT && at == ARRIVAL_LIMIT)
		return ipf_error_set(err, IPF_USAGE, "%s: n: lasts longer than 146 years", stage->label);
	return 0;
}

static int count_open(const struct plan *plan, const struct stage *stage, struct plan_part *part,
                      struct schedule_stage *s, struct ipf_error *err)
{
	struct arrival_process p;
	struct extent extent = {0};
	int64_t most = INT64_MAX;
	double rate = stage->kind->rate ? stage->kind->rate(stage) : stage->rate;
	int status;

	if (stage->for_ns != IPF_ABSENT && rate * (double)stage->for_ns / 1e9 > 2.0 * (double)PLAN_MOST_ARRIVALS)
		return too_many(stage, rate * (double)stage->for_ns / 1e9, err);
	if (arrival_process_begin(&p, stage, plan->requests, plan->seed, err) < 0)
		return -1;
	/* A process with an end of its own needs no other. */
	if (stage->n != IPF_ABSENT)
		most = stage->n;
	else if (stage->for_ns == IPF_ABSENT && p.first_head == IPF_ABSENT && p.end_ns == IPF_ABSENT &&
	         count_given(plan, stage, &most, err) < 0)
		goto fail;
	if (most != INT64_MAX && most > PLAN_MOST_ARRIVALS) {
		too_many(stage, (double)most, err);
		goto fail;
	}
	status = measure(plan, part, &p, most, &extent, err);
	part->picks = p.picks;
	if (p.first_head != IPF_ABSENT)
		part->first_head = p.first_head;
	if (p.end_head != IPF_ABSENT) {
		part->round_first = p.first_head;
		part->round_end = p.end_head;
	}
	memcpy(part->note, p.note, sizeof part->note);
	s->recorded_rate = p.recorded_rate;
	arrival_process_end(&p);
	if (status < 0)
		return -1;
	part->heads = extent.heads;
	s->end_ns = extent.end_ns == IPF_ABSENT ? IPF_ABSENT : s->begin_ns + extent.end_ns;
	s->rate = rate;
	if (isnan(s->rate) && extent.end_ns != IPF_ABSENT && extent.end_ns > 0)
		s->rate = (double)extent.heads / ((double)extent.end_ns / 1e9);
	return 0;
fail:
	arrival_process_end(&p);
	return -1;
}

static int count_at_once(const struct plan *plan, const struct stage *stage, struct plan_part *part,
                         struct schedule_stage *s, struct ipf_error *err)
{
	if (count_given(plan, stage, &part->heads, err) < 0)
		return -1;
	if (stage->for_ns != IPF_ABSENT) {
		s->end_ns = s->begin_ns + stage->for_ns;
		s->rate = (double)part->heads / ((double)stage->for_ns / 1e9);
	}
	return 0;
}

/* A closed stage that goes round has its think times once for each of its lines: short traces are written several
 * times. */
#define THINK_LEAST 4096

static int count_closed(const struct plan *plan, const struct stage *stage, struct plan_part *part,
                        struct schedule_stage *s, struct ipf_error *err)
{
	s->closed = true;
	s->sessions = stage->sessions != IPF_ABSENT;
	if (s->sessions)
		s->slots = stage->sessions;
	s->rampup_ns = stage->rampup_ns == IPF_ABSENT ? 0 : stage->rampup_ns;
	s->pace_ns = isnan(stage->rate) ? 0 : llrint((double)NS_PER_S / stage->rate);
	if (stage->for_ns == IPF_ABSENT)
		return count_given(plan, stage, &part->heads, err);
	if (!plan->requests)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: for: a closed loop of some time goes round a trace: -t TRACE is missing",
		                     stage->label);
	s->cycle = true;
	s->end_ns = s->begin_ns + stage->for_ns;
	part->heads = plan->requests->heads;
	if (stage->think_ns != IPF_ABSENT && stage->process_given && part->heads < THINK_LEAST)
		part->heads *= (THINK_LEAST + part->heads - 1) / part->heads;
	return 0;
}

/* The stage's head number i. */
static int64_t head_of(const struct plan_part *part, int64_t i)
{
	return part->round_first + (part->first_head - part->round_first + i) % (part->round_end - part->round_first);
}

/* How many lines its heads have. */
static int64_t part_lines(const struct requests *requests, const struct plan_part *part)
{
	int64_t length = part->round_end - part->round_first, lines;

	if (part->picks)
		return part->lines;
	if (length == requests->heads)
		return requests_lines(requests, part->first_head, part->heads);
	/* A part of the trace is gone round from its beginning. */
	lines = requests_head(requests, part->round_end) - requests_head(requests, part->round_first);
	return part->heads / length * lines + requests_head(requests, part->round_first + part->heads % length) -
	       requests_head(requests, part->round_first);
}

/* How many lines the heads have that are this shard's. */
static int64_t count_ours(const struct plan *plan, const struct plan_part *part)
{
	int64_t first = (plan->shard - 1 - part->before % plan->shards + plan->shards) % plan->shards, lines = 0;

	if (part->picks)
		return part->our_lines;
	if (!plan->requests || !plan->requests->head.count)
		return part->heads > first ? (part->heads - first - 1) / plan->shards + 1 : 0;
	for (int64_t i = first; i < part->heads; i += plan->shards)
		lines += head_lines(plan->requests, head_of(part, i));
	return lines;
}

/* Its share of the slots; the first shards have one more where they cannot be dealt out evenly. */
static int share_slots(const struct plan *plan, const struct stage *stage, struct schedule_stage *s,
                       struct ipf_error *err)
{
	if (s->slots == IPF_ABSENT)
		return 0;
	if (s->slots < plan->shards)
		return ipf_error_set(err, IPF_USAGE, "%s: %s: %lld cannot be dealt out to %lld shards", stage->label,
		                     !s->closed    ? "slots"
		                     : s->sessions ? "sessions"
		                                   : "users",
		                     (long long)s->slots, (long long)plan->shards);
	s->slots = s->slots / plan->shards + (plan->shard <= s->slots % plan->shards);
	return 0;
}

/* What is different in a shard. Numbers of a stage that goes round have to have no gaps: each shard has its own range
 * of them. */
static int shard_stage(const struct plan *plan, const struct stage *stage, struct plan_part *part,
                       struct schedule_stage *s, struct ipf_error *err)
{
	if (!plan->shards)
		return 0;
	s->all_arrivals = s->arrivals;
	s->arrivals = count_ours(plan, part);
	s->rate /= (double)plan->shards;
	if (s->cycle && part->heads < plan->shards)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: for: a trace of %lld requests or sessions cannot be dealt out to %lld shards",
		                     stage->label, (long long)part->heads, (long long)plan->shards);
	if (s->cycle)
		s->first_n += PLAN_CYCLE_NUMBERS / plan->shards * (plan->shard - 1);
	return share_slots(plan, stage, s, err);
}

/* How many heads a stage has, and when it ends; begin_ns is there. */
static int count_stage(const struct plan *plan, const struct stage *stage, struct plan_part *part,
                       struct schedule_stage *s, struct ipf_error *err)
{
	int status = 0;

	s->slots = stage->slots;
	s->measured = !stage->warmup && !stage->cooldown && stage->kind->type != STAGE_REST;
	s->end_ns = IPF_ABSENT;
	s->rate = NAN;
	switch (stage->kind->type) {
	case STAGE_OPEN:
		status = count_open(plan, stage, part, s, err);
		break;
	case STAGE_AT_ONCE:
		status = count_at_once(plan, stage, part, s, err);
		break;
	case STAGE_CLOSED:
		status = count_closed(plan, stage, part, s, err);
		break;
	case STAGE_REST:
		s->end_ns = s->begin_ns + stage->for_ns;
		break;
	}
	if (status < 0)
		return -1;
	s->drain = stage->drain && s->end_ns != IPF_ABSENT;
	s->overlap = stage->overlap && s->end_ns == IPF_ABSENT;
	if (part->heads > PLAN_MOST_ARRIVALS)
		return too_many(stage, (double)part->heads, err);
	if (s->end_ns != IPF_ABSENT && s->end_ns >= ARRIVAL_LIMIT)
		return ipf_error_set(err, IPF_USAGE, "%s: for: ends more than 146 years after the beginning", stage->label);
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

/* The first head that is this request or a later one; behind the last, the first again. */
static int64_t head_from(const struct requests *requests, int64_t req)
{
	int64_t low = 0, high = requests->heads;

	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (requests_head(requests, middle) < req)
			low = middle + 1;
		else
			high = middle;
	}
	return low == requests->heads ? 0 : low;
}

static int count_stages(struct plan *plan, struct ipf_error *err)
{
	int64_t now_ns = 0, before = 0;

	for (size_t i = 0; i < plan->stages->count; i++) {
		struct schedule_stage *s = &plan->schedule.stages[plan->schedule.count++];
		struct plan_part *part = &plan->parts[i];
		s->begin_ns = now_ns;
		part->first_head = IPF_ABSENT;
		part->before = before;
		part->round_end = plan->requests ? plan->requests->heads : 0;
		if (describe(s, &plan->stages->list[i], err) < 0 || count_stage(plan, &plan->stages->list[i], part, s, err) < 0)
			return -1;
		before += part->heads;
		if (s->end_ns != IPF_ABSENT)
			now_ns = s->end_ns;
	}
	return 0;
}

/* How far closed stages of some time get in the trace nobody knows beforehand. What the other stages leave of it is
 * shared out among them by their times, so that the stage behind one finds requests that were not asked yet, as long as
 * the trace has any. */
static void share_trace(struct plan *plan)
{
	int64_t heads = plan->requests ? plan->requests->heads : 0, taken = 0, time = 0;

	for (size_t i = 0; i < plan->schedule.count; i++) {
		const struct schedule_stage *s = &plan->schedule.stages[i];
		time += s->cycle ? s->end_ns - s->begin_ns : 0;
		taken += s->cycle || plan->parts[i].picks ? 0 : plan->parts[i].heads;
	}
	int64_t left = taken < heads ? heads - taken : heads;
	for (size_t i = 0; i < plan->schedule.count; i++) {
		const struct schedule_stage *s = &plan->schedule.stages[i];
		plan->parts[i].advance = s->cycle ? (int64_t)((double)left * ((double)(s->end_ns - s->begin_ns) / (double)time))
		                                  : plan->parts[i].heads;
	}
}

/* Which requests and numbers each stage has. */
static int place_stages(struct plan *plan, struct ipf_error *err)
{
	const struct requests *requests = plan->requests;
	int64_t n = 0, head = requests ? head_from(requests, plan->first_req) : 0;

	for (size_t i = 0; i < plan->schedule.count; i++) {
		struct schedule_stage *s = &plan->schedule.stages[i];
		struct plan_part *part = &plan->parts[i];
		if (part->first_head == IPF_ABSENT)
			part->first_head = head;
		s->first_n = n;
		s->arrivals = requests ? part_lines(requests, part) : part->heads;
		if (shard_stage(plan, &plan->stages->list[i], part, s, err) < 0)
			return -1;
		n += s->cycle ? PLAN_CYCLE_NUMBERS : plan->shards ? s->all_arrivals : s->arrivals;
		head = part->picks ? part->round_end % requests->heads
		       : requests  ? head_of(part, part->advance)
		                   : head + part->heads;
		plan->arrivals += s->arrivals;
	}
	return 0;
}

int plan_make(struct plan *plan, struct ipf_error *err)
{
	size_t count = plan->stages->count;

	plan->schedule = (struct schedule){.trace_requests = IPF_ABSENT, .shard = plan->shard, .shards = plan->shards};
	plan->schedule.stages = calloc(count ? count : 1, sizeof *plan->schedule.stages);
	plan->parts = calloc(count ? count : 1, sizeof *plan->parts);
	plan->arrivals = 0;
	if (!plan->schedule.stages || !plan->parts)
		return ipf_error_memory(err);
	if (plan->requests) {
		memcpy(plan->schedule.trace_sha256, plan->requests->sha256, sizeof plan->schedule.trace_sha256);
		plan->schedule.trace_requests = plan->requests->count;
	}
	if (count_stages(plan, err) < 0)
		return -1;
	share_trace(plan);
	return place_stages(plan, err);
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

struct output {
	const struct plan *plan;
	struct stream_writer *writer;
	struct progress *progress;
	int64_t *after; /* as many as any request has parents */
	int64_t n;
};

static int put(struct output *o, const struct schedule_arrival *arrival, struct ipf_error *err)
{
	schedule_arrival_write(arrival, stream_writer_begin_line(o->writer));
	if ((arrival->n & 0xfff) == 0 && progress_due(o->progress, clock_now()))
		progress_show(o->progress, "%lld of %lld arrivals", (long long)stream_writer_lines(o->writer),
		              (long long)o->plan->arrivals);
	return stream_writer_end_line(o->writer, err);
}

/* The requests of a session behind its head, which is `head_n` and `head_req`. */
static int put_followers(struct output *o, const struct arrival_process *p, int64_t begin_ns,
                         const struct schedule_arrival *head, int64_t end_req, struct ipf_error *err)
{
	const struct requests *requests = o->plan->requests;
	struct schedule_arrival a = {.stage = head->stage, .copy = head->copy, .after = o->after};
	const uint32_t *distance;

	for (a.req = head->req + 1; a.req < end_req; a.req++) {
		a.n = o->n++;
		a.at_ns = IPF_ABSENT;
		a.after_count = requests_parents(requests, a.req, &distance);
		for (size_t i = 0; i < a.after_count; i++)
			o->after[i] = a.n - distance[i];
		a.wait_ns = requests_wait(requests, a.req);
		if (p && p->recorded) {
			int64_t at = requests_at(requests, a.req);
			if (a.wait_ns != IPF_ABSENT)
				a.wait_ns = ratio_divide(a.wait_ns, p->speed);
			if (at != IPF_ABSENT)
				a.at_ns = begin_ns + (at > p->zero_ns ? ratio_divide(at - p->zero_ns, p->speed) : 0);
		}
		if (put(o, &a, err) < 0)
			return -1;
	}
	return 0;
}

/* Arrivals drawn some ahead: what one of them waits for the next ones need not, but the text of a line is too much to
 * look beyond. */
struct ahead {
	int64_t times[64];
	int64_t count, taken;
};

static int64_t next_time(struct ahead *ahead, struct arrival_process *p, int64_t left)
{
	if (p->recorded) /* its arrivals say more than their time */
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

static int write_heads(struct output *o, size_t stage_index, struct arrival_process *p, struct ipf_error *err)
{
	const struct schedule_stage *s = &o->plan->schedule.stages[stage_index];
	const struct plan_part *part = &o->plan->parts[stage_index];
	const struct requests *requests = o->plan->requests;
	struct schedule_arrival a = {.stage = (int64_t)stage_index, .wait_ns = IPF_ABSENT};
	struct ahead ahead = {.count = 0};
	int64_t head = part->first_head;

	for (int64_t i = 0; i < part->heads; i++, head++) {
		if (requests && head == part->round_end)
			head = part->round_first;
		a.at_ns = s->closed ? IPF_ABSENT : s->begin_ns + (p ? next_time(&ahead, p, part->heads - i) : 0);
		if (part->picks) {
			head = p->head;
			a.copy = p->copy;
		}
		if (s->closed && p)
			a.wait_ns = p->stage->kind->think(p);
		if (!is_ours(o->plan, part, i)) {
			o->n += s->cycle ? 0 : head_lines(requests, head);
			continue;
		}
		a.n = o->n++;
		a.req = requests ? requests_head(requests, head) : head;
		if (put(o, &a, err) < 0)
			return -1;
		if (requests && put_followers(o, p, s->begin_ns, &a, requests_head(requests, head + 1), err) < 0)
			return -1;
	}
	return 0;
}

static int write_stage(struct output *o, size_t index, struct ipf_error *err)
{
	const struct stage *stage = &o->plan->stages->list[index];
	struct arrival_process p;
	int status;

	o->n = o->plan->schedule.stages[index].first_n;
	if (stage->kind->type != STAGE_OPEN && stage->think_ns == IPF_ABSENT)
		return write_heads(o, index, NULL, err);
	if (arrival_process_begin(&p, stage, o->plan->requests, o->plan->seed, err) < 0)
		return -1;
	status = write_heads(o, index, &p, err);
	arrival_process_end(&p);
	return status;
}

int plan_write(const struct plan *plan, struct stream_writer *writer, struct progress *progress, struct ipf_error *err)
{
	size_t parents = plan->requests && plan->requests->most_parents > 1 ? plan->requests->most_parents : 1;
	struct output o = {.plan = plan, .writer = writer, .progress = progress};
	int status = 0;

	o.after = calloc(parents, sizeof *o.after);
	if (!o.after)
		return ipf_error_memory(err);
	for (size_t i = 0; status == 0 && i < plan->stages->count; i++)
		status = write_stage(&o, i, err);
	free(o.after);
	return status;
}

void plan_release(struct plan *plan)
{
	schedule_release(&plan->schedule);
	free(plan->parts);
	plan->parts = NULL;
}
