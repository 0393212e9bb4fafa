/* --retry: which requests are sent again, and when; the fate of such a job. */
#include "unit.h"

#include "absent.h"
#include "job/job.h"
#include "run/retries.h"
#include "run/retry_rule.h"
#include "stream/record_attempt.h"

#define MS INT64_C(1000000)
#define S  (1000 * MS)

static struct retry_rule rule_of(const char *text)
{
	struct retry_rule rule = {.seed = 7};
	struct ipf_error err = {0};
	if (retry_rule_parse(text, &rule, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return rule;
}

static void rules_are_read(void **state)
{
	static const char *const wrong[] = {"",
	                                    "0",
	                                    "101",
	                                    "x",
	                                    "3,on=",
	                                    "3,on=200",
	                                    "3,on=4",
	                                    "3,on=429+",
	                                    "3,on=all",
	                                    "3,cap=5",
	                                    "3,first=2m",
	                                    "3,first=0",
	                                    "3,wait=1s",
	                                    "-1",
	                                    "3;cap=1s",
	                                    "3.5",
	                                    "1,on=300+301+302+303+304+305+306+307+308+309+310+311+312+313+314+315+316"};
	struct retry_rule r = rule_of("5");
	(void)state;
	assert_true(r.most == 5 && r.first_ns == S && r.cap_ns == 60 * S && !r.connect && r.seed == 7);
	assert_true(retry_rule_applies(&r, false, 429) && retry_rule_applies(&r, false, 503));
	assert_false(retry_rule_applies(&r, false, 500) || retry_rule_applies(&r, false, 200));
	assert_false(retry_rule_applies(&r, true, IPF_ABSENT) || retry_rule_applies(&r, false, IPF_ABSENT));
	r = rule_of("100,on=529+connect,first=20ms,cap=2m");
	assert_true(r.most == 100 && r.first_ns == 20 * MS && r.cap_ns == 120 * S);
	assert_true(retry_rule_applies(&r, false, 529) && retry_rule_applies(&r, true, IPF_ABSENT));
	assert_false(retry_rule_applies(&r, false, 429));
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct ipf_error err = {0};
		if (retry_rule_parse(wrong[i], &r, &err) == 0 || err.kind != IPF_USAGE)
			fail_msg("%s: expected an error", wrong[i]);
	}
}

static void waits_obey_the_server(void **state)
{
	struct retry_rule r = rule_of("3,first=100ms,cap=1s");
	(void)state;
	for (int64_t n = 0; n < 100; n++) {
		assert_int_equal(retry_rule_wait(&r, n, 1, 700 * MS), 700 * MS);
		assert_int_equal(retry_rule_wait(&r, n, 3, 0), 0);
		assert_int_equal(retry_rule_wait(&r, n, 3, S), S);
		assert_int_equal(retry_rule_wait(&r, n, 1, S + 1), IPF_ABSENT);
		assert_int_equal(retry_rule_wait(&r, n, 4, 0), IPF_ABSENT);
	}
}

static void waits_double_and_differ(void **state)
{
	struct retry_rule r = rule_of("100,first=100ms,cap=1s"), other = r;
	int same = 0, low = 0;
	(void)state;
	other.seed++;
	for (int64_t n = 0; n < 1000; n++)
		for (int64_t attempt = 1; attempt <= 6; attempt++) {
			int64_t most = attempt > 4 ? S : 100 * MS << (attempt - 1),
					wait = retry_rule_wait(&r, n, attempt, IPF_ABSENT);
			assert_in_range(wait, most / 2, most);
			assert_int_equal(retry_rule_wait(&r, n, attempt, IPF_ABSENT), wait);
			same += retry_rule_wait(&other, n, attempt, IPF_ABSENT) == wait;
			low += wait < most * 3 / 4;
		}
	assert_in_range(low, 2700, 3300); /* 6000, half: five standard deviations are 194 */
	assert_true(same < 10);
}

/* A job whose attempt, from start_ns to end_ns, was answered with this status. */
static void answer(struct job *job, int64_t start_ns, int64_t end_ns, int64_t status, int64_t asked_ns)
{
	job->start_ns = start_ns;
	job->first_byte_ns = job->end_ns = end_ns;
	job->status = status;
	job->retry_after_ns = asked_ns;
	assert_int_equal(job_received(job, "{\"no\":\"\xff\"}", 10, end_ns, end_ns), 0);
}

static void attempts_become_a_record(void **state)
{
	struct retry_rule rule = rule_of("2,first=1s");
	struct transport_options transport = {.timeout_ns = 10 * S};
	struct retries r = {.rule = &rule, .transport = &transport};
	struct job *job = job_new();
	struct job_record_parts parts = {0};
	struct record record;
	struct record_attempts sums;
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	(void)state;
	job->pool_ns = 5;
	answer(job, 10, 20, 429, 2 * S);
	assert_true(retries_keep(&r, job));
	assert_int_equal(retries_wake(&r), 20 + 2 * S);
	assert_null(retries_due(&r, 19 + 2 * S));
	assert_ptr_equal(retries_due(&r, 21 + 2 * S), job);
	assert_int_equal(retries_wake(&r), INT64_MAX);
	assert_true(job->status == IPF_ABSENT && job->start_ns == IPF_ABSENT && !job->body.len && !job->reads_count);
	answer(job, 30 + 2 * S, 40 + 2 * S, 503, 0);
	assert_true(retries_keep(&r, job));
	assert_ptr_equal(retries_due(&r, 40 + 2 * S), job);
	answer(job, 50 + 2 * S, 60 + 2 * S, 503, 5 * S);
	assert_false(retries_keep(&r, job));
	job_attempts_end(job);
	job_to_record(job, &parts, &record);
	assert_true(record.start_ns == 10 && record.pool_ns == 5 && record.attempt_ns == 50 + 2 * S &&
	            record.status == 503);
	assert_int_equal(record_attempts_sum(&record, &doc, &sums, &err), 0);
	assert_true(sums.count == 3 && sums.refusals == 3 && sums.waited_ns == 2 * S + 20 && !sums.early && sums.in_order);
	assert_true(sums.asked == 3 && sums.asked_min_ns == 0 && sums.asked_max_ns == 5 * S && sums.asked_sum_ns == 7 * S);
	job_record_parts_release(&parts);
	jdoc_release(&doc);
	retries_release(&r);
	job_free(job);
}

static void limits_hold_for_all_attempts(void **state)
{
	struct retry_rule rule = rule_of("9,on=429+connect");
	struct transport_options transport = {.timeout_ns = 3 * S, .cancels = {.no_recorded = false, .exempt_from_n = 1}};
	struct retries r = {.rule = &rule, .transport = &transport};
	struct job *job = job_new();
	(void)state;
	answer(job, S, 2 * S, 429, 2 * S - 1);
	job->hang_up_ns = 2 * S + 5;
	assert_true(retries_keep(&r, job));
	/* the client leaves before that */
	assert_int_equal(retries_wake(&r), 3 * S + 5);
	assert_ptr_equal(retries_due(&r, 3 * S + 6), job);
	assert_true(job->error == RECORD_HUNG_UP && job->end_ns == 3 * S + 6);
	job_attempts_end(job);
	assert_true(job->start_ns == S && job->earlier->attempt_ns == IPF_ABSENT && job->status == IPF_ABSENT);
	job_free(job);
	job = job_new();
	answer(job, S, 2 * S, 429, 2 * S);
	assert_false(retries_keep(&r, job)); /* that would be at the end of its time */
	assert_int_equal(job->status, 429);
	job->retry_after_ns = 0;
	job->error = RECORD_CUT;
	assert_false(retries_keep(&r, job));
	job->error = RECORD_CONNECT;
	assert_true(retries_keep(&r, job));
	assert_ptr_equal(retries_cancel(&r, 5 * S, "the end"), job);
	assert_true(job->error == RECORD_CANCELLED && !strcmp(job->error_text, "the end"));
	assert_null(retries_cancel(&r, 5 * S, "the end"));
	job_free(job);
	retries_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules_are_read),
		cmocka_unit_test(waits_obey_the_server),
		cmocka_unit_test(waits_double_and_differ),
		cmocka_unit_test(attempts_become_a_record),
		cmocka_unit_test(limits_hold_for_all_attempts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
