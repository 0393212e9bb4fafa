#!/bin/bash
# Published traces with blocks, if a folder of them lies beside the checkout: auto detects each format, and `ipf-prep stat` gives the
# figures of their description, to the printed digit.
. "$TESTS/traces.sh"

if describe mooncake/conversation_trace.jsonl.zst mooncake; then
	figures .requests 12031 "Mooncake's conversations have 12031 rows"
	figures '.arrivals | (.span_s | r(3)), .peak_1s, (.rate | r(3)), (.cv | r(3))' "3536.999 28 3.401 3.034" "Mooncake's conversations have their arrivals"
	figures '.input_tokens, .output_tokens | (.mean | r(1)), .p50, .p99, .max' "12035.1 6909 85401 126195 342.6 350 1120 2000" "Mooncake's conversations have their lengths"
	figures '.sharing | .distinct, .blocks, (.reuse * 100 | r(1)), .most_blocks' "182790 288500 36.6 247" "blocks of Mooncake's conversations"
fi
if describe weka_kv_cache_tester/sessions_200.jsonl.zst weka --sub-agents drop; then
	figures '.requests, .sessions.count, (.sessions.turns | (.mean * 10 | ceil / 10), .p50, .p99, .max)' "4030 200 20.2 17 66 67" "weka has the sessions of agents"
	figures '(.input_tokens | (.mean | r(0)), .p50, .p99, .max), (.output_tokens | (.mean | r(1)), .p50, .p99, .min)' \
		"83082 74272 265963 868539 465.7 245 4069 0" "weka has the lengths of agents"
	figures '.tags | (.think_time_s | .n, (.mean | r(0)), .p50, (.p99 | r(0))), (.ttft_s | .n, (.mean | r(2)), .p50, .p99), (.api_time_s | .n, (.mean | r(1)), .p50)' \
		"3987 233 11 2897 766 2.81 2.4 9.98 3293 10.4 6.83" "weka has think times, times to the first token and times of whole answers"
	figures '.sharing.leading * 100 | r(1)' 91.8 "weka has its share of leading blocks"
fi
