#include "metrics_styles.h"

#include "exposition.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct histogram {
	const char *name, *help;
	size_t offset; /* in struct metrics */
	enum metrics_bounds bounds;
};

#define HISTOGRAM(name_, member_, bounds_, help_)                                                                      \
	{                                                                                                                  \
		"vllm:" name_, help_, offsetof(struct metrics, member_), bounds_                                               \
	}

static const struct histogram histograms[] = {
	HISTOGRAM("request_prompt_tokens", prompt, BOUNDS_VLLM_LENGTH, "Number of prefill tokens processed."),
	HISTOGRAM("request_generation_tokens", generation, BOUNDS_VLLM_LENGTH, "Number of generation tokens processed."),
	HISTOGRAM("iteration_tokens_total", iteration, BOUNDS_VLLM_ITERATION,
              "Histogram of number of tokens per batching_step."),
	HISTOGRAM("request_max_num_generation_tokens", max_tokens, BOUNDS_VLLM_LENGTH,
              "Histogram of maximum number of requested generation tokens."),
	HISTOGRAM("request_params_n", n, BOUNDS_VLLM_N, "Histogram of the n request parameter."),
	HISTOGRAM("request_params_max_tokens", max_tokens, BOUNDS_VLLM_LENGTH,
              "Histogram of the max_tokens request parameter."),
	HISTOGRAM("time_to_first_token_seconds", ttft, BOUNDS_VLLM_TTFT, "Histogram of time to first token in seconds."),
	HISTOGRAM("inter_token_latency_seconds", itl, BOUNDS_VLLM_TOKEN, "Histogram of inter-token latency in seconds."),
	HISTOGRAM("request_time_per_output_token_seconds", tpot, BOUNDS_VLLM_TOKEN,
              "Histogram of time_per_output_token_seconds per request."),
	HISTOGRAM("e2e_request_latency_seconds", e2e, BOUNDS_VLLM_REQUEST, "Histogram of e2e request latency in seconds."),
	HISTOGRAM("request_queue_time_seconds", queue, BOUNDS_VLLM_REQUEST,
              "Histogram of time spent in WAITING phase for request."),
	HISTOGRAM("request_inference_time_seconds", inference, BOUNDS_VLLM_REQUEST,
              "Histogram of time spent in RUNNING phase for request."),
	HISTOGRAM("request_prefill_time_seconds", prefill, BOUNDS_VLLM_REQUEST,
              "Histogram of time spent in PREFILL phase for request."),
	HISTOGRAM("request_decode_time_seconds", decode, BOUNDS_VLLM_REQUEST,
              "Histogram of time spent in DECODE phase for request."),
};

/* The Python client's own addition to each counter and histogram. */
static void write_created(struct buffer *out, const char *name, int suffix, const char *help, const char *labels,
                          double unix_s)
{
	char created[120];
	snprintf(created, sizeof created, "%.*s_created", (int)strlen(name) - suffix, name);
	exposition_family(out, created, help, "gauge");
	exposition_value(out, created, labels, unix_s);
}

/* A gauge has a series for each replica, which are equally busy; requests wait before the first. */
static void write_gauge(const struct metrics_view *v, const char *name, const char *help, int64_t total,
                        struct buffer *out)
{
	int64_t replicas = v->replicas > 1 ? v->replicas : 1;
	exposition_family(out, name, help, "gauge");
	for (int64_t i = 0; i < replicas; i++) {
		bool waits = strcmp(name, "vllm:num_requests_waiting") == 0;
		int64_t share = waits ? (i == 0 ? total : 0) : total / replicas + (i < total % replicas);
		buffer_format(out, "%s{engine=\"%lld\",model_name=\"", name, (long long)i);
		exposition_label_value(out, v->model);
		buffer_format(out, "\"} %lld\n", (long long)share);
	}
}

static void write_gauges(const struct metrics_view *v, const char *labels, struct buffer *out)
{
	static const char *const states[] = {"awake", "weights_offloaded", "discard_all"};
	write_gauge(v, "vllm:num_requests_running", "Number of requests in model execution batches.", v->counts.running,
	            out);
	write_gauge(v, "vllm:num_requests_waiting", "Number of requests waiting to be processed.", v->counts.waiting, out);
	exposition_family(out, "vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", "gauge");
	for (int64_t i = 0; i == 0 || i < v->replicas; i++) {
		buffer_format(out, "vllm:kv_cache_usage_perc{engine=\"%lld\",model_name=\"", (long long)i);
		exposition_label_value(out, v->model);
		buffer_format(out, "\"} %.17g\n", v->counts.kv_usage);
	}
	exposition_family(out, "vllm:engine_sleep_state", "Engine sleep state; awake = 0 means engine is sleeping.",
	                  "gauge");
	for (int i = 0; i < 3; i++)
		buffer_format(out, "vllm:engine_sleep_state{%s,sleep_state=\"%s\"} %d\n", labels, states[i], i == 0);
}

