#include "sources/recorded_times.h"

#include "clock.h"

static bool is_possible(int64_t ns)
{
	return ns == IPF_ABSENT || (ns >= 0 && ns <= NS_PER_YEAR);
}

static bool in_order(const struct recorded_times *t)
{
	return t->ttft_ns == IPF_ABSENT || t->e2e_ns == IPF_ABSENT || t->ttft_ns <= t->e2e_ns;
}

static int impossible(const char *name, const char *expected, int64_t ns, struct ipf_error *err)
{
	return ipf_error_set(err, IPF_INPUT, "recorded %s: expected %s, got %.9g s", name, expected, (double)ns / NS_PER_S);
}

int recorded_times_set(struct draft_request *r, const struct recorded_times *times, struct ipf_error *err)
{
	if (!is_possible(times->ttft_ns))
		return impossible("time to first token", "0 to a year", times->ttft_ns, err);
	if (!is_possible(times->e2e_ns))
		return impossible("latency", "0 to a year", times->e2e_ns, err);
	if (!in_order(times))
		return impossible("time to first token", "at most the latency", times->ttft_ns, err);
	recorded_times_set_possible(r, times);
	return 0;
}

void recorded_times_set_possible(struct draft_request *r, const struct recorded_times *times)
{
	struct recorded_times t = *times;
	if (r->failed || r->hang_up_ns != IPF_ABSENT)
		return;
	if (!is_possible(t.e2e_ns))
		t.e2e_ns = IPF_ABSENT;
	bool whole = t.ttft_ns == t.e2e_ns && r->output_tokens != 1 && !t.streamed;
	r->recorded_e2e_ns = t.e2e_ns;
	if (is_possible(t.ttft_ns) && in_order(&t) && !whole)
		r->recorded_ttft_ns = t.ttft_ns;
}
