#include "measure/attempts.h"

#include "absent.h"
#include "stream/record_attempt.h"

/* The latency of the last attempt alone. */
static int64_t since_attempt(int64_t latency_ns, int64_t before_ns)
{
	return latency_ns == IPF_ABSENT ? IPF_ABSENT : latency_ns - before_ns;
}

int measure_attempts(struct jdoc *doc, const struct record *record, bool all, struct result *row, struct ipf_error *err)
{
	struct record_attempts sums;
	int64_t from_ns = record_sent_from(record);
	if (record_attempts_sum(record, doc, &sums, err) < 0)
		return -1;
	if (sums.refusals)
		row->refusals = sums.refusals;
	if (sums.asked) {
		row->retry_afters = sums.asked;
		row->retry_after_ns = sums.asked_sum_ns;
		row->retry_after_min_ns = sums.asked_min_ns;
		row->retry_after_max_ns = sums.asked_max_ns;
	}
	if (record->attempts.data) {
		row->attempts = sums.count;
		row->attempt_start_ns = record->attempt_ns;
		row->retry_wait_ns = sums.waited_ns;
		if (sums.early)
			row->retry_early = sums.early;
	}
	if (!all || from_ns == IPF_ABSENT || record->start_ns == IPF_ABSENT)
		return 0;
	row->attempt_ttft_ns = since_attempt(row->ttft_ns, from_ns - record->start_ns);
	row->attempt_e2e_ns = since_attempt(row->e2e_ns, from_ns - record->start_ns);
	return 0;
}
