#include "unit.h"

#include "job/spare_jobs.h"

#include <stdlib.h>
#include <string.h>

static struct job *used(size_t bytes, size_t reads)
{
	struct job *job = job_new();
	char *text = calloc(1, bytes + 1);
	assert_non_null(job);
	assert_non_null(text);
	memset(text, 'x', bytes);
	job->after = malloc(8);
	job->arrival.n = 7;
	job->turn = job->due_ns = job->status = 3;
	job->error = RECORD_RESET;
	job->stale = job->streamed = true;
	job_fail(job, RECORD_RESET, "reset");
	buffer_text(&job->text, "s1");
	job->session = buffer_all(&job->text);
	job->url = strdup(text);
	buffer_text(&job->request.text, text);
	buffer_text(&job->headers, text);
	job->headers_sent = curl_slist_append(NULL, "a: b");
	atomic_init(&job->rendered, true);
	for (size_t i = 0; i < reads; i++)
		assert_int_equal(job_received(job, text, bytes, (int64_t)i, (int64_t)i), 0);
	free(text);
	return job;
}

/* But for the memory it has. */
static void assert_as_new(struct job *job)
{
	struct buffer *buffers[] = {&job->text, &job->request.text, &job->headers, &job->body};
	struct job *new = job_new();
	struct job bare;
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(buffers[i]->len, 0);
		assert_false(buffers[i]->failed);
	}
	memcpy(&bare, job, sizeof bare);
	bare.text = bare.request.text = bare.headers = bare.body = (struct buffer){0};
	bare.reads = NULL;
	bare.reads_cap = 0;
	assert_memory_equal(&bare, new, sizeof bare);
	job_free(new);
}

static void test_comes_back_as_new(void **state)
{
	struct spare_jobs *spare = spare_jobs_new(2);
	(void)state;
	struct job *job = used(100, 10);
	assert_true(job_bytes(job) > sizeof *job + 1000);
	spare_jobs_give(spare, job);
	struct job *again = spare_jobs_take(spare);
	assert_ptr_equal(again, job);
	assert_as_new(again);
	assert_true(again->reads_cap >= 10);
	assert_true(again->body.cap >= 1000);
	/* its memory is used again, and is as good */
	char *body = again->body.data;
	assert_int_equal(job_received(again, "ab", 2, 5, 6), 0);
	assert_int_equal(job_received(again, "c", 1, 5, 6), 0);
	assert_ptr_equal(again->body.data, body);
	assert_string_equal(again->body.data, "abc");
	assert_int_equal(again->reads_count, 1);
	assert_int_equal(again->reads[0].bytes, 3);
	job_free(again);
	/* none there: a new one */
	job = spare_jobs_take(spare);
	assert_as_new(job);
	job_free(job);
	spare_jobs_free(spare);
	spare_jobs_free(NULL);
}

static void test_keeps_little(void **state)
{
	struct spare_jobs *spare = spare_jobs_new(2);
	(void)state;
	spare_jobs_give(spare, used(100000, 300));
	struct job *job = spare_jobs_take(spare);
	assert_as_new(job);
	assert_true(job_bytes(job) < sizeof *job + 4 * 2048);
	job_free(job);
	/* no more than there is room for, which the sanitizers look at */
	for (int i = 0; i < 4; i++)
		spare_jobs_give(spare, used(10, 1));
	assert_int_equal(spare_jobs_count(spare), 2);
	spare_jobs_free(spare);
}

static void test_forgets_what_was_sent(void **state)
{
	struct job *job = used(100, 1), *large = used(100000, 1);
	(void)state;
	job_sent(job, true);
	job_sent(large, true);
	assert_int_equal(job->request.text.len, 0);
	assert_non_null(job->request.text.data);
	assert_null(large->request.text.data);
	job_sent(job, false);
	assert_null(job->request.text.data);
	job_free(job);
	job_free(large);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_comes_back_as_new),
		cmocka_unit_test(test_keeps_little),
		cmocka_unit_test(test_forgets_what_was_sent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
