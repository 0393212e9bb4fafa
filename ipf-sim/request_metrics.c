#include "request_metrics.h"

#include "clock.h"

static double ms(int64_t from_ns, int64_t to_ns)
{
	return (double)(to_ns - from_ns) / (double)NS_PER_MS;
}

/* On the clock the answers' Date is of. */
static int64_t wall_of(const struct answer *a, int64_t at_ns)
{
	return clock_wall_at(at_ns) + (a->out->date_offset_ns ? *a->out->date_offset_ns : 0);
}

static void write_spec(struct answer *a)
{
	const struct sequence *work = a->work;
	int64_t drafts = work->drafts, tokens = a->spec->tokens;
	buffer_format(&a->json,
	              ",\"speculative_decoding\":{\"mean_acceptance_length\":%.17g,\"draft_acceptance_rate\":%.17g",
	              drafts ? 1 + (double)work->accepted / (double)drafts : 1,
	              drafts ? (double)work->accepted / (double)(drafts * tokens) : 0);
	for (int64_t i = 0; i <= tokens; i++)
		buffer_format(&a->json, i ? ",%d" : ",\"acceptance_histogram\":[%d", (int)work->accepted_in[i]);
	buffer_format(&a->json,
	              "],\"num_spec_steps\":%lld,\"num_accepted_draft_tokens\":%lld,\"num_draft_tokens\":%lld,"
	              "\"num_spec_tokens\":%lld}",
	              (long long)drafts, (long long)work->accepted, (long long)(drafts * tokens), (long long)tokens);
}

void request_metrics_vllm(struct answer *a)
{
	if (!a->metrics)
		return;
	int64_t tokens = a->output_tokens;
	double decode_ms = ms(a->first_ns, a->now_ns), inference_ms = ms(a->begun_ns, a->now_ns);
	buffer_format(&a->json,
	              ",\"metrics\":{\"time_to_first_token_ms\":%.6f,\"generation_time_ms\":%.6f,"
	              "\"queue_time_ms\":%.6f,\"mean_itl_ms\":",
	              ms(a->begun_ns, a->first_ns), decode_ms, ms(a->arrival_ns, a->begun_ns));
	if (tokens > 1)
		buffer_format(&a->json, "%.6f", decode_ms / (double)(tokens - 1));
	else
		buffer_text(&a->json, "null");
	if (inference_ms > 0)
		buffer_format(&a->json, ",\"tokens_per_second\":%.6f", (double)tokens / inference_ms * 1e3);
	else
		buffer_text(&a->json, ",\"tokens_per_second\":null");
	if (a->spec->tokens)
		write_spec(a);
	buffer_byte(&a->json, '}');
}

void request_metrics_dynamo(struct answer *a)
{
	const struct generate_request *ask = a->ask;
	if (!ask->nvext_timing && !ask->nvext_worker)
		return;
	buffer_text(&a->json, ",\"nvext\":{");
	if (ask->nvext_worker)
		buffer_text(&a->json, "\"worker_id\":{\"prefill_worker_id\":0,\"prefill_dp_rank\":0,\"decode_worker_id\":1,"
		                      "\"decode_dp_rank\":0}");
	if (ask->nvext_timing)
		buffer_format(
			&a->json,
			"%s\"timing\":{\"request_received_ms\":%lld,\"prefill_wait_time_ms\":%.6f,\"prefill_time_ms\":%.6f,"
			"\"ttft_ms\":%.6f,\"total_time_ms\":%.6f,\"kv_hit_rate\":%.6f}",
			ask->nvext_worker ? "," : "", (long long)(wall_of(a, a->arrival_ns) / NS_PER_MS),
			ms(a->arrival_ns, a->begun_ns), ms(a->begun_ns, a->first_ns), ms(a->arrival_ns, a->first_ns),
			ms(a->arrival_ns, a->now_ns), (double)a->cached_tokens / (double)a->prompt_tokens);
	buffer_byte(&a->json, '}');
}

static void write_tiers(struct answer *a)
{
	const int64_t *from = a->work->cached_from;
	buffer_format(&a->json, "\"cached_tokens_details\":{\"device\":%lld,\"host\":%lld", (long long)from[TIER_DEVICE],
	              (long long)from[TIER_HOST]);
	if (a->storage)
		buffer_format(&a->json, ",\"storage\":%lld,\"storage_backend\":\"HiCacheFile\"", (long long)from[TIER_STORAGE]);
	buffer_byte(&a->json, '}');
}

void request_metrics_cached(struct answer *a)
{
	if (!a->tiers)
		return;
	buffer_byte(&a->json, ',');
	write_tiers(a);
}

void request_metrics_sglext(struct answer *a)
{
	if (!a->ask->cached_details || !a->work)
		return;
	buffer_text(&a->json, ",\"sglext\":{");
	write_tiers(a);
	buffer_byte(&a->json, '}');
}

void request_metrics_sglang(struct answer *a)
{
	if (!a->metrics)
		return;
	buffer_format(&a->json,
	              ",\"request_received_ts\":%.6f,\"queue_time\":%.9f,\"prefill_launch_delay\":0.0,"
	              "\"prefill_launch_latency\":%.9f,\"prefill_finished_ts\":%.6f,\"inference_time\":%.9f,"
	              "\"decode_throughput\":%.6f,\"response_sent_to_client_ts\":%.6f",
	              (double)wall_of(a, a->arrival_ns) / 1e9, ms(a->arrival_ns, a->begun_ns) / 1e3,
	              ms(a->begun_ns, a->first_ns) / 1e3, (double)wall_of(a, a->first_ns) / 1e9,
	              ms(a->begun_ns, a->now_ns) / 1e3,
	              a->now_ns > a->first_ns ? (double)(a->output_tokens - 1) / ms(a->first_ns, a->now_ns) * 1e3 : 0.0,
	              (double)wall_of(a, a->now_ns) / 1e9);
	if (a->spec->tokens && a->work->drafts)
		buffer_format(&a->json,
		              ",\"spec_accept_rate\":%.17g,\"spec_accept_length\":%.17g,\"spec_accept_token_num\":%lld,"
		              "\"spec_draft_token_num\":%lld,\"spec_verify_ct\":%lld",
		              (double)a->work->accepted / (double)(a->work->drafts * a->spec->tokens),
		              (double)a->output_tokens / (double)a->work->drafts, (long long)a->work->accepted,
		              (long long)(a->work->drafts * a->spec->tokens), (long long)a->work->drafts);
}
