#!/usr/bin/env bash
# The simulated server's own counters against those of its clients and its log, in the manner of each server.
. "$TESTS/tap.sh"
. "$TESTS/together.sh"

scrape() { curl -sS -m 120 "$URL$1/metrics" >scraped; }
value() { # NAME [LABEL="VALUE"]: the sum of its lines
	awk -v name="$1" -v label="${2-}" '
		{ n = $1; sub(/\{.*/, "", n) }
		n == name && index($1, label) { sum += $2; found = 1 }
		END { if (found) printf "%.10g", sum; else print "none" }' scraped
}
ask() { curl -s -m 3600 -N -o /dev/null "$URL/v1/completions" "${@:2}" -d "$1"; }
logged() { jq -s "$1" log.ndjson; }
lines_are() { [ "$(wc -l <log.ndjson)" = "$1" ]; }

# ---- requests ending in every way: short of memory, so some are preempted ----
server_start --log log.ndjson --step-base 1ms --kv-blocks 14 --max-model-len 3000
many=()
hold
for i in 1 2 3 4 5 6; do
	ask "{\"prompt\":\"question $i and some more words of it\",\"max_tokens\":90,\"stream\":true}" &
	many+=($!)
done
release 6
wait "${many[@]}"
ask '{"prompt":"question 1 and some more words of it","max_tokens":1}'
ask '{"prompt":"x","max_tokens":20,"stream":true}' -H 'X-Sim: cut;after=3'
ask '{"prompt":"x","max_tokens":20}' -H 'X-Sim: short;tokens=4'
ask '{"prompt":"x","max_tokens":20,"stream":true}' -H 'X-Sim: 503'
ask '{"prompt":"x","max_tokens":100000}'
curl -sN -o /dev/null "$URL/v1/completions" -H "X-Sim: stall;after=5;pause=1h" -d '{"prompt":"y","max_tokens":150,"stream":true}' &
stalled() { scrape "" && [ "$(value vllm:generation_tokens_total)" = 553 ]; }
wait_for stalled
kill $!
yes_if "every request has its line in the log" wait_for lines_are 12
scrape ""
isnt "$(value vllm:num_preemptions_total)" 0 "some were preempted"
is "$(value vllm:num_preemptions_total)" "$(logged 'map(.preemptions // 0) | add')" "metrics have as many preemptions as the log"
is "$(value vllm:request_success_total 'finished_reason="length"')" 7 "seven had all their tokens"
is "$(value vllm:request_success_total 'finished_reason="stop"')" 1 "one request stopped"
is "$(value vllm:request_success_total 'finished_reason="abort"')" 2 "two were aborted: cut, and cancelled"
is "$(value vllm:generation_tokens_total)" "$((6 * 90 + 1 + 3 + 4 + 5))" "every token is counted, and none twice"
is "$(value vllm:prompt_tokens_total)" "$(logged 'map(select(.output_tokens > 0).prompt_tokens) | add')" "every prompt is counted"
is "$(value vllm:prefix_cache_hits_total)" "$(logged 'map(.cached_tokens // 0) | add')" "metrics have as many cached tokens as the answers"
is "$(value vllm:prompt_tokens_by_source_total)" "$(value vllm:prompt_tokens_total)" "prompts are computed, or cached"
is "$(value vllm:prompt_tokens_by_source_total 'source="local_cache_hit"')" "$(value vllm:prompt_tokens_cached_total)" "metrics have cached prompts as a source"
is "$(value vllm:iteration_tokens_total_sum)" "$(($(value vllm:prompt_tokens_total) + $(value vllm:generation_tokens_total)))" "the steps made them all"
is "$(value vllm:time_to_first_token_seconds_count)" 10 "ten had a first token"
is "$(value vllm:inter_token_latency_seconds_count)" "$(($(value vllm:generation_tokens_total) - 10))" "tokens after first ones have gaps"
is "$(value vllm:request_generation_tokens_sum)" 545 "tokens of those that came to their end"
is "$(value vllm:request_time_per_output_token_seconds_count)" 7 "requests of one token have no time per output token"
is "$(value vllm:num_requests_running) $(value vllm:num_requests_waiting) $(value vllm:kv_cache_usage_perc)" "0 0 0" "no request is left"
is "$(grep -o 'vllm:request_prompt_tokens_bucket{.*le="[0-9]*"' scraped | tail -1 |
	grep -o 'le=.*')" 'le="2000"' "buckets of lengths end with the context"
