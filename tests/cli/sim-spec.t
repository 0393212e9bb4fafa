#!/usr/bin/env bash
# Speculative decoding, and the answers' figures about their own request, in the form of each server.
. "$TESTS/tap.sh"
unset -f jq # the order of members matters

scrape() { curl -sS -m 120 "$URL/metrics" >scraped; }
value() { sed -n "s/^vllm:spec_decode_num_$1{.*} //p" scraped; }
post() { curl -sS -m 120 -N -o "$OUT" "$URL$1" -d "$2"; }
events() { sed -n 's/^data: //p' "$OUT" | grep -v '^\[DONE\]$'; }

# ---- vLLM: a summary in each answer, which add up to the counters ----
server_start --spec tokens=3,accept=0.7 --request-metrics --step-base 5ms --step-per-seq 0 --log log.ndjson
for i in 1 2 3 4; do
	post /v1/completions "{\"prompt\":\"question $i\",\"max_tokens\":100}"
	jq -c '.metrics.speculative_decoding' "$OUT" >>spec.ndjson
done
is "$(jq -c '.metrics | keys_unsorted' "$OUT")" '["time_to_first_token_ms","generation_time_ms","queue_time_ms","mean_itl_ms","tokens_per_second","speculative_decoding"]' "the members of vLLM's metrics"
is "$(jq -c '.metrics.speculative_decoding | keys_unsorted' "$OUT")" '["mean_acceptance_length","draft_acceptance_rate","acceptance_histogram","num_spec_steps","num_accepted_draft_tokens","num_draft_tokens","num_spec_tokens"]' "metrics of an answer have its speculation"
scrape
is "$(jq -s 'map(.num_spec_steps) | add' spec.ndjson) $(jq -s 'map(.num_accepted_draft_tokens) | add' spec.ndjson) $(jq -s 'map(.num_draft_tokens) | add' spec.ndjson)" \
	"$(value drafts_total) $(value accepted_tokens_total) $(value draft_tokens_total)" "the answers add up to the counters"
is "$(($(value drafts_total) + $(value accepted_tokens_total) + 4))" 400 "tokens are first ones or from a draft's step"
is "$(grep -c '^vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="sim",position="[012]"} ' scraped)" 3 "drafts are counted by position"
is "$(value accepted_tokens_per_pos_total | awk '{ s += $1 } END { print s }')" "$(value accepted_tokens_total)" "counts by position add up"
is "$(jq -s 'map(.acceptance_histogram | add) | add' spec.ndjson)" "$(value drafts_total)" "the histogram of answers adds up to the drafts"
is "$(jq '.metrics | (.mean_itl_ms * 99 - .generation_time_ms | fabs) < 0.001 and .speculative_decoding.num_spec_steps < 99' "$OUT")" true \
	"99 tokens after the first take fewer steps than that"
cp "$OUT" whole.json
post /v1/completions '{"prompt":"question 4","max_tokens":100,"stream":true,"stream_options":{"include_usage":true}}'
is "$(events | tail -1 | jq -c '[.usage.completion_tokens, (.metrics.speculative_decoding.num_spec_steps)]')" \
	"[100,$(jq .metrics.speculative_decoding.num_spec_steps whole.json)]" "the last chunk of a stream has the same metrics"
is "$(events | jq -s 'map(select(.choices[0].text != "" and .choices != [])) | length')" \
	"$(($(jq .metrics.speculative_decoding.num_spec_steps whole.json) + 1))" "a step's tokens are one event"
is "$(events | jq -j '.choices[0].text // ""')" "$(jq -j '.choices[0].text' whole.json)" "streamed events have the same text"
is "$(events | jq -s 'map(has("metrics")) | map(select(.)) | length')" 1 "no other chunk has metrics"
post /v1/completions '{"prompt":"x","max_tokens":1}'
is "$(jq -c '.metrics | [.mean_itl_ms, (.generation_time_ms + 0), .speculative_decoding.num_spec_steps]' "$OUT")" '[null,0,0]' "a request of one token has no gaps"
is "$(curl -s "$URL/metrics" | sed -n 's/^vllm:inter_token_latency_seconds_count{.*} //p')" \
	"$(curl -s "$URL/metrics" | sed -n 's/^vllm:spec_decode_num_drafts_total{.*} //p')" "vLLM measures gaps between steps"
