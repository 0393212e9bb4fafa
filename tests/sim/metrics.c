#include "metrics.h"

#include <stdio.h>

static const double ttft_bounds[METRICS_MOST_BOUNDS] = {.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5,
	10, 20, 40, 80, 160, 640, 2560};
static const double token_bounds[METRICS_MOST_BOUNDS] = {.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10,
	20, 40, 80};
static const double request_bounds[METRICS_MOST_BOUNDS] = {.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240,
	480, 960, 1920, 7680};
static const double length_bounds[METRICS_MOST_BOUNDS] = {1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000,
	50000, 100000};

/* A vLLM histogram: where it lies, what it is called, and its bounds (0 ends them). */
static const struct shown {
	const char *name, *help;
	size_t offset;
	const double *bounds;
} histograms[] = {
	{"time_to_first_token_seconds", "Histogram of time to first token in seconds.", offsetof(struct metrics, ttft), ttft_bounds},
	{"inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", offsetof(struct metrics, itl), token_bounds},
	{"request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", offsetof(struct metrics, tpot), token_bounds},
	{"e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", offsetof(struct metrics, e2e), request_bounds},
	{"request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", offsetof(struct metrics, queue), request_bounds},
	{"request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", offsetof(struct metrics, prefill), request_bounds},
	{"request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", offsetof(struct metrics, decode), request_bounds},
	{"request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", offsetof(struct metrics, inference), request_bounds},
	{"request_prompt_tokens", "Number of prefill tokens processed.", offsetof(struct metrics, prompt), length_bounds},
	{"request_generation_tokens", "Number of generation tokens processed.", offsetof(struct metrics, generation), length_bounds},
};
#define HISTOGRAMS (sizeof histograms / sizeof *histograms)

void metrics_add(struct metrics *metrics, struct metric *metric, double value)
{
	size_t at = (size_t)((const char *)metric - (const char *)metrics), bucket = 0;
	const double *bounds = length_bounds;
	for (size_t i = 0; i < HISTOGRAMS; i++)
		if (histograms[i].offset == at)
			bounds = histograms[i].bounds;
	while (bounds[bucket] > 0 && value > bounds[bucket])
		bucket++;
	metric->counts[bucket]++;
	metric->count++;
	metric->sum += value;
}

static void write_about(struct buffer *out, const char *name, const char *help, const char *type)
{
	buffer_format(out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, type);
}

static void write_one(struct buffer *out, const char *labels, const char *type, const char *name, const char *help, double value)
{
	write_about(out, name, help, type);
	buffer_format(out, "vllm:%s{%s} %.17g\n", name, labels, value);
}

static void write_histogram(struct buffer *out, const char *labels, const struct shown *h, const struct metric *m)
{
	int64_t sum = 0;
	write_about(out, h->name, h->help, "histogram");
	for (size_t i = 0; h->bounds[i] > 0; i++) {
		sum += m->counts[i];
		buffer_format(out, "vllm:%s_bucket{%s,le=\"%.10g\"} %lld\n", h->name, labels, h->bounds[i], (long long)sum);
	}
	buffer_format(out, "vllm:%s_bucket{%s,le=\"+Inf\"} %lld\n", h->name, labels, (long long)m->count);
	buffer_format(out, "vllm:%s_count{%s} %lld\nvllm:%s_sum{%s} %.17g\n", h->name, labels, (long long)m->count, h->name, labels, m->sum);
}

static void write_label_value(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			buffer_byte(out, '\\');
		if (*text == '\n')
			buffer_text(out, "\\n");
		else
			buffer_byte(out, *text);
	}
}

void metrics_write(const struct metrics *metrics, const struct engine_counts *c, const char *model, struct buffer *out)
{
	static const char *const reasons[FINISH_COUNT] = {"length", "stop", "abort"};
	struct buffer labels = {0};
	buffer_text(&labels, "engine=\"0\",model_name=\"");
	write_label_value(&labels, model);
	buffer_byte(&labels, '"');
	const char *l = labels.failed ? "" : labels.data;
	write_one(out, l, "gauge", "num_requests_running", "Number of requests in model execution batches.", (double)c->running);
	write_one(out, l, "gauge", "num_requests_waiting", "Number of requests waiting to be processed.", (double)c->waiting);
	write_one(out, l, "gauge", "kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", c->kv_usage);
	write_one(out, l, "counter", "prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.", (double)c->cache_queries);
	write_one(out, l, "counter", "prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.", (double)c->cache_hits);
	write_one(out, l, "counter", "num_preemptions_total", "Cumulative number of preemption from the engine.", (double)c->preemptions);
	write_one(out, l, "counter", "prompt_tokens_total", "Number of prefill tokens processed.", (double)c->prompt_tokens);
	write_one(out, l, "counter", "generation_tokens_total", "Number of generation tokens processed.", (double)c->output_tokens);
	write_about(out, "request_success_total", "Count of successfully processed requests.", "counter");
	for (int i = 0; i < FINISH_COUNT; i++)
		buffer_format(out, "vllm:request_success_total{%s,finished_reason=\"%s\"} %lld\n", l, reasons[i], (long long)metrics->finished[i]);
	for (size_t i = 0; i < HISTOGRAMS; i++)
		write_histogram(out, l, &histograms[i], (const struct metric *)(const void *)((const char *)metrics + histograms[i].offset));
	buffer_release(&labels);
}