static void write_counters(const struct metrics_view *v, const char *labels, struct buffer *out)
{
	const struct batching_counts *c = &v->counts;
	const struct exposition_plain counters[] = {
		{"counter", "vllm:prefix_cache_queries_total", "Prefix cache queries, in terms of number of queried tokens.",
	     (double)c->cache_queries},
		{"counter", "vllm:prefix_cache_hits_total", "Prefix cache hits, in terms of number of cached tokens.",
	     (double)c->cached_from[TIER_DEVICE]},
		{"counter", "vllm:num_preemptions_total", "Cumulative number of preemption from the engine.",
	     (double)c->preemptions},
		{"counter", "vllm:prompt_tokens_total", "Number of prefill tokens processed.", (double)c->prompt_tokens},
		{"counter", "vllm:prompt_tokens_cached_total", "Number of cached prompt tokens (local + external).",
	     (double)c->prompt_cached},
		{"counter", "vllm:generation_tokens_total", "Number of generation tokens processed.", (double)c->output_tokens},
	};
	for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
		exposition_plain(out, &counters[i], 1, labels);
		write_created(out, counters[i].name, 6, counters[i].help, labels, v->begin_unix_s);
	}
	exposition_family(out, "vllm:prompt_tokens_by_source_total", "Number of prompt tokens by source.", "counter");
	buffer_format(out,
	              "vllm:prompt_tokens_by_source_total{%s,source=\"local_compute\"} %lld\n"
	              "vllm:prompt_tokens_by_source_total{%s,source=\"local_cache_hit\"} %lld\n"
	              "vllm:prompt_tokens_by_source_total{%s,source=\"external_kv_transfer\"} %lld\n",
	              labels, (long long)(c->prompt_tokens - c->prompt_cached), labels,
	              (long long)c->prompt_from[TIER_DEVICE], labels,
	              (long long)(c->prompt_cached - c->prompt_from[TIER_DEVICE]));
}

/* The tiers below the device, as a KV connector's. */
static void write_external(const struct metrics_view *v, const char *labels, struct buffer *out)
{
	const struct batching_counts *c = &v->counts;
	const struct exposition_plain counters[] = {
		{"counter", "vllm:external_prefix_cache_queries_total",
	     "External prefix cache queries from KV connector cross-instance cache sharing, in terms of number of queried "
	     "tokens.",
	     (double)(c->cache_queries - c->cached_from[TIER_DEVICE])},
		{"counter", "vllm:external_prefix_cache_hits_total",
	     "External prefix cache hits from KV connector cross-instance cache sharing, in terms of number of cached "
	     "tokens.",
	     (double)(c->cache_hits - c->cached_from[TIER_DEVICE])},
	};
	exposition_plain(out, counters, sizeof counters / sizeof *counters, labels);
}

static void write_success(const struct metrics_view *v, const char *labels, struct buffer *out)
{
	static const char *const reasons[FINISH_COUNT] = {"length", "stop", "abort"};
	const char *prefix = strchr(labels, ',') + 1; /* labels come sorted: engine, finished_reason, model_name */
	exposition_family(out, "vllm:request_success_total", "Count of successfully processed requests.", "counter");
	for (int i = 0; i < FINISH_COUNT; i++)
		buffer_format(out, "vllm:request_success_total{engine=\"0\",finished_reason=\"%s\",%s} %lld\n", reasons[i],
		              prefix, (long long)v->metrics->finished[i]);
}

static void write_adapters(const struct metrics_view *v, struct buffer *out)
{
	exposition_family(out, "vllm:lora_requests_info", "Running stats on lora requests.", "gauge");
	buffer_format(out, "vllm:lora_requests_info{max_lora=\"%lld\",running_lora_adapters=\"", (long long)v->adapters);
	exposition_label_value(out, v->running_adapters);
	buffer_text(out, "\",waiting_lora_adapters=\"");
	exposition_label_value(out, v->waiting_adapters);
	buffer_format(out, "\"} %.17g\n", v->now_unix_s);
}

static void write_spec(const struct metrics_view *v, const char *labels, struct buffer *out)
{
	const struct batching_counts *c = &v->counts;
	const struct exposition_plain counters[] = {
		{"counter", "vllm:spec_decode_num_drafts_total", "Number of spec decoding drafts.", (double)c->spec_drafts},
		{"counter", "vllm:spec_decode_num_draft_tokens_total", "Number of draft tokens.", (double)c->spec_draft_tokens},
		{"counter", "vllm:spec_decode_num_accepted_tokens_total", "Number of accepted tokens.",
	     (double)c->spec_accepted},
	};
	exposition_plain(out, counters, sizeof counters / sizeof *counters, labels);
	exposition_family(out, "vllm:spec_decode_num_accepted_tokens_per_pos_total", "Accepted tokens per draft position.",
	                  "counter");
	for (int64_t i = 0; i < v->spec_tokens; i++)
		buffer_format(out, "vllm:spec_decode_num_accepted_tokens_per_pos_total{%s,position=\"%lld\"} %lld\n", labels,
		              (long long)i, (long long)c->spec_accepted_at[i]);
}

void metrics_write_vllm(const struct metrics_view *v, struct buffer *out)
{
	struct buffer name = {0};
	buffer_text(&name, "engine=\"0\",model_name=\"");
	exposition_label_value(&name, v->model);
	buffer_byte(&name, '"');
	const char *labels = name.failed ? "engine=\"0\",model_name=\"\"" : name.data;
	write_gauges(v, labels, out);
	write_counters(v, labels, out);
	write_success(v, labels, out);
	for (size_t i = 0; i < sizeof histograms / sizeof *histograms; i++) {
		const struct histogram *h = &histograms[i];
		const struct metric *metric = (const struct metric *)(const void *)((const char *)v->metrics + h->offset);
		exposition_family(out, h->name, h->help, "histogram");
		metrics_write_histogram(out, v->metrics, metric, h->bounds, h->name, labels);
		write_created(out, h->name, 0, h->help, labels, v->begin_unix_s);
	}
	exposition_family(out, "vllm:cache_config_info", "Information of the LLMEngine CacheConfig", "gauge");
	buffer_format(out, "vllm:cache_config_info{block_size=\"%d\",engine=\"0\",num_gpu_blocks=\"%lld\"} 1\n", KV_BLOCK,
	              (long long)v->kv_blocks);
	if (v->tiers)
		write_external(v, labels, out);
	if (v->spec_tokens)
		write_spec(v, labels, out);
	if (v->adapters)
		write_adapters(v, out);
	buffer_release(&name);
}
