/* The recorded arrivals of the trace, or of a slice of its time, at another speed. Each request comes exactly once. */
#include "kind.h"

static const struct stage_key keys[] = {
	STAGE_KEY("speed", "NUMBER", KEY_RATIO, speed, "times are divided by this: 2 is twice as fast (default: 1)"),
	STAGE_KEY("from", "TIME", KEY_TIME, from_ns, "begin at this time of the trace (default: 0)"),
	STAGE_KEY("to", "TIME", KEY_DURATION, to_ns, "end before this time of the trace"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "how long the stage lasts (default: as long as the recording)"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "most requests, or sessions"),
	KEY_SLOTS, KEY_NAME, KEY_WARMUP, KEY_END,
};

struct replay {
	int64_t next, end; /* heads */
};

static int replay_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->to_ns != IPF_ABSENT && stage->from_ns != IPF_ABSENT && stage->to_ns <= stage->from_ns)
		return ipf_error_set(err, IPF_USAGE, "to: expected a time after from=");
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

static int64_t head_time(const struct arrival_process *p, int64_t head)
{
	return ratio_divide(requests_at(p->requests, requests_head(p->requests, head)) - p->zero_ns, p->speed);
}

/* One mean gap after the last arrival, unless the user said where. */
static int64_t natural_end(const struct arrival_process *p, int64_t first, int64_t end)
{
	int64_t last_ns = head_time(p, end - 1), span = last_ns - head_time(p, first);

	if (p->stage->to_ns != IPF_ABSENT)
		return ratio_divide(p->stage->to_ns - p->zero_ns, p->speed);
	if (span > 0)
		return last_ns + (span + (end - first - 1) / 2) / (end - first - 1);
	return last_ns > 0 ? last_ns + 1 : IPF_ABSENT;
}

static int trace_check(const struct stage *stage, const struct requests *requests, struct ipf_error *err)
{
	if (!requests)
		return ipf_error_set(err, IPF_USAGE, "%s: recorded arrivals come from a trace: -t TRACE is missing", stage->spec);
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
	p->first_head = r->next = head_at(p->requests, p->zero_ns);
	r->end = stage->to_ns == IPF_ABSENT ? p->requests->heads : head_at(p->requests, stage->to_ns);
	if (r->next == r->end)
		return ipf_error_at(err, IPF_INPUT, p->requests->name, 0, "%s: no arrival was recorded in this time",
		                    stage->spec);
	p->end_ns = natural_end(p, r->next, r->end);
	return 0;
}

static int64_t replay_next(struct arrival_process *p)
{
	struct replay *r = p->state;

	return r->next < r->end ? head_time(p, r->next++) : ARRIVAL_NONE;
}

const struct stage_kind kind_replay = {
	.name = "replay",
	.about = "the trace's recorded arrivals, each request once",
	.type = STAGE_OPEN,
	.keys = keys,
	.check = replay_check,
	.state_size = sizeof(struct replay),
	.begin = replay_begin,
	.next = replay_next,
};
