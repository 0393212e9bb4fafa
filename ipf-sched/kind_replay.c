/* The recorded arrivals of the trace, or of a slice of its time, at another speed, once or round and round. */
#include "kind.h"

#include <math.h>
#include <stdio.h>

static const struct stage_key keys[] = {
	STAGE_KEY("speed", "NUMBER", KEY_RATIO, speed, "times are divided by this: 2 is twice as fast (default: 1)"),
	STAGE_KEY("rate", "RATE", KEY_RATE, rate, "or the speed at which the mean rate is this"),
	STAGE_KEY("idle", "TIME", KEY_DURATION, off_ns, "longest gap, in the trace's time; longer ones are cut to it"),
	STAGE_KEY("loop", NULL, KEY_FLAG, loop, "go round the recording until for= or n= is reached"),
	STAGE_KEY("from", "TIME", KEY_TIME, from_ns, "begin at this time of the trace (default: 0)"),
	STAGE_KEY("to", "TIME", KEY_DURATION, to_ns, "end before this time of the trace"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "how long the stage lasts (default: as long as the recording)"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "most requests, or sessions"),
	KEY_SLOTS, KEY_NAME, KEY_PHASES, KEY_END,
};

struct replay {
	int64_t next, first, end; /* heads */
	int64_t before_ns;        /* the arrival before, in the trace's time */
	int64_t rounds;           /* gone before this one */
	int64_t length_ns;        /* of the recording, without the idle time that is cut; IPF_ABSENT */
};

static int replay_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->to_ns != IPF_ABSENT && stage->from_ns != IPF_ABSENT && stage->to_ns <= stage->from_ns)
		return ipf_error_set(err, IPF_USAGE, "to: expected a time after from=");
	if (stage->speed.num && !isnan(stage->rate))
		return ipf_error_set(err, IPF_USAGE, "rate: expected none with speed=");
	if (stage->loop && stage->for_ns == IPF_ABSENT && stage->n == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "loop: expected for=TIME or n=COUNT with it");
	return 0;
}

