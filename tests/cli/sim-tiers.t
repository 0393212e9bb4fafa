#!/usr/bin/env bash
# Tiers of the KV cache below the device: where prefixes are found, in answers and counters, and the cost.
. "$TESTS/tap.sh"

ask() { # PROMPT: of 40 tokens each
	curl -s -m 120 -o "$OUT" "$URL/sglang/generate" -d "{\"text\":\"$(printf '%s%0159d' "$1" 0)\",\"sampling_params\":{\"max_new_tokens\":1}}"
}
details() { jq -c '.meta_info | [.cached_tokens, .cached_tokens_details.device, .cached_tokens_details.host, .cached_tokens_details.storage]' "$OUT"; }
value() { curl -s "$URL$1" | sed -n "s/^$2 //p"; }

# ---- 4 blocks on the device, 4 in the host, more on disk; each prompt has 2 whole blocks and a half ----
server_start --kv-blocks 4 --host-blocks 4 --disk-blocks 100 --log log.ndjson
ask a
is "$(details)" "[0,0,0,0]" "the first prompt finds nothing in the cache"
ask a
is "$(details)" "[32,32,0,0]" "a repeated prompt is on the device"
for prompt in b c; do ask $prompt; done
ask a
is "$(details)" "[32,0,32,0]" "evicted, it is in the host"
for prompt in d e f g h; do ask $prompt; done
ask b
is "$(details)" "[32,0,0,32]" "evicted there as well, it is on disk"
is "$(jq -r .meta_info.cached_tokens_details.storage_backend "$OUT")" HiCacheFile "SGLang names the storage"
queries=$((40 * 11))
is "$(value /metrics 'vllm:prefix_cache_queries_total{.*}') $(value /metrics 'vllm:prefix_cache_hits_total{.*}')" "$queries 32" "vLLM: hits of the device"
is "$(value /metrics 'vllm:external_prefix_cache_queries_total{.*}') $(value /metrics 'vllm:external_prefix_cache_hits_total{.*}')" "$((queries - 32)) 64" "vLLM: hits of the connector"
is "$(value /metrics 'vllm:prompt_tokens_by_source_total{.*local_compute.*}') $(value /metrics 'vllm:prompt_tokens_by_source_total{.*external.*}')" "$((queries - 96)) 64" "vLLM: prompts by source"
is "$(for tier in device host storage_HiCacheFile; do value /sglang/metrics "sglang:cached_tokens_total{cache_source=\"$tier\",.*}"; done | tr '\n' ' ')" "32 32 32 " "SGLang: cached tokens by tier"
all_logged() { [ "$(wc -l <log.ndjson)" = 11 ]; }
wait_for all_logged
is "$(jq -s 'map(.cached_tokens) | add' log.ndjson)" 96 "the log has the cached tokens of all tiers"
printf -v prompt '%s%0159d' b 0
curl -s -o "$OUT" "$URL/v1/completions" -d "{\"prompt\":\"$prompt\",\"max_tokens\":1,\"return_cached_tokens_details\":true}"
is "$(jq -c '[.usage.prompt_tokens_details.cached_tokens, .sglext.cached_tokens_details]' "$OUT")" \
	'[32,{"device":32,"host":0,"storage":0,"storage_backend":"HiCacheFile"}]' "OpenAI's API has them on request"
curl -s -N -o "$OUT" "$URL/v1/completions" -d "{\"prompt\":\"$prompt\",\"max_tokens\":2,\"stream\":true,\"return_cached_tokens_details\":true}"
is "$(sed -n 's/^data: {/{/p' "$OUT" | jq -c 'select(.sglext) | [.choices[0].finish_reason, .sglext.cached_tokens_details.device]')" '["length",32]' "the chunk that finishes has the cached tokens"

# ---- their cost: 32 tokens at 20 a second ----
rm log.ndjson
server_start --kv-blocks 4 --host-blocks 100,rate=20 --log log.ndjson --step-base 1ms --step-per-seq 0 --prefill-rate 1M --gpus 1 --gpu-power 0:1000
# A device drawing 1000 W while it computes counts the length of the steps, in microseconds, whatever the machine does.
computed_us() { curl -s "$URL/dcgm/metrics" | sed -n 's/^DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{.*} //p'; }
for prompt in a b c a; do
	before=$(computed_us)
	ask $prompt
	echo "$prompt $(($(computed_us) - before))"
done >steps
is "$(details)" "[32,0,32,null]" "a server without a disk has no storage"
is "$(paste -sd , steps)" "a 1040,b 1040,c 1040,a 1601008" "a step of 1 ms and 40 tokens; 32 tokens that come back take 1.6 s, and 8 are computed"
lines_are() { [ "$(wc -l <log.ndjson)" = 4 ]; }
wait_for lines_are
at_least "$(jq -s '.[3] | (.last_token_ns - .arrival_ns) / 1e6' log.ndjson)" 1601 "an answer waits until its blocks have come back"
server_start
ask a
is "$(jq '.meta_info | has("cached_tokens_details")' "$OUT")" false "a server without tiers has no details"
for wrong in "--host-blocks x" "--host-blocks 5,rate=0" "--disk-blocks 1G"; do
	# shellcheck disable=SC2086 # two words
	run "$BIN/ipf-sim" $wrong
	status_is 2 "$wrong is refused"
done
