#!/bin/bash
# ipf-prep fit on recorded data, where it is at hand: a model's trace is near the data at three seeds.
. "$TESTS/tap.sh"
prep=$BIN/ipf-prep
traces=$TESTS/../../shared/data/traces
[ -e "$traces" ] || skip_all "no shared data here"

near() { # LEAST SOURCE FILE: as many figures are compared, and all are near
	local seed
	"$prep" fit "$2" "$traces/$3" -q -o model.json
	between "$(wc -c <model.json)" 1000 100000 "$2: a model of less than 100 KB"
	for seed in 1 2 3; do
		"$prep" synthetic --like model.json --seed $seed --prompt none -q -o near.trace
		"$prep" stat -f json --against model.json near.trace >near.json
		is "$(jq -r '.figures[] | select(.near == false) | "\(.name): \(.this), not \(.against)"' near.json)" "" "$2: seed $seed"
		is "$(jq '.comparable >= $n' --argjson n "$1" near.json)" true "$2: at least $1 figures are compared"
	done
}
near 20 azure azure/AzureLLMInferenceTrace_conv.csv
near 24 mooncake mooncake/conversation_trace.jsonl.zst
near 26 weka weka_kv_cache_tester/sessions_200.jsonl.zst
near 39 ragpulse ragpulse
# Too little to be compared.
near 0 burstgpt burstgpt/BurstGPT_1.head30.csv
contains "$("$prep" stat near.trace --against model.json)" "dispersion 1s              not comparable: 30 requests, at least 100 are needed" "stat --against says that 30 requests are too few"
near 0 qwen-bailian qwen_bailian/qwen_thinking_blksz_16.head1.jsonl