is "$(curl -s "$URL/sglang/metrics" | sed -n 's/^sglang:inter_token_latency_seconds_count{.*} //p')" 495 "SGLang measures gaps between tokens"

# ---- other servers' answers ----
post /sglang/generate '{"text":"hello","sampling_params":{"max_new_tokens":30}}'
is "$(jq -c '.meta_info | [.spec_verify_ct + .spec_accept_token_num, .spec_draft_token_num == 3 * .spec_verify_ct, .completion_tokens]' "$OUT")" '[29,true,30]' "SGLang's meta_info has its drafts"
is "$(jq '.meta_info | .queue_time >= 0 and .prefill_launch_latency > 0.004 and (.e2e_latency >= .inference_time) and .response_sent_to_client_ts > .request_received_ts' "$OUT")" true "SGLang's meta_info has its times"
post /llama-cpp/completion '{"prompt":"hello","n_predict":30}'
is "$(jq '.timings | .draft_n % 3 == 0 and .draft_n / 3 + .draft_n_accepted == 29' "$OUT")" true "llama.cpp's timings have its drafts"

# ---- Dynamo, as the request asks ----
server_start --step-base 10ms --step-per-seq 0 --clock-offset 1h
nvext='"nvext":{"extra_fields":["timing","worker_id"]}'
before=$(date +%s) # exact: the request lies between
post /v1/chat/completions "{\"messages\":[{\"role\":\"user\",\"content\":\"hello\"}],\"max_tokens\":5,\"stream\":true,$nvext}"
after=$(date +%s) # exact: the request lies between
is "$(events | jq -c 'select(.nvext) | [.choices[0].finish_reason, (.nvext | keys), (.nvext.timing | keys_unsorted)]')" \
	'["length",["timing","worker_id"],["request_received_ms","prefill_wait_time_ms","prefill_time_ms","ttft_ms","total_time_ms","kv_hit_rate"]]' "nvext is in the chunk that finishes"
is "$(events | jq 'select(.nvext) | .nvext.timing | (.prefill_wait_time_ms + .prefill_time_ms - .ttft_ms | fabs) < 0.001 and .ttft_ms >= 10 and .total_time_ms >= 50')" true "times of nvext add up"
between "$(($(events | jq 'select(.nvext) | .nvext.timing.request_received_ms') / 1000))" $((before + 3600)) $((after + 3600)) "request_received_ms is on the server's clock" # exact: it lies between
post /v1/completions "{\"prompt\":\"x\",\"max_tokens\":2,\"nvext\":{\"extra_fields\":[\"worker_id\",\"x\",7]}}"
is "$(jq -c .nvext "$OUT")" '{"worker_id":{"prefill_worker_id":0,"prefill_dp_rank":0,"decode_worker_id":1,"decode_dp_rank":0}}' "nvext has only the fields asked for"
post /v1/completions '{"prompt":"x","max_tokens":2,"nvext":{}}'
is "$(jq -c '[has("nvext"), has("metrics")]' "$OUT")" '[false,false]' "nvext is not sent unless asked for"
server_start --step-base 10ms --step-per-seq 0 --kv-transfer 300ms --log apart.ndjson
post /v1/completions '{"prompt":"x","max_tokens":3,"stream":true}'
wait_for test -s apart.ndjson
at_least "$(jq '(.last_token_ns - .arrival_ns) / 1e6' apart.ndjson)" 329 "a transfer of 300 ms comes between the step of the prompt and two others"
for wrong in tokens=0,accept=1 tokens=17,accept=1 accept=0.5 tokens=3,accept=2 x=1; do
	run "$BIN/ipf-sim" --spec "$wrong"
	status_is 2 "--spec $wrong is refused"
done
