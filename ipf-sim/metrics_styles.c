#include "metrics_styles.h"

#include "clock.h"
#include "exposition.h"

#include <stddef.h>

static double seconds(int64_t ns)
{
	return (double)ns / (double)NS_PER_S;
}

static double finished(const struct metrics *m)
{
	return (double)(m->finished[FINISH_LENGTH] + m->finished[FINISH_STOP]);
}

static void histogram(struct buffer *out, const struct metrics *m, const struct metric *metric,
                      enum metrics_bounds bounds, const char *name, const char *labels)
{
	buffer_format(out, "# TYPE %s histogram\n", name);
	metrics_write_histogram(out, m, metric, bounds, name, labels);
}

static void label(struct buffer *out, const char *before, const char *value, const char *after)
{
	buffer_text(out, before);
	exposition_label_value(out, value);
	buffer_text(out, after);
}

#define COUNT(list_) (sizeof(list_) / sizeof *(list_))

/* ---- SGLang: totals of requests count when they end, realtime_tokens_total as they are computed ---- */

static void write_sglang(const struct metrics_view *v, struct buffer *out)
{
	static const char *const sources[TIER_COUNT] = {"device", "host", "storage_HiCacheFile"};
	const struct metrics *m = v->metrics;
	const struct batching_counts *c = &v->counts;
	struct buffer scheduler = {0}, tokenizer = {0};
	label(&scheduler, "engine_type=\"unified\",model_name=\"", v->model,
	      "\",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"");
	label(&tokenizer, "model_name=\"", v->model, "\"");
	const char *s = scheduler.failed ? "" : scheduler.data, *t = tokenizer.failed ? "" : tokenizer.data;
	double length = seconds(v->step.end_ns - v->step.start_ns), room = (double)v->kv_blocks * KV_BLOCK;
	const struct exposition_plain gauges[] = {
		{"gauge", "sglang:num_running_reqs", "The number of running requests.", (double)c->running},
		{"gauge", "sglang:num_queue_reqs", "The number of requests in the waiting queue.", (double)c->waiting},
		{"gauge", "sglang:num_used_tokens", "The number of used tokens.", c->kv_usage * room},
		{"gauge", "sglang:token_usage", "The token usage.", c->kv_usage},
		{"gauge", "sglang:max_total_num_tokens", "Maximum total number of tokens in the KV cache pool.", room},
		{"gauge", "sglang:gen_throughput", "The generation throughput (token/s).",
	     v->stepping ? (double)v->step.sequences / length : 0},
		{"gauge", "sglang:cache_hit_rate", "The prefix cache hit rate.",
	     c->cache_queries ? (double)c->cache_hits / (double)c->cache_queries : 0},
		{"gauge", "sglang:spec_accept_length", "The average acceptance length of speculative decoding.",
	     c->spec_drafts ? 1 + (double)c->spec_accepted / (double)c->spec_drafts : 0},
		{"gauge", "sglang:spec_accept_rate", "The average acceptance rate of speculative decoding.",
	     c->spec_drafts ? (double)c->spec_accepted / (double)c->spec_draft_tokens : 0},
		{"counter", "sglang:num_retracted_requests_total", "Total number of retracted requests.",
	     (double)c->preemptions},
	};
	const struct exposition_plain totals[] = {
		{"counter", "sglang:prompt_tokens_total", "Number of prefill tokens processed.", m->prompt.sum},
		{"counter", "sglang:generation_tokens_total", "Number of generation tokens processed.", m->generation.sum},
		{"counter", "sglang:num_requests_total", "Number of requests processed.", finished(m)},
		{"counter", "sglang:num_aborted_requests_total", "Number of requests aborted.",
	     (double)m->finished[FINISH_ABORT]},
	};
	exposition_plain(out, gauges, COUNT(gauges), s);
	exposition_family(out, "sglang:realtime_tokens_total", "Total number of tokens processed.", "counter");
	buffer_format(out,
	              "sglang:realtime_tokens_total{%s,mode=\"prefill_compute\"} %lld\n"
	              "sglang:realtime_tokens_total{%s,mode=\"prefill_cache\"} %lld\n"
	              "sglang:realtime_tokens_total{%s,mode=\"decode\"} %lld\n",
	              s, (long long)(c->prompt_tokens - c->prompt_cached), s, (long long)c->prompt_cached, s,
	              (long long)c->output_tokens);
	exposition_plain(out, totals, COUNT(totals), t);
	exposition_family(out, "sglang:cached_tokens_total", "Number of cached prompt tokens by source.", "counter");
	for (int i = 0; i < (v->tiers ? TIER_COUNT : TIER_HOST); i++)
		buffer_format(out, "sglang:cached_tokens_total{cache_source=\"%s\",%s} %lld\n", sources[i], t,
		              (long long)m->cached_from[i]);
	histogram(out, m, &m->queue, BOUNDS_SGLANG_QUEUE, "sglang:queue_time_seconds", s);
	histogram(out, m, &m->ttft, BOUNDS_SGLANG_TTFT, "sglang:time_to_first_token_seconds", t);
	histogram(out, m, &m->itl_each, BOUNDS_SGLANG_TOKEN, "sglang:inter_token_latency_seconds", t);
	histogram(out, m, &m->e2e, BOUNDS_SGLANG_REQUEST, "sglang:e2e_request_latency_seconds", t);
	buffer_release(&scheduler);
	buffer_release(&tokenizer);
}

/* ---- TGI: no labels ---- */

static void write_tgi(const struct metrics_view *v, struct buffer *out)
{
	const struct metrics *m = v->metrics;
	const struct {
		const char *name;
		const struct metric *metric;
		enum metrics_bounds bounds;
	} histograms[] = {
		{"tgi_request_duration", &m->e2e, BOUNDS_TGI_DURATION},
		{"tgi_request_queue_duration", &m->queue, BOUNDS_TGI_DURATION},
		{"tgi_request_inference_duration", &m->inference, BOUNDS_TGI_DURATION},
		{"tgi_request_input_length", &m->prompt, BOUNDS_TGI_LENGTH},
		{"tgi_request_generated_tokens", &m->generation, BOUNDS_TGI_LENGTH},
		{"tgi_request_max_new_tokens", &m->max_tokens, BOUNDS_TGI_LENGTH},
	};
	buffer_format(out,
	              "# TYPE tgi_request_count counter\ntgi_request_count %lld\n"
	              "# TYPE tgi_request_success counter\ntgi_request_success %.0f\n"
	              "# TYPE tgi_queue_size gauge\ntgi_queue_size %lld\n"
	              "# TYPE tgi_batch_current_size gauge\ntgi_batch_current_size %lld\n",
	              (long long)m->arrived, finished(m), (long long)v->counts.waiting, (long long)v->counts.running);
	buffer_format(out,
	              "# TYPE tgi_batch_current_max_tokens gauge\ntgi_batch_current_max_tokens %.0f\n"
	              "# TYPE tgi_batch_inference_count counter\ntgi_batch_inference_count{method=\"decode\"} %lld\n",
	              v->counts.kv_usage * (double)v->kv_blocks * KV_BLOCK, (long long)v->counts.steps);
	for (size_t i = 0; i < COUNT(histograms); i++)
		histogram(out, m, histograms[i].metric, histograms[i].bounds, histograms[i].name, "");
}

/* ---- llama.cpp: neither labels nor histograms; a request counts when it ends ---- */

static void write_llama_cpp(const struct metrics_view *v, struct buffer *out)
{
	const struct metrics *m = v->metrics;
	const struct batching_counts *c = &v->counts;
	double computed = m->prompt.sum - (double)m->cached_tokens, prompt_s = m->prefill.sum, output_s = m->decode.sum;
	const struct exposition_plain metrics[] = {
		{"counter", "llamacpp:prompt_tokens_total", "Number of prompt tokens processed.", computed},
		{"counter", "llamacpp:prompt_tokens_cached_total", "Number of prompt tokens reused from the cache.",
	     (double)m->cached_tokens},
		{"counter", "llamacpp:prompt_seconds_total", "Prompt process time", prompt_s},
		{"counter", "llamacpp:tokens_predicted_total", "Number of generation tokens processed.", m->generation.sum},
		{"counter", "llamacpp:tokens_predicted_seconds_total", "Predict process time", output_s},
		{"counter", "llamacpp:n_decode_total", "Total number of llama_decode() calls", (double)c->steps},
		{"counter", "llamacpp:n_busy_slots_per_decode", "Average number of busy slots per llama_decode() call",
	     c->steps ? (double)c->output_tokens / (double)c->steps : 0},
		{"gauge", "llamacpp:prompt_tokens_seconds", "Average prompt throughput in tokens/s.",
	     prompt_s > 0 ? computed / prompt_s : 0},
		{"gauge", "llamacpp:predicted_tokens_seconds", "Average generation throughput in tokens/s.",
	     output_s > 0 ? m->generation.sum / output_s : 0},
		{"gauge", "llamacpp:requests_processing", "Number of requests processing.", (double)c->running},
		{"gauge", "llamacpp:requests_deferred", "Number of requests deferred.", (double)c->waiting},
	};
	exposition_plain(out, metrics, COUNT(metrics), "");
}

/* ---- Triton with the TensorRT-LLM backend ---- */

static void triton_gauges(struct buffer *out, const char *name, const char *kind, const char *const *keys,
                          const double *values)
{
	buffer_format(out, "# HELP %s TRT LLM metrics\n# TYPE %s gauge\n", name, name);
	for (size_t i = 0; keys[i]; i++)
		buffer_format(out, "%s{%s=\"%s\",model=\"tensorrt_llm\",version=\"1\"} %.17g\n", name, kind, keys[i],
		              values[i]);
}

static void write_triton(const struct metrics_view *v, struct buffer *out)
{
	static const char *const requests[] = {"waiting", "context", "scheduled", "max", "active", NULL};
	static const char *const blocks[] = {"fraction", "tokens_per", "used", "free", "max", NULL};
	static const char labels[] = "model=\"tensorrt_llm\",version=\"1\"";
	const struct metrics *m = v->metrics;
	const struct batching_counts *c = &v->counts;
	double used = c->kv_usage * (double)v->kv_blocks;
	const double request_values[] = {(double)c->waiting, (double)(v->stepping && v->step.prefilled_tokens > 0),
	                                 (double)c->running, (double)v->max_batch, (double)(c->running + c->waiting)};
	const double block_values[] = {c->kv_usage, KV_BLOCK, used, (double)v->kv_blocks - used, (double)v->kv_blocks};
	const struct exposition_plain core[] = {
		{"counter", "nv_inference_request_success", "Number of successful inference requests, all batch sizes",
	     finished(m)},
		{"counter", "nv_inference_count", "Number of inferences performed (does not include cached requests)",
	     finished(m)},
		{"counter", "nv_inference_exec_count",
	     "Number of model executions performed (does not include cached requests)", (double)c->steps},
		{"counter", "nv_inference_request_duration_us",
	     "Cumulative inference request duration in microseconds (includes cached requests)", m->e2e.sum * 1e6},
		{"counter", "nv_inference_queue_duration_us",
	     "Cumulative inference queuing duration in microseconds (includes cached requests)", m->queue.sum * 1e6},
		{"counter", "nv_inference_compute_infer_duration_us",
	     "Cumulative compute inference duration in microseconds (does not include cached requests)",
	     m->inference.sum * 1e6},
		{"gauge", "nv_inference_pending_request_count",
	     "Instantaneous number of pending requests awaiting execution per-model.", (double)c->waiting},
	};
	exposition_plain(out, core, COUNT(core), labels);
	exposition_family(out, "nv_inference_request_failure", "Number of failed inference requests, all batch sizes",
	                  "counter");
	buffer_format(out,
	              "nv_inference_request_failure{model=\"tensorrt_llm\",reason=\"CANCELED\",version=\"1\"} %lld\n"
	              "nv_inference_request_failure{model=\"tensorrt_llm\",reason=\"OTHER\",version=\"1\"} 0\n",
	              (long long)m->finished[FINISH_ABORT]);
	histogram(out, m, &m->ttft, BOUNDS_TRITON_FIRST, "nv_inference_first_response_histogram_ms", labels);
	triton_gauges(out, "nv_trt_llm_request_metrics", "request_type", requests, request_values);
	triton_gauges(out, "nv_trt_llm_kv_cache_block_metrics", "kv_cache_block_type", blocks, block_values);
	const double steps = (double)c->steps;
	static const char *const general[] = {"iteration_counter", NULL};
	triton_gauges(out, "nv_trt_llm_general_metrics", "general_type", general, &steps);
}

/* ---- JetStream ---- */

static void write_jetstream(const struct metrics_view *v, struct buffer *out)
{
	static const char labels[] = "id=\"sim\"";
	const struct metrics *m = v->metrics;
	const struct batching_counts *c = &v->counts;
	const struct exposition_plain metrics[] = {
		{"gauge", "jetstream_prefill_backlog_size", "Size of prefill queue", (double)c->waiting},
		{"gauge", "num_requests_waiting", "Number of requests waiting to be processed for inference.",
	     (double)c->waiting},
		{"gauge", "kv_cache_utilization_perc", "kv-cache utilization % by the requests under processing.", c->kv_usage},
		{"counter", "jetstream_request_success_count_total", "Number of requests successfully completed", finished(m)},
	};
	exposition_plain(out, metrics, COUNT(metrics), labels);
	exposition_family(out, "jetstream_slots_used_percentage", "The percentage of decode slots currently being used",
	                  "gauge");
	buffer_format(out, "jetstream_slots_used_percentage{%s,idx=\"0\"} %.17g\n", labels,
	              v->max_batch ? (double)c->running / (double)v->max_batch : 0);
	histogram(out, m, &m->queue, BOUNDS_JETSTREAM_QUEUE, "jetstream_queue_duration", labels);
	histogram(out, m, &m->ttft, BOUNDS_JETSTREAM_TTFT, "jetstream_time_to_first_token", labels);
	histogram(out, m, &m->tpot, BOUNDS_JETSTREAM_TOKEN, "jetstream_time_per_output_token", labels);
	histogram(out, m, &m->e2e, BOUNDS_JETSTREAM_REQUEST, "jetstream_time_per_request", labels);
	histogram(out, m, &m->prompt, BOUNDS_JETSTREAM_INPUT, "jetstream_request_input_length", labels);
	histogram(out, m, &m->generation, BOUNDS_JETSTREAM_OUTPUT, "jetstream_request_output_length", labels);
}

const struct metrics_style metrics_styles[] = {
	{"/metrics", metrics_write_vllm},        {"/vllm/metrics", metrics_write_vllm},
	{"/sglang/metrics", write_sglang},       {"/tgi/metrics", write_tgi},
	{"/llama-cpp/metrics", write_llama_cpp}, {"/triton/metrics", write_triton},
	{"/jetstream/metrics", write_jetstream}, {NULL, NULL},
};
