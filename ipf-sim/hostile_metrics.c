#include "hostile_metrics.h"

#include <string.h>

#define LONG_LABEL 100000

static void make_garbage(struct buffer *body)
{
	static const char lines[] = "<!doctype html><title>503</title>\n"
								"{\"metrics\":[1,2,3]}\n"
								"vllm:num_requests_running{engine=\"0\" 3\n"
								"vllm:num_requests_running{engine=\"0\",} \n"
								"vllm:num_requests_running} 3\n"
								"= 7\n"
								"# TYPE\n"
								"\"unfinished";
	buffer_clear(body);
	buffer_append(body, lines, sizeof lines - 1);
	for (int i = 0; i < 4096; i++)
		buffer_byte(body, (char)(i * 167 + i / 256));
}

static void make_huge(struct buffer *body)
{
	for (long long i = 0; body->len < HOSTILE_METRICS_BYTES && !body->failed; i++)
		buffer_format(body, "vllm:num_requests_running{engine=\"%lld\",model_name=\"sim-%lld\",pad=\"%080lld\"} 1\n", i,
		              i, i);
}

static void make_control(struct buffer *body)
{
	static const char lines[] =
		"vllm:num_requests_running{model_name=\"\x1b[2J\x1b]0;title\a\x9b\xc2\x9b\xe2\x80\xae\xe2\x80\x8b\xff\xfe\",x=\"\\n\\\\\"} 1\n"
		"\x1b[31mred\x1b[0m 1\n"
		"vllm:num_requests_waiting NaN\n"
		"vllm:num_requests_waiting{a=\"1\"} +Inf\n"
		"vllm:num_requests_waiting{a=\"2\"} 1e999\n"
		"vllm:num_requests_waiting{a=\"3\"} -1\n"
		"vllm:num_preemptions_total{a=\"1\"} 5\n"
		"vllm:num_preemptions_total{a=\"1\"} 3\n"
		"vllm:prompt_tokens_total{a=\"1\"} -7\n"
		"vllm:e2e_request_latency_seconds_bucket{le=\"x\"} 1\n"
		"vllm:e2e_request_latency_seconds_bucket{le=\"1\"} 9\n"
		"vllm:e2e_request_latency_seconds_bucket{le=\"2\"} 4\n"
		"nul\0nul 1\n"
		"vllm:generation_tokens_total{long=\"";
	buffer_append(body, lines, sizeof lines - 1);
	char *room = buffer_reserve(body, LONG_LABEL);
	if (room) {
		memset(room, 'x', LONG_LABEL);
		body->len += LONG_LABEL;
	}
	buffer_text(body, "\"} 1\n");
}

void hostile_metrics(enum scrape_mode mode, struct buffer *body)
{
	if (mode == SCRAPE_GARBAGE)
		make_garbage(body);
	else if (mode == SCRAPE_HUGE)
		make_huge(body);
	else if (mode == SCRAPE_CONTROL)
		make_control(body);
}
