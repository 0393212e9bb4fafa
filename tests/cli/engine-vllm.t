#!/bin/bash
# A run against a real vLLM (0.32.0, on processors, a tiny model of random weights and the tokenizer tests/data/tokenizer/llama.json), recorded:
# what we make of it has to be what the engine counted. tests/data/vllm/ has its records, its trace, and the engine's metrics after it. Made with
#   vllm serve … --enable-prompt-tokens-details
#   ipf-prep sharegpt chat.json --prefixes 1x400 --tokenizer llama.json --turns all --output-tokens 12 -n 12 --reproducible -o chat.trace
#   ipf-sched constant:rate=20,n=12 -t chat.trace | ipf-fire -u … -t chat.trace --reproducible
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"

data=$TESTS/data/vllm
plain "$data/metrics.txt.zst" >metrics
counter() { awk -v name="vllm:$1" 'index($1, name "{") == 1 { sum += $NF } END { printf "%d", sum }' metrics; }

run ipf-collect "$data/chat.records.zst" -o chat.results
status_is 0 "its records are understood"
stderr_is "" "without a word"
body chat.results | jq -c 'select(.n != null)' >rows
sum() { jq -s "map($1) | add" rows; }
is "$(jq -c '[.ok, .output_tokens, .finish]' rows | sort | uniq -c | tr -s ' ')" ' 21 [true,12,"length"]' "each answer is complete, with the tokens that were asked for"
is "$(sum .output_tokens) $(sum .input_tokens)" "$(counter generation_tokens_total) $(counter prompt_tokens_total)" "as many tokens as the engine counted"
is "$(sum .input_tokens) $(sum .cached_tokens)" "$(counter prefix_cache_queries_total) $(counter prefix_cache_hits_total)" "and as many found in its prefix cache"
is "$(sum .input_tokens) $(sum .cached_tokens)" "10025 8064" "which are those that were recorded"
is "$(jq -c '.events <= 12 and .events >= 7 and .ttft_ns > 0 and .e2e_ns > .ttft_ns' rows | sort -u)" true "no token without a text is an event"
is "$(jq -s -c '[(map(.events) | add), (map(.ttft_ns) | add), (map(.e2e_ns) | add), (map(.ttft_ns == .ttfa_ns) | all)]' rows)" '[198,2189886536,6178915012,true]' \
	"the latencies are those of the first and the last text, not of the role and of empty chunks"
