#include "metrics.h"

#include "exposition.h"

#include <stdio.h>

static const double ttft_bounds[METRICS_MOST_BOUNDS] = {
	.001, .005, .01, .02, .04, .06, .08, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
};
static const double token_bounds[METRICS_MOST_BOUNDS] = {
	.01, .025, .05, .075, .1, .15, .2, .3, .4, .5, .75, 1, 2.5, 5, 7.5, 10, 20, 40, 80,
};
static const double request_bounds[METRICS_MOST_BOUNDS] = {
	.3, .5, .8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680,
};
static const double length_bounds[METRICS_MOST_BOUNDS] = {
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000,
};

#define SHOWN(name_, member_, bounds_, help_)                                                                          \
	{                                                                                                                  \
		name_, help_, offsetof(struct metrics, member_), bounds_                                                       \
	}

/* A vLLM histogram: where it lies, what it is called, and its bounds (0 ends them). */
static const struct shown {
	const char *name, *help;
	size_t offset;
	const double *bounds;
} histograms[] = {
	SHOWN("time_to_first_token_seconds", ttft, ttft_bounds, "Histogram of time to first token in seconds."),
	SHOWN("inter_token_latency_seconds", itl, token_bounds, "Histogram of inter-token latency in seconds."),
	SHOWN("request_time_per_output_token_seconds", tpot, token_bounds,
          "Histogram of time_per_output_token_seconds per request."),
	SHOWN("e2e_request_latency_seconds", e2e, request_bounds, "Histogram of e2e request latency in seconds."),
	SHOWN("request_queue_time_seconds", queue, request_bounds, "Histogram of time spent in WAITING phase for request."),
	SHOWN("request_prefill_time_seconds", prefill, request_bounds,
          "Histogram of time spent in PREFILL phase for request."),
	SHOWN("request_decode_time_seconds", decode, request_bounds,
          "Histogram of time spent in DECODE phase for request."),
	SHOWN("request_inference_time_seconds", inference, request_bounds,
          "Histogram of time spent in RUNNING phase for request."),
	SHOWN("request_prompt_tokens", prompt, length_bounds, "Number of prefill tokens processed."),
	SHOWN("request_generation_tokens", generation, length_bounds, "Number of generation tokens processed."),
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

static const struct metric *metric_at(const struct metrics *metrics, size_t offset)
{
	return (const struct metric *)(const void *)((const char *)metrics + offset);
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
	buffer_format(out, "vllm:%s_count{%s} %lld\nvllm:%s_sum{%s} %.17g\n", h->name, labels, (long long)m->count, h->name,
	              labels, m->sum);
}

void metrics_write(const struct metrics *metrics, const struct engine_counts *c, const char *model, struct buffer *out)
{
	static const char *const reasons[FINISH_COUNT] = {"length", "stop", "abort"};
	struct buffer labels = {0};
	buffer_text(&labels, "engine=\"0\",model_name=\"");
	exposition_label_value(&labels, model);
	buffer_byte(&labels, '"');
	const char *l = labels.failed ? "" : labels.data;
	const struct {
		const char *type, *name, *help;
		double value;
	} plain[] = {
		{"gauge", "num_requests_running", "Number of requests in model execution batches.", (double)c->running},
		{"gauge", "num_requests_waiting", "Number of requests waiting to be processed.", (double)c->waiting},
		{"gauge", "kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", c->kv_usage},
		{"counter", "prefix_cache_queries_total", "Prefix cache queries, in tokens.", (double)c->cache_queries},
		{"counter", "prefix_cache_hits_total", "Prefix cache hits, in tokens.", (double)c->cache_hits},
		{"counter", "num_preemptions_total", "Cumulative number of preemptions.", (double)c->preemptions},
		{"counter", "prompt_tokens_total", "Number of prefill tokens processed.", (double)c->prompt_tokens},
		{"counter", "generation_tokens_total", "Number of generation tokens processed.", (double)c->output_tokens},
	};
	for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
		write_about(out, plain[i].name, plain[i].help, plain[i].type);
		buffer_format(out, "vllm:%s{%s} %.17g\n", plain[i].name, l, plain[i].value);
	}
	write_about(out, "request_success_total", "Count of successfully processed requests.", "counter");
	for (int i = 0; i < FINISH_COUNT; i++)
		buffer_format(out, "vllm:request_success_total{%s,finished_reason=\"%s\"} %lld\n", l, reasons[i],
		              (long long)metrics->finished[i]);
	for (size_t i = 0; i < HISTOGRAMS; i++)
		write_histogram(out, l, &histograms[i], metric_at(metrics, histograms[i].offset));
	buffer_release(&labels);
}