/* The first head that was recorded at `ns` or later. */
static int64_t head_at(const struct requests *requests, int64_t ns)
{
	int64_t low = 0, high = requests->heads, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (requests_at(requests, requests_head(requests, middle)) < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int64_t recorded(const struct arrival_process *p, int64_t head)
{
	return requests_at(p->requests, requests_head(p->requests, head));
}

/* Moves on to the head: what is idle for too long before it is taken out of the trace's time, before that is divided by the speed. */
static void step_to(struct arrival_process *p, struct replay *r, int64_t head)
{
	int64_t at = recorded(p, head), idle = p->stage->off_ns;

	if (idle != IPF_ABSENT && at - r->before_ns > idle)
		p->zero_ns += at - r->before_ns - idle;
	r->before_ns = at;
}

static void rewind_to_first(struct arrival_process *p, struct replay *r)
{
	r->next = r->first;
	r->before_ns = p->zero_ns = p->stage->from_ns == IPF_ABSENT ? 0 : p->stage->from_ns;
}

/* Goes through the recording once: how long is it, without a speed? One mean gap goes behind the last arrival, unless the user said where it ends.
 * `tail` is that last gap. */
static void measure(struct arrival_process *p, struct replay *r, int64_t *first_ns, int64_t *last_ns, int64_t *tail)
{
	int64_t to = p->stage->to_ns, idle = p->stage->off_ns;

	rewind_to_first(p, r);
	for (int64_t head = r->first; head < r->end; head++) {
		step_to(p, r, head);
		*last_ns = r->before_ns - p->zero_ns;
		if (head == r->first)
			*first_ns = *last_ns;
	}
	*tail = IPF_ABSENT;
	if (to != IPF_ABSENT)
		*tail = idle != IPF_ABSENT && to - r->before_ns > idle ? idle : to - r->before_ns;
}

/* In the stage's time. */
static int64_t natural_end(const struct arrival_process *p, const struct replay *r, int64_t first_ns, int64_t last_ns, int64_t tail)
{
	int64_t last = ratio_divide(last_ns, p->speed), span = last - ratio_divide(first_ns, p->speed), gaps = r->end - r->first - 1;

	if (tail != IPF_ABSENT)
		return ratio_divide(last_ns + tail, p->speed);
	if (span > 0)
		return last + (span + gaps / 2) / gaps;
	return last > 0 ? last + 1 : IPF_ABSENT;
}

/* The speed at which the mean rate is the one asked for: time is scaled, so that every request comes once and the gaps keep their proportions, and with
 * them the dispersion of counts in windows that are scaled as well. */
static int scale_to_rate(struct arrival_process *p, const struct replay *r, struct ipf_error *err)
{
	double heads = (double)(r->end - r->first), mean, speed;

	if (r->length_ns == IPF_ABSENT || r->length_ns == 0)
		return ipf_error_at(err, IPF_INPUT, p->requests->name, 0, "%s: rate: the recording has no length that could be scaled", p->stage->label);
	mean = heads / ((double)r->length_ns / 1e9);
	speed = p->stage->rate / mean;
	if (speed < 1e-9 || speed > 1e9)
		return ipf_error_set(err, IPF_USAGE, "%s: rate: %g times the recorded %.4g/s", p->stage->label, speed, mean);
	p->speed = ratio_of(speed);
	snprintf(p->note, sizeof p->note, "time is scaled: %.4g times as fast as the recorded %.4g/s; every request once, gaps keep their proportions", speed,
	         mean);
	return 0;
}

static int trace_check(const struct stage *stage, const struct requests *requests, struct ipf_error *err)
{
	if (!requests)
		return ipf_error_set(err, IPF_USAGE, "%s: recorded arrivals come from a trace: -t TRACE is missing", stage->label);
	if (requests->timed == 0)
		return ipf_error_at(err, IPF_INPUT, requests->name, 0, "no recorded arrivals: no request has an at_ns");
	if (requests->untimed_line)
		return ipf_error_at(err, IPF_INPUT, requests->name, requests->untimed_line,
		                    "at_ns is missing: a replay needs every recorded arrival");
	if (requests->unsorted_line)
		return ipf_error_at(err, IPF_INPUT, requests->name, requests->unsorted_line,
		                    "at_ns: earlier than that of the arrival before: a replay needs a trace that is sorted by at_ns");
	return 0;
}

/* Ends, speed and rounds. */
static int lay_out(struct arrival_process *p, struct replay *r, struct ipf_error *err)
{
	int64_t first_ns = 0, last_ns = 0, tail;

	measure(p, r, &first_ns, &last_ns, &tail);
	struct ratio speed = p->speed;
	p->speed = (struct ratio){1, 1};
	r->length_ns = natural_end(p, r, first_ns, last_ns, tail);
	p->speed = speed;
	if (!isnan(p->stage->rate) && scale_to_rate(p, r, err) < 0)
		return -1;
	if (p->stage->loop && (r->length_ns == IPF_ABSENT || r->length_ns == 0))
		return ipf_error_at(err, IPF_INPUT, p->requests->name, 0, "%s: loop: the recording has no length", p->stage->label);
	if (p->stage->loop)
		p->end_head = r->end;
	else
		p->end_ns = natural_end(p, r, first_ns, last_ns, tail);
	rewind_to_first(p, r);
	return 0;
}

static int replay_begin(struct arrival_process *p, struct ipf_error *err)
{
	const struct stage *stage = p->stage;
	struct replay *r = p->state;

	if (trace_check(stage, p->requests, err) < 0)
		return -1;
	p->recorded = true;
	p->zero_ns = stage->from_ns == IPF_ABSENT ? 0 : stage->from_ns;
	if (stage->speed.num)
		p->speed = stage->speed;
	p->first_head = r->first = head_at(p->requests, p->zero_ns);
	r->end = stage->to_ns == IPF_ABSENT ? p->requests->heads : head_at(p->requests, stage->to_ns);
	if (r->first == r->end)
		return ipf_error_at(err, IPF_INPUT, p->requests->name, 0, "%s: from: no arrival was recorded in this time",
		                    stage->label);
	return lay_out(p, r, err);
}

static int64_t replay_next(struct arrival_process *p)
{
	struct replay *r = p->state;

	if (r->next == r->end) {
		int64_t zero;
		if (!p->stage->loop)
			return ARRIVAL_NONE;
		r->rounds++;
		rewind_to_first(p, r);
		zero = r->length_ns > (ARRIVAL_LIMIT - p->zero_ns) / r->rounds ? ARRIVAL_LIMIT : r->length_ns * r->rounds;
		if (zero == ARRIVAL_LIMIT)
			return ARRIVAL_LIMIT;
		p->zero_ns -= zero;
	}
	step_to(p, r, r->next++);
	return ratio_divide(r->before_ns - p->zero_ns, p->speed);
}

const struct stage_kind kind_replay = {
	.name = "replay",
	.about = "the trace's recorded arrivals",
	.type = STAGE_OPEN,
	.keys = keys,
	.check = replay_check,
	.state_size = sizeof(struct replay),
	.begin = replay_begin,
	.next = replay_next,
};
