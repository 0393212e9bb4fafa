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
status_is 0 "ipf-collect understands the records of vLLM"
stderr_is "" "the records of vLLM give no messages"
requests chat.results >rows
sum() { jq -s "map($1) | add" rows; }
is "$(jq -c '[.ok, .output_tokens, .finish]' rows | sort | uniq -c | tr -s ' ')" ' 21 [true,12,"length"]' "responses of vLLM are complete and have the tokens asked for"
is "$(sum .output_tokens) $(sum .input_tokens)" "$(counter generation_tokens_total) $(counter prompt_tokens_total)" "the engine counted as many tokens"
is "$(sum .input_tokens) $(sum .cached_tokens)" "$(counter prefix_cache_queries_total) $(counter prefix_cache_hits_total)" "the engine found as many tokens in its prefix cache"
is "$(sum .input_tokens) $(sum .cached_tokens)" "10025 8064" "the tokens are those of the recorded run"
is "$(jq -c '.events <= 12 and .events >= 7 and .ttft_ns > 0 and .e2e_ns > .ttft_ns' rows | sort -u)" true "a token without a text is not an event"
# Its blocks have 128 tokens: its hits are the possible ones with those.
cache() { ipf-report -f json --trace "$data/chat.trace.zst" "$@" | jq -c '.cache | [.block_tokens, .block_from, .ideal_tokens, .reported.tokens]'; }
is "$(cache --cache-block 128 chat.results)" '[128,"option",8064,8064]' "a prefix cache that loses nothing shows as that"
is "$(grep -c 'cache_config_info.*block_size="128"' metrics)" 1 "metrics have the block length of the cache"
{
	body chat.results
	echo '{"sample":"server","t_ns":1000000000,"target":"a","server":"vllm","interval_ns":1000000000,"gauges":{"cache_block_tokens":128}}'
} >scraped.body
seal chat.results scraped.body >scraped.results
is "$(cache scraped.results)" '[128,"metrics",8064,8064]' "a sample has the block length of the metrics"
contains "$(ipf-report --trace "$data/chat.trace.zst" scraped.results | tr -s ' \n' '  ')" "of 128 tokens, as the server's metrics say" "the report says that the block length is from the metrics"
is "$(jq -s -c '[(map(.events) | add), (map(.ttft_ns) | add), (map(.e2e_ns) | add), (map(.ttft_ns == .ttfa_ns) | all)]' rows)" '[198,2189886536,6178915012,true]' \
	"the latencies are those of the first and the last text, not of the role and of empty chunks"