# For each request coming to its end: from its arrival to its last token, which the log has when it was sent.
sum_s=$(logged 'map(select(.last_token_ns and .cancelled != true and (.mode // "" | contains("cut") | not)) | .last_token_ns - .arrival_ns) | add / 1e9')
at_least "$sum_s" "$(value vllm:e2e_request_latency_seconds_sum)" "the latencies of the metrics are no longer than those of the log"
at_least "$(value vllm:e2e_request_latency_seconds_sum)" 0.545 "the latencies of the metrics have a step of 1 ms for each of 545 tokens"
between "$(jq -n "$(value vllm:request_queue_time_seconds_sum) + $(value vllm:request_prefill_time_seconds_sum) + $(value vllm:request_decode_time_seconds_sum)")" \
	"$(jq -n "$(value vllm:e2e_request_latency_seconds_sum) - 0.001")" "$(jq -n "$(value vllm:e2e_request_latency_seconds_sum) + 0.001")" \
	"queue, prefill and decode are the whole"

# ---- the same state in the manner of others ----
broken() { # histograms whose buckets fall, or do not end in their count
	awk '{ n = $1; sub(/\{.*/, "", n) }
		n ~ /_bucket$/ { sub(/_bucket$/, "", n); if ($1 ~ /le="\+Inf"/) last[n] = $2; if (n == before && $2 < high) print n; before = n; high = $2 }
		n ~ /_count$/ { sub(/_count$/, "", n); if (n in last && last[n] != $2) print n }' scraped
}
form='^(# (HELP|TYPE) [a-zA-Z_:][a-zA-Z0-9_:]* .*|[a-zA-Z_:][a-zA-Z0-9_:]*(\{([a-zA-Z_]+="[^"]*",?)+\})? [0-9.e+-]+)$'
for style in "" /vllm /sglang /tgi /llama-cpp /triton /jetstream; do
	scrape "$style"
	is "$(grep -vcE "$form") $(broken)" "0 " "$style/metrics is in the format" <scraped
	cp scraped "scraped.${style#/}"
done
cp scraped.sglang scraped
is "$(value sglang:generation_tokens_total) $(value sglang:num_requests_total) $(value sglang:num_aborted_requests_total)" "545 8 2" "SGLang: requests that ended"
is "$(value sglang:realtime_tokens_total 'mode="decode"')" 553 "SGLang: all generated tokens"
is "$(grep -c '^sglang:time_to_first_token_seconds_bucket{model_name="sim",le="0.[1-8]"} ' scraped)" 5 "SGLang: buckets"
cp scraped.tgi scraped
is "$(value tgi_request_count) $(value tgi_request_success) $(value tgi_request_generated_tokens_sum)" "10 8 545" "TGI: metrics have no labels"
is "$(grep -c '^tgi_request_duration_bucket{le="0.00015"} ' scraped)" 1 "TGI: buckets"
cp scraped.llama-cpp scraped
is "$(value llamacpp:tokens_predicted_total) $(value llamacpp:requests_processing)" "545 0" "llama.cpp has its counters"
cp scraped.triton scraped
is "$(value nv_inference_request_success) $(value nv_inference_request_failure 'reason="CANCELED"')" "8 2" "Triton has its counters"
is "$(value nv_trt_llm_kv_cache_block_metrics 'type="max"') $(value nv_inference_first_response_histogram_ms_count)" "14 10" "Triton has TensorRT-LLM's gauges"
cp scraped.jetstream scraped
is "$(value jetstream_request_success_count_total) $(value jetstream_request_output_length_sum)" "8 545" "JetStream has its counters"
is "$(curl -s -o /dev/null -w '%{http_code}' -d x "$URL/tgi/metrics")" 405 "metrics are read only"

# ---- LoRA adapters ----
server_start --model base --lora one --lora two --max-batch 1
is "$(curl -s "$URL/v1/models" | jq -c '.data | map([.id, .parent])')" '[["base",null],["one","base"],["two","base"]]' "adapters are models with a parent"
seen=
for model in one one two base; do
	ask "{\"model\":\"$model\",\"prompt\":\"x\",\"max_tokens\":100000,\"stream\":true}" &
	stop_at_exit $!
	arrived() { scrape "" && [ "$(($(value vllm:num_requests_running) + $(value vllm:num_requests_waiting)))" = "$((${#seen} + 1))" ]; }
	wait_for arrived
	seen=${seen}x
done
scrape ""
matches "$(cat scraped)" '^vllm:lora_requests_info\{max_lora="2",running_lora_adapters="one",waiting_lora_adapters="one,two"\} 1[0-9.]+$' "adapters are running and waiting"
