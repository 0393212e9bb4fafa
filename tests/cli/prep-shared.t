#!/bin/bash
# Published traces, if a folder of them is beside the checkout: auto recognises each, and the figures of `ipf-prep stat` are those of their
# description, to the printed digit.
. "$TESTS/traces.sh"

# rows, span, the most in a second, rate and CV; then mean, p50, p99 and most tokens of prompts and of answers
while IFS='|' read -r file source rows arrivals lengths; do
	describe "$file" "$source" || continue
	[ "$rows" = - ] || figures .requests "$rows" "the published trace has its rows"
	[ "$arrivals" = - ] ||
		figures '.arrivals | (.span_s | r(3)), .peak_1s, (.rate | if . < 0.1 then r(4) else r(3) end), (.cv | r(3))' "$arrivals" "the published trace has its arrivals"
	[ "$lengths" = - ] ||
		figures '.input_tokens, .output_tokens | (.mean | r(1)), .p50, .p99, .max' "$lengths" "the published trace has its lengths"
done <<'FILES'
azure/AzureLLMInferenceTrace_conv.csv|azure|19366|3501.722 16 5.53 1.094|1154.7 1020 4142 14050 211.1 129 601 1000
azure/AzureLLMInferenceTrace_code.csv|azure|8819|3435.948 67 2.566 13.151|2047.8 1469 7436 7437 27.9 13 252 1899
azure/AzureLLMInferenceTrace_code_1week.head1.csv|azure|1|-|-
vidur/splitwise_code.csv|vidur|8819|3435.948 67 2.566 13.151|2047.8 1469 7436 7437 27.9 13 252 1899
vidur/arxiv_summarization.head2000.csv|vidur|2000|-|2539.9 2688 3933 4017 312.6 167 3284 3931
mooncake/synthetic_trace.jsonl|mooncake|3993|1022.025 13 3.906 1.011|15325.5 11587 66458 191378 149.1 69 769 893
mooncake/toolagent_trace.head94.jsonl|mooncake|94|15 22 6.2 4.195|9379.1 6525 87169 87169 214.2 47 929 929
burstgpt/BurstGPT_1.head30.csv|burstgpt|30|2288 1 0.0127 0.826|590.7 472 1574 1574 342.7 276 1656 1656
burstgpt/BurstGPT_3.head4.csv|burstgpt|4|-|-
qwen_bailian/qwen_thinking_blksz_16.head1.jsonl|qwen-bailian|1|-|502 502 502 502 1494 1494 1494 1494
ragpulse/0_trace.jsonl|ragpulse|7106|604603 3 0.0118 3.061|2943.6 3139 5439 7712 283.2 234 891 2183
ragpulse|ragpulse|7106|604603 3 0.0118 3.061|2943.6 3139 5439 7712 283.2 234 891 2183
llmservingsim/sharegpt-llama-3.1-8b-300-sps10.jsonl|llmservingsim|100|9.101 13 10.878 0.999|882.7 752 2884 3452 684.6 720 796 822
llmservingsim/workload_me2_01_mixed.jsonl|llmservingsim|608|60.898 20 9.967 0.992|9217.8 2909 28451 31383 3021.4 872 15040 15890
llmservingsim/example_trace.jsonl|llmservingsim|10|-|-
aibrix/5s.jsonl|aibrix|203|4.972 51 40.628 0.968|796.3 713 2906 3246 131.1 29 775 799
nanoflow/sharegpt.csv|azure|58787|-|298.8 36 3474 241402 323.7 280 999 37622
nanoflow/lmsys.csv|azure|100000|-|92.2 28 750 3894 207.4 140 850 4819
inference_perf/trace.csv|azure|20|-|-
servegen/reason/deepseek-r1|servegen|-|-|-
mlperf_endpoints/agentic_coding_2.5h.jsonl.zst|mlperf-agentic|1007|-|-
vllm_log/request_log.txt|vllm-log|1|-|-
otel/otlp/genai_spans.made.json|otel|4|-|-
otel/sessions/code_review_workflow.json|otel|15|-|-
otel/sessions/customer_support_escalation.json|otel|9|-|-
otel/sessions/fan_in_dependencies.json|otel|4|-|-
otel/sessions/multi_agent_research.json|otel|12|-|-
otel/sessions/parallel_requests.json|otel|5|-|-
otel/sessions/prefix_sharing_example.json|otel|7|-|-
otel/sessions/simple_chain.json|otel|3|-|-
otel/sessions/simple_chain_alt.json|otel|3|-|-
otel/sessions/software_architecture_review.json|otel|15|-|-
tracelab/round_trace.jsonl|tracelab|19|-|27053.3 32272 48305 48305 596.6 273 2475 2475
tracelab/session_workload_example.csv|tracelab|11|-|-
tracelab/multi_session_example.csv|tracelab|8|-|-
tracelab/multi_session_large.csv|tracelab|303|-|-
FILES

if describe mooncake/synthetic_trace.jsonl mooncake; then
	figures '.sharing | .distinct, .blocks, (.reuse * 100 | r(1)), .most_blocks' "43924 121877 64 374" "blocks of Mooncake's synthetic trace"
fi
if describe mooncake/toolagent_trace.head94.jsonl mooncake; then
	figures '.sharing | .distinct, .blocks, (.reuse * 100 | r(1)), .most_blocks' "1320 1779 25.8 171" "blocks of Mooncake's agents"
fi
if describe ragpulse ragpulse; then
	figures '.sessions | .count, .of_several_turns, .turns.max, (.turns.mean | r(2))' "3990 1643 25 1.78" "sessions of RAGPulse"
	is "$("$prep" auto "$data/ragpulse" | sed -e 1d -e '$d' |
		jq -c 'select(.blocks.tokens) | .input_tokens - (.blocks.tokens | add)' | sort -n | sed -n '1p;$p' |
		tr '\n' ' ')" "6 12 " \
		"prompts of RAGPulse are their components and 6 to 12 tokens more"
fi
if describe mlperf_endpoints/agentic_coding_2.5h.jsonl.zst mlperf-agentic; then
	figures '.sessions | .count, (.wait_s | (.mean | r(3)), (.p50 | r(3)), (.p99 | r(2)), (.max | r(1)))' "20 0.645 0.063 4.44 120.1" "delays of tools"
fi
if describe burstgpt/BurstGPT_1.head30.csv burstgpt; then
	figures .failed 1 "the call that failed is marked"
fi
while read -r file spans; do
	describe "$file" lmcache || continue
	figures '.requests, (.arrivals.span_s | r(2))' "$spans" "lines and span of $file"
done <<'FILES'
lmcache_agent/miniswe/189f0222310bd8eee310f204e91b9c84.jsonl 6 6.97
lmcache_agent/miniswe/5e964bd93f8c35ab4430fd68b91abf13.jsonl 30 30.94
lmcache_agent/miniswe/8f7920a28c54ae83dadb6d0a8e6cbd74.jsonl 9 10.67
lmcache_agent/miniswe/c7d0fc25aec9ae6e509fb167782bbe54.jsonl 6 7.22
lmcache_agent/magagent/736abd8ed0708215b9e43abdfe83c55e.openai_chat.jsonl 25 244.36
lmcache_agent/magagent/e58895aeb237c2865519206612cf0c6c.openai_chat.jsonl 11 79.88
lmcache_agent/taubench/6c2cc6b04100449b91974282f777923e.jsonl 31 8.64
lmcache_agent/taubench/9dc9f8c9407949e5f4429c081a7a90b6.jsonl 43 14.34
FILES
