/* The recorded arrivals of the trace, or of a slice of its time, at any speed, once or repeatedly. */
#include "kinds/stage_kind.h"

#include "absent.h"
#include "cli/units.h"
#include "stream/schedule.h"

#include <math.h>
#include <stdio.h>

static const struct stage_key keys[] = {
	STAGE_KEY("speed", "NUMBER", KEY_RATIO, speed, "divide times by this: 2 is twice as fast (default: 1)"),
	STAGE_KEY("rate", "RATE", KEY_RATE, rate, "instead of speed=: the mean rate, reached as by= says"),
	STAGE_KEY("by", "NAME", KEY_BY, by, "with rate=: time (scale it; default), thin (omit some), copies"),
	STAGE_KEY("idle", "TIME", KEY_DURATION, off_ns, "shorten longer gaps to this, in the trace's time"),
	STAGE_KEY("loop", NULL, KEY_FLAG, loop, "repeat the recording until for= or n= is reached"),
	STAGE_KEY("from", "TIME", KEY_TIME, from_ns, "begin at this time of the trace (default: 0)"),
	STAGE_KEY("to", "TIME", KEY_DURATION, to_ns, "end before this time of the trace"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage (default: the recording's)"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "maximum number of requests or sessions"),
	KEY_SLOTS,
	KEY_NAME,
	KEY_PHASES,
	KEY_END,
};

/* A position in the recording, or in a shifted copy of it. */
struct cursor {
	int64_t next;      /* head */
	int64_t before_ns; /* the arrival before, in the trace's time */
	int64_t zero_ns;   /* the time of the trace at which the round begins */
	int64_t round;     /* -1: the round in which a shifted copy begins before the stage */
	int64_t shift_ns;
	int64_t base_ns;      /* when the round begins, in the stage's time; negative if before the stage */
	int64_t wanted, left; /* thinned: how many to take of how many heads left in the round */
	struct rng rng;       /* draws which ones */
	bool thinned;
	int64_t head, at_ns, head_zero_ns; /* the arrival coming next; ARRIVAL_NONE, ARRIVAL_LIMIT */
};

struct replay {
	int64_t first, end;  /* heads */
	int64_t length_ns;   /* the recording's, less the idle time cut; IPF_ABSENT */
	int64_t last_wanted; /* how many heads the last cursor takes in a round */
	int64_t count;
	struct cursor cursors[SCHEDULE_COPIES + 1];
};

static int replay_check(const struct stage *stage, struct ipf_error *err)
{
	char from[32], to[32];

	if (stage->to_ns != IPF_ABSENT && stage->from_ns != IPF_ABSENT && stage->to_ns <= stage->from_ns)
		return ipf_error_set(err, IPF_USAGE, "to: expected a time after from= (%s), got %s",
		                     format_duration(stage->from_ns, from), format_duration(stage->to_ns, to));
	if (stage->speed.num && !isnan(stage->rate))
		return ipf_error_set(err, IPF_USAGE, "rate= and speed= cannot be combined");
	if (stage->by_given && isnan(stage->rate))
		return ipf_error_set(err, IPF_USAGE, "by: requires rate=RATE");
	if (stage->loop && stage->for_ns == IPF_ABSENT && stage->n == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "loop: requires for=TIME or n=COUNT");
	return 0;
}

/* The first head recorded at `ns` or later. */
static int64_t head_at(const struct trace_index *trace, int64_t ns)
{
	int64_t low = 0, high = trace->heads, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (trace_index_at(trace, trace_index_head(trace, middle)) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t recorded(const struct arrival_process *p, int64_t head)
{
	return trace_index_at(p->trace, trace_index_head(p->trace, head));
}

/* Moves on to the head. A long idle time before it is removed from the trace's time, before the speed divides that. */
static void step_to(const struct arrival_process *p, struct cursor *c, int64_t head)
{
	int64_t at = recorded(p, head), idle = p->stage->off_ns;

	if (idle != IPF_ABSENT && at - c->before_ns > idle)
		c->zero_ns += at - c->before_ns - idle;
	c->before_ns = at;
}

/* To the beginning of the recording. A thinned cursor draws the same heads in each round. */
static void rewind_to_first(const struct arrival_process *p, const struct replay *r, struct cursor *c)
{
	c->next = r->first;
	c->before_ns = c->zero_ns = p->stage->from_ns == IPF_ABSENT ? 0 : p->stage->from_ns;
	c->wanted = r->last_wanted;
	c->left = r->end - r->first;
	rng_init(&c->rng, p->seed, "replay.thin", p->stage->ordinal);
}

/* The times of the first and the last arrival, in the trace's time without idle times. `tail` is the gap from the last
 * one to to=; IPF_ABSENT without to=. */
static void measure(const struct arrival_process *p, const struct replay *r, int64_t *first_ns, int64_t *last_ns,
                    int64_t *tail)
{
	int64_t to = p->stage->to_ns, idle = p->stage->off_ns;
	struct cursor c = {0};

	rewind_to_first(p, r, &c);
	for (int64_t head = r->first; head < r->end; head++) {
		step_to(p, &c, head);
		*last_ns = c.before_ns - c.zero_ns;
		if (head == r->first)
			*first_ns = *last_ns;
	}
	*tail = IPF_ABSENT;
	if (to != IPF_ABSENT)
		*tail = idle != IPF_ABSENT && to - c.before_ns > idle ? idle : to - c.before_ns;
}

/* When the recording ends, in the stage's time: at to=, or one mean gap after the last arrival. */
static int64_t natural_end(const struct arrival_process *p, const struct replay *r, int64_t first_ns, int64_t last_ns,
                           int64_t tail)
{
	int64_t last = ratio_divide(last_ns, p->speed), span = last - ratio_divide(first_ns, p->speed),
			gaps = r->end - r->first - 1;

	if (tail != IPF_ABSENT)
		return ratio_divide(last_ns + tail, p->speed);
	if (span > 0)
		return last + (span + gaps / 2) / gaps;
	return last > 0 ? last + 1 : IPF_ABSENT;
}

/* by=time. Scales the time: every request comes once, and the gaps keep their proportions, and with them the dispersion
 * of counts in windows scaled alike. */
static int scale_to_rate(struct arrival_process *p, double speed, struct ipf_error *err)
{
	if (speed < 1e-9 || speed > 1e9)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: rate: %g times the recorded %.4g/s: expected a factor between 1e-9 and 1e9",
		                     p->stage->label, speed, p->recorded_rate);
	p->speed = ratio_of(speed);
	snprintf(p->note, sizeof p->note,
	         "time is scaled: %.4g times as fast as the recorded %.4g/s; every request comes once, gaps keep their "
	         "proportions",
	         speed, p->recorded_rate);
	return 0;
}

/* by=thin. Takes as many of the heads as give the rate, at their recorded times. */
static int thin_to_rate(struct arrival_process *p, struct replay *r, double share, struct ipf_error *err)
{
	int64_t heads = r->end - r->first;

	if (share > 1)
		return ipf_error_set(err, IPF_USAGE, "%s: rate: by=thin takes at most the recorded %.6g/s, got %g",
		                     p->stage->label, p->recorded_rate, p->stage->rate);
	r->last_wanted = (int64_t)fmax(1, floor(share * (double)heads + 0.5));
	r->cursors[0].thinned = true;
	p->picks = true;
	snprintf(p->note, sizeof p->note,
	         "thinned: %lld of %lld arrivals, drawn at random, at their recorded times; the recorded rate is %.4g/s",
	         (long long)r->last_wanted, (long long)heads, p->recorded_rate);
	return 0;
}

/* by=copies. Adds copies of the recording shifted by random times and wrap at its end (equal shifts would even out slow
 * changes). If the rate is no multiple of the recorded one, the last copy is thinned. */
static int copy_to_rate(struct arrival_process *p, struct replay *r, double times, struct ipf_error *err)
{
	int64_t heads = r->end - r->first, rest;
	struct rng shifts;

	if (times < 1 || times > SCHEDULE_COPIES + 1)
		return ipf_error_set(err, IPF_USAGE,
		                     "%s: rate: by=copies takes the recorded %.6g/s, or up to %d times as much, got %g",
		                     p->stage->label, p->recorded_rate, SCHEDULE_COPIES + 1, p->stage->rate);
	r->count = (int64_t)times;
	rest = (int64_t)floor((times - (double)r->count) * (double)heads + 0.5);
	r->last_wanted = rest > 0 ? rest : heads;
	r->count += rest > 0;
	rng_init(&shifts, p->seed, "replay.shift", p->stage->ordinal);
	for (int64_t k = 1; k < r->count; k++) {
		r->cursors[k].shift_ns = 1 + (int64_t)rng_below(&shifts, (uint64_t)r->length_ns);
		r->cursors[k].round = -1;
	}
	r->cursors[r->count - 1].thinned = r->last_wanted < heads;
	p->picks = true;
	snprintf(p->note, sizeof p->note,
	         "%lld shifted copies added to the recording, the last with %lld of its %lld arrivals; the recorded "
	         "rate is %.4g/s",
	         (long long)r->count - 1, (long long)r->last_wanted, (long long)heads, p->recorded_rate);
	return 0;
}

static int reach_rate(struct arrival_process *p, struct replay *r, struct ipf_error *err)
{
	double times;

	if (r->length_ns == IPF_ABSENT || r->length_ns == 0)
		return ipf_error_at(err, IPF_INPUT, p->trace->name, 0, "%s: rate: cannot scale a recording without a length",
		                    p->stage->label);
	p->recorded_rate = (double)(r->end - r->first) / ((double)r->length_ns / 1e9);
	times = p->stage->rate / p->recorded_rate;
	if (fabs(times - 1) < 1e-9)
		times = 1;
	switch (p->stage->by) {
	case REPLAY_THIN:
		return thin_to_rate(p, r, times, err);
	case REPLAY_COPIES:
		return copy_to_rate(p, r, times, err);
	case REPLAY_TIME:
		break;
	}
	return scale_to_rate(p, times, err);
}

static int trace_check(const struct stage *stage, const struct trace_index *trace, struct ipf_error *err)
{
	if (!trace)
		return ipf_error_set(err, IPF_USAGE, "%s: a replay requires a trace: -t TRACE", stage->label);
	if (trace->timed == 0)
		return ipf_error_at(err, IPF_INPUT, trace->name, 0,
		                    "no request has an at_ns (recorded arrival), which a replay requires");
	if (trace->untimed_line)
		return ipf_error_at(err, IPF_INPUT, trace->name, trace->untimed_line,
		                    "at_ns: missing; a replay requires it for every arrival");
	if (trace->unsorted_line)
		return ipf_error_at(err, IPF_INPUT, trace->name, trace->unsorted_line,
		                    "at_ns: earlier than the previous arrival's; a replay requires a trace sorted by at_ns");
	return 0;
}

/* At the end of the recording: begins the next round; false if there is none. */
static bool next_round(const struct arrival_process *p, const struct replay *r, struct cursor *c)
{
	c->at_ns = ARRIVAL_NONE;
	if (!p->stage->loop && c->round >= 0)
		return false;
	c->round++;
	c->at_ns = ARRIVAL_LIMIT;
	if (c->round > 0 && r->length_ns > (ARRIVAL_LIMIT / 4 - c->shift_ns) / c->round)
		return false;
	c->base_ns = c->shift_ns + r->length_ns * c->round;
	rewind_to_first(p, r, c);
	return true;
}

static bool is_taken(struct cursor *c)
{
	if (!c->thinned)
		return true;
	bool taken = rng_uniform(&c->rng) * (double)c->left-- < (double)c->wanted;
	c->wanted -= taken;
	return taken;
}

/* Moves the cursor to its next arrival. */
static void advance(const struct arrival_process *p, const struct replay *r, struct cursor *c)
{
	int64_t at;

	do {
		if (c->next == r->end && !next_round(p, r, c))
			return;
		c->head = c->next++;
		step_to(p, c, c->head);
		at = c->before_ns - c->zero_ns + c->base_ns;
	} while (!is_taken(c) || at < 0);
	c->head_zero_ns = c->zero_ns - c->base_ns;
	c->at_ns = !p->stage->loop && c->shift_ns && at >= r->length_ns ? ARRIVAL_NONE : ratio_divide(at, p->speed);
}

/* Sets the speed, where the stage ends, and the cursors. */
static int lay_out(struct arrival_process *p, struct replay *r, struct ipf_error *err)
{
	int64_t first_ns = 0, last_ns = 0, tail;

	measure(p, r, &first_ns, &last_ns, &tail);
	struct ratio speed = p->speed;
	p->speed = (struct ratio){1, 1};
	r->length_ns = natural_end(p, r, first_ns, last_ns, tail);
	p->speed = speed;
	if (!isnan(p->stage->rate) && reach_rate(p, r, err) < 0)
		return -1;
	if (p->stage->loop && (r->length_ns == IPF_ABSENT || r->length_ns == 0))
		return ipf_error_at(err, IPF_INPUT, p->trace->name, 0, "%s: loop: cannot repeat a recording without a length",
		                    p->stage->label);
	if (p->stage->loop || p->picks)
		p->end_head = r->end;
	if (!p->stage->loop)
		p->end_ns = natural_end(p, r, first_ns, last_ns, tail);
	for (int64_t k = 0; k < r->count; k++) {
		struct cursor *c = &r->cursors[k];
		c->base_ns = c->round < 0 ? c->shift_ns - r->length_ns : c->shift_ns;
		rewind_to_first(p, r, c);
		advance(p, r, c);
	}
	return 0;
}

static int replay_begin(struct arrival_process *p, struct ipf_error *err)
{
	const struct stage *stage = p->stage;
	struct replay *r = p->state;

	if (trace_check(stage, p->trace, err) < 0)
		return -1;
	p->recorded = true;
	r->count = 1;
	p->zero_ns = stage->from_ns == IPF_ABSENT ? 0 : stage->from_ns;
	if (stage->speed.num)
		p->speed = stage->speed;
	p->first_head = r->first = head_at(p->trace, p->zero_ns);
	r->end = stage->to_ns == IPF_ABSENT ? p->trace->heads : head_at(p->trace, stage->to_ns);
	if (r->first == r->end)
		return ipf_error_at(err, IPF_INPUT, p->trace->name, 0,
		                    "%s: no arrival was recorded in this slice of the trace (from=, to=)", stage->label);
	return lay_out(p, r, err);
}

static int64_t replay_next(struct arrival_process *p)
{
	struct replay *r = p->state;
	struct cursor *c = NULL;
	int64_t at;

	for (int64_t k = 0; k < r->count; k++)
		if (r->cursors[k].at_ns != ARRIVAL_NONE && (!c || r->cursors[k].at_ns < c->at_ns))
			c = &r->cursors[k];
	if (!c)
		return ARRIVAL_NONE;
	at = c->at_ns;
	p->head = c->head;
	p->copy = c - r->cursors;
	p->zero_ns = c->head_zero_ns;
	if (at < ARRIVAL_LIMIT)
		advance(p, r, c);
	return at;
}

const char *replay_by_name(enum replay_by by)
{
	static const char *const names[] = {[REPLAY_TIME] = "time", [REPLAY_THIN] = "thin", [REPLAY_COPIES] = "copies"};

	return names[by];
}

const struct stage_kind kind_replay = {
	.name = "replay",
	.summary = "the recorded arrivals of the trace",
	.type = STAGE_OPEN,
	.keys = keys,
	.check = replay_check,
	.state_size = sizeof(struct replay),
	.begin = replay_begin,
	.next = replay_next,
};
