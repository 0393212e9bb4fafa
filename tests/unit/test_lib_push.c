/* Targets of --push and --otlp, their keys, and the requests waiting for them. */
#include "push/push_queue.h"
#include "push/push_target.h"
#include "unit.h"

static void pushes(const char *text, enum push_kind kind, const char *expected)
{
	const struct metric_label labels[] = {{"job", "ipf"}, {"instance", "h-1.x"}, {"run", "a/b ÿ"}};
	struct push_target target;
	struct ipf_error err = {0};
	struct buffer url = {0};
	if (push_target_parse(text, &target, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(target.kind, kind);
	push_target_url(&target, labels, 3, &url);
	assert_string_equal(url.data, expected);
	buffer_release(&url);
}

static void test_push_targets(void **state)
{
	const char *wrong[] = {"",           "localhost:9091",       "pushgateway=", "http://h/ingest", "ftp://h/metrics",
	                       "x=http://h", "http://me:pw@h/write", "http://h?q=1"};
	(void)state;
	pushes("http://h:9091", PUSH_PUSHGATEWAY, "http://h:9091/metrics/job/ipf/instance/h-1.x/run@base64/YS9iIMO_");
	pushes("http://h:9091/", PUSH_PUSHGATEWAY, "http://h:9091/metrics/job/ipf/instance/h-1.x/run@base64/YS9iIMO_");
	pushes("pushgateway=http://h/gw/write", PUSH_PUSHGATEWAY,
	       "http://h/gw/write/metrics/job/ipf/instance/h-1.x/run@base64/YS9iIMO_");
	pushes("https://h/gw/metrics/", PUSH_PUSHGATEWAY,
	       "https://h/gw/metrics/job/ipf/instance/h-1.x/run@base64/YS9iIMO_");
	pushes("http://h/metrics/job/a/b/c", PUSH_PUSHGATEWAY, "http://h/metrics/job/a/b/c");
	pushes("http://h:9090/api/v1/write", PUSH_REMOTE_WRITE, "http://h:9090/api/v1/write");
	pushes("https://h/api/v1/push?tenant=1", PUSH_REMOTE_WRITE, "https://h/api/v1/push?tenant=1");
	pushes("http://h/api/v1/receive", PUSH_REMOTE_WRITE, "http://h/api/v1/receive");
	pushes("remote-write=http://h/ingest", PUSH_REMOTE_WRITE, "http://h/ingest");
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct push_target target;
		struct ipf_error err = {0};
		if (push_target_parse(wrong[i], &target, &err) == 0)
			fail_msg("%s is accepted", wrong[i]);
		assert_int_equal(err.kind, IPF_USAGE);
	}
}

static struct push_request request_of(size_t bytes)
{
	struct push_request request = {.items = 1};
	for (size_t i = 0; i < bytes; i++)
		buffer_byte(&request.body, 'x');
	return request;
}

static void test_queue_is_bounded(void **state)
{
	static struct push_queue q;
	int64_t dropped = 0;
	(void)state;
	for (int i = 0; i < PUSH_QUEUE + 10; i++) {
		struct push_request request = request_of(1 + (size_t)i % 7);
		q.busy = i >= 5; /* the first one is being sent from then on */
		dropped += push_queue_put(&q, &request);
	}
	assert_int_equal(dropped, 10);
	assert_int_equal(q.count, PUSH_QUEUE);
	assert_int_equal(push_queue_first(&q)->body.len, 1); /* it stays the first */
	push_queue_pop(&q);
	assert_int_equal(push_queue_first(&q)->body.len, 1 + 11 % 7);
	struct push_request large = request_of(PUSH_QUEUE_BYTES), larger = request_of(PUSH_QUEUE_BYTES + 1);
	assert_int_equal(push_queue_put(&q, &larger), 1);
	assert_int_equal(q.count, PUSH_QUEUE - 1);
	assert_int_equal(push_queue_put(&q, &large), PUSH_QUEUE - 1);
	assert_int_equal(q.count, 1);
	q.busy = true;
	struct push_request late = request_of(1);
	assert_int_equal(push_queue_put(&q, &late), 1); /* there is no room beside the item being sent */
	push_queue_release(&q);
	assert_int_equal(q.bytes, 0);
}

static void refused(const struct push_figures *figures, const char *expected)
{
	struct push_target targets[PUSH_TARGETS];
	struct ipf_error err = {0};
	struct buffer header = {0};
	assert_int_equal(push_figures_parse(figures, targets, &header, &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	assert_string_equal(err.text, expected);
	assert_null(strstr(err.text, "sesame"));
	push_credential_forget(&header);
}

static void test_keys(void **state)
{
	const char *items[PUSH_TARGETS + 1] = {"https://h/metrics", "http://localhost:9091"};
	struct push_figures figures = {.targets = {items, 2}, .key = {.env = "IPF_TEST_PUSH_KEY"}};
	struct push_target targets[PUSH_TARGETS];
	struct ipf_error err = {0};
	struct buffer header = {0};
	(void)state;
	setenv("IPF_TEST_PUSH_KEY", " me:sesame\n", 1);
	assert_int_equal(push_figures_parse(&figures, targets, &header, &err), 0);
	assert_string_equal(header.data, "Authorization: Basic bWU6c2VzYW1l");
	assert_string_equal(targets[1].url, items[1]);
	push_credential_forget(&header);
	items[1] = "http://h/metrics";
	refused(&figures, "--push: a key is sent over https only, or to this machine, got \"http://h/metrics\"");
	figures.targets.count = 0;
	refused(&figures, "--push-key-env requires --push");
	for (size_t i = 0; i <= PUSH_TARGETS; i++)
		items[i] = "https://h/metrics";
	figures.targets.count = PUSH_TARGETS + 1;
	refused(&figures, "--push: at most 8 targets, got 9");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_push_targets),
		cmocka_unit_test(test_queue_is_bounded),
		cmocka_unit_test(test_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
